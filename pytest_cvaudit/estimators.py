"""What a fitted estimator says about the instances of a fold, and how scikit-learn cuts them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_cvaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Answers(NamedTuple):
    """The labels and scores that an estimator gives, and the classes that the columns of the scores speak for."""

    y_pred: Any
    y_score: Any = None
    classes: Sequence[object] | None = None


def need_sklearn(what: str) -> None:
    """Say what to install where scikit-learn is absent."""
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise InputError(f"{what} needs scikit-learn: pip install scikit-learn") from error


def answers(estimator: Any, rows: Any) -> Answers:
    """Ask an estimator for labels and, where it has them, for probabilities or else decision values."""
    predicted = estimator.predict(rows)
    for method in ("predict_proba", "decision_function"):
        if hasattr(estimator, method):
            return _with_scores(predicted, getattr(estimator, method)(rows), getattr(estimator, "classes_", None))
    return Answers(predicted)


def _with_scores(predicted: Any, scores: Any, classes: Any) -> Answers:
    labels = predicted.toarray() if hasattr(predicted, "toarray") else np.asarray(predicted)
    if labels.ndim == 2 and labels.shape[1] > 1:
        return Answers(predicted, scores)
    names = None if classes is None or isinstance(classes, list) else np.asarray(classes).tolist()
    values = np.asarray(scores)
    if values.ndim == 1 and names is not None and len(names) == 2:
        # High speaks for the second class, whichever of the two is called positive later.
        return Answers(predicted, np.column_stack([-values, values]), names)
    if values.ndim == 2 and names is not None and values.shape[1] == len(names):
        return Answers(predicted, values, names)
    return Answers(predicted)


def rows_of(estimator: Any, X: Any, y: Any, test: Any, train: Any) -> tuple[Any, Any]:  # noqa: N803 (scikit-learn's name)
    """Cut out the rows of a test fold as scikit-learn does, precomputed kernels too."""
    from sklearn.utils.metaestimators import _safe_split

    rows, labels = _safe_split(estimator, X, y, test, train)
    return rows, labels
