"""The same cross-validation gives the same report, however its folds came to us."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_multilabel_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.model_selection import cross_validate as original
from sklearn.neighbors import KNeighborsClassifier

import pytest_cvaudit
from pytest_cvaudit import Experiment, Recorder, audit, capture, load_manifest
from pytest_cvaudit.manifest import experiments
from pytest_cvaudit.reporters import render


def both_answers(estimator, X, y):
    estimator.predict_proba(X)
    return float(np.mean(estimator.predict(X) == y))


TREES = ExtraTreesClassifier(5, random_state=0)
CASES = {
    "breast_cancer": (load_breast_cancer, StratifiedKFold(5), TREES),
    "wine": (load_wine, RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), KNeighborsClassifier()),
    "digits": (load_digits, KFold(4, shuffle=True, random_state=0), TREES),
    "multilabel": (lambda return_X_y: make_multilabel_classification(200, random_state=0), KFold(4), TREES),
}


def reported(experiment: Experiment) -> dict:
    (document,) = json.loads(render(audit([experiment]), "report", "json"))["experiments"]
    for finding in document["findings"]:
        for key in ("experiment", "location", "fingerprint"):
            del finding[key]
    for claim in document["claims"]:
        del claim["line"]
    del document["name"]
    return document


def by_hand(recorder, X, y, cv, model, protocol):
    recorder.protocol(**protocol)
    for train, test in cv.split(X, y):
        fitted = clone(model).fit(X[train], y[train])
        recorder.fold(
            y[test], fitted.predict(X[test]), fitted.predict_proba(X[test]), train=train, test=test, y_train=y[train]
        )


def as_arrays(X, y, cv, model, protocol, claims):
    columns = {"y_true": [], "y_pred": [], "y_score": [], "fold": [], "repeat": [], "ids": []}
    for number, (train, test) in enumerate(cv.split(X, y)):
        fitted = clone(model).fit(X[train], y[train])
        scores = fitted.predict_proba(X[test])
        columns["y_true"].append(y[test])
        columns["y_pred"].append(fitted.predict(X[test]))
        columns["y_score"].append(np.stack(scores)[:, :, 1].T if isinstance(scores, list) else scores)
        columns["fold"].append(np.full(len(test), number % protocol["folds"]))
        columns["repeat"].append(np.full(len(test), number // protocol["folds"]))
        columns["ids"].append(test)
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    return Experiment.from_arrays(**joined, claims=claims, **protocol)


def captured(folder, X, y, cv, model, claims, jobs):
    with capture(folder) as found:
        original(model, X, y, cv=cv, scoring=both_answers, n_jobs=jobs)
        for metric, value in claims.items():
            found.claim(metric, value)
    (experiment,) = experiments(load_manifest(folder / "cvaudit.yaml"))
    assert experiment.problem is None
    return experiment


@pytest.mark.parametrize("name", CASES)
def test_all_paths_give_the_same_report(name, tmp_path, cvaudit):
    load, cv, model = CASES[name]
    X, y = load(return_X_y=True)
    X, y = X[:600], y[:600]
    protocol = {"folds": cv.cvargs["n_splits"] if hasattr(cv, "cvargs") else cv.get_n_splits(), "instances": len(y)}
    if hasattr(cv, "cvargs"):
        protocol["repeats"] = 2
    if "Stratified" in type(cv).__name__:
        protocol["stratified"] = True
    claims = {"macro_f1": "0.90"} if y.ndim == 2 or y.max() > 1 else {"accuracy": "0.94", "auc": "0.970"}

    by_hand(cvaudit, X, y, cv, model, protocol)
    found = {"memory": cvaudit.experiment()}
    with Recorder(tmp_path / "disk") as recorder:
        by_hand(recorder, X, y, cv, model, protocol)
        for metric, value in claims.items():
            recorder.claim(metric, value)
    found["recorder"] = recorder.experiment()
    found["arrays"] = as_arrays(X, y, cv, model, protocol, claims)
    results = original(model, X, y, cv=cv, return_estimator=True, return_indices=True)
    found["results"] = Experiment.from_cross_validate(results, X, y, cv=cv, claims=claims, instances=len(y))
    for jobs in (1, 2):
        found[f"capture {jobs}"] = captured(tmp_path / f"runs{jobs}", X, y, cv, model, claims, jobs)
        ours = pytest_cvaudit.cross_validate(
            model, X, y, cv=cv, n_jobs=jobs, record=tmp_path / f"ours{jobs}", claims=claims
        )
        found[f"cross_validate {jobs}"] = ours.experiment

    reports = {path: reported(experiment) for path, experiment in found.items()}
    # Claims at the end of a test would make it fail, so the fixture is compared without them.
    without = reported(replace(found["recorder"], claims=()))
    assert reports.pop("memory") == without
    first = reports.pop("recorder")
    assert first["claims"]
    for path, report in reports.items():
        assert report == first, path
