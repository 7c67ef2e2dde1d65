"""Where scikit-learn is listened to: inside its functions, so that names imported long before are seen too."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from pytest_cvaudit.capturing.places import Place, place_of
from pytest_cvaudit.capturing.runs import Run, Search, Spool
from pytest_cvaudit.capturing.tasks import PREDICTING, SCORE, SCORING, VALIDATION, running, stop_listening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType

_SEARCH_MODULE, _SPLIT_MODULE = "sklearn.model_selection._search", "sklearn.model_selection._split"
_PARALLEL = "Parallel"
_ENTRIES, _ROUND = ("cross_validate", "cross_val_predict"), "evaluate_candidates"
#: Who splits as part of what is captured, or noted, anyway.
_SPLITTING = (VALIDATION, _SEARCH_MODULE, _SPLIT_MODULE, "sklearn.model_selection._search_successive_halving")
_LOOP = "a loop of your own; record it with cvaudit.Recorder"
_CURVES = "it tries many models or training sets, so its folds are not those of one result"


class Hearer(Protocol):
    """Who is told what passes by."""

    def take(self, run: Run) -> None:
        """Take a finished cross-validation."""

    def miss(self, place: Place, reason: str) -> None:
        """Learn of one that is not captured."""

    def split(self, place: Place, reason: str, test: Any) -> None:
        """Learn of splits, by their first test set, that nothing captured uses: so far."""


class _State(threading.local):
    search: Search | None = None
    quiet: bool = False


_HEARERS: list[Hearer] = []
_STATE = _State()
_UNDO: list[Callable[[], None]] = []


@contextmanager
def hearing(hearer: Hearer) -> Iterator[None]:
    """Tell a hearer of every cross-validation; of several hearers, the innermost is told."""
    if not _HEARERS:
        _install()
    _HEARERS.append(hearer)
    try:
        yield
    finally:
        _HEARERS.remove(hearer)
        if not _HEARERS:
            while _UNDO:
                _UNDO.pop()()


def unknown_internals() -> str | None:
    """Say why this scikit-learn cannot be listened to, if so."""
    try:
        validation, search = import_module(VALIDATION), import_module(_SEARCH_MODULE)
    except ImportError as error:
        return f"scikit-learn is not installed ({error})"
    needed: list[tuple[Any, str]] = [(validation, name) for name in (_PARALLEL, SCORING, PREDICTING, SCORE)]
    needed += [(search, _PARALLEL), (getattr(search, "BaseSearchCV", None), "fit")]
    if lacking := [name for home, name in needed if not hasattr(home, name)]:
        import sklearn

        return f"scikit-learn {sklearn.__version__} has no '{lacking[0]}' where this version expects it"
    return None


def _replace(home: Any, name: str, value: Any) -> None:
    before = vars(home)[name]
    setattr(home, name, value)
    _UNDO.append(lambda: setattr(home, name, before))


def _install() -> None:
    if unknown_internals() is not None:
        return
    for module in (import_module(VALIDATION), import_module(_SEARCH_MODULE)):
        _replace(module, _PARALLEL, _watched_parallel(getattr(module, _PARALLEL)))
    _UNDO.append(stop_listening)
    searcher = vars(import_module(_SEARCH_MODULE))["BaseSearchCV"]
    _replace(searcher, "fit", _watched_search(searcher.fit))
    splitting = import_module(_SPLIT_MODULE)
    for kind in [one for one in vars(splitting).values() if isinstance(one, type)]:
        if kind.__module__ == _SPLIT_MODULE and "split" in vars(kind):
            _replace(kind, "split", _watched_split(vars(kind)["split"]))


def _hearer() -> Hearer | None:
    """Who is to be told; nobody of what runs inside a recorded task, or inside something that was told already."""
    return None if running() or _STATE.quiet or not _HEARERS else _HEARERS[-1]


@contextmanager
def _quiet() -> Iterator[None]:
    _STATE.quiet = True
    try:
        yield
    finally:
        _STATE.quiet = False


def _watched_parallel(parallel: Any) -> Any:
    class WatchedParallel(parallel):  # type: ignore[misc]
        """Scikit-learn's own, with its tasks seen."""

        def __call__(self, iterable: Any) -> Any:
            return _run(super().__call__, iterable, sys._getframe(1))

    return WatchedParallel


def _run(call: Callable[[Any], Any], iterable: Any, frame: FrameType) -> Any:
    hearer, function, names = _hearer(), frame.f_code.co_name, frame.f_locals
    if hearer is None:
        return call(iterable)
    if (search := _STATE.search) is not None:
        own = function == _ROUND and names.get("self") is search.searcher
        return search.watch(call, iterable, names) if own else call(iterable)
    place = place_of(frame, function)
    if place.inside is not None or function not in _ENTRIES:
        _miss(hearer, place, _indirect(place) or _CURVES)
        with _quiet():
            return call(iterable)
    encoder = names.get("le")
    run = Run(place, names.get("estimator"), names.get("cv"), getattr(encoder, "classes_", None))
    try:
        results = run.watch(call, iterable)
    except Exception as error:
        hearer.miss(place, f"it raised {type(error).__name__}")
        raise
    hearer.take(run)
    return results


def _watched_search(fit: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(fit)
    def watched(self: Any, *args: Any, **keywords: Any) -> Any:
        hearer = _hearer()
        if hearer is None or _STATE.search is not None:
            return fit(self, *args, **keywords)
        place = place_of(sys._getframe(1), f"{type(self).__name__}.fit")
        if indirect := _indirect(place):
            _miss(hearer, place, indirect)
            with _quiet():
                return fit(self, *args, **keywords)
        search = _STATE.search = Search(place, self, Spool(_columns(args, keywords)))
        try:
            found = fit(self, *args, **keywords)
            hearer.take(search.best())
        except Exception as error:
            hearer.miss(place, f"it raised {type(error).__name__}")
            raise
        finally:
            _STATE.search = None
            search.spool.remove()
        return found

    return watched


def _miss(hearer: Hearer, place: Place, reason: str) -> None:
    if not _records_itself(place):
        hearer.miss(place, reason)


def _records_itself(place: Place) -> bool:
    """Tell whether our own ``cross_validate`` calls, which has its own recorder."""
    return place.inside is not None and place.inside.startswith("pytest_cvaudit.")


def _indirect(place: Place) -> str | None:
    return f"called by {place.inside}, not by your code" if place.inside else None


def _columns(args: tuple[Any, ...], keywords: dict[str, Any]) -> int:
    """About how many numbers a tested row answers with: a label, and perhaps a score per class."""
    y = args[1] if len(args) > 1 else keywords.get("y")
    try:
        return 1 + len(set(y)) if y is not None else 1
    except TypeError:
        return 1 + int(getattr(y, "shape", (0, 1))[-1])


def _watched_split(split: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(split)
    def watched(self: Any, *args: Any, **keywords: Any) -> Any:
        hearer, frame = _hearer(), sys._getframe(1)
        splits = split(self, *args, **keywords)
        if hearer is None or _STATE.search is not None or frame.f_globals.get("__name__") in _SPLITTING:
            return splits
        return _told(splits, hearer, place_of(frame, f"{type(self).__name__}.split"))

    return watched


def _told(splits: Iterable[Any], hearer: Hearer, place: Place) -> Iterator[Any]:
    for number, (train, test) in enumerate(splits):
        if number == 0 and not _records_itself(place):
            hearer.split(place, _indirect(place) or _LOOP, test)
        yield train, test
