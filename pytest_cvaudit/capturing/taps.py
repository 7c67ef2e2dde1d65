"""Listening to an estimator while it is scored: what it answers on the test set is kept, and passed on unchanged."""

from __future__ import annotations

from contextlib import contextmanager
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

METHODS = ("predict", "predict_proba", "decision_function")


class Listener:
    """Keeps the first answer of each method on the rows that are tested."""

    def __init__(self, rows: Any) -> None:
        """Listen for questions about these rows: the very object that the scorer is given."""
        self.rows = rows
        self.answers: dict[str, Any] = {}
        self.asking = 0

    def hear(self, method: str, answer: Any) -> None:
        """Keep an answer, as a copy: a scorer may change what it was given."""
        if method not in METHODS or method in self.answers:
            return
        copy = [np.array(part) for part in answer] if isinstance(answer, list) else _copied(answer)
        if copy is not None:
            self.answers[method] = copy


class Tap:
    """A method of an estimator that is listened to; it goes by the method's own name."""

    def __init__(self, estimator: Any, name: str, listener: Listener, *, inner: bool) -> None:
        """Listen to a method; an inner one sees other rows, and counts only while the whole is asked."""
        self._method: Callable[..., Any] = getattr(estimator, name)
        update_wrapper(self, self._method)
        self._estimator, self._name, self._listener, self._inner = estimator, name, listener, inner

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Answer as the method does."""
        listener = self._listener
        about = bool(args) and args[0] is listener.rows
        if self._inner:
            about = bool(args) and listener.asking > 0 and _size(args[0]) == _size(listener.rows)
            answer = self._method(*args, **keywords)
        else:
            listener.asking += about
            try:
                answer = self._method(*args, **keywords)
            finally:
                listener.asking -= about
        if about and not keywords and len(args) == 1:
            listener.hear(self._name, answer)
        return answer

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the listening behind when the estimator is copied or sent elsewhere."""
        return Untapped, (self._estimator, self._name)


class Untapped:
    """A method that is looked up when it is called: what a tap becomes in a copy of its estimator."""

    def __init__(self, estimator: Any, name: str) -> None:
        """Stand for a method of the estimator's class."""
        self.estimator, self.name = estimator, name

    @property
    def __name__(self) -> str:
        """The method's name, which scikit-learn asks for."""
        return self.name

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the method."""
        kind = type(self.estimator)
        return getattr(kind, self.name).__get__(self.estimator, kind)(*args, **keywords)


@contextmanager
def listening(estimator: Any, listener: Listener) -> Iterator[None]:
    """Put taps on an estimator and on those inside that answer for it; nothing of it stays."""
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for part, inner in _answering(estimator):
            for name in (*METHODS, "score"):
                _put(part, name, listener, inner, before)
        yield
    finally:
        for attributes, name, was in reversed(before):
            attributes.pop(name, None)
            if was is not None:
                attributes[name] = was


def _put(part: Any, name: str, listener: Listener, inner: bool, before: list[tuple[dict[str, Any], str, Any]]) -> None:
    try:
        attributes = vars(part)
        tap = Tap(part, name, listener, inner=inner)
    except (AttributeError, TypeError):
        return
    before.append((attributes, name, attributes.get(name)))
    attributes[name] = tap


def _answering(estimator: Any) -> Iterator[tuple[Any, bool]]:
    """The estimator, the best one of a search, and the last step of a pipeline, which sees transformed rows."""
    from sklearn.pipeline import Pipeline

    inner = False
    while estimator is not None and not isinstance(estimator, str):
        yield estimator, inner
        if isinstance(estimator, Pipeline):
            estimator, inner = estimator.steps[-1][1], True
        else:
            estimator = vars(estimator).get("best_estimator_") if hasattr(estimator, "__dict__") else None


def _copied(answer: Any) -> Any:
    if hasattr(answer, "toarray"):
        return answer.toarray()
    try:
        return np.array(answer)
    except ValueError:
        return None


def _size(rows: Any) -> int | None:
    shape = getattr(rows, "shape", None)
    if shape:
        return int(shape[0])
    return len(rows) if hasattr(rows, "__len__") else None
