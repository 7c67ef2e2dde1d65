"""Audits of real logs made by others: what must be found, and what must not be complained about."""

from __future__ import annotations

import csv
import json

import pytest
import yaml

from pytest_cvaudit.aggregations import NotComputable
from pytest_cvaudit.model import Severity, Status, metric
from pytest_cvaudit.run import Options, audit_manifest


@pytest.fixture
def audited(tmp_path):
    """Audit the experiments given as manifest entries."""

    def run(*experiments):
        path = tmp_path / "cvaudit.yaml"
        path.write_text(yaml.safe_dump({"experiments": list(experiments)}, sort_keys=False, allow_unicode=True))
        audit = audit_manifest(path, Options())
        assert not audit.problems
        return {one.experiment.name: one for one in audit.audited}

    return run


def errors(one):
    return sorted({finding.code for finding in one.findings if finding.severity is Severity.ERROR})


def status(one, code):
    return next(outcome.status for outcome in one.outcomes if outcome.code == code)


@pytest.fixture
def panrare(real_logs, audited):
    cells = json.loads((real_logs / "panrarewsi" / "phase4_benchmark.json").read_text())
    claimed = {cell["cell"]: cell for cell in cells if cell["status"] == "ok"}
    found = audited(
        *(
            {
                "name": name,
                "log": str(real_logs / "panrarewsi" / "oof_predictions.csv"),
                "select": {"cohort": cell["cohort"], "biomarker": cell["biomarker"]},
                "instances": cell["n"],
                "claims": [f"auc = {cell['pooled_auroc']}", f"auc = {cell['mean_fold_auroc']}"],
            }
            for name, cell in claimed.items()
        )
    )
    return claimed, found


def test_panrare_every_pooled_auc_is_merged(panrare):
    claimed, found = panrare
    assert len(found) == 33
    for name, one in found.items():
        pooled, averaged = one.attributions
        assert pooled.matches == ("merge",), name
        assert "avg" in averaged.matches, name
        assert pooled.table.values["merge"].value == pytest.approx(claimed[name]["pooled_auroc"], abs=1e-3)


def test_panrare_merged_and_mean_auc_differ_as_published(panrare):
    _, found = panrare
    gaps = {
        name: abs(one.attributions[0].table.values["merge"].value - one.attributions[0].table.values["avg"].value)
        for name, one in found.items()
    }
    assert sum(gap > 0.03 for gap in gaps.values()) == 21
    assert max(gaps, key=gaps.get) == "MESO/BAP1"
    assert gaps["MESO/BAP1"] == pytest.approx(0.153, abs=5e-4)


def test_panrare_the_cells_that_lost_folds_are_caught(panrare):
    claimed, found = panrare
    lost = {name for name, one in found.items() if status(one, "CV103") is Status.FAILED}
    assert lost == {name for name, cell in claimed.items() if cell["n_valid_folds"] < 5}
    assert len(lost) == 6
    (finding,) = (f for f in found["DLBC/TP53"].findings if f.code == "CV103" and "instances" in f.message)
    assert "27 of 44 declared instances are logged, in 3 folds" in finding.message


def test_panrare_a_merged_auc_is_never_passed_unless_the_difference_is_immaterial(panrare):
    for one in panrare[1].values():
        values = one.attributions[0].table.values
        gap = abs(values["merge"].value - values["avg"].value)
        assert (status(one, "CV301") is Status.PASSED) == (gap < 0.005)


def test_automlbenchmark_is_clean(real_logs, audited):
    with (real_logs / "automlbenchmark" / "result_summary.csv").open() as file:
        summary = list(csv.DictReader(file))
    claims = [
        {
            "metric": "auc" if row["type"] == "binary" else "log_loss",
            "value": cell.split(" ")[0],
            "for": {"framework": framework, "task": row["task"]},
        }
        for row in summary
        for framework, cell in row.items()
        if framework not in ("type", "task") and cell
    ]
    log = str(real_logs / "automlbenchmark" / "all_results.csv")
    found = audited({"name": "automl", "log": log, "by": ["framework", "task"], "folds": 10, "claims": claims})
    assert len(found) == 28
    assert {name: errors(one) for name, one in found.items() if errors(one)} == {}
    explained = [a.verdict for one in found.values() for a in one.attributions]
    assert len(explained) == len(claims) > 20
    assert "unexplained" not in explained


def test_automlbenchmark_directories_are_folds(real_logs, audited):
    one = audited({"name": "iris", "log": str(real_logs / "automlbenchmark/iris_h2o/*/predictions.csv")})["iris"]
    assert [cell.fold for cell in one.experiment.cells] == [str(fold) for fold in range(10)]
    assert one.aggregates.tallies.n.sum() == 150
    assert errors(one) == []


def test_pads_is_clean_and_its_means_and_spreads_are_explained(real_logs, audited):
    with (real_logs / "pads-parkinson" / "metrics_summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = {
        "balanced_accuracy": "balanced_accuracy",
        "auroc": "auc",
        "sensitivity": "recall",
        "specificity": "specificity",
    }
    claims = [
        {"metric": ours, "value": f"{row[f'mean_{theirs}']} ± {row[f'sd_{theirs}']}", "for": row["model"]}
        for row in rows
        for theirs, ours in names.items()
    ]
    log = str(real_logs / "pads-parkinson" / "per_fold_metrics.csv")
    found = audited({"name": "pads", "log": log, "by": "model", "folds": 5, "claims": claims})
    assert len(found) == 3
    for one in found.values():
        assert errors(one) == []
        for attribution in one.attributions:
            assert attribution.matches[0] == "avg"
            assert "sd_n-1 over folds" in attribution.spread


def test_plm_secondary_the_ways_of_making_f_are_close(real_logs, audited):
    log = str(real_logs / "plm-secondary" / "cross_validation_results.csv")
    found = audited({"name": "plm", "log": log, "by": ["model", "task"]})
    gaps = []
    for one in found.values():
        assert errors(one) == []
        try:
            values = one.aggregates.of(metric("f1")).values
        except NotComputable:
            continue
        gaps.append(abs(values["avg"].value - values["pr_re"].value))
    assert gaps
    assert round(max(gaps), 3) == 0.011
