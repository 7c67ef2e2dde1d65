"""``cvaudit attribute`` and manifests for classes, repeats and several data sets."""

from __future__ import annotations

import json

import pytest

from pytest_cvaudit.cli import main

CLASSES = ("--supports", "a=50,b=30,c=20", "--folds", "10", "--stratified")
DATASETS = (
    "--dataset",
    "instances=100,positives=20,folds=5,stratified",
    "--dataset",
    "instances=50,positives=20,folds=5",
)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def document(run, *arguments):
    code, out, _ = run("attribute", *arguments, "--format", "json")
    return code, json.loads(out)


def test_classes(run):
    code, found = document(run, "macro_f1=0.71", "f1[a]=0.90", *CLASSES)
    assert (code, found["verdict"]) == (0, "ambiguous")
    assert found["claims"][1]["label"] == "a"
    assert found["claims"][0]["aggregations"]["tp_fp@train"] == "fits"
    folds = found["witness"]["folds"]
    assert [(fold["label"], fold["tp"] + fold["fn"]) for fold in folds] == [("a", 50), ("b", 30), ("c", 20)]
    first = folds[0]
    assert f"{2 * first['tp'] / (2 * first['tp'] + first['fp'] + first['fn']):.2f}" == "0.90"
    code, out, _ = run("attribute", "accuracy=0.955", *CLASSES)
    assert code == 1
    assert out.startswith("impossible")


def test_repeats(run):
    code, found = document(
        run, "f1=0.69", "--instances", 1504, "--positives", 15, "--folds", 4, "--stratified", "--repeats", 3
    )
    assert (code, found["verdict"]) == (0, "ambiguous")
    assert {"tp_fp", "tp_fp_all", "avg", "avg_all"} <= set(found["claims"][0]["aggregations"])
    assert [fold["repeat"] for fold in found["witness"]["folds"]] == [1] * 4 + [2] * 4 + [3] * 4


def test_data_sets(run):
    code, found = document(run, "accuracy=0.905", *DATASETS)
    assert code == 0
    assert [fold["dataset"] for fold in found["witness"]["folds"]] == [1] * 5 + [2] * 5
    code, out, _ = run("attribute", "accuracy=0.9033", *DATASETS)
    assert code == 1
    _, out, _ = run("attribute", "accuracy=0.905", *DATASETS)
    assert "dataset  tp" in out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--supports", "a=50,b", "--folds", "2"], "--supports: 'b' is not a class and its instances"),
        (["--supports", "a=50,a=3", "--folds", "2"], "--supports: 'a' is named twice"),
        (["--supports", "a=50,b=x", "--folds", "2"], "--supports: 'x' is not a positive whole number"),
        (["--supports", "a=50", "--folds", "2"], "supports need two classes at least"),
        (["--supports", "a=5,b=5"], "a design needs"),
        (["--supports", "a=5,b=5", "--folds", "2", "--positives", "5"], "--supports stands instead"),
        (["--supports", "a=5,b=5", "--folds", "2", "--repeats", "2"], "repeats of several classes"),
        (["--dataset", "instances=5"], "--dataset: 'instances=5' does not say all of a data set"),
        (["--dataset", "size=5"], "--dataset: 'size=5' is not understood"),
        ([*DATASETS, "--folds", "3"], "every --dataset has a design of its own: leave --folds out"),
        (["--instances", "9", "--positives", "3", "--folds", "2", "--repeats", "no"], "--repeats: 'no' is not"),
    ],
)
def test_a_mistake_is_one_line(run, arguments, line):
    code, out, err = run("attribute", "accuracy=0.9", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"cvaudit: {line}"), err


def test_a_manifest_says_the_same(run, tmp_path):
    (tmp_path / "cvaudit.yaml").write_text(
        "experiments:\n"
        "  - name: classes\n"
        "    supports: {a: 10, b: 10, c: 10}\n"
        "    folds: 5\n"
        "    stratified: true\n"
        "    claims: [accuracy = 0.900, macro_f1 = 0.967]\n"
        "  - name: sets\n"
        "    datasets:\n"
        "      - {instances: 100, positives: 20, folds: 5, stratified: true}\n"
        "      - {name: other, instances: 50, positives: 20, folds: 5}\n"
        "    claims: [accuracy = 0.9033]\n"
        "  - {name: repeats, instances: 100, positives: 20, folds: 5, repeats: 2, claims: [accuracy = 0.9033]}\n"
        "  - {name: possible, supports: {a: 9, b: 9}, folds: 1, claims: ['f1[a] = 0.50', {'recall[b]': 0.33}]}\n"
    )
    code, out, _ = run("check", "cvaudit.yaml", "--select", "CV509", "--format", "json")
    found = json.loads(out)["findings"]
    assert code == 1
    assert [(one["experiment"], one["code"]) for one in found] == [(n, "CV509") for n in ("classes", "sets", "repeats")]
    assert "'accuracy = 0.900' and 'macro_f1 = 0.967' cannot together come from classes of 10 a" in found[0]["message"]
    _, out, _ = run("report", "cvaudit.yaml", "--format", "json")
    claims = {one["name"]: one["claims"] for one in json.loads(out)["experiments"]}
    assert [claim["verdict"] for claim in claims["possible"]] == ["ambiguous", "unique"]


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (["supports: {a: 5}"], 3, "'supports' of experiment 'e' must not be empty"),
        (["supports: {a: 5, b: 0}"], 3, "must be at least 1, not 0"),
        (["supports: {a: 5, b: few}"], 3, "must be a whole number"),
        (["supports: {a: 5, b: 5}", "instances: 11"], 3, "'supports' add up to 10, not to the 11 of 'instances'"),
        (["positives: 5", "supports: {a: 5, b: 5}"], 4, "'supports' and 'positives' exclude each other"),
        (["log: x.csv", "supports: {a: 5, b: 5}"], 4, "'supports' and 'log' exclude each other"),
        (["datasets:", "  - {instances: 5, positives: 5, folds: 2}"], 4, "both classes must occur"),
        (["datasets:", "  - {instances: 5, positives: 2, folds: 6}"], 4, "cannot make 6 folds"),
        (["datasets:", "  - {instances: 5, positives: 2}"], 4, "has no 'folds'"),
        (["folds: 3", "datasets:", "  - {instances: 5, positives: 2, folds: 2}"], 4, "'datasets' and 'folds' exclude"),
    ],
)
def test_a_mistake_in_a_manifest_has_its_line(run, tmp_path, lines, line, message):
    text = "experiments:\n  - name: e\n" + "".join(f"    {one}\n" for one in lines)
    (tmp_path / "cvaudit.yaml").write_text(text)
    code, _, err = run("check", "cvaudit.yaml")
    assert code == 2
    assert err.startswith(f"cvaudit: cvaudit.yaml:{line}: ")
    assert message in err


def test_a_label_that_is_no_class(run):
    code, out, err = run("attribute", "f1[zz]=0.9", *CLASSES)
    assert (code, out) == (2, "")
    assert err == "cvaudit: claim: 'zz' is no class of --supports (it has a, b, c)\n"
    _, _, err = run("attribute", "f1[setoza]=0.9", "--supports", "setosa=50,virginica=50", "--folds", 10)
    assert err == "cvaudit: claim: 'setoza' is no class of --supports; did you mean 'setosa'?\n"


@pytest.mark.parametrize(
    ("claim", "by_supports"), [("auc=0.9", False), ("lfb_f1=0.9", False), ("macro_f1=0.9", True), ("f1[a]=0.9", True)]
)
def test_what_the_design_cannot_judge_is_no_matter_of_time(run, claim, by_supports):
    binary = ("--instances", 100, "--positives", 10, "--folds", 5)
    code, out, _ = run("attribute", claim, *binary)
    headline, needs = out.splitlines()[:2]
    assert code == 0
    assert headline.startswith("undecided: ")
    assert headline.endswith(" cannot be judged from the design alone; give the folds with --log")
    assert "time" not in out
    assert ("--supports" in needs, "--log" in needs) == (by_supports, True)
    _, found = document(run, claim, *binary)
    assert found["verdict"] == "undecided"
    assert found["claims"][0]["reason"].startswith("cannot be judged from the design; it needs ")


def report(run, tmp_path, *lines):
    text = "".join(f"    {line}\n" for line in lines)
    (tmp_path / "cvaudit.yaml").write_text(f"experiments:\n  - name: a\n{text}")
    _, out, _ = run("report", ".", "--format", "json")
    return json.loads(out)


DESIGN = ("instances: 10", "positives: 4", "folds: 1")


@pytest.mark.parametrize(
    ("lines", "verdicts", "blamed"),
    [
        (
            (*DESIGN, "claims: [recall = 0.35, precision = 0.50]"),
            ["unexplained", "ambiguous"],
            ["recall = 0.35"],
        ),
        (
            (*DESIGN, "claims: [precision = 0.50, recall = 0.35, specificity = 0.77]"),
            ["ambiguous", "unexplained", "unexplained"],
            ["recall = 0.35", "specificity = 0.77"],
        ),
        (
            ("instances: 100", "positives: 10", "folds: 5", "repeats: 3", "stratified: true",
             "claims: [recall = 0.3333, recall = 0.345]"),
            ["unique", "unexplained"],
            ["recall = 0.345"],
        ),
    ],
)  # fmt: skip
def test_only_claims_in_a_contradiction_are_unexplained(run, tmp_path, lines, verdicts, blamed):
    (found,) = report(run, tmp_path, *lines)["experiments"]
    assert [claim["verdict"] for claim in found["claims"]] == verdicts
    named = [finding["message"].split("'")[1] for finding in found["findings"] if finding["code"] == "CV509"]
    assert named == blamed
