"""What is recorded is what was predicted: computed here once more, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    RepeatedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pytest_cvaudit import audit
from pytest_cvaudit.capturing import runs

TREE = DecisionTreeClassifier(random_state=0)
NEAR = make_pipeline(StandardScaler(), KNeighborsClassifier())


def rows_of(experiment, fold, repeat="0"):
    rows = experiment.predictions
    at = next(i for i, cell in enumerate(rows.cells) if (cell.fold, cell.repeat) == (fold, repeat))
    mask = rows.cell == at
    names = np.array(rows.labels)
    return {
        "ids": rows.ids[mask].astype(int),
        "truth": names[rows.truth[mask]],
        "predicted": None if rows.predicted is None else names[rows.predicted[mask]],
        "scores": {label: scores[mask] for label, scores in rows.scores.items()},
    }


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("model", [TREE, NEAR], ids=["tree", "pipeline"])
def test_labels_scores_and_ids_of_every_fold(model, jobs, both, wine):
    X, y = wine[0], np.array(["red", "white", "rosé"])[wine[1]]
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    scoring = ["accuracy", "roc_auc_ovr"]
    found = both(lambda: cross_validate(model, X, y, cv=cv, scoring=scoring, n_jobs=jobs)["test_accuracy"])
    protocol = found.experiment.protocol
    assert (protocol.folds, protocol.instances, protocol.stratified) == (4, 178, True)
    for number, (train, test) in enumerate(cv.split(X, y)):
        fitted = clone(model).fit(X[train], y[train])
        rows = rows_of(found.experiment, str(number))
        np.testing.assert_array_equal(rows["ids"], test)
        np.testing.assert_array_equal(rows["truth"], y[test])
        np.testing.assert_array_equal(rows["predicted"], fitted.predict(X[test]))
        for column, label in enumerate(fitted.classes_):
            np.testing.assert_array_equal(rows["scores"][label], fitted.predict_proba(X[test])[:, column])


def test_only_what_was_asked_for_is_recorded(both, cancer):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    ranked = both(lambda: cross_val_score(model, *cancer, scoring="roc_auc")).experiment.predictions
    assert ranked.predicted is None
    np.testing.assert_array_equal(ranked.scores["0"], -ranked.scores["1"])
    near = both(lambda: cross_val_score(NEAR, *cancer)).experiment.predictions
    assert near.predicted is not None
    assert not near.scores


def test_each_prediction_is_made_once(both, cancer):
    calls = []

    class Counting(KNeighborsClassifier):
        def predict(self, X):
            calls.append(len(X))
            return super().predict(X)

    both(lambda: cross_val_score(make_pipeline(StandardScaler(), Counting()), *cancer, cv=4))
    assert calls == [50] * 8


def test_groups_and_times_are_not_called_stratified(both, cancer):
    X, y = cancer
    groups = np.arange(len(y)) // 7
    for cv, given, kind in ((StratifiedGroupKFold(3), groups, "groups"), (TimeSeriesSplit(3), None, "time")):
        found = both(lambda cv=cv, given=given: cross_val_score(TREE, X, y, groups=given, cv=cv)).experiment
        assert (found.protocol.stratified, found.protocol.group) == (None, kind)
        assert not [finding for finding in audit([found]).findings if finding.code == "CV108"]


def test_labels_that_are_booleans(both, cancer):
    X, y = cancer

    class Above(ClassifierMixin, BaseEstimator):
        def fit(self, _, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return X[:, 0] < 15

    found = both(lambda: cross_val_score(Above(), X, y, scoring="f1")).experiment
    assert found.predictions.labels == ("0", "1")


def test_repeats(both, cancer):
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    experiment = both(lambda: cross_val_score(TREE, *cancer, cv=cv)).experiment
    assert [(cell.repeat, cell.fold) for cell in experiment.cells] == [(r, f) for r in "01" for f in "012"]
    assert (experiment.protocol.folds, experiment.protocol.repeats, experiment.protocol.stratified) == (3, 2, None)
    test = list(cv.split(*cancer))[4][1]
    np.testing.assert_array_equal(rows_of(experiment, "1", "1")["ids"], test)


def test_a_class_that_a_training_set_lacks(both):
    X, y = np.arange(30, dtype=float)[:, None] % 7, np.array([2] * 5 + [0, 1] * 12 + [0])
    experiment = both(lambda: cross_val_score(GaussianNB(), X, y, cv=KFold(5), scoring=_sure)).experiment
    assert set(experiment.predictions.scores) == {"0", "1", "2"}
    assert set(rows_of(experiment, "0")["truth"]) == {"2", "0"}
    np.testing.assert_array_equal(rows_of(experiment, "0")["scores"]["2"], 0)


def _sure(estimator, X, y):
    return float(estimator.predict_proba(X).max())


def test_the_positive_class_that_the_scorer_was_told(both, cancer):
    X, y = cancer[0], np.array(["sick", "well"])[cancer[1]]
    scoring = {"f": make_scorer(f1_score, pos_label="sick"), "auc": "roc_auc"}
    found = both(lambda: cross_validate(RidgeClassifier(), X, y, cv=3, scoring=scoring)["test_f"])
    assert found.experiment.protocol.positive == "sick"
    rows = found.experiment.predictions
    np.testing.assert_array_equal(rows.scores["sick"], -rows.scores["well"])
    assert found.capture.entries[0].metrics == ("f1", "auc")


def test_one_score_per_instance_speaks_for_the_second_class(both, cancer):
    X, y = cancer[0], np.array(["sick", "well"])[cancer[1]]
    experiment = both(lambda: cross_val_score(RidgeClassifier(), X, y, cv=KFold(3), scoring="roc_auc")).experiment
    fitted = RidgeClassifier().fit(X[67:], y[67:])
    np.testing.assert_array_equal(rows_of(experiment, "0")["scores"]["well"], fitted.decision_function(X[:67]))


def test_a_search_keeps_its_best_candidate(both, cancer, monkeypatch):
    space, cv = {"max_depth": [1, 2, 4], "criterion": ["gini", "entropy"]}, StratifiedKFold(3)
    for limit in (2**20, 0):
        monkeypatch.setattr(runs, "_IN_MEMORY", limit)
        found = both(lambda: GridSearchCV(TREE, space, cv=cv, scoring="f1").fit(*cancer))
        best = clone(TREE).set_params(**found.result.best_params_)
        for number, (train, test) in enumerate(cv.split(*cancer)):
            expected = best.fit(cancer[0][train], cancer[1][train]).predict(cancer[0][test])
            np.testing.assert_array_equal(rows_of(found.experiment, str(number))["predicted"].astype(int), expected)
        assert found.experiment.name == "test_recorded-GridSearchCV-DecisionTreeClassifier-1"
        assert "the best of 6 candidates" in found.capture.entries[0].remarks[1]


def test_a_halving_search_keeps_its_best_candidate(both, cancer):
    space = {"max_depth": [1, 2, 3, 4]}
    found = both(lambda: HalvingGridSearchCV(TREE, space, cv=3, min_resources=60, random_state=0).fit(*cancer))
    results, best = found.result.cv_results_, found.result.best_index_
    scores = [results[f"split{number}_test_score"][best] for number in range(3)]
    rows = [rows_of(found.experiment, str(number)) for number in range(3)]
    np.testing.assert_allclose([(one["truth"] == one["predicted"]).mean() for one in rows], scores)


def test_nested_cross_validation_records_the_outer_one(both, cancer):
    search = GridSearchCV(TREE, {"max_depth": [1, 3]}, cv=2)
    for jobs in (1, 2):
        found = both(lambda jobs=jobs: cross_val_score(search, *cancer, cv=4, n_jobs=jobs))
        assert len(found.experiment.cells) == 4
        assert not found.missed
        right = [(rows["truth"] == rows["predicted"]).mean() for rows in (rows_of(found.experiment, f) for f in "0123")]
        np.testing.assert_allclose(right, found.result)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_many_labels(method, both, multilabel):
    model = RandomForestClassifier(5, random_state=0)
    found = both(lambda: cross_val_predict(model, *multilabel, method=method, cv=KFold(3)))
    rows = found.experiment.predictions
    np.testing.assert_array_equal(rows.gold, multilabel[1])
    if method == "predict":
        np.testing.assert_array_equal(rows.predicted_sets, found.result)
    else:
        np.testing.assert_array_equal(rows.scores["2"], found.result[2][:, 1])


def test_names_that_were_imported_long_before(both, cancer):
    # All names of this file were: so this only says that they are the public ones.
    from sklearn import model_selection

    assert cross_val_score is model_selection.cross_val_score
    found = both(lambda: [cross_val_score(TREE, *cancer, cv=2), cross_val_score(TREE, *cancer, cv=2)])
    names = [one.name for one in found.experiments]
    assert names == ["test_recorded-DecisionTreeClassifier-1", "test_recorded-DecisionTreeClassifier-2"]
