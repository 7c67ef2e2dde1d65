"""Where in the user's code a cross-validation was called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cvaudit.manifest import shown

if TYPE_CHECKING:
    from types import FrameType

#: Frames that belong to the call itself: the functions that are captured, and what scikit-learn wraps them in.
_CALL = (
    *(f"sklearn.model_selection.{name}" for name in ("_validation", "_search", "_search_successive_halving", "_split")),
    "sklearn.utils._param_validation",
    "sklearn.base",
    "sklearn.callback",
)
_OWN = ("pytest_cvaudit.capturing", "contextlib", "functools", "threading", "multiprocessing", "concurrent")
_LIBRARY = ("sklearn", "joblib", "pytest_cvaudit")
_RUNNERS = ("joblib", "sklearn.utils.parallel", *_OWN)
_ENTRIES = ("sklearn.model_selection._validation",)


@dataclass(frozen=True)
class Place:
    """A line of the user's code, the function of scikit-learn that it calls, and what lies between, if anything."""

    path: str
    line: int
    entry: str
    inside: str | None = None

    def __str__(self) -> str:
        """Write the place as compilers do."""
        return f"{self.path}:{self.line}"


def place_of(frame: FrameType | None, entry: str) -> Place:
    """Go up from scikit-learn's own frames to the first one of somebody else."""
    while frame is not None and _is(frame, (*_CALL, *_OWN)):
        if _is(frame, _ENTRIES) and not frame.f_code.co_name.startswith(("_", "<")):
            entry = frame.f_code.co_name
        frame = frame.f_back
    inside = _inside(frame)
    while frame is not None and _is(frame, (*_LIBRARY, *_OWN)):
        frame = frame.f_back
    if frame is None:
        return Place("thread", 0, entry, inside)
    return Place(shown(frame.f_code.co_filename), frame.f_lineno, entry, inside)


def _inside(frame: FrameType | None) -> str | None:
    """The part of the library that called, if not the user; how it runs things in parallel is not of interest."""
    if frame is None or not _is(frame, _LIBRARY):
        return None
    while frame is not None and _is(frame, _RUNNERS):
        frame = frame.f_back
    return _module(frame) if frame is not None and _is(frame, _LIBRARY) else None


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _is(frame: FrameType, modules: tuple[str, ...]) -> bool:
    name = _module(frame)
    return any(name == module or name.startswith(f"{module}.") for module in modules)
