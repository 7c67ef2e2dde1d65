"""The shapes in which people have their data and models; each is recorded as it is, and changes nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from joblib import Parallel, delayed
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import pytest_cvaudit

TREE, BAYES = DecisionTreeClassifier(random_state=0), GaussianNB()


def frame(X):
    return pd.DataFrame(X, columns=list("abcde"))


def words(y):
    return pd.Series(np.array(["no", "yes"])[y], index=np.arange(len(y))[::-1])


def routed(X, y):
    weights = np.arange(1, len(y) + 1)
    with sklearn.config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        plain = cross_val_score(model, X, y, params={"sample_weight": weights}, cv=3)
        searched = GridSearchCV(model, {"var_smoothing": [1e-9, 1e-3]}, cv=3).fit(X, y, sample_weight=weights)
    return [*plain, searched.best_score_]


#: What runs, how many folds each captured cross-validation has, and the labels that it has.
CASES = {
    "pandas": (lambda X, y: cross_val_score(make_pipeline(StandardScaler(), BAYES), frame(X), words(y)), [5], "no yes"),
    "categories": (lambda X, y: cross_val_score(TREE, frame(X), words(y).astype("category")), [5], "no yes"),
    "pandas predicted": (
        lambda X, y: cross_val_predict(TREE, frame(X), words(y), method="predict_proba"),
        [5],
        "no yes",
    ),
    "lists": (lambda X, y: cross_val_score(TREE, X.tolist(), y.tolist()), [5], "0 1"),
    "truth values": (lambda X, y: cross_val_score(TREE, X, y.astype(bool)), [5], "False True"),
    "floats": (lambda X, y: cross_val_score(TREE, X, y.astype(float)), [5], "0 1"),
    "sparse": (lambda X, y: cross_val_score(RidgeClassifier(), sp.csr_matrix(X), y), [5], "0 1"),
    "a kernel": (lambda X, y: cross_val_score(SVC(kernel="precomputed"), X @ X.T / 1e5, y), [5], "0 1"),
    "votes": (lambda X, y: cross_val_score(VotingClassifier([("a", TREE), ("b", BAYES)]), X, y), [5], "0 1"),
    "a threshold": (lambda X, y: cross_val_score(TunedThresholdClassifierCV(BAYES, cv=2), X, y, cv=3), [3], "0 1"),
    "one out": (lambda X, y: cross_val_score(TREE, X[:30], y[:30], cv=LeaveOneOut()), [30], "0 1"),
    "metadata": (routed, [3, 3], "0 1"),
    "a loop of joblib": (
        lambda X, y: Parallel(n_jobs=1)(delayed(cross_val_score)(TREE, X, y) for _ in range(2)),
        [5, 5],
        "0 1",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_recorded_as_it_is(name, both, cancer):
    code, folds, labels = CASES[name]
    found = both(lambda: code(*cancer))
    np.testing.assert_array_equal(found.plain, found.result)
    assert [len(one.cells) for one in found.experiments] == folds
    assert found.experiments[0].predictions.labels == tuple(labels.split())
    assert not found.missed


def test_sparse_sets_of_labels(both, multilabel):
    X, y = multilabel
    model = OneVsRestClassifier(RidgeClassifier())
    found = both(lambda: cross_val_predict(model, X, sp.csr_matrix(y), cv=3).toarray())
    np.testing.assert_array_equal(found.plain, found.result)
    np.testing.assert_array_equal(found.experiment.predictions.predicted_sets, found.result)


def test_a_fold_that_cannot_be_predicted_is_missing(both, cancer):
    class Shy(DecisionTreeClassifier):
        def predict(self, X, check_input=True):
            if X[0, 0] == cancer[0][0, 0]:
                raise RuntimeError("not this one")
            return super().predict(X, check_input)

    with pytest.warns(UserWarning, match="Scoring failed"):
        found = both(lambda: cross_val_score(Shy(random_state=0), *cancer, cv=4))
    np.testing.assert_array_equal(found.plain, found.result)
    (missing,) = found.experiment.missing
    assert (missing.cell.fold, missing.reason) == ("0", "predict failed: RuntimeError: not this one")
    assert len(found.experiment.cells) == 3


def test_our_own_cross_validate_has_its_own_recorder(both, cancer, tmp_path):
    def code():
        found = pytest_cvaudit.cross_validate(TREE, *cancer, cv=3, record=tmp_path / "mine", overwrite=True)
        return found["test_score"]

    found = both(code)
    np.testing.assert_array_equal(found.plain, found.result)
    assert not found.capture.entries
    assert not found.missed
