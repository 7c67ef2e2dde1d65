"""The JSON documents have the contract's shape and the papers' values."""

from __future__ import annotations

import json

import pytest

from .conftest import RULES

FINDING = [
    "code", "name", "severity", "confidence", "experiment", "claim", "fold", "label", "message", "evidence", "tip",
    "location", "fingerprint", "suppressed",
]  # fmt: skip
FOLD = ["repeat", "fold", "n", "positives", "tp", "fp", "fn", "tn", "precision", "recall", "f1", "auc"]
CLAIM = ["metric", "printed", "verdict", "matches", "recommended", "delta"]
METRIC = ["recommended", "values", "undefined"]
#: What this project adds behind the contract's keys; listed so that nothing is added or lost by accident.
MORE = {
    "finding": ["reason"],
    "claim": [
        "name", "label", "aggregation", "recommended_aggregation", "single_folds", "nearest", "truncated", "spread",
        "where", "line", "reason",
    ],
    "metric": ["same", "intervals", "sd_over_repeats"],
}  # fmt: skip


@pytest.fixture
def check(project, cli):
    return json.loads(cli("check", ".", "--format", "json", *RULES).out)


@pytest.fixture
def report(project, cli):
    return json.loads(cli("report", ".", "--format", "json", *RULES).out)


def test_check_has_the_contract_s_keys(check):
    assert list(check) == ["version", "findings", "outcomes", "summary"]
    assert check["version"] == 1
    assert check["findings"]
    for finding in check["findings"]:
        assert list(finding) == FINDING + MORE["finding"]
        assert list(finding["location"]) == ["path", "line"]
        assert isinstance(finding["evidence"], dict)
        assert finding["suppressed"] is False
    for outcome in check["outcomes"]:
        assert list(outcome) == ["experiment", "code", "status", "reason"]
    assert list(check["summary"]) == ["passed", "failed", "inconclusive", "not_applicable"]


def test_check_says_what_is_wrong_and_where(check):
    (finding,) = [one for one in check["findings"] if one["code"] == "CV201"]
    assert finding["name"] == "f-avg"
    assert finding["severity"] == "error"
    assert finding["experiment"] == "table-1"
    assert finding["claim"] == "f1 = 0.69"
    assert finding["fold"] is None
    assert finding["location"] == {"path": "cvaudit.yaml", "line": 7}
    assert finding["evidence"]["tp_fp"] == pytest.approx(7 / 12, abs=1e-9)
    (fold,) = [one for one in check["findings"] if one["code"] == "CV102"]
    assert (fold["experiment"], fold["fold"], fold["severity"]) == ("table-2", "fold 2", "warning")


def test_the_summary_counts_the_outcomes(check):
    statuses = [one["status"] for one in check["outcomes"]]
    assert check["summary"] == {status: statuses.count(status) for status in check["summary"]}
    assert {(one["experiment"], one["code"]) for one in check["outcomes"] if one["status"] == "failed"} == {
        ("table-1", "CV201"),
        ("table-1", "CV501"),
        ("table-2", "CV102"),
    }
    reasons = {(one["code"], one["status"]): one["reason"] for one in check["outcomes"]}
    assert reasons["CV301", "not_applicable"] == "no AUC is claimed"


def test_a_fingerprint_outlives_a_moved_line_and_tells_findings_apart(project, cli, check):
    path = project / "cvaudit.yaml"
    path.write_text("# a comment\n\n" + path.read_text())
    moved = json.loads(cli("check", ".", "--format", "json", *RULES).out)
    prints = [one["fingerprint"] for one in check["findings"]]
    assert [one["fingerprint"] for one in moved["findings"]] == prints
    assert len(set(prints)) == len(prints)


def test_a_suppressed_finding_stays_and_says_why(project, cli):
    path = project / "cvaudit.yaml"
    path.write_text(path.read_text() + "suppress:\n  - {rule: f-avg, experiment: table-*, reason: agreed}\n")
    done = cli("check", ".", "--format", "json", "--select", "CV201")
    (finding,) = json.loads(done.out)["findings"]
    assert (finding["suppressed"], finding["reason"]) == (True, "agreed")
    assert done.code == 0


def test_report_has_the_contract_s_keys(report):
    assert list(report) == ["version", "experiments"]
    assert [one["name"] for one in report["experiments"]] == ["table-1", "table-2"]
    for one in report["experiments"]:
        assert list(one) == ["name", "evidence", "folds", "metrics", "claims", "findings"]
        assert one["evidence"] == "counts"
        assert [list(fold) for fold in one["folds"]] == [FOLD] * 4
        for metric in one["metrics"].values():
            assert list(metric) == METRIC + MORE["metric"]
            assert metric["recommended"] in metric["values"]
        assert [list(claim) for claim in one["claims"]] == [CLAIM + MORE["claim"]]
        assert all(list(finding) == FINDING + MORE["finding"] for finding in one["findings"])


@pytest.mark.parametrize(
    ("index", "metric", "recommended", "values"),
    [
        (0, "f1", "tp_fp", {"tp_fp": 7 / 12, "avg": 349 / 504, "pr_re": 0.7336178085461924}),
        (
            1,
            "f1",
            "tp_fp",
            {"tp_fp": 10 / 13, "avg": 2 / 3, "pr_re": 15 / 22, "avg_skip": 8 / 9, "pr_re_skip": 10 / 11},
        ),
        (0, "precision", "pooled", {"pooled": 14 / 33}),
        (1, "recall", "pooled", {"pooled": 10 / 16, "avg": 10 / 16}),
    ],
)
def test_the_papers_tables(report, index, metric, recommended, values):
    entry = report["experiments"][index]["metrics"][metric]
    assert entry["recommended"] == recommended
    assert {name: entry["values"][name] for name in values} == pytest.approx(values, abs=1e-9)


def test_claims_and_folds_of_the_papers_tables(report):
    first, second = report["experiments"]
    (claim,) = first["claims"]
    assert {key: claim[key] for key in ("metric", "printed", "verdict", "matches")} == {
        "metric": "f1", "printed": "0.69", "verdict": "unique", "matches": ["avg"],
    }  # fmt: skip
    assert claim["recommended"] == pytest.approx(7 / 12, abs=1e-9)
    assert claim["delta"] == pytest.approx(0.69 - 7 / 12, abs=1e-9)
    assert second["claims"][0]["matches"] == ["tp_fp"]
    assert {name: first["folds"][2][name] for name in FOLD} == pytest.approx(
        {
            "repeat": "0", "fold": "3", "n": 376, "positives": 4, "tp": 4, "fp": 13, "fn": 0, "tn": 359,
            "precision": 4 / 17, "recall": 1.0, "f1": 8 / 21, "auc": None,
        },
        abs=1e-9,
    )  # fmt: skip


def test_an_undefined_precision_is_null(report):
    fold = report["experiments"][1]["folds"][1]
    assert (fold["precision"], fold["recall"], fold["tp"]) == (None, 0.0, 0)
    assert report["experiments"][1]["metrics"]["precision"]["values"]["avg_skip"] == 1.0


def test_an_undefined_auc_is_null_never_zero(folder, cli):
    rows = ["1,1,0.9", "1,0,0.1", "2,1,0.8", "2,0,0.3", "3,0,0.2", "3,0,0.4"]
    (folder / "oof.csv").write_text("\n".join(["fold,y_true,y_score", *rows]) + "\n")
    (experiment,) = json.loads(cli("report", "oof.csv", "--positive", "1", "--format", "json").out)["experiments"]
    auc = experiment["metrics"]["auc"]
    assert auc["values"]["avg"] is None
    assert auc["undefined"]["avg"] == auc["undefined"]["auc"] == "fold 3 has no positives"
    assert [fold["auc"] for fold in experiment["folds"]] == [1.0, 1.0, None]
    assert auc["values"]["avg_skip"] == 1.0


def test_json_is_valid_for_any_name(folder, cli):
    name = 'é "quoted" \\ 漢字 [bold]'
    text = f"experiments:\n  - name: {json.dumps(name)}\n    table: |\n      fold,f1\n      1,0.5\n"
    (folder / "cvaudit.yaml").write_text(text, encoding="utf-8")
    assert json.loads(cli("report", ".", "--format", "json").out)["experiments"][0]["name"] == name
    assert name in cli("report", ".").out
