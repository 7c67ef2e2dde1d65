"""Real logs that are no plain tables, and tables that need at most one hint: Markdown, nested JSON, searches, means."""

from __future__ import annotations

import json

import pytest
import yaml

from pytest_cvaudit.model import Evidence, Severity, Status, metric
from pytest_cvaudit.run import Options, audit_log, audit_manifest


def findings(one, code):
    return [finding for finding in one.findings if finding.code == code]


@pytest.fixture
def fault(real_logs, tmp_path):
    """Audit the Markdown log with claims."""

    def run(*claims):
        entry = {"name": "ann", "log": str(real_logs / "software-fault-ann" / "nn-keras.md"), "claims": list(claims)}
        path = tmp_path / "cvaudit.yaml"
        path.write_text(yaml.safe_dump({"experiments": [entry]}))
        (one,) = audit_manifest(path, Options()).audited
        assert one.experiment.problem is None
        return one

    return run


def test_software_fault_the_markdown_log_is_counts_and_scores(fault):
    one = fault()
    counts, scores = one.experiment.counts, one.experiment.scores
    assert [cell.fold for cell in counts.cells] == [f"{k:02}" for k in range(1, 11)]
    assert counts.labels == ("0", "1")
    positives = (counts.tp + counts.fn)[:, 1].tolist()
    assert (min(positives), max(positives), int(sum(positives))) == (9, 27, 188)
    assert [str(value) for value in scores.values["auc"]][:2] == ["0.689850", "0.688763"]
    assert one.aggregates.of(metric("auc")).values["avg"].value == pytest.approx(0.696, abs=5e-4)
    accuracy = one.aggregates.of(metric("accuracy")).values
    assert accuracy["avg"].value == pytest.approx(0.808, abs=5e-4)
    assert accuracy["pooled"].value == pytest.approx(0.808, abs=5e-4)
    assert findings(one, "CV108")


def test_software_fault_the_quoted_numbers_are_no_aggregation(fault):
    # The paper's 84.36 % is what nobody prints of fold 9, whose accuracy is 81/96 = 0.84375.
    one = fault("accuracy = 84.36 %", "auc = 0.8")
    (unexplained,) = findings(one, "CV502")
    assert "accuracy = 84.36 %" in unexplained.message
    assert "avg 0.808" in unexplained.message
    assert unexplained.message.endswith("; fold 09 alone is nearer with 0.843750")
    reason = next(outcome.reason for outcome in one.outcomes if outcome.code == "CV503")
    assert "'auc = 0.8' is what fold 05 or fold 09 alone prints" in reason


def test_software_fault_a_single_fold_is_found(fault):
    (finding,) = findings(fault("accuracy = 84.37 %"), "CV503")
    assert "fold 09 alone" in finding.message


def test_wine_every_candidate_is_clean_with_one_hint(real_logs):
    found = audit_log(real_logs / "wine" / "gridsearch_results.csv", Options(columns={"metric": "accuracy"})).audited
    assert len(found) == 12
    for one in found:
        assert not one.findings
        (attribution,) = one.attributions
        assert attribution.matches[0] == "avg"
        assert "sd_n over folds" in attribution.spread


def test_panrare_json_needs_no_hint_and_its_means_skip_the_lost_folds(real_logs):
    path = real_logs / "panrarewsi" / "phase4_benchmark.json"
    claimed = {cell["cell"]: cell for cell in json.loads(path.read_text()) if cell.get("per_fold")}
    found = {one.experiment.name.partition("/")[2]: one for one in audit_log(path, Options()).audited}
    assert found.keys() == claimed.keys()
    assert len(found) == 33
    lost = {name for name, one in found.items() if findings(one, "CV103")}
    assert lost == {name for name, cell in claimed.items() if cell["n_valid_folds"] < 5}
    for name, one in found.items():
        (claim,) = one.experiment.claims
        assert claim.printed.value == claimed[name]["mean_fold_auroc"]
        (attribution,) = one.attributions
        assert ("avg_skip" if name in lost else "avg") in attribution.matches
        assert {f.code for f in one.findings} <= {"CV103"}
        assert all(f.severity is not Severity.ERROR for f in one.findings)


def test_pads_summary_alone_is_claims_without_evidence(real_logs):
    found = audit_log(real_logs / "pads-parkinson" / "metrics_summary.csv", Options()).audited
    assert [one.experiment.evidence for one in found] == [Evidence.SUMMARY] * 3
    assert [str(claim) for claim in found[0].experiment.claims][:2] == [
        "balanced_accuracy = 0.644051 ± 0.015610",
        "auc = 0.702855 ± 0.026058",
    ]
    for one in found:
        assert all(f.severity is not Severity.ERROR for f in one.findings)
        assert all(outcome.status is not Status.FAILED for outcome in one.outcomes if outcome.code != "CV003")


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("panrarewsi/oof_predictions.csv", {"by": ("cohort", "biomarker")}),
        ("panrarewsi/phase4_benchmark.json", {}),
        ("automlbenchmark/all_results.csv", {"by": ("framework", "task")}),
        ("software-fault-ann/nn-keras.md", {}),
        ("pads-parkinson/per_fold_metrics.csv", {"by": ("model",)}),
        ("plm-secondary/cross_validation_results.csv", {"by": ("model", "task")}),
        ("wine/gridsearch_results.csv", {"columns": {"metric": "accuracy"}}),
    ],
)
def test_one_hint_is_enough_and_nothing_is_accused(real_logs, path, options):
    audit = audit_log(real_logs / path, Options(**options))
    assert audit.audited
    errors = [(f.experiment, f.code) for f in audit.findings if f.severity is Severity.ERROR]
    assert not [code for _, code in errors if code >= "CV2"], errors
