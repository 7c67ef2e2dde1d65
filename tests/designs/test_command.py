"""`cvaudit bias`: its documents, its figure, and one line for every mistake."""

from __future__ import annotations

import json

import pytest

from pytest_cvaudit.cli import main

PAPER = ("bias", "--instances", "1000", "--positives", "10", "--folds", "10", "--f", "0.8")
FIELDS = {"expectation", "relative_bias", "sd", "method", "mc_error"}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "NO_COLOR", "CVAUDIT_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def command(*arguments):
        return main(arguments), *capsys.readouterr()

    return command


def test_json(run):
    code, out, err = run(*PAPER, "--format", "json")
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert list(document["aggregations"]) == ["tp_fp", "avg", "pr_re", "avg_skip", "pr_re_skip", "avg_one"]
    for name, one in document["aggregations"].items():
        assert set(one) == FIELDS
        simulated = name.startswith("pr_re")
        assert one["method"] == ("simulation" if simulated else "exact")
        assert (one["mc_error"] is not None) == simulated
    assert document["aggregations"]["avg"]["relative_bias"] == pytest.approx(-0.0635, abs=5e-5)
    assert document["empty_fold_risk"] == 0
    assert "empty_fold_risk_trials" not in document


def test_json_unstratified_with_trials(run):
    arguments = ("--unstratified", "--trials", "1000", "--format", "json", "--repeats-simulated", "1000", "--seed", "3")
    _, out, _ = run("bias", "--instances", "1000", "--positives", "80", "--folds", "10", "--f", "0.8", *arguments)
    document = json.loads(out)
    assert document["empty_fold_risk"] == pytest.approx(0.001506, abs=5e-7)
    assert document["empty_fold_risk_trials"] == pytest.approx(0.7784, abs=5e-5)
    assert {"avg_nan", "avg_weighted_positives"} <= set(document["aggregations"])
    assert "avg_weighted" not in document["aggregations"]  # the folds are of one size
    assert document["simulation"] == {"repeats": 1000, "seed": 3}


def test_text(run):
    code, out, err = run(*PAPER, "--trials", "5")
    assert (code, err) == (0, "")
    assert "for this design F_avg is expected 6.3 % below the truth" in out
    assert "simulated 100000 times, seed 0; the others are exact" in out
    assert "the chance that some fold has no positives is 0 in one trial and 0 in 5" in out
    (row,) = [line.split() for line in out.splitlines() if line.startswith("avg_skip")]
    assert row == ["avg_skip", "0.895872", "+11.984", "10.184", "exact"]


def test_output_goes_to_a_file(run, tmp_path):
    code, out, _ = run(*PAPER, "--format", "json", "--output", "made/bias.json")
    assert (code, out) == (0, "")
    assert set(json.loads((tmp_path / "made/bias.json").read_text())["aggregations"]["avg"]) == FIELDS


@pytest.mark.parametrize(
    ("given", "precision", "recall"),
    [
        (("--precision", "0.9", "--recall", "0.6"), 0.9, 0.6),
        (("--f", "0.72", "--precision", "0.9"), 0.9, 0.6),
        (("--f", "0.72", "--recall", "0.6"), 0.9, 0.6),
        (("--f", "0.72", "--recall", "0.6", "--precision", "0.9"), 0.9, 0.6),
        (("--f", "1"), 1.0, 1.0),
    ],
    ids=str,
)
def test_the_classifier_can_be_said_in_several_ways(run, given, precision, recall):
    design = ("bias", "--instances", "100", "--positives", "20", "--folds", "4", "--repeats-simulated", "100")
    code, out, _ = run(*design, *given, "--format", "json")
    document = json.loads(out)
    assert code == 0
    assert document["classifier"]["precision"] == pytest.approx(precision)
    assert document["classifier"]["recall"] == pytest.approx(recall)


GOOD = {"--instances": "1000", "--positives": "10", "--folds": "10", "--f": "0.8"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"--positives": "1001"}, "1001 positives are more than the 1000 instances"),
        ({"--positives": "0"}, "at least 1 positive"),
        ({"--folds": "1"}, "at least 2 folds"),
        ({"--folds": "1001"}, "1000 instances cannot be split into 1001 folds"),
        ({"--instances": "-5"}, "--instances: '-5' is not a whole number"),
        ({"--instances": "1e3"}, "--instances: '1e3' is not a whole number"),
        ({"--instances": "10000000000"}, "at most 999999999 instances"),
        ({"--instances": None}, "a design needs --instances, --positives and --folds"),
        ({"--f": "0"}, "--f: '0' is not a number above 0 and at most 1"),
        ({"--f": "1.2"}, "--f: '1.2' is not"),
        ({"--f": "nan"}, "--f: 'nan' is not"),
        ({"--f": "much"}, "--f: 'much' is not"),
        ({"--f": None}, "a classifier needs --f, or --precision and --recall"),
        ({"--f": None, "--recall": "0.5"}, "a classifier needs --f, or --precision and --recall"),
        ({"--precision": "0.4"}, "--precision: no classifier with precision 0.4 has an F1 of 0.8"),
        ({"--precision": "0.9", "--recall": "0.9"}, "make F1 0.9000, not 0.8"),
        ({"--f": None, "--precision": "0.001", "--recall": "1"}, "9990.0 false positives, but there are only 990 neg"),
        ({"--positives": "1000"}, "but there are only 0 negatives"),
        ({"--trials": "0"}, "--trials: '0' is not a whole number of 1 or more"),
        ({"--seed": "x"}, "--seed: 'x' is not a whole number"),
        ({"--repeats-simulated": "5"}, "--repeats-simulated: '5' is not a whole number of 100 or more"),
        ({"--format": "xml"}, "unknown format 'xml'"),
        ({"--figure": "bias.gif"}, "bias.gif: a figure is one of .png, .svg, .pdf"),
    ],
    ids=str,
)
def test_a_mistake_is_told_in_one_line(run, change, says):
    arguments = [part for name, value in {**GOOD, **change}.items() if value for part in (f"{name}={value}",)]
    code, out, err = run("bias", *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert says in err


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_figure(run, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    code, _, err = run(*PAPER, "--repeats-simulated", "200", "--figure", f"bias.{suffix}")
    assert (code, err) == (0, "")
    start = (tmp_path / f"bias.{suffix}").read_bytes()[:60]
    assert {"png": b"PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix] in start


def test_figure_of_an_unusual_design(run, tmp_path):
    pytest.importorskip("matplotlib")
    rates = ("--precision", "0.3", "--recall", "0.95", "--unstratified", "--repeats-simulated", "200")
    code, _, _ = run(
        "bias", "--instances", "7", "--positives", "2", "--folds", "3", *rates, "--figure", "made/small.svg"
    )
    assert code == 0
    assert (tmp_path / "made/small.svg").stat().st_size > 1000


def test_without_matplotlib_there_is_a_hint(run, monkeypatch):
    monkeypatch.setattr("pytest_cvaudit.reporters.bias_figure.find_spec", lambda _: None)
    code, out, err = run(*PAPER, "--figure", "bias.png")
    assert (code, out) == (2, "")
    assert err == "cvaudit: bias.png: a figure needs matplotlib: pip install 'pytest-cvaudit[figures]'\n"


def test_a_figure_that_cannot_be_written(run, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    code, _, err = run(*PAPER, "--repeats-simulated", "100", "--figure", "file/bias.png")
    assert code == 2
    assert "cannot write" in err
    assert len(err.splitlines()) == 1
