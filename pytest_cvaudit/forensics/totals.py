"""Pooled claims need only the totals: for each count of true positives, an interval of false positives fits."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.forms import excess, pooled_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.design import Design
    from pytest_cvaudit.forensics.exact import Bounds
    from pytest_cvaudit.model import Metric

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Float noise allowed for when a bound is rounded to a whole count; candidates are judged exactly afterwards.
_NOISE = 1e-13
_SLACK = 1e-9


@dataclass(frozen=True)
class Region:
    """The totals that may fit: vectors of true positives and of the least and most false positives."""

    tp: Ints
    low: Ints
    high: Ints

    @property
    def empty(self) -> bool:
        """Tell whether no totals fit: a proof, as the region only errs by holding too much."""
        return len(self.tp) == 0

    @property
    def count(self) -> int:
        """How many totals there are."""
        return int((self.high - self.low + 1).sum())

    def points(self) -> Iterator[tuple[int, int]]:
        """Yield the totals, the middles of the widest intervals first."""
        order = np.argsort(self.low - self.high, kind="stable")
        middles = (self.low + self.high) // 2
        for index in order:
            yield int(self.tp[index]), int(middles[index])
        for index in order:
            for fp in range(int(self.low[index]), int(self.high[index]) + 1):
                if fp != middles[index]:
                    yield int(self.tp[index]), fp


def region(claims: Sequence[tuple[Metric, Bounds]], design: Design) -> Region:
    """Bound the totals by pooled claims, each a measure and the bounds of its value."""
    tp = np.arange(design.positives + 1, dtype=np.int64)
    low, high = np.zeros(len(tp), np.int64), np.full(len(tp), design.negatives, np.int64)
    for metric, within in claims:
        form = pooled_form(metric, design)
        if metric.name in ("precision", "mcc"):
            low[0] = 1
        if metric.name in ("npv", "mcc"):
            high[-1] = min(int(high[-1]), design.negatives - 1)
        if form is None:
            low, high = _mcc(tp, low, high, within, design)
            continue
        for bound, sign in ((within[0], 1), (within[1], -1)):
            slope_tp, slope, constant = (sign * float(part) for part in excess(form, bound))
            size = abs(slope_tp) * design.positives + abs(constant)
            low, high = _cut((slope_tp * tp + constant).astype(np.float64), slope, size, low, high)
    keep = low <= high
    return Region(tp[keep], low[keep], high[keep])


def _cut(constant: Floats, slope: float, size: float, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Keep the counts x with constant + slope · x at least zero, up to float noise."""
    noise = _NOISE * (size + abs(slope) * float(high.max(initial=1)))
    if slope == 0:
        return low, np.where(constant >= -noise, high, -1)
    edge = np.clip((-constant - noise) / slope, -1e15, 1e15)
    if slope > 0:
        return np.maximum(low, np.ceil(edge - _SLACK).astype(np.int64)), high
    return low, np.minimum(high, np.floor(edge + _SLACK).astype(np.int64))


def _mcc(tp: Ints, low: Ints, high: Ints, within: Bounds, design: Design) -> tuple[Ints, Ints]:
    """MCC falls as false positives are added, so that both ends are found by bisection."""
    p, n = float(design.positives), float(design.negatives)

    def value(fp: Ints) -> Floats:
        predicted = (tp + fp).astype(np.float64)
        spread = np.maximum(predicted * (p + n - predicted), 1e-300)
        found: Floats = (tp * n - fp * p) / (np.sqrt(spread) * np.sqrt(p * n))
        return found

    least = _first(lambda fp: value(fp) <= float(within[1]) + _SLACK, low, high)
    most = _first(lambda fp: value(fp) < float(within[0]) - _SLACK, low, high) - 1
    return least, most


def _first(holds: Callable[[Ints], NDArray[np.bool_]], low: Ints, high: Ints) -> Ints:
    """The first count of each interval from which a condition holds, one past its end if it never does."""
    left, right = low.copy(), np.maximum(high + 1, low)
    while (left < right).any():
        middle = (left + right) // 2
        there = holds(middle) & (left < right)
        right = np.where(there, middle, right)
        left = np.where(there | (left >= right), left, middle + 1)
    return left


def first_point(
    candidates: Region, judge: Callable[[int, int], bool], deadline: float
) -> tuple[tuple[int, int] | None, bool]:
    """The first totals that an exact judge accepts, and whether all were judged."""
    for count, point in enumerate(candidates.points()):
        if judge(*point):
            return point, True
        if count % 64 == 0 and time.monotonic() > deadline:
            return None, False
    return None, True
