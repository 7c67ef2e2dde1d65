"""Recordings of both kinds, in both encodings."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pytest_cvaudit.manifest import experiment_from_log


@pytest.fixture(params=["folder", "one file"])
def target(request, tmp_path):
    """Where a recording goes."""
    return tmp_path / ("svm" if request.param == "folder" else "svm.cvrec")


@pytest.fixture(params=["parquet", "numpy"])
def encoding(request, monkeypatch):
    """With and without pyarrow."""
    if request.param == "numpy":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    return request.param


def read(path):
    """Read a recording as the command line does."""
    (found,) = experiment_from_log(path)
    assert found.problem is None, found.problem
    return found


def folds(number=4, rows=30, seed=0, dtype=np.float64):
    """Folds of a binary problem: labels, predicted labels, and two columns of scores."""
    random = np.random.default_rng(seed)
    for fold in range(number):
        test = np.arange(fold * rows, (fold + 1) * rows)
        truth = (test % 3 == 0).astype(int)
        score = random.random(rows).astype(dtype)
        yield truth, (score > 0.5).astype(int), np.column_stack([1 - score, score]), test
