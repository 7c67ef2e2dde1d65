"""What stands in for scikit-learn's task in whatever process: it does the same work and keeps what was predicted."""

from __future__ import annotations

import pickle
import random
import threading
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cvaudit.capturing.taps import METHODS, Listener, listening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VALIDATION = "sklearn.model_selection._validation"
SCORING, PREDICTING, SCORE = "_fit_and_score", "_fit_and_predict", "_score"

#: The task that runs in this thread, if it is a recorded one.
_RUNNING = threading.local()


@dataclass(frozen=True)
class Kept:
    """A task's own result, with the answers on the test set or the reason why there are none."""

    result: Any
    answers: dict[str, Any] = field(default_factory=dict)
    classes: Any = None
    reason: str | None = None
    spool: str | None = None

    def loaded(self) -> Kept:
        """The same with the answers that were put aside on disk."""
        if self.spool is None:
            return self
        # Not a log: written by this run's own tasks into a private temporary folder.
        answers, classes = pickle.loads(Path(self.spool).read_bytes())
        return Kept(None, answers, classes, self.reason)


@dataclass
class _Sink:
    """What a running task has seen of its test set."""

    estimator: Any
    listener: Listener | None = None


def running() -> bool:
    """Tell whether this thread is inside a recorded task: what it cross-validates there is not the user's own."""
    return getattr(_RUNNING, "sink", None) is not None


class Recording:
    """Runs a task of scikit-learn; can be pickled into worker processes, where nothing is patched."""

    def __init__(self, name: str, spool: str | None = None) -> None:
        """Stand for the function of this name; ``spool`` is a file to put large answers aside in."""
        self.name = name
        self.spool = spool

    def __call__(self, *args: Any, **keywords: Any) -> Kept:
        """Do the work; what it returns or raises is what the original does."""
        outer = getattr(_RUNNING, "sink", None)
        sink = _RUNNING.sink = _Sink(args[0] if args else keywords.get("estimator"))
        if self.name == SCORING:
            _listen_to_scoring()
        try:
            result = original(self.name)(*args, **keywords)
            if self.name == PREDICTING:
                method = args[6] if len(args) > 6 else keywords["method"]
                return Kept(result, {method: result})
            return self._kept(result, sink)
        finally:
            _RUNNING.sink = outer

    def _kept(self, result: Any, sink: _Sink) -> Kept:
        if error := result.get("fit_error"):
            return Kept(result, reason=f"fit failed: {_last_line(error)}")
        if sink.listener is None:
            return Kept(result, reason="scikit-learn scored it in a way that is not known to this version")
        answers, reason = sink.listener.answers, None
        if not answers:
            answers, reason = _ask(sink.estimator, sink.listener.rows)
        classes = getattr(sink.estimator, "classes_", None)
        if self.spool is None or reason is not None:
            return Kept(result, answers, classes, reason)
        Path(self.spool).write_bytes(pickle.dumps((answers, classes), protocol=5))
        return Kept(result, spool=self.spool)


def original(name: str) -> Callable[..., Any]:
    """Scikit-learn's own function, whether or not something stands in for it in this process."""
    function = getattr(import_module(VALIDATION), name)
    return getattr(function, "cvaudit_original", function)  # type: ignore[no-any-return]


def _listen_to_scoring() -> None:
    module, function = import_module(VALIDATION), original(SCORE)
    if getattr(module, SCORE) is not function:
        return

    def score(estimator: Any, rows: Any, *args: Any, **keywords: Any) -> Any:
        sink = getattr(_RUNNING, "sink", None)
        # Scores of an inner cross-validation are of another estimator; the second scoring is that of the training set.
        if sink is None or estimator is not sink.estimator or sink.listener is not None:
            return function(estimator, rows, *args, **keywords)
        sink.listener = Listener(rows)
        with listening(estimator, sink.listener):
            return function(estimator, rows, *args, **keywords)

    score.cvaudit_original = function  # type: ignore[attr-defined]
    setattr(module, SCORE, score)


def stop_listening() -> None:
    """Give scikit-learn its scoring back."""
    setattr(import_module(VALIDATION), SCORE, original(SCORE))


def _ask(estimator: Any, rows: Any) -> tuple[dict[str, Any], str | None]:
    """Predict the test set once, where the scoring did not do it in sight, without leaving a trace."""
    if not hasattr(estimator, METHODS[0]):
        return {}, f"{type(estimator).__name__} has no predict"
    with _same_random_state(estimator), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return {METHODS[0]: estimator.predict(rows)}, None
        except Exception as error:
            return {}, f"predict failed: {type(error).__name__}: {_last_line(str(error))}"


@contextmanager
def _same_random_state(estimator: Any) -> Iterator[None]:
    """Put every source of random numbers back to where it was."""
    own = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    states = [(one, one.get_state()) for one in own if isinstance(one, np.random.RandomState)]
    generators = [(one, one.bit_generator.state) for one in own if isinstance(one, np.random.Generator)]
    numpy_state, python_state = np.random.get_state(), random.getstate()
    try:
        yield
    finally:
        np.random.set_state(numpy_state)
        random.setstate(python_state)
        for source, state in states:
            source.set_state(state)
        for generator, position in generators:
            generator.bit_generator.state = position


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1].strip()
