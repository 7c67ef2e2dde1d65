"""Fold logs that others made, read as they are."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Protocol
from pytest_cvaudit.readers import LogSpec, read_log


@pytest.fixture
def read_real(real_logs):
    def run(*paths, **options):
        return read_log(LogSpec(paths=paths, base=real_logs, **options), Protocol())

    return run


def test_panrarewsi_predictions(read_real):
    logs = read_real("panrarewsi/oof_predictions.csv", by=("cohort", "biomarker"))
    assert len(logs) == 33
    dlbc = logs["DLBC", "TP53"].predictions
    assert (len(dlbc.cells), len(dlbc.truth), list(dlbc.scores)) == (3, 27, ["1"])
    with pytest.raises(InputError, match="by: "):
        read_real("panrarewsi/oof_predictions.csv")


def test_panrarewsi_folds_inside_a_list_of_cells(read_real):
    logs = read_real("panrarewsi/phase4_benchmark.json", by=("cohort", "biomarker"))
    assert sum(bool(log.missing) for log in logs.values()) == 6
    assert {fold.reason for log in logs.values() for fold in log.missing} == {"single_class"}


def test_automlbenchmark_results(read_real):
    logs = read_real("automlbenchmark/all_results.csv", by=("framework", "task"))
    assert len(logs) == 28
    failed = [fold for log in logs.values() for fold in log.missing]
    assert failed
    assert all(fold.reason and fold.line for fold in failed)
    with pytest.raises(InputError, match=r"by: \[framework, task\]"):
        read_real("automlbenchmark/all_results.csv")


@pytest.mark.parametrize("path", ["automlbenchmark/iris_h2o/*/predictions.csv", "automlbenchmark/iris_h2o"])
def test_automlbenchmark_predictions(read_real, path):
    p = read_real(path)[()].predictions
    assert [cell.fold for cell in p.cells] == [str(i) for i in range(10)]
    assert (len(p.truth), set(p.scores)) == (150, set(p.labels))


def test_pads(read_real):
    logs = read_real("pads-parkinson/per_fold_metrics.csv", by=("model",))
    assert set(logs) == {("LR",), ("RF",), ("CNN",)}
    scores = logs["LR",].scores
    assert set(scores.values) == {"balanced_accuracy", "auc", "recall", "specificity"}
    assert str(scores.values["recall"][2]) == "0.574380"
    assert scores.n[0] == 1562


def test_plm(read_real):
    logs = read_real("plm-secondary/cross_validation_results.csv", by=("model", "task"))
    assert len(logs) == 12
    assert [cell.fold for cell in logs["p2s", "localization"].scores.cells] == ["0", "1", "2", "3", "4"]
    assert logs["p2s", "fluorescence"].scores is None


@pytest.mark.parametrize(("run", "cells", "rows"), [(1, 100, 2050), (219, 10, 625), (222, 10, 3125)])
def test_openml(read_real, run, cells, rows):
    p = read_real(f"openml/run_{run}/predictions.arff")[()].predictions
    assert (len(p.cells), len(p.truth)) == (cells, rows)
    assert set(p.scores) == set(p.labels)
    if run == 1:
        assert p.labels == ("-3", "-2", "-1", "0", "1", "2", "3")
        assert "-3" not in np.array(p.labels)[np.unique(p.truth)]


def test_wine(read_real):
    path, columns = "wine/gridsearch_results.csv", {"metric": "accuracy"}
    assert len(read_real(path, columns=columns, by=("param_max_depth", "param_n_estimators"))) == 12
    params = "{'max_depth': None, 'n_estimators': 100}"
    scores = read_real(path, columns=columns, select={"params": params})[()].scores
    assert [str(value) for value in scores.values["accuracy"]][:2] == ["1.0", "1.0"]
    with pytest.raises(InputError, match=r"columns: \{metric: accuracy\}"):
        read_real(path)
    assert list(read_real(path, columns=columns))[5] == ("{'max_depth': 10, 'n_estimators': 100}",)


def test_weka(read_real):
    logs = read_real("weka/results.arff", columns={"fold": "Key_Run"}, by=("Key_Dataset", "Key_Scheme"))
    assert len(logs) == 6
    assert all(len(log.counts.cells) == 10 for log in logs.values())
