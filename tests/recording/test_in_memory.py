"""Experiments from arrays, tables and scikit-learn's results are those that the same log in a file gives."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import pytest_cvaudit as cvaudit
from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Evidence
from pytest_cvaudit.reporters import render

RANDOM = np.random.default_rng(5)
ROWS = 200
FOLD = np.repeat(np.arange(5), ROWS // 5)
TRUTH = RANDOM.integers(0, 2, ROWS)
SCORE = np.clip(TRUTH * 0.3 + RANDOM.random(ROWS) * 0.7, 0, 1)
FRAME = pd.DataFrame(
    {"fold": FOLD, "y_true": TRUTH, "y_pred": (SCORE > 0.5) * 1, "score": SCORE, "id": np.arange(ROWS)}
)


def report(experiment):
    """Everything that a report says of an experiment, but for its name and place."""
    document = json.loads(render(cvaudit.audit([experiment]), "report", "json"))["experiments"][0]
    for finding in document["findings"]:
        del finding["location"], finding["fingerprint"], finding["experiment"]
    return {key: value for key, value in document.items() if key != "name"}


@pytest.fixture
def from_file(tmp_path):
    FRAME.to_csv(tmp_path / "log.csv", index=False, float_format="%.17g")
    (found,) = experiment_from_log(tmp_path / "log.csv", claims=["f1 = 0.70", "auc = 0.9"])
    return report(found)


def test_arrays_tables_and_a_file_give_the_same_report(from_file):
    claims = ["f1 = 0.70", ("auc", 0.9)]
    arrays = cvaudit.Experiment.from_arrays(
        FRAME["y_true"], FRAME["y_pred"], FRAME["score"], FRAME["fold"], ids=FRAME["id"], claims=claims
    )
    shuffled = FRAME.sample(frac=1, random_state=0)
    again = cvaudit.Experiment.from_arrays(
        *(shuffled[n] for n in ("y_true", "y_pred", "score", "fold")), claims=claims, ids=shuffled["id"].astype(str)
    )
    table = cvaudit.Experiment.from_table(FRAME, claims=claims)
    assert arrays.evidence is Evidence.PREDICTIONS
    for experiment in (arrays, again, table):
        assert report(experiment) == from_file


def _arrow():
    return pytest.importorskip("pyarrow").Table.from_pandas(FRAME)


def _polars():
    return pytest.importorskip("polars", reason="polars is not installed").DataFrame(FRAME.to_dict("list"))


class OnlyToPandas:
    """A table of some other library."""

    def to_pandas(self):
        return FRAME


@pytest.mark.parametrize("make", [_arrow, _polars, OnlyToPandas, lambda: FRAME.to_dict("list")])
def test_tables_of_other_libraries(from_file, make):
    assert report(cvaudit.Experiment.from_table(make(), claims=["f1 = 0.70", "auc = 0.9"])) == from_file


def test_a_table_of_several_experiments():
    frame = pd.concat([FRAME.assign(model="svm"), FRAME.assign(model="knn", y_pred=0)])
    svm, knn = cvaudit.Experiment.from_table(frame, by=["model"], name="both", claims={"knn": ["f1 = 0.00"]}, folds=5)
    assert (svm.name, knn.name) == ("both/svm", "both/knn")
    assert [len(one.claims) for one in (svm, knn)] == [0, 1]
    assert svm.protocol.folds == 5
    one = cvaudit.Experiment.from_table(frame, select={"model": "svm"}, columns={"truth": "y_true"}, folds=5)
    assert report(one) == report(svm)


def test_tables_with_label_sets_repeats_and_counts():
    frame = pd.DataFrame({"fold": [0, 0, 1], "y_true": [["a"], ["a", "b"], []], "y_pred": [["a"], ["b"], ["a"]]})
    rows = cvaudit.Experiment.from_table(frame).predictions
    assert rows.gold.tolist() == [[1, 0], [1, 1], [0, 0]]
    arrow = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    assert cvaudit.Experiment.from_table(arrow).predictions.gold.tolist() == rows.gold.tolist()
    counts = pd.DataFrame({"fold": [0, 1], "tp": [3, 4], "fp": [1, 0], "fn": [1, 1], "tn": [9, 8]})
    assert cvaudit.Experiment.from_table(counts).evidence is Evidence.COUNTS


def test_repeats_and_classes_in_arrays():
    classes, truth = ["lo", "mid", "hi"], np.tile(["lo", "mid", "hi"], 4)
    found = cvaudit.Experiment.from_arrays(
        truth, truth, np.tile(np.eye(3), (4, 1)), [0] * 3 + [1] * 3 + [0] * 3 + [1] * 3,
        repeat=["r1"] * 6 + ["r2"] * 6, classes=classes, positive="hi", claims={"auc": "1.00"},
    )  # fmt: skip
    assert [(cell.repeat, cell.fold) for cell in found.cells] == [("r1", "0"), ("r1", "1"), ("r2", "0"), ("r2", "1")]
    assert found.predictions.scores["hi"].tolist() == [0, 0, 1] * 4
    assert found.protocol.positive == "hi"


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda e: e.from_arrays([1, 0], [1, 0]), "fold is missing: give the fold of each row"),
        (lambda e: e.from_arrays([1, 0], [1, 0], None, [0]), "fold must have one name per row; it has 1 and y_true 2"),
        (lambda e: e.from_arrays([1, 0], [1, 0], None, [0, 0], folds=0), "protocol entry 'folds' must be "),
        (lambda e: e.from_arrays([1, 0], None, [1, 0], [0, 0], positive=7), "positive label '7' never occurs; "),
        (lambda e: e.from_table([1, 2]), "a list is no table; pass a pandas, polars or arrow table"),
        (lambda e: e.from_table(pd.DataFrame([[1, 2]], columns=["a", "a"])), "the table has two columns called 'a'"),
        (lambda e: e.from_table(FRAME.drop(columns="fold")), "no fold column; say which it is with columns: {fold: N"),
        (lambda e: e.from_table(FRAME, by=["fold"], claims=["f1 = 1"]), "with by=…, claims must say which part"),
        (lambda e: e.from_cross_validate({"a": 1}), "no result of cross_validate: it has a"),
        (lambda e: e.from_cross_validate({"test_score": [0.5]}), "'test_score' does not say of what"),
    ],
)  # fmt: skip
def test_mistakes_are_one_clear_line(call, line):
    with pytest.raises(cvaudit.InputError) as caught:
        call(cvaudit.Experiment)
    assert caught.value.message.startswith(line)


def test_a_refused_table_names_the_row():
    frame = FRAME.assign(score=SCORE.astype(object))
    frame.loc[3, "score"] = "high"
    with pytest.raises(cvaudit.InputError, match=r"<memory>:4: 'high' in column 'score' is not a number"):
        cvaudit.Experiment.from_table(frame)
