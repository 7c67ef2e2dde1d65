"""Capture changes no result: bit for bit, for every kind of splitting, scoring and running."""

from __future__ import annotations

import copy
import pickle
import random
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

LINEAR = make_pipeline(StandardScaler(), LogisticRegression())
GROUPS = np.arange(200) % 7
SPLITTERS = {
    "number": 4,
    "k-fold": KFold(4, shuffle=True, random_state=1),
    "stratified": StratifiedKFold(4, shuffle=True, random_state=np.random.RandomState(3)),
    "repeated": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    "random splits": ShuffleSplit(3, random_state=0),
    "groups": GroupKFold(3),
    "one group out": LeaveOneGroupOut(),
    "time": TimeSeriesSplit(3),
    "predefined": PredefinedSplit(np.arange(200) % 3),
}


def by_hand(estimator, X, y):
    answer = estimator.predict_proba(X)
    answer *= 0
    return float(estimator.score(X, y))


def several(estimator, X, y):
    predicted = estimator.predict(np.array(X))
    return {"right": (predicted == y).mean(), "f": f1_score(y, predicted)}


SCORINGS = {
    "default": None,
    "accuracy": "accuracy",
    "auc": "roc_auc",
    "loss": "neg_log_loss",
    "list": ["f1", "roc_auc", "neg_brier_score"],
    "dict": {"mine": make_scorer(f1_score, pos_label=0), "auc": "average_precision"},
    "probabilities": make_scorer(lambda y, p: float(p.mean()), response_method="predict_proba"),
    "callable": by_hand,
    "callable with many": several,
}


def without_times(found):
    return {key: value for key, value in found.items() if not key.endswith("_time")}


@pytest.mark.parametrize("name", SPLITTERS)
def test_every_splitter(name, both, cancer):
    def code():
        # A RandomState is used up by splitting, so each turn gets its own.
        cv = copy.deepcopy(SPLITTERS[name])
        return cross_val_score(LINEAR, *cancer, cv=cv, groups=GROUPS if "group" in name else None)

    found = both(code)
    np.testing.assert_array_equal(found.plain, found.result)
    assert len(found.experiment.cells) == len(found.plain)
    assert not found.missed


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", SCORINGS)
def test_every_scoring(name, jobs, both, cancer):
    found = both(
        lambda: cross_validate(LINEAR, *cancer, cv=3, scoring=SCORINGS[name], n_jobs=jobs, return_train_score=True)
    )
    assert found.plain.keys() == found.result.keys()
    for key, value in without_times(found.plain).items():
        np.testing.assert_array_equal(value, found.result[key])
    assert len(found.experiment.cells) == 3


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_other_backends(backend, both, cancer):
    from joblib import parallel_config

    def code():
        with parallel_config(backend=backend, n_jobs=2):
            return cross_val_score(LINEAR, *cancer, cv=4)

    found = both(code)
    np.testing.assert_array_equal(found.plain, found.result)
    assert len(found.experiment.cells) == 4


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_cross_val_predict(method, jobs, both, wine):
    X, y = wine[0], np.array(["c", "a", "b"])[wine[1]]
    found = both(lambda: cross_val_predict(LINEAR, X, y, method=method, n_jobs=jobs))
    np.testing.assert_array_equal(found.plain, found.result)
    assert set(found.experiment.predictions.labels) == {"a", "b", "c"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_searches(jobs, both, cancer):
    space = {"logisticregression__C": [0.01, 1.0, 100.0]}
    found = both(lambda: GridSearchCV(LINEAR, space, cv=3, n_jobs=jobs).fit(*cancer))
    _same_search(found.plain, found.result)
    found = both(
        lambda: RandomizedSearchCV(LINEAR, space, n_iter=2, cv=3, n_jobs=jobs, random_state=0, scoring="f1").fit(
            *cancer
        )
    )
    _same_search(found.plain, found.result)


def _same_search(plain, result):
    assert plain.best_params_ == result.best_params_
    for key, value in plain.cv_results_.items():
        if "time" not in key:
            np.testing.assert_array_equal(value, result.cv_results_[key])


@pytest.mark.parametrize("scoring", [None, "accuracy", several])
def test_no_random_number_is_used_up(scoring, both, cancer):
    model = DummyClassifier(strategy="stratified")

    def code():
        random.seed(0)
        scores = cross_validate(model, *cancer, cv=3, scoring=scoring, return_train_score=True)
        return [*without_times(scores).values(), np.random.random(), random.random()]

    found = both(code)
    np.testing.assert_equal(found.plain, found.result)


def test_an_estimator_with_its_own_random_state(both, cancer):
    model = DummyClassifier(strategy="uniform", random_state=np.random.RandomState(0))
    score = lambda: cross_validate(model, *cancer, cv=3, scoring=several, return_train_score=True)  # noqa: E731
    found = both(lambda: without_times(score()))
    np.testing.assert_equal(found.plain, found.result)


def test_returned_estimators_are_as_they_were(both, cancer):
    found = both(lambda: cross_validate(LINEAR, *cancer, cv=2, return_estimator=True)["estimator"])
    for plain, result in zip(found.plain, found.result, strict=True):
        assert vars(plain).keys() == vars(result).keys()
        assert vars(plain[-1]).keys() == vars(result[-1]).keys()


def test_an_estimator_can_be_copied_while_it_is_scored(both, cancer):
    def scorer(estimator, X, y):
        there = pickle.loads(pickle.dumps(estimator))
        return (copy.deepcopy(there).predict(X) == y).mean()

    found = both(lambda: cross_val_score(SVC(), *cancer, cv=2, scoring=scorer))
    np.testing.assert_array_equal(found.plain, found.result)
    assert len(found.experiment.cells) == 2


class Fussy(ClassifierMixin, BaseEstimator):
    """Cannot be fitted where the first training instance is odd, and warns when it predicts."""

    def fit(self, X, y):
        if X[0, 0] < 15:
            raise ValueError("an odd beginning")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        warnings.warn("guessing", UserWarning, stacklevel=1)
        return np.full(len(X), self.classes_[-1])


def test_warnings_and_failing_folds(both, cancer):
    X, y = cancer
    X = X.copy()
    X[:, 0], X[0, 0] = 20, 10

    def code():
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            scores = cross_val_score(Fussy(), X, y, cv=KFold(4), error_score=np.nan)
        return scores, [(one.category, str(one.message).split("File")[0]) for one in seen]

    found = both(code)
    np.testing.assert_array_equal(found.plain[0], found.result[0])
    assert found.plain[1] == found.result[1]
    assert any(category is FitFailedWarning for category, _ in found.plain[1])
    missing = {one.cell.fold: one.reason for one in found.experiment.missing}
    assert list(missing) == ["1", "2", "3"]
    assert missing["1"] == "fit failed: ValueError: an odd beginning"
    assert [cell.fold for cell in found.experiment.cells] == ["0"]


def test_exceptions_pass_through(tmp_path, cancer):
    from pytest_cvaudit import capture

    with capture(tmp_path) as captured, pytest.raises(ValueError, match="an odd beginning"):
        cross_val_score(Fussy(), cancer[0] * 0, cancer[1], cv=3, error_score="raise")
    assert [line.rpartition(": ")[2] for line in captured.missed] == ["it raised ValueError"]
    assert not (tmp_path / "cvaudit.yaml").exists()


def test_scikit_learn_is_left_as_it_was(tmp_path, cancer):
    from sklearn.model_selection import _search, _split, _validation

    from pytest_cvaudit import capture

    def state():
        splits = [
            vars(kind)["split"] for kind in vars(_split).values() if isinstance(kind, type) and "split" in vars(kind)
        ]
        return [_validation.Parallel, _search.Parallel, _validation._score, _search.BaseSearchCV.fit, *splits]

    before = state()
    with capture(tmp_path), capture(tmp_path / "inner"):
        cross_val_score(KNeighborsClassifier(), *cancer, cv=2)
    assert state() == before


def test_forests_of_many_labels(both, multilabel):
    model = RandomForestClassifier(5, random_state=0)
    found = both(lambda: cross_val_score(model, *multilabel, cv=3, scoring="f1_macro", n_jobs=2))
    np.testing.assert_array_equal(found.plain, found.result)
    rows = found.experiment.predictions
    np.testing.assert_array_equal(rows.gold, multilabel[1])
    assert rows.predicted_sets.shape == multilabel[1].shape
