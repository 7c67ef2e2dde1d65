"""From a finished run to the folds that a recorder takes: true labels, predicted labels, scores in order of classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cvaudit.recording.design import Design, design_of, positions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.capturing.runs import Run
    from pytest_cvaudit.capturing.tasks import Kept
    from pytest_cvaudit.model import Cell

    Array = NDArray[Any]

_SCORES = ("predict_proba", "predict_log_proba", "decision_function")
_MULTILABEL = "multilabel-indicator"
_CLASSES = ("binary", "multiclass", _MULTILABEL)


class NotCaptured(Exception):
    """Why a cross-validation cannot be recorded, in a few words."""


@dataclass(frozen=True)
class FoldOf:
    """One fold; without predictions it has the reason why."""

    cell: Cell
    train: Array
    test: Array
    predicted: Array | None
    scores: Array | None
    reason: str | None


@dataclass(frozen=True)
class Captured:
    """A cross-validation with everything that the recorder and the manifest are told."""

    truth: Array
    classes: Array
    positive: Any
    folds: tuple[FoldOf, ...]
    design: Design


def captured(run: Run) -> Captured:
    """Read a run, or say why it cannot be recorded."""
    if run.problem is not None:
        raise NotCaptured(run.problem)
    truth, classes = _truth(run)
    design = design_of(run.cv, [task.test for task in run.tasks], len(truth))
    kept = [one.loaded() for one in run.kept]
    predicted = [_labels(one, truth, classes) for one in kept]
    scores = _scores(kept, truth, classes)
    folds = tuple(
        FoldOf(cell, positions(task.train), positions(task.test), labels, values, one.reason)
        for cell, task, one, labels, values in zip(design.cells, run.tasks, kept, predicted, scores, strict=True)
    )
    if all(fold.reason is not None for fold in folds):
        raise NotCaptured(f"no fold has a result ({folds[0].reason})")
    if bad := next((one for one in folds if one.reason is None and one.predicted is None and one.scores is None), None):
        raise NotCaptured(f"what is predicted in fold {bad.cell.fold} is neither a label nor a finite score per class")
    positive = _positive(run, classes) if len(classes) == 2 and truth.ndim == 1 else None
    return Captured(truth, classes, positive, folds, design)


def _truth(run: Run) -> tuple[Array, Array]:
    """The true labels and the classes among them; regression has none."""
    from sklearn.base import is_regressor
    from sklearn.utils.multiclass import type_of_target

    if run.y is None:
        raise NotCaptured("there is no y, so there are no true labels")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regression = is_regressor(run.estimator)
        kind = type_of_target(run.y)
    if regression or kind.startswith("continuous"):
        raise NotCaptured("no classes: it is a regression")
    if kind not in _CLASSES:
        raise NotCaptured(f"y is of the kind '{kind}', which has no classes that could be counted")
    truth = run.y.toarray() if hasattr(run.y, "toarray") else np.asarray(run.y)
    if kind == _MULTILABEL:
        return truth, np.arange(truth.shape[1])
    truth = truth.ravel() if run.classes is None else np.asarray(run.classes)[np.asarray(truth).ravel()]
    return truth, np.unique(truth)


def _labels(kept: Kept, truth: Array, classes: Array) -> Array | None:
    """The predicted labels, where they were asked for."""
    answer = kept.answers.get("predict")
    if answer is None:
        return None
    predicted = answer.toarray() if hasattr(answer, "toarray") else np.asarray(answer)
    if truth.ndim == 1 and predicted.ndim == 2 and predicted.shape[1] == 1:
        predicted = predicted.ravel()
    if predicted.ndim != truth.ndim or predicted.shape[1:] != truth.shape[1:]:
        raise NotCaptured(f"predict gives an array of shape {predicted.shape}, and y has {truth.shape}")
    if not np.isin(predicted, [0, 1] if truth.ndim == 2 else classes).all():
        raise NotCaptured("no classes: what it predicts are not labels of y")
    return predicted


def _scores(kept: list[Kept], truth: Array, classes: Array) -> list[Array | None]:
    """The scores of the first method that gives finite ones in every fold; else none."""
    answered = [one for one in kept if one.reason is None]
    for method in _SCORES:
        if answered and all(method in one.answers for one in answered):
            found = [
                None if one.reason else _columns(one.answers[method], method, one.classes, classes, truth)
                for one in kept
            ]
            whole = [scores for scores, one in zip(found, kept, strict=True) if one.reason is None]
            if all(scores is not None and np.isfinite(scores).all() for scores in whole):
                return found
    return [None] * len(kept)


def _columns(answer: Any, method: str, own: Any, classes: Array, truth: Array) -> Array | None:
    """Scores in the order of the classes; a class that the fold's model never saw is last in every ranking."""
    if isinstance(answer, list):
        return _of_outputs(answer, truth)
    scores = np.asarray(answer)
    if method == "predict_log_proba":
        scores = np.exp(scores)
    if truth.ndim == 2:
        return scores if scores.shape[1:] == truth.shape[1:] else None
    if scores.ndim == 1:
        # High speaks for the second class, whichever of the two is called positive later.
        return np.column_stack([-scores, scores]) if len(classes) == 2 else None
    if scores.shape[1] == len(classes):
        return scores
    known = None if own is None else np.asarray(own)
    if known is None or known.ndim != 1 or len(known) != scores.shape[1] or not np.isin(known, classes).all():
        return None
    least = 0.0 if method != "decision_function" else float(np.finfo(np.float64).min)
    whole = np.full((len(scores), len(classes)), least)
    whole[:, np.searchsorted(classes, known)] = scores
    return whole


def _of_outputs(answer: list[Any], truth: Array) -> Array | None:
    """The probability of each label from a list with a two-column array per label."""
    parts = [np.asarray(part, dtype=np.float64) for part in answer]
    if truth.ndim != 2 or len(parts) != truth.shape[1] or any(part.shape[1:] != (2,) for part in parts):
        return None
    return np.column_stack([part[:, 1] for part in parts])


def _positive(run: Run, classes: Array) -> Any:
    """The positive class where a scorer was told one."""
    for scorer in getattr(run.scorer, "_scorers", {"": run.scorer}).values():
        told = getattr(scorer, "_kwargs", {}).get("pos_label")
        if told is not None and told in classes.tolist():
            return told
    return None
