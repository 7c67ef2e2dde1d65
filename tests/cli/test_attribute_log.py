"""``cvaudit attribute --log``: fold values, counts and predictions answer alike."""

from __future__ import annotations

import json

import pytest

from pytest_cvaudit.cli import main
from tests.forensics.test_scores import TABLE_1, of_table

SIZES = ["376,3", "376,4", "376,4", "376,4"]


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = main(["attribute", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def logs(tmp_path):
    """Table 1 of the paper as three decimals without and with sizes, as counts, and as predictions."""
    printed, _ = of_table(TABLE_1, ("precision", "recall", "f1"), 3)
    rows = [",".join([str(at), *fold.values()]) for at, fold in enumerate(printed, 1)]
    header = "fold,precision,recall,f1"
    (tmp_path / "values.csv").write_text("\n".join([header, *rows]))
    sized = [f"{row},{size}" for row, size in zip(rows, SIZES, strict=True)]
    (tmp_path / "sized.csv").write_text("\n".join([f"{header},n,positives", *sized]))
    counts = [",".join(map(str, (at, *fold))) for at, fold in enumerate(TABLE_1, 1)]
    (tmp_path / "counts.csv").write_text("\n".join(["fold,tp,fp,fn,tn", *counts]))
    kinds = ("1,1", "0,1", "1,0", "0,0")
    instances = [
        f"{at},{kind}"
        for at, fold in enumerate(TABLE_1, 1)
        for kind, number in zip(kinds, fold, strict=True)
        for _ in range(number)
    ]
    (tmp_path / "predictions.csv").write_text("\n".join(["fold,y_true,y_pred", *instances]))
    return tmp_path


@pytest.mark.parametrize("log", ["sized.csv", "counts.csv", "predictions.csv"])
def test_every_level_of_evidence_gives_the_same_answer(run, logs, log):
    code, out, _ = run("f1=0.69", "accuracy=98.7%", "--log", log, "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert {"verdict", "claims", "witness", "seconds"} <= set(found)
    answers = found["claims"][0]["aggregations"]
    assert (answers["tp_fp"], answers["avg"], answers["pr_re"]) == ("cannot", "fits", "cannot")
    assert found["claims"][1]["aggregations"]["pooled"] == "fits"
    assert [tuple(fold.values()) for fold in found["witness"]["folds"]] == list(TABLE_1)
    assert ("counts rebuilt from the printed fold values" in found["notes"]) == (log == "sized.csv")


def test_declared_totals_do_for_sizes_that_are_not_logged(run, logs):
    totals = ("--instances", "1504", "--positives", "15", "--stratified")
    code, out, _ = run("f1=0.58", "--log", "values.csv", *totals)
    assert code == 0
    assert out.startswith("unique: ")
    assert "f1 = 0.58  tp_fp                   fits" in out
    code, out, _ = run("f1=0.58", "--log", "values.csv")
    assert code == 0
    assert out.startswith("undecided: ")
    assert "counts cannot be told: " in out


def test_impossible_claims_and_folds_are_named(run, logs):
    code, out, _ = run("f1=0.64", "recall=0.94", "--log", "sized.csv")
    assert code == 1
    assert "already impossible: f1 = 0.64\n" in out
    text = (logs / "sized.csv").read_text()
    (logs / "sized.csv").write_text(text.replace("0.375,0.750,0.500", "0.375,0.750,0.612"))
    code, out, _ = run("f1=0.69", "--log", "sized.csv")
    assert code == 1
    assert (
        "no table of counts prints the values of fold 4 at sized.csv:5 (precision 0.375, recall 0.750, f1 0.612)" in out
    )


def test_a_fold_without_a_value_leaves_means_over_all_folds_open(run, tmp_path):
    (tmp_path / "log.csv").write_text("fold,f1,n,positives\n1,0.50,10,4\n2,0.67,10,4\n3,,10,4\n")
    code, out, _ = run("f1=0.585", "--log", "log.csv", "--format", "json")
    answers = json.loads(out)["claims"][0]["aggregations"]
    assert code == 0
    assert (answers["avg_skip"], answers["tp_fp"]) == ("fits", "undecided")
    assert "cannot" not in answers.values()


@pytest.mark.parametrize(
    ("content", "arguments", "line"),
    [
        (None, (), "no file matches 'log.csv'"),
        ("fold,f1\n1,\n2,\n", (), "log.csv: no"),
        ("fold,f1\n", (), "log.csv: "),
        ("fold,colour\n1,red\n", (), "nothing in it can be audited"),
        ("fold,f1\n1,0.5\n", ("--instances", "5", "--positives", "9"), "9 positives of 5 instances"),
        ("fold,f1\n1,0.5\n", ("--folds", "two"), "--folds: 'two' is not a positive whole number"),
        ("fold,f1\n1,0.5\n", ("--repeats", "2"), "--repeats: a log tells this by itself"),
        ("fold,f1\n1,0.5\n", ("--seconds", "0"), "--seconds: '0' is not a number of seconds"),
    ],
)
def test_a_mistake_is_one_line(run, tmp_path, content, arguments, line):
    if content is not None:
        (tmp_path / "log.csv").write_text(content)
    code, out, err = run("f1=0.5", "--log", "log.csv", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert line in err


def test_columns_and_rows_of_a_log_can_be_chosen(run, tmp_path):
    rows = ["svm,1,0.75,4,8", "svm,2,0.50,4,8", "knn,1,0.25,4,8", "knn,2,0.25,4,8"]
    (tmp_path / "both.csv").write_text("\n".join(["model,k,sensitivity,ill,size", *rows]))
    chosen = ("--column", "fold=k", "--column", "positives=ill", "--column", "n=size")
    code, out, _ = run("recall=0.62", "--log", "both.csv", *chosen, "--select", "model=svm", "--format", "json")
    assert code == 0
    assert json.loads(out)["claims"][0]["aggregations"]["avg"] == "fits"
    code, out, _ = run("recall=0.62", "--log", "both.csv", *chosen, "--select", "model=knn", "--format", "json")
    assert (code, json.loads(out)["verdict"]) == (1, "impossible")
    code, _, err = run("recall=0.62", "--log", "both.csv", *chosen, "--by", "model")
    assert code == 2
    assert "both/svm, both/knn" in err
    assert "--select" in err


@pytest.mark.parametrize(
    "option", [("--column", "fold"), ("--select", "=svm"), ("--column", "fold=a", "--column", "fold=b")]
)
def test_a_choice_that_is_not_understood_is_one_line(run, logs, option):
    code, out, err = run("f1=0.69", "--log", "sized.csv", *option)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert option[0] in err


def test_choices_need_a_log(run):
    code, _, err = run("f1=0.69", "--instances", 10, "--positives", 3, "--folds", 2, "--select", "model=svm")
    assert code == 2
    assert "--log" in err


def test_a_broken_fold_is_named_with_its_line(run, tmp_path):
    (tmp_path / "scores.csv").write_text("fold,precision,recall,f1\n1,0.9,0.8,0.85\n2,0.9,0.8,0.5\n")
    code, out, _ = run("f1=0.68", "--log", "scores.csv", "--format", "json")
    assert code == 1
    assert "fold 2 at scores.csv:3 (precision 0.9" in json.loads(out)["notes"][0]
