"""Clean experiments made with real scikit-learn models, and their numbers as scikit-learn computes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pytest_cvaudit.model import Cell, Claim, Experiment, Predictions, Protocol

MODELS = (LogisticRegression(max_iter=500), GaussianNB(var_smoothing=1e-2), LinearDiscriminantAnalysis())


@dataclass(frozen=True)
class Rows:
    """The rows of a cross-validation."""

    fold: np.ndarray
    truth: np.ndarray
    predicted: np.ndarray
    score: np.ndarray
    ids: np.ndarray

    def take(self, rows):
        """The chosen rows."""
        return Rows(self.fold[rows], self.truth[rows], self.predicted[rows], self.score[rows], self.ids[rows])

    def per_fold(self, measure):
        """A measure of (truth, predicted, score) in each fold."""
        masks = [self.fold == fold for fold in np.unique(self.fold)]
        return np.array([measure(self.truth[mask], self.predicted[mask], self.score[mask]) for mask in masks])

    def experiment(self, claims, name="clean", **declared):
        """The experiment that logs these rows and claims these numbers."""
        folds = np.unique(self.fold)
        labels = tuple(str(label) for label in np.unique(np.concatenate([self.truth, self.predicted])))
        codes = {label: code for code, label in enumerate(labels)}
        binary = labels == ("0", "1")
        rows = Predictions(
            tuple(Cell(str(fold)) for fold in folds),
            np.searchsorted(folds, self.fold),
            labels,
            np.array([codes[str(label)] for label in self.truth]),
            np.array([codes[str(label)] for label in self.predicted]),
            scores={"1": self.score} if binary else {},
            ids=self.ids.astype(object),
        )
        protocol = Protocol(positive="1" if binary else None, folds=len(folds), stratified=True)
        parsed = tuple(claim if isinstance(claim, Claim) else Claim.parse(claim) for claim in claims)
        return Experiment(name, replace(protocol, **declared), parsed, rows)


def data(seed):
    """A data set: bundled or synthetic, balanced or not, with two classes or several."""
    generator = np.random.default_rng(seed)
    kind = seed % 5
    if kind == 0:
        features, label = load_breast_cancer(return_X_y=True)
        return features[:, generator.choice(30, 4, replace=False)], 1 - label
    if kind == 1:
        features, label = load_wine(return_X_y=True) if seed % 2 else load_digits(return_X_y=True)
        rows = generator.choice(len(label), min(500, len(label)), replace=False)
        return features[rows], label[rows]
    share = {2: 0.5, 3: 0.15, 4: 0.08}[kind]
    return make_classification(
        int(generator.integers(300, 700)), 10, n_informative=4, weights=[1 - share],
        class_sep=generator.uniform(0.6, 1.4), flip_y=0.02, random_state=seed,
    )  # fmt: skip


@cache
def cross_validated(seed):
    """The rows of a stratified cross-validation of a calibrated model."""
    features, label = data(seed)
    folds = 5 if seed % 3 else 10
    model = make_pipeline(StandardScaler(), MODELS[seed % len(MODELS)])
    parts = []
    for fold, (train, test) in enumerate(
        StratifiedKFold(folds, shuffle=True, random_state=seed).split(features, label)
    ):
        model.fit(features[train], label[train])
        score = model.predict_proba(features[test])[:, 1]
        parts.append((np.full(len(test), fold), label[test], model.predict(features[test]), score, test))
    return Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def binary(rows):
    """Tell whether there are two classes."""
    return set(np.unique(rows.truth)) == {0, 1}


def f1(truth, predicted, score):
    """F1 as scikit-learn computes it, undefined being 0."""
    return f1_score(truth, predicted, zero_division=0)


def auc(truth, predicted, score):
    """AUC as scikit-learn computes it."""
    return roc_auc_score(truth, score)


def macro_f1(truth, predicted, score):
    """Macro F1 with scikit-learn's default label set."""
    return f1_score(truth, predicted, average="macro")


def mean_rate(rows, rate):
    """The mean over folds of precision or recall, undefined being 0."""
    masks = [rows.fold == fold for fold in np.unique(rows.fold)]
    return np.mean([rate(rows.truth[mask], rows.predicted[mask], zero_division=0) for mask in masks])


def right_claims(rows):
    """The recommended numbers, printed right, and the mean of folds where it is declared."""
    claims = [f"accuracy = {accuracy_score(rows.truth, rows.predicted):.1%}"]
    if binary(rows):
        mean = Claim.parse(f"f1 = {rows.per_fold(f1).mean():.3f}")
        return [
            *claims,
            f"f1 = {f1_score(rows.truth, rows.predicted):.3f}",
            f"auc = {rows.per_fold(auc).mean():.3f}",
            replace(mean, aggregation="avg"),
        ]
    return [*claims, f"macro_f1 = {f1_score(rows.truth, rows.predicted, average='macro'):.3f}"]
