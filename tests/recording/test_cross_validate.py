"""``cvaudit.cross_validate`` is scikit-learn's, with the folds recorded and the right numbers beside."""

# ruff: noqa: ARG002 (scikit-learn calls these)
from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import pytest_cvaudit as cvaudit
from pytest_cvaudit.recorder import MemoryRecorder
from tests.recording.conftest import read
from tests.recording.test_in_memory import report

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_multilabel_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

LINEAR = make_pipeline(StandardScaler(), LogisticRegression())
DATA = {
    "breast_cancer": (*load_breast_cancer(return_X_y=True), LINEAR, StratifiedKFold(5, shuffle=True, random_state=1)),
    "digits": (*load_digits(return_X_y=True), GaussianNB(), KFold(4, shuffle=True, random_state=2)),
    "wine": (*load_wine(return_X_y=True), SVC(), RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=3)),
    "multi-label": (
        *make_multilabel_classification(150, n_classes=4, random_state=4), KNeighborsClassifier(), KFold(3)
    ),
}  # fmt: skip


def same(mine, theirs):
    """Whether two results of a cross-validation agree in all but the times."""
    assert list(mine) == list(theirs)
    for key, value in theirs.items():
        if key == "indices":
            assert all(
                np.array_equal(a, b) for side in value for a, b in zip(mine[key][side], value[side], strict=True)
            )
        elif key == "estimator":
            assert [repr(one) for one in mine[key]] == [repr(one) for one in value]
        elif not key.endswith("_time"):
            assert np.array_equal(mine[key], value, equal_nan=True) and mine[key].dtype == value.dtype
        else:
            assert mine[key].shape == value.shape


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", DATA)
def test_all_ways_to_record_give_one_report(name, jobs, tmp_path):
    X, y, estimator, cv = DATA[name]
    scoring = ["f1_macro", "accuracy"]
    options = {"cv": cv, "scoring": scoring, "return_estimator": True, "return_indices": True, "n_jobs": jobs}
    theirs = cross_validate(estimator, X, y, **options)
    claims = {"macro_f1": f"{theirs['test_f1_macro'].mean():.3f}"}
    mine = cvaudit.cross_validate(estimator, X, y, **options, record=tmp_path / "run", claims=claims, name="run")
    same(mine, theirs)
    recorded = report(read(tmp_path / "run"))
    assert recorded["findings"], "macro F1 averaged over folds is accused"
    assert report(mine.experiment) == recorded
    unrecorded = cvaudit.cross_validate(estimator, X, y, **options, claims=claims)
    assert report(unrecorded.experiment) == recorded
    protocol = {"instances": len(y)}
    later = cvaudit.Experiment.from_cross_validate(theirs, X, y, cv=cv, claims=claims, **protocol, **_folds(cv))
    assert report(later) == recorded
    memory = MemoryRecorder("run")
    memory.protocol(splitter=cv, **protocol)
    memory.claims(claims)
    for model, train, test in zip(theirs["estimator"], *theirs["indices"].values(), strict=True):
        scores = model.predict_proba(X[test]) if hasattr(model, "predict_proba") else model.decision_function(X[test])
        memory.fold(y[test], model.predict(X[test]), scores, train=train, test=test, y_train=y[train])
    assert report(memory.experiment()) == recorded


def _folds(cv):
    return {} if hasattr(cv, "n_repeats") else {"folds": cv.n_splits}


def test_the_right_numbers_are_beside(tmp_path):
    X, y, estimator, cv = DATA["breast_cancer"]
    found = cvaudit.cross_validate(estimator, X, y, cv=cv, scoring="f1", record=tmp_path / "run")
    predicted = np.empty_like(y)
    for train, test in cv.split(X, y):
        predicted[test] = estimator.fit(X[train], y[train]).predict(X[test])
    f1 = found.aggregates["f1"]
    assert f1.name == "tp_fp" and f1.value == pytest.approx(f1_score(y, predicted), abs=1e-12)
    assert f1.values["avg"] == pytest.approx(found["test_score"].mean(), abs=1e-12)
    assert found.aggregates["auc"].name == "avg"
    assert not [one for one in found.audit().findings if one.severity > 1]
    assert list(pd.DataFrame(found).columns) == ["fit_time", "score_time", "test_score"], "it is still scikit-learn's"
    assert pickle.loads(pickle.dumps(found)).aggregates["f1"] == f1


WORDS = np.array(["malignant", "benign"])


@pytest.mark.parametrize("shape", [lambda name: name, lambda name: [name], lambda name: {"mine": name}])
@pytest.mark.parametrize(
    ("scorer", "name", "way", "data"),
    [
        ("f1_macro", "macro_f1", "avg@fold", "breast_cancer"),
        ("recall_weighted", "weighted_recall", "avg@fold", "breast_cancer"),
        ("roc_auc_ovr", "macro_auc", "avg", "breast_cancer"),
        ("roc_auc", "auc", "avg", "words"),
        ("neg_log_loss", "log_loss", "avg", "words"),
        ("f1", "f1", "avg", "1 and 2"),
        ("roc_auc_ovr", "macro_auc", "avg", "digits"),
        ("roc_auc_ovr_weighted", "weighted_auc", "avg", "digits"),
        ("roc_auc", "macro_auc", "avg", "multi-label"),
    ],
)
def test_what_is_asked_for_has_its_aggregate(scorer, name, way, data, shape):
    X, y, estimator, cv = DATA.get(data, DATA["breast_cancer"])
    y = {"words": lambda: WORDS[y], "1 and 2": lambda: y + 1}.get(data, lambda: y)()
    found = cvaudit.cross_validate(estimator, X, y, cv=cv, scoring=shape(scorer))
    (scores,) = (values for key, values in found.items() if key.startswith("test_"))
    aggregate = found.aggregates[name]
    assert aggregate.value == aggregate.values[aggregate.name] is not None
    assert aggregate.values[way] == pytest.approx(abs(scores.mean()), abs=1e-12)
    assert pickle.loads(pickle.dumps(found)).aggregates[name] == aggregate


@pytest.mark.parametrize(
    ("scoring", "data", "line"),
    [
        ("jaccard", "breast_cancer", "no aggregate of 'jaccard': this measure is not computed here"),
        ({"cost": lambda model, X, y: 1.0}, "breast_cancer", "no aggregate of 'cost': a function may measure anything"),
        (lambda model, X, y: 1.0, "breast_cancer", "no aggregate of 'score': a function may measure anything"),
        (["accuracy", "neg_log_loss"], "digits", "no aggregate of 'neg_log_loss': over more than two labels it is of"),
    ],
)
def test_what_has_no_aggregate_is_said(scoring, data, line):
    X, y, estimator, cv = DATA[data]
    found = cvaudit.cross_validate(estimator, X, y, cv=cv, scoring=scoring)
    with pytest.warns(UserWarning) as caught:
        assert "accuracy" in found.aggregates
    assert [str(one.message).startswith(f"cvaudit: {line}") for one in caught] == [True]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cv": 3, "scoring": {"own": lambda model, X, y: float(model.score(X, y))}, "return_train_score": True},
        {"cv": ShuffleSplit(4, random_state=0), "scoring": "roc_auc", "return_indices": True},
        {"params": {"sample_weight": np.ones(569)}, "scoring": lambda model, X, y: {"a": 1.0, "b": 2.0}},
    ],
)
def test_it_takes_what_scikit_learn_takes(options):
    X, y, *_ = DATA["breast_cancer"]
    same(cvaudit.cross_validate(GaussianNB(), X, y, **options), cross_validate(GaussianNB(), X, y, **options))


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails on the training set without the first instance."""

    def __init__(self, always=False):
        self.always = always

    def fit(self, X, y):
        if self.always or X[0, 0] != FIRST:
            raise RuntimeError("no first instance")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


FIRST = DATA["breast_cancer"][0][0, 0]


def test_a_fit_that_fails_is_a_fold_without_result(tmp_path):
    X, y, *_ = DATA["breast_cancer"]
    results = []
    for run in (cross_validate, lambda *a, **k: cvaudit.cross_validate(*a, **k, record=tmp_path / "run")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results.append(run(Fragile(), X, y, cv=KFold(5)))
        assert "1 fits failed out of a total of 5" in str(caught[-1].message)
        assert caught[-1].category.__name__ == "FitFailedWarning"
    same(results[1], results[0])
    found = read(tmp_path / "run")
    assert [(one.cell.fold, one.reason) for one in found.missing] == [("0", "RuntimeError: no first instance")]
    assert [cell.fold for cell in found.cells] == ["1", "2", "3", "4"]
    later = cvaudit.Experiment.from_cross_validate({**results[0], "accuracy": 1}, scoring="accuracy", cv=KFold(5))
    assert [one.cell.fold for one in later.missing] == ["0"], "a score that is not there is a missing fold"
    with pytest.raises(ValueError, match="All the 5 fits failed"):
        cvaudit.cross_validate(Fragile(always=True), X, y, record=tmp_path / "all")
    assert read(tmp_path / "all").missing
    with pytest.raises(RuntimeError, match="no first instance"):
        cvaudit.cross_validate(Fragile(), X, y, cv=KFold(5), error_score="raise", record=tmp_path / "raised")
    assert {one.reason for one in read(tmp_path / "raised").missing} == {"RuntimeError: no first instance"}


def test_scores_alone_and_kernels_and_regressions(tmp_path):
    X, y, *_ = DATA["breast_cancer"]
    results = cross_validate(LINEAR, X, y, scoring=["f1", "roc_auc"], return_indices=True)
    found = cvaudit.Experiment.from_cross_validate(results, claims={"f1": f"{results['test_f1'].mean():.3f}"})
    assert str(found.evidence) == "scores" and found.scores.n == tuple(map(len, results["indices"]["test"]))
    assert [one.value for one in found.scores.values["auc"]] == results["test_roc_auc"].tolist()
    kernel = X @ X.T
    found = cvaudit.cross_validate(SVC(kernel="precomputed"), kernel, y, cv=2, record=tmp_path / "kernel")
    assert found.aggregates["accuracy"].value == pytest.approx(found["test_score"].mean(), abs=0.01)
    same(
        cvaudit.cross_validate(Ridge(), X, X[:, 0], cv=2, scoring="r2"),
        cross_validate(Ridge(), X, X[:, 0], cv=2, scoring="r2"),
    )
    with pytest.raises(cvaudit.InputError, match="it is a regression, so there are no folds to record"):
        cvaudit.cross_validate(Ridge(), X, X[:, 0], record=tmp_path / "ridge")


def test_a_class_that_some_folds_never_train_on():
    X = np.arange(12.0).reshape(-1, 1)
    y = np.array(["a", "b"] * 5 + ["c", "c"])
    found = cvaudit.cross_validate(GaussianNB(), X, y, cv=KFold(6), protocol={"positive": "c"})
    assert found.experiment.predictions.scores["c"][10:].tolist() == [0, 0]


class Silent(Fragile):
    """Is scored, and predicts nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        raise NotImplementedError("no labels here")

    def score(self, X, y):
        return 0.5


@pytest.mark.parametrize("record", [None, "run"])
def test_nothing_that_the_audit_lacks_stops_the_run(tmp_path, record):
    X, y, *_ = DATA["wine"]
    path = None if record is None else tmp_path / record
    found = cvaudit.cross_validate(Silent(), X, y, cv=3, record=path)
    assert found["test_score"].tolist() == [0.5] * 3
    assert {one.reason for one in found.experiment.missing} == {"no prediction: NotImplementedError: no labels here"}
    with pytest.warns(UserWarning, match="cvaudit: no aggregates: .*positive label 'port' never occurs"):
        found = cvaudit.cross_validate(GaussianNB(), X, y, cv=3, protocol={"positive": "port"})
    assert found.experiment is None and found.aggregates == {} and len(found["test_score"]) == 3


def test_frames_and_words_as_labels(tmp_path):
    data = load_breast_cancer(as_frame=True)
    y = data.target.map({0: "malignant", 1: "benign"}).astype("category")
    cv = StratifiedKFold(3)
    options = {"cv": cv, "protocol": {"positive": "malignant"}, "record": tmp_path / "run"}
    found = cvaudit.cross_validate(make_pipeline(StandardScaler(), SVC()), data.data, y, scoring="accuracy", **options)
    numbers = cvaudit.cross_validate(
        make_pipeline(StandardScaler(), SVC()), data.data, 1 - data.target, cv=cv, scoring=["f1", "roc_auc"]
    )
    assert found.aggregates["f1"] == numbers.aggregates["f1"]
    assert found.aggregates["auc"].value == pytest.approx(numbers["test_roc_auc"].mean(), abs=1e-12)


def test_without_scikit_learn_it_says_so():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import pytest_cvaudit as cvaudit\n"
        "try: cvaudit.cross_validate(None, [], [])\n"
        "except cvaudit.InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "cross_validate needs scikit-learn: pip install scikit-learn\n"
