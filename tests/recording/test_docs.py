"""The code in docs/recorder.md works as written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pytest_cvaudit as cvaudit

DOCS = Path(__file__).parents[2] / "docs" / "recorder.md"


def test_the_examples_run(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_iris
    from sklearn.model_selection import StratifiedKFold, cross_validate
    from sklearn.naive_bayes import GaussianNB

    monkeypatch.chdir(tmp_path)
    recorded, instead, memory = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:] - 1
    model, cv = GaussianNB(), StratifiedKFold(10)
    names = {"X": X, "y": y, "model": model, "cv": cv, "cvaudit": cvaudit}
    exec(recorded, names)
    assert len(names["rec"].experiment().cells) == 10 and not names["rec"].experiment().missing
    with pytest.raises(cvaudit.InputError, match="holds a finished recording with 10 folds"):
        exec(instead, names)
    exec(instead.replace('"runs/svm"', '"runs/again"'), names)
    assert names["found"].experiment.predictions is not None

    fold = np.arange(100) % 10
    frame = pd.DataFrame({"fold": fold, "outcome": y, "y_pred": y, "score": y * 0.6 + 0.1, "model": "svm"})
    results = cross_validate(model, X, y, cv=cv, scoring="f1", return_estimator=True, return_indices=True)
    names |= {"y_true": y, "y_pred": y, "y_score": y * 0.6, "fold": fold, "repeat": fold * 0, "ids": np.arange(100)}
    names |= {"frame": frame, "results": results, "experiment": names["rec"].experiment()}
    exec(memory.replace('by=["model"]', 'columns={"truth": "outcome"}, by=["model"]'), names)
