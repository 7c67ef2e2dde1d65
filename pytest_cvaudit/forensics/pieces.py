"""Refutes an F of mean precision and mean recall: the recalls are cut into pieces, each with a window for precision."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.relax import refuted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.problem import Problem
    from pytest_cvaudit.forensics.rows import Curve

    Ints = NDArray[np.int64]

_MOST_PIECES = 400
_SLACK = 1e-9
_TRIES = 60


@dataclass(frozen=True)
class _Piece:
    """Mean recall from low to high, over so many folds (None: all)."""

    low: float
    high: float
    folds: int | None


def refuted_in_pieces(problem: Problem, deadline: float) -> bool:
    """Tell whether the relaxation refutes every piece; with two kinds of curves only the first is cut."""
    if problem.hopeless:
        return True
    if not problem.curves:
        return refuted(problem, problem.low, problem.high, deadline)
    first = problem.curves[0]
    curves = [curve for curve in problem.curves if curve.count == first.count]
    finest = min(float(curve.within[1] - curve.within[0]) for curve in curves) / 2
    counts = [None] if first.count is None else list(range(problem.folds, 0, -1))
    waiting = [_Piece(0.0, 1.0, count) for count in counts]
    for _ in range(_MOST_PIECES):
        if not waiting:
            return True
        piece = waiting.pop()
        window = _window(problem, curves, piece)
        if window is None or refuted(problem, *window, deadline):
            continue
        if piece.high - piece.low < finest or time.monotonic() > deadline:
            return False
        middle = (piece.low + piece.high) / 2
        waiting += [_Piece(piece.low, middle, piece.folds), _Piece(middle, piece.high, piece.folds)]
    return not waiting


def _window(problem: Problem, curves: list[Curve], piece: _Piece) -> tuple[Ints, Ints] | None:
    """The windows of the problem within a piece; nothing if the piece is empty."""
    low, high = problem.low.copy(), problem.high.copy()
    folds = problem.folds if piece.folds is None else piece.folds
    least, most = 0.0, 1.0
    for curve in curves:
        square = float(curve.square)
        below = _precision(float(curve.within[0]), piece.high, square)
        above = _precision(float(curve.within[1]), piece.low, square)
        if below is None or below > 1 + _SLACK:
            return None
        least, most = max(least, below), min(most, 1.0 if above is None else above)
    if least > most + _SLACK:
        return None
    _narrow(problem, curves[0].precision, least * folds, most * folds, low, high)
    _narrow(problem, curves[0].recall, piece.low * folds, piece.high * folds, low, high)
    if curves[0].count is not None:
        _narrow(problem, curves[0].count, folds, folds, low, high)
    return None if (low > high).any() else (low, high)


def _precision(f: float, recall: float, square: float) -> float | None:
    """The precision that makes this F with a recall; nothing if none does."""
    if f <= 0:
        return 0.0 if f < 0 or recall > 0 else None
    bottom = (1 + square) * recall - f * square
    return None if bottom <= 0 else f * recall / bottom


def _narrow(problem: Problem, name: str, least: float, most: float, low: Ints, high: Ints) -> None:
    at = problem.names.index(name)
    unit, slack = problem.units[at], 2 * problem.folds + 2
    low[at] = max(int(low[at]), int(np.floor((least - _SLACK) / unit)) - slack * (problem.centres[at] > 0))
    high[at] = min(int(high[at]), int(np.ceil((most + _SLACK) / unit)) + slack * (problem.centres[at] > 0))


def random_window(problem: Problem, random: np.random.Generator) -> tuple[Ints, Ints] | None:
    """The windows within a random narrow piece that the relaxation reaches; counts of folds are fixed at random."""
    low, high = problem.low.copy(), problem.high.copy()
    for at, name in enumerate(problem.names):
        if name.startswith("folds:") and low[at] < high[at]:
            low[at] = high[at] = high[at] if random.random() < 0.5 else random.integers(low[at], high[at] + 1)
    if not problem.curves:
        return None if refuted(problem, low, high, time.monotonic() + 0.2) else (low, high)
    first = problem.curves[0]
    curves = [curve for curve in problem.curves if curve.count == first.count]
    folds = None if first.count is None else int(low[problem.names.index(first.count)])
    unit = float(problem.units[problem.names.index(first.recall)])
    finest = max(float(first.within[1] - first.within[0]), 2 * unit / problem.folds)
    waiting = [_Piece(0.0, 1.0, folds)]
    for _ in range(_TRIES):
        if not waiting:
            return None
        piece = waiting.pop()
        window = _window(problem, curves, piece)
        if window is None:
            continue
        window = np.maximum(window[0], low), np.minimum(window[1], high)
        if refuted(problem, *window, time.monotonic() + 0.2):
            continue
        if piece.high - piece.low <= finest:
            return window
        # An uneven cut, so that dives end in different places.
        cut = piece.low + (piece.high - piece.low) * random.uniform(0.3, 0.7)
        halves = [_Piece(piece.low, cut, folds), _Piece(cut, piece.high, folds)]
        waiting += halves if random.random() < 0.5 else halves[::-1]
    return None
