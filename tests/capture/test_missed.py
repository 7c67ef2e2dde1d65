"""What is not captured is said, with the place in the user's code."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import StackingClassifier
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    _search,
    _validation,
    cross_val_predict,
    cross_val_score,
    learning_curve,
    permutation_test_score,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from pytest_cvaudit import capture

NEAR = KNeighborsClassifier()
REGRESSION = "no classes: it is a regression"
CURVE = "it tries many models or training sets, so its folds are not those of one result"


def grid(model, **options):
    return GridSearchCV(model, {"n_neighbors": [1, 3]}, cv=2, **options)


CASES = {
    "regression": (lambda X, y: cross_val_score(LinearRegression(), X, y), f"cross_val_score: {REGRESSION}"),
    "regression predicted": (
        lambda X, y: cross_val_predict(KNeighborsRegressor(), X, y),
        f"cross_val_predict: {REGRESSION}",
    ),
    "regression searched": (lambda X, y: grid(KNeighborsRegressor()).fit(X, y), f"GridSearchCV.fit: {REGRESSION}"),
    "a continuous y": (lambda X, y: cross_val_score(KMeans(2), X, X[:, 0] + 0.5), f"cross_val_score: {REGRESSION}"),
    "no y": (
        lambda X, y: cross_val_score(KMeans(2), X),
        "cross_val_score: there is no y, so there are no true labels",
    ),
    "no classes": (
        lambda X, y: cross_val_score(KMeans(4, random_state=0), X, y),
        "cross_val_score: no classes: what it predicts are not labels of y",
    ),
    "no best candidate": (
        lambda X, y: grid(NEAR, scoring=["f1", "accuracy"], refit=False).fit(X, y),
        "GridSearchCV.fit: the search names no best candidate (several measures and refit=False)",
    ),
    "a learning curve": (lambda X, y: learning_curve(NEAR, X, y, cv=3), f"learning_curve: {CURVE}"),
    "a permutation test": (
        lambda X, y: permutation_test_score(NEAR, X, y, cv=3, n_permutations=2),
        f"permutation_test_score: {CURVE}",
    ),
    "a loop": (
        lambda X, y: [NEAR.fit(X[a], y[a]).score(X[b], y[b]) for a, b in StratifiedKFold(3).split(X, y)],
        "StratifiedKFold.split: a loop of your own; record it with cvaudit.Recorder",
    ),
    "inside a stack": (
        lambda X, y: StackingClassifier([("near", NEAR)], LogisticRegression(max_iter=1000)).fit(X, y),
        "cross_val_predict: called by sklearn.ensemble._stacking, not by your code",
    ),
    "inside a selection": (
        lambda X, y: RFECV(DecisionTreeClassifier(), cv=3).fit(X, y),
        "StratifiedKFold.split: called by sklearn.feature_selection._rfe, not by your code",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_said(name, tmp_path, cancer):
    code, reason = CASES[name]
    with capture(tmp_path / "runs") as captured:
        code(*cancer)
    (line,) = captured.missed
    place, _, said = line.partition(": ")
    assert said == reason
    path, _, number = place.rpartition(":")
    assert path.endswith("test_missed.py")
    first = inspect.getsourcelines(code)[1]
    assert first <= int(number) < first + 5
    assert not captured.entries
    assert captured.summary()[-1] == f"not captured: {line}"


def test_splits_that_are_made_beforehand_are_captured(both, cancer):
    found = both(lambda: cross_val_score(NEAR, *cancer, cv=list(StratifiedKFold(4).split(*cancer))))
    assert found.experiment.protocol.folds == 4
    assert not found.missed


@pytest.mark.parametrize(("home", "name"), [(_validation, "_score"), (_search, "Parallel"), (_validation, "Parallel")])
def test_unknown_internals(home, name, tmp_path, monkeypatch):
    monkeypatch.delattr(home, name)
    with capture(tmp_path / "runs") as captured:
        pass
    assert f"has no '{name}' where this version expects it" in captured.summary()[1]


def test_with_unknown_internals_nothing_is_touched(tmp_path, cancer, monkeypatch):
    plain = cross_val_score(NEAR, *cancer)
    monkeypatch.delattr(_search, "Parallel")
    with capture(tmp_path / "runs") as captured:
        np.testing.assert_array_equal(cross_val_score(NEAR, *cancer), plain)
    assert not captured.entries


def test_tasks_that_are_called_in_an_unknown_way(tmp_path, cancer, monkeypatch):
    original = _validation._fit_and_score

    def _fit_and_score(*args, **keywords):
        return original(*args, **keywords)

    plain = cross_val_score(NEAR, *cancer)
    monkeypatch.setattr(_validation, "_fit_and_score", _fit_and_score)
    with capture(tmp_path / "runs") as captured:
        np.testing.assert_array_equal(cross_val_score(NEAR, *cancer), plain)
    assert next(iter(captured.missed)).endswith("cross_val_score: its tasks do not say 'train'")


def test_an_error_of_ours_is_not_an_error_of_the_script(tmp_path, cancer, monkeypatch):
    from pytest_cvaudit.capturing import session

    def broken(*_args):
        raise RuntimeError("broken")

    monkeypatch.delenv("CVAUDIT_DEBUG", raising=False)
    monkeypatch.setattr(session, "captured", broken)
    with capture(tmp_path / "runs") as captured:
        assert len(cross_val_score(NEAR, *cancer)) == 5
    assert "internal error (RuntimeError: broken)" in captured.summary()[1]
