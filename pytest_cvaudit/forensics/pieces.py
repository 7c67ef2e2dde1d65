"""Cuts a problem into pieces that are linear: one point of the totals, and a narrow range of the mean recall.

F of mean precision and mean recall is not linear, but within a range of recalls it bounds the precision, and near one
point it is almost its tangent. A problem whose pieces are all refuted is refuted; a search looks within one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.relax import Combined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.problem import Problem
    from pytest_cvaudit.forensics.rows import Curve

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_MOST_PIECES = 400
_SLACK = 1e-9
_TRIES = 30
_STEPS = float(1 << 34)
#: Nearer to the origin than this a tangent is taken elsewhere: any tangent lies above F.
_STEEP = 1e-3


@dataclass(frozen=True)
class _Piece:
    """Mean recall from low to high, over so many folds."""

    low: float
    high: float
    folds: int

    def cut(self, at: float) -> list[_Piece]:
        """The two parts below and above a recall."""
        return [replace(self, high=at), replace(self, low=at)]


@dataclass(frozen=True)
class _Window:
    """The windows of the rows within a piece, and those of the curves' tangents."""

    low: Ints
    high: Ints
    tangents: Combined


@dataclass(frozen=True)
class Target:
    """The windows of one piece, with vectors that have a row more for every tangent."""

    vectors: list[Ints]
    low: Ints
    high: Ints


def refuted_in_pieces(problem: Problem, deadline: float, *, thorough: bool = True) -> bool:
    """Tell whether the relaxation refutes every piece, down to smaller ones where it shall be thorough.

    Points of the totals that it refutes are left out for good.
    """
    while not problem.hopeless:
        point = problem.points[-1] if problem.points is not None else None
        if not _refuted_at(problem, *_at_point(problem, point), deadline, thorough):
            return False
        if problem.points is None:
            return True
        problem.points.pop()
    return True


def _at_point(problem: Problem, point: tuple[int, int] | None) -> tuple[Ints, Ints]:
    low, high = problem.low.copy(), problem.high.copy()
    if point is not None:
        for name, value in zip(("tp", "fp"), point, strict=True):
            at = problem.names.index(name)
            low[at], high[at] = max(int(low[at]), value), min(int(high[at]), value)
    return low, high


def _refuted_at(problem: Problem, low: Ints, high: Ints, deadline: float, thorough: bool) -> bool:
    """Tell whether the relaxation refutes these windows, for every count of folds that they leave open."""
    waiting = [(low, high)]
    for _ in range(_MOST_PIECES):
        if not waiting:
            return True
        low, high = waiting.pop()
        if problem.relaxation.refuted(low, high, deadline):
            continue
        if time.monotonic() > deadline:
            return False
        counts = _open_counts(problem, low, high)
        if counts:
            waiting += _halves(counts[0], low, high)
        elif not (problem.curves and _refuted_on_curves(problem, low, high, deadline, thorough)):
            return False
    return not waiting


def _open_counts(problem: Problem, low: Ints, high: Ints) -> list[int]:
    """The rows that count folds and are not fixed."""
    return [at for at, name in enumerate(problem.names) if name.startswith("folds:") and low[at] < high[at]]


def _halves(at: int, low: Ints, high: Ints) -> list[tuple[Ints, Ints]]:
    """Cut the window of one row in two; the upper half comes last."""
    below, above = high.copy(), low.copy()
    below[at] = (low[at] + high[at]) // 2
    above[at] = below[at] + 1
    return [(low, below), (above, high)]


def _refuted_on_curves(problem: Problem, low: Ints, high: Ints, deadline: float, thorough: bool) -> bool:
    """Tell whether all pieces of the curves are refuted; with two kinds of curves only the first is cut."""
    curves = _alike(problem)
    finest = _finest(curves) / (4 if thorough else 1)
    waiting = _whole(problem, curves[0], low, high)
    for _ in range(_MOST_PIECES):
        if not waiting:
            return True
        piece = waiting.pop()
        window = _window(problem, curves, piece, low, high)
        if window is None or problem.relaxation.refuted(window.low, window.high, deadline, window.tangents):
            continue
        if piece.high - piece.low < finest or time.monotonic() > deadline:
            return False
        waiting += piece.cut((piece.low + piece.high) / 2)
    return not waiting


def _alike(problem: Problem) -> list[Curve]:
    """The curves that share the rows of the first."""
    return [curve for curve in problem.curves if curve.count == problem.curves[0].count]


def _finest(curves: list[Curve]) -> float:
    """The width of a piece in which the tangents are about as exact as the bounds: they are off by its square."""
    return sqrt(min(curve.within[1] - curve.within[0] for curve in curves))


def _whole(problem: Problem, curve: Curve, low: Ints, high: Ints) -> list[_Piece]:
    """All recalls that the windows allow, for every count of folds that they allow."""
    counts = [problem.folds]
    if curve.count is not None:
        at = problem.names.index(curve.count)
        counts = list(range(int(high[at]), max(0, int(low[at]) - 1), -1))
    at = problem.names.index(curve.recall)
    unit, slack = float(problem.units[at]), 2 * problem.folds + 2
    least, most = (int(low[at]) - slack) * unit, (int(high[at]) + slack) * unit
    return [_Piece(max(0.0, least / folds), min(1.0, most / folds), folds) for folds in counts]


def _window(problem: Problem, curves: list[Curve], piece: _Piece, least_low: Ints, most_high: Ints) -> _Window | None:
    """The windows within a piece; nothing if the piece is empty."""
    low, high = least_low.copy(), most_high.copy()
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
    _narrow(problem, curves[0].precision, least * piece.folds, most * piece.folds, low, high)
    _narrow(problem, curves[0].recall, piece.low * piece.folds, piece.high * piece.folds, low, high)
    if curves[0].count is not None:
        _narrow(problem, curves[0].count, piece.folds, piece.folds, low, high)
    if (low > high).any():
        return None
    return _Window(low, high, _tangents(problem, curves, piece))


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


def _tangents(problem: Problem, curves: list[Curve], piece: _Piece) -> Combined:
    """The tangents of the curves in the middle of a piece, summed over the folds, with windows that lose nothing.

    F is concave and homogeneous: a tangent has the value of F where it touches and lies above F everywhere, so it is at
    least the lower bound. Along the upper bound precision is one and then convex in recall, so that the tangent is
    largest at an end or where precision leaves one.
    """
    factors = np.zeros((len(curves), len(problem.names)))
    ends = []
    recall = (piece.low + piece.high) / 2
    for row, curve in enumerate(curves):
        least, most, square = float(curve.within[0]), float(curve.within[1]), float(curve.square)
        precision = min(1.0, _precision((least + most) / 2, recall, square) or 1.0)
        if square * precision + recall < _STEEP:
            precision = 1.0
        bottom = (square * precision + recall) ** 2
        slopes = ((1 + square) * recall**2 / bottom, (1 + square) * square * precision**2 / bottom)
        for name, slope in zip((curve.precision, curve.recall), slopes, strict=True):
            at = problem.names.index(name)
            factors[row, at] = slope * problem.units[at]
        corner = most * square / (1 + square - most) if most < 1 else 1.0
        recalls = (piece.low, min(max(corner, piece.low), piece.high), piece.high)
        above = [(_precision(most, each, square), each) for each in recalls]
        top = max(slopes[0] * min(1.0, 1.0 if p is None else p) + slopes[1] * r for p, r in above)
        slack = 10 * _SLACK * problem.folds * (1 + sum(slopes))
        ends.append((least * piece.folds - slack, top * piece.folds + slack))
    return Combined(factors, np.array([end[0] for end in ends]), np.array([end[1] for end in ends]))


def random_target(problem: Problem, random: np.random.Generator, deadline: float) -> Target | None:
    """The windows within a random piece that the relaxation reaches; counts of folds are fixed at random."""
    point = None
    if problem.points is not None:
        point = problem.points[int(random.integers(len(problem.points)))]
    low, high = _at_point(problem, point)
    free = _open_counts(problem, low, high)
    for at in free:
        low[at] = high[at] = high[at] if random.random() < 0.5 else random.integers(low[at], high[at] + 1)
    if problem.relaxation.refuted(low, high, deadline):
        if point is not None and problem.points is not None and not free:
            problem.points.remove(point)
        return None
    if not problem.curves:
        return Target(problem.vectors, low, high)
    curves = _alike(problem)
    for piece, window in _dive(problem, curves, (low, high), random, deadline):
        if piece.high - piece.low <= _finest(curves):
            return _with_tangents(problem, curves, piece, window)
    return None


def _dive(
    problem: Problem,
    curves: list[Curve],
    within: tuple[Ints, Ints],
    random: np.random.Generator,
    deadline: float,
) -> Iterator[tuple[_Piece, _Window]]:
    """Yield ever smaller pieces that the relaxation reaches."""
    waiting = _whole(problem, curves[0], *within)
    for _ in range(_TRIES):
        if not waiting or time.monotonic() > deadline:
            return
        piece = waiting.pop()
        window = _window(problem, curves, piece, *within)
        if window is None or problem.relaxation.refuted(window.low, window.high, deadline, window.tangents):
            continue
        yield piece, window
        # An uneven cut, so that dives end in different places.
        halves = piece.cut(piece.low + (piece.high - piece.low) * random.uniform(0.3, 0.7))
        waiting += halves if random.random() < 0.5 else halves[::-1]


def _with_tangents(problem: Problem, curves: list[Curve], piece: _Piece, window: _Window) -> Target:
    """Write the tangents as rows of the vectors; for a search they are held to the bounds of F itself."""
    factors = window.tangents.factors.T * _STEPS
    vectors = [np.column_stack([part, np.rint(part @ factors).astype(np.int64)]) for part in problem.vectors]
    ends = [[int(float(end) * piece.folds * _STEPS) for end in curve.within] for curve in curves]
    low, high = (np.append(part, [end[at] for end in ends]) for at, part in enumerate((window.low, window.high)))
    return Target(vectors, low, high)
