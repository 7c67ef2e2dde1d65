"""Audits of logs that hold printed fold values only: what the counts behind them decide, and what they must not."""

from __future__ import annotations

import csv

import pytest
import yaml

from pytest_cvaudit.attribution import AMBIGUOUS, UNCHECKABLE, UNEXPLAINED, UNIQUE
from pytest_cvaudit.cli import main
from pytest_cvaudit.model import Evidence, Severity, Status
from pytest_cvaudit.reporters import documents, text
from pytest_cvaudit.run import Options, audit_manifest
from tests.forensics.test_scores import TABLE_1, TABLE_2, of_table


@pytest.fixture
def audited(tmp_path):
    """Audit one experiment given as a manifest entry."""

    def run(**experiment):
        path = tmp_path / "cvaudit.yaml"
        path.write_text(yaml.safe_dump({"experiments": [{"name": "it", **experiment}]}, allow_unicode=True))
        audit = audit_manifest(path, Options())
        assert not audit.problems
        return audit

    return run


def table_of(table, names, decimals, sizes=True):
    printed, _ = of_table(table, names, decimals)
    header = ["fold", *names, *(("n", "positives") if sizes else ())]
    rows = [
        [str(at), *values.values(), *((str(sum(fold)), str(fold[0] + fold[2])) if sizes else ())]
        for at, (fold, values) in enumerate(zip(table, printed, strict=True), 1)
    ]
    return "\n".join(",".join(row) for row in [header, *rows]) + "\n"


def status(audit, code):
    return next(outcome.status for outcome in audit.outcomes if outcome.code == code)


def errors(audit):
    return {finding.code for finding in audit.findings if finding.severity is Severity.ERROR}


def test_counts_that_follow_from_the_printed_values_give_the_right_number(audited):
    log = table_of(TABLE_1, ("precision", "recall", "f1"), 3)
    audit = audited(table=log, claims=["f1 = 0.69", "accuracy = 98.7%"])
    (one,) = audit.audited
    assert one.experiment.evidence is Evidence.SCORES
    f1, accuracy = one.attributions
    assert (f1.verdict, f1.matches) == (UNIQUE, ("avg",))
    assert f1.recommended.value == pytest.approx(0.583333, abs=1e-6)
    assert accuracy.matches == ("pooled",)
    assert status(audit, "CV201") is Status.FAILED
    assert documents.report_document(audit)["experiments"][0]["note"] == "counts rebuilt from the printed fold values"
    assert "(scores evidence, counts rebuilt from the printed fold values, " in text.report(audit, colour=False)


def test_declared_totals_are_enough(audited):
    log = table_of(TABLE_1, ("precision", "recall", "f1"), 3, sizes=False)
    design = {"instances": 1504, "positives": 15, "folds": 4, "stratified": True}
    audit = audited(table=log, claims=["f1 = 0.58", "accuracy = 98.7%"], **design)
    f1, accuracy = audit.audited[0].attributions
    assert (f1.verdict, f1.matches) == (UNIQUE, ("tp_fp",))
    assert (accuracy.verdict, accuracy.matches) == (AMBIGUOUS, ("pooled", "avg"))
    assert errors(audit) == set()


def test_totals_are_attributed_where_counts_are_not_unique(audited):
    log = table_of(TABLE_2, ("precision", "recall", "f1"), 2)  # any number of false positives in fold 2
    audit = audited(table=log, claims=["f1 = 0.77"])
    (one,) = audit.audited[0].attributions
    assert not audit.audited[0].rebuilt
    assert (one.verdict, one.matches) == (UNIQUE, ("tp_fp",))
    assert errors(audit) == set()
    (one,) = audited(table=log, claims=["f1 = 0.67"]).audited[0].attributions
    assert "avg" in one.matches


def test_a_claim_that_the_folds_contradict_is_impossible(audited):
    log = table_of(TABLE_2, ("recall", "f1"), 2)
    audit = audited(table=log, claims=["precision = 0.20"], positive="yes")
    (one,) = audit.audited[0].attributions
    assert one.verdict == UNIQUE  # 40 false positives in fold 2 print 0.00 as well
    audit = audited(table=log, claims=["recall = 0.62"], positive="yes")
    assert status(audit, "CV509") is Status.PASSED
    audit = audited(table=log, claims=["balanced_accuracy = 0.30"], positive="yes")
    (one,) = audit.audited[0].attributions
    assert (one.verdict, [str(claim) for claim in one.contradicts]) == (
        UNEXPLAINED,
        ["balanced_accuracy = 0.30"],
    )
    assert errors(audit) == {"CV509"}
    (finding,) = [finding for finding in audit.findings if finding.code == "CV509"]
    assert "'balanced_accuracy = 0.30' cannot come from the 4 folds with the logged values" in finding.message
    # Without a positive label the values may be averages over labels.
    assert errors(audited(table=log, claims=["balanced_accuracy = 0.30"])) == set()


def test_folds_that_no_table_prints_are_no_accusation(audited):
    log = "fold,precision,recall,n,positives\n1,0.812,0.795,100,40\n2,0.766,0.761,100,40\n"  # weighted averages
    audit = audited(table=log, claims=["precision = 0.789", "f1 = 0.778"])
    precision, f1 = audit.audited[0].attributions
    assert "avg" in precision.matches
    assert f1.verdict == UNCHECKABLE
    assert f1.reason.startswith("no table of counts prints the values of fold 1 at ")
    assert "cvaudit.yaml:8 (precision 0.812, recall 0.795)" in f1.reason
    assert errors(audit) == set()


RATES = "fold,precision,recall,n\n1,0.75,0.60,20\n2,0.80,0.80,20\n"
HITS = "fold,recall,positives\n1,0.60,5\n2,0.80,5\n"
SIZED = "fold,precision,recall,n,positives\n1,0.75,0.60,20,5\n2,0.80,0.80,20,5\n"
REPEATED = "repeat," + SIZED.replace("\n1", "\n1,1").replace("\n2", "\n1,2")
REPEATED += "2,1,0.75,0.60,20,5\n2,2,0.80,0.80,20,5\n"


@pytest.mark.parametrize(
    ("log", "instances", "positives", "said"),
    [
        (RATES, 41, 10, "have 40 instances, but 41 are declared"),
        (RATES, 39, 10, "have 40 instances, but 39 are declared"),
        (HITS, 40, 11, "have 10 positives, but 11 are declared"),
        (SIZED, 50, 10, "have 40 instances, but 50 are declared"),
        (SIZED, 40, 11, "have 10 positives, but 11 are declared"),
        (REPEATED, 50, 10, "have 40 instances, but 50 are declared"),
    ],
)
def test_sizes_that_contradict_the_declared_ones_accuse_no_claim(
    audited, tmp_path, capsys, log, instances, positives, said
):
    design = {"instances": instances, "positives": positives, "folds": 2, "positive": "ill"}
    audit = audited(table=log, claims=["specificity = 0.93"], **design)
    (one,) = audit.audited[0].attributions
    assert one.verdict == UNCHECKABLE
    assert said in one.reason
    assert "CV509" not in {finding.code for finding in audit.findings}
    path = tmp_path / "folds.csv"
    path.write_text(log)
    totals = ["--instances", str(instances), "--positives", str(positives)]
    assert main(["attribute", "recall=0.70", "--log", str(path), *totals]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"cvaudit: {path}: the folds in the log {said}"


@pytest.mark.parametrize(("log", "folds"), [(SIZED, 3), (REPEATED, 2)], ids=["a fold is missing", "repeats"])
def test_sizes_are_compared_within_a_repeat_that_has_all_folds(audited, log, folds):
    instances = 60 if folds == 3 else 40
    audit = audited(table=log, claims=["f1 = 0.73"], instances=instances, folds=folds, positive="ill")
    assert audit.audited[0].rebuilt


@pytest.mark.parametrize(
    ("log", "totals"),
    [(HITS, ["--instances", "40", "--positives", "10"]), (HITS, ["--instances", "40"])],
)
def test_an_exact_division_leaves_one_size(tmp_path, capsys, log, totals):
    path = tmp_path / "folds.csv"
    path.write_text(log)
    assert main(["attribute", "recall=0.70", "--log", str(path), *totals]) == 0
    assert capsys.readouterr().out.startswith("unique: ")


def test_logged_sizes_leave_the_rest_to_the_other_fold(tmp_path, capsys):
    path = tmp_path / "folds.csv"
    path.write_text("fold,recall,n\n1,0.60,30\n2,0.80,\n")
    totals = ["--instances", "40", "--positives", "10"]
    assert main(["attribute", "recall=0.70", "--log", str(path), *totals]) == 0
    assert "impossible" not in capsys.readouterr().out


def test_pads_counts_are_rebuilt_and_nothing_is_wrong(audited, real_logs):
    folder = real_logs / "pads-parkinson"
    with (folder / "metrics_summary.csv").open() as lines:
        summary = {row["model"]: row for row in csv.DictReader(lines)}
    for model, row in summary.items():
        names = ("balanced_accuracy", "auroc", "sensitivity", "specificity")
        audit = audited(
            log=str(folder / "per_fold_metrics.csv"),
            select={"model": model},
            columns={"fold": "fold_index", "n": "n_samples", "positives": "n_pd"},
            claims=[f"{name} = {row[f'mean_{name}']} ± {row[f'sd_{name}']}" for name in names],
        )
        (one,) = audit.audited
        assert one.rebuilt
        assert [attribution.matches for attribution in one.attributions] == [("avg",)] * 4
        assert one.aggregates.tallies.gold.sum(axis=0).tolist() == [6072, 1738]
        assert errors(audit) == set()
