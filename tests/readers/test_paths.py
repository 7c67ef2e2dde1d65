"""Which files a log is, and which folds their paths tell."""

from __future__ import annotations

import gzip

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell, Location

ROWS = "y_true,y_pred\n0,1\n1,1\n"


def folds(log):
    return [cell.fold for cell in (log.predictions or log.scores).cells]


@pytest.mark.parametrize(
    "paths", [("runs/*/p.csv",), ("runs/**/p.csv",), ("runs",), ("runs/*",), ("runs/2/p.csv", "runs/10/p.csv")]
)
def test_the_fold_is_the_directory(read, paths):
    log = read({"runs/10/p.csv": ROWS, "runs/2/p.csv": ROWS}, paths=paths)
    assert folds(log) == ["2", "10"]
    assert [file[-10:] for file in log.files] == ["s/2/p.csv"[-10:].rjust(10, "n"), "s/10/p.csv"]
    assert log.predictions.cell.tolist() == [0, 0, 1, 1]


def test_the_fold_is_the_number_in_the_name(read):
    assert folds(read({"fold_0.csv": ROWS, "fold_1.csv": ROWS}, paths=("*.csv",))) == ["fold_0", "fold_1"]
    assert folds(read({"m5_f0.csv": ROWS, "m5_f1.csv": ROWS}, paths=("m5*.csv",))) == ["m5_f0", "m5_f1"]


@pytest.mark.parametrize("names", [("a.csv", "b.csv"), ("a0_b0.csv", "a1_b1.csv"), ("x/0/p.csv", "y/0/p.csv")])
def test_other_names_tell_no_fold(read, names):
    with pytest.raises(InputError, match="no fold column"):
        read(dict.fromkeys(names, ROWS))


def test_a_fold_column_comes_before_the_path(read):
    rows = "fold,y_true,y_pred\n{},0,1\n"
    assert folds(read({"fold_0.csv": rows.format("a"), "fold_1.csv": rows.format("b")})) == ["a", "b"]


def test_directory_and_file_can_be_named(read):
    files = {"s1/f0.csv": ROWS, "s1/f1.csv": ROWS, "s2/f0.csv": ROWS, "s2/f1.csv": ROWS}
    log = read(files, columns={"repeat": "directory", "fold": "file"})
    assert log.predictions.cells == (Cell("f0", "s1"), Cell("f1", "s1"), Cell("f0", "s2"), Cell("f1", "s2"))
    logs = read(files, by=("directory",), columns={"fold": "file"})
    assert list(logs) == [("s1",), ("s2",)]


def test_columns_may_be_in_another_order(read):
    log = read({"f0.csv": "y_true,y_pred\n0,1\n", "f1.csv": "y_pred,y_true\n0,1\n"})
    assert (log.predictions.truth.tolist(), log.predictions.predicted.tolist()) == ([0, 1], [1, 0])


def test_results_of_each_fold_in_a_json_object(read):
    log = read({"0/m.json": '{"auc": 0.50, "n": 9}', "1/m.json": '{"auc": null, "error": "one class"}'})
    assert (folds(log), log.scores.n) == (["0"], (9,))
    assert [(fold.cell.fold, fold.reason, fold.line) for fold in log.missing] == [("1", "one class", 1)]


def test_errors_name_the_file_and_its_line(read):
    with pytest.raises(InputError) as caught:
        read({"f0.csv": ROWS, "f1.csv": ROWS + ",1\n"})
    assert caught.value.path.endswith("f1.csv")
    assert caught.value.line == 4


def test_paths_below_the_working_directory_are_relative(read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read({"runs/log.csv": "fold,f1\n0,.5\n"}).files == ("runs/log.csv",)


def test_compressed(read):
    assert folds(read({"log.csv.gz": gzip.compress(b"fold,f1\n0,.5\n")})) == ["0"]


def test_inline_table(read):
    log = read({}, table="fold,f1\n0,.5\n", paths=(), location=Location("cvaudit.yaml", 3))
    assert (folds(log), log.files) == (["0"], ("cvaudit.yaml",))
