"""``cvaudit attribute`` and the same through a manifest without a log."""

from __future__ import annotations

import json

import pytest

from pytest_cvaudit.cli import main

TABLE_1 = ("--instances", "1504", "--positives", "15", "--folds", "4", "--stratified")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_the_document_has_the_contract_s_shape_and_a_witness_that_prints_the_claims(run):
    code, out, _ = run("attribute", "f1=0.69", "accuracy=98.7%", *TABLE_1, "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["verdict"] == "ambiguous"
    assert [(claim["metric"], claim["printed"]) for claim in found["claims"]] == [("f1", "0.69"), ("accuracy", "98.7%")]
    assert set(found["claims"][0]["aggregations"].values()) <= {"fits", "cannot", "undecided"}
    assert found["claims"][0]["aggregations"]["tp_fp"] == "cannot"
    folds = found["witness"]["folds"]
    assert [set(fold) for fold in folds] == [{"tp", "fp", "fn", "tn"}] * 4
    assert sum(fold["tp"] + fold["fn"] for fold in folds) == 15
    assert f"{sum(fold['tp'] + fold['tn'] for fold in folds) / 1504:.1%}" == "98.7%"


def test_impossible_claims_exit_1_and_name_the_contradiction(run):
    code, out, _ = run("attribute", "accuracy=0.99", "recall=0.13", *TABLE_1)
    assert code == 0  # with 15 positives in 1504, an accuracy of 0.99 says little about recall
    code, out, _ = run("attribute", "accuracy=0.9999", "recall=0.10", "f1=0.5", *TABLE_1)
    assert code == 1
    assert out.startswith("impossible: no table of folds prints these numbers\nalready impossible: ")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["f1=0.69", "--instances", "10"], "a design needs --instances, --positives and --folds"),
        (["f1=0.69", "--instances", "ten", "--positives", "1", "--folds", "2"], "--instances: 'ten' is not a positive"),
        (["f2x=0.69", *TABLE_1], "claim: unknown metric 'f2x'"),
        (["f1=0.69", *TABLE_1, "--seconds", "0"], "--seconds: '0' is not a number of seconds"),
        (["f1=0.69", "--instances", "5", "--positives", "9", "--folds", "2"], "9 positives of 5 instances"),
    ],
)
def test_a_mistake_is_one_line(run, arguments, line):
    code, out, err = run("attribute", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"cvaudit: {line}")


def test_a_manifest_without_a_log_is_judged_by_its_design(run, tmp_path):
    (tmp_path / "cvaudit.yaml").write_text(
        "experiments:\n"
        "  - {name: possible, instances: 1504, positives: 15, folds: 4, stratified: true, claims: [f1 = 0.6925]}\n"
        "  - {name: impossible, instances: 10, positives: 4, folds: 1, claims: [recall = 0.35]}\n"
    )
    code, out, _ = run("check", "cvaudit.yaml", "--select", "CV509,CV003", "--format", "json")
    document = json.loads(out)
    assert code == 1
    assert [(f["experiment"], f["code"]) for f in document["findings"]] == [("impossible", "CV509")]
    _, out, _ = run("report", "cvaudit.yaml", "--format", "json")
    claims = {one["name"]: one["claims"][0] for one in json.loads(out)["experiments"]}
    assert claims["possible"]["verdict"] == "ambiguous"
    assert "tp_fp" not in claims["possible"]["matches"]
    assert claims["impossible"]["verdict"] == "unexplained"
