"""The score converter: from the printed values of a fold back to every table of whole counts that prints them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.cells import MOST_CELLS, Cells
from pytest_cvaudit.forensics.design import Design
from pytest_cvaudit.forensics.exact import bounds, prints, ways_of
from pytest_cvaudit.forensics.forms import pooled_form
from pytest_cvaudit.forensics.totals import region

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.design import Shape
    from pytest_cvaudit.forensics.exact import Bounds, Counts
    from pytest_cvaudit.model import Metric, Printed

    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]

#: How the digits of a log were made; in the last reading each value may be one or the other.
ROUNDED, TRUNCATED, EITHER = "rounded", "truncated", "either"
READINGS = (ROUNDED, TRUNCATED, EITHER)
#: Finer digits than these hold the noise of the floats that were printed.
_FINEST, _NOISE = Fraction(1, 10**10), Fraction(1, 10**12)
#: Floats closer than this to a bound are judged exactly.
_CLOSE = 1e-9
#: With more counts of true positives over all shapes of a fold some shapes are left out.
_MOST_ROWS = 600_000


@dataclass(frozen=True)
class Fold:
    """One fold: the values printed for it, the shapes (positives, negatives) it may have, and where it is logged."""

    name: str
    printed: tuple[tuple[Metric, Printed], ...]
    shapes: tuple[Shape, ...]

    def __str__(self) -> str:
        """Say what is printed for the fold."""
        return f"{self.name} ({', '.join(f'{metric.name} {printed}' for metric, printed in self.printed)})"


@dataclass(frozen=True)
class _Many:
    """The sizes of many tables, in the place of one design's."""

    positives: Ints
    negatives: Ints

    @property
    def instances(self) -> Ints:
        return self.positives + self.negatives


def within(printed: Printed, reading: str) -> Bounds:
    """The closed interval of numbers that print so in a reading, widened where the digits are those of a float."""
    ends = [bounds(printed, truncated=cut) for cut in (False, True) if reading in (EITHER, (ROUNDED, TRUNCATED)[cut])]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    noise = _NOISE if Fraction(printed.unit) < _FINEST else 0
    return low - noise, high + noise


def convert(fold: Fold, reading: str = ROUNDED) -> Cells:
    """Find every table of the fold that prints all its values; thinned, and then not complete, if there are too many.

    A measure that a table leaves undefined may be printed as zero or one.
    """
    judged = [(metric, printed) for metric, printed in fold.printed if ways_of(metric)]
    wanted = [(metric, within(printed, reading)) for metric, printed in judged]
    if len(fold.shapes) == 1 and min(fold.shapes[0]) > 0:
        cells = _of_shape(fold.shapes[0], wanted)
    else:
        cells = _of_shapes(fold.shapes, wanted)
    keep = np.ones(len(cells.tp), np.bool_)
    for (metric, printed), (_, bound) in zip(judged, wanted, strict=True):
        keep &= _printing(cells, metric, bound, may_be_substituted(printed))
    return taken(cells, np.flatnonzero(keep))


def _of_shape(shape: Shape, wanted: Sequence[tuple[Metric, Bounds]]) -> Cells:
    """The points that bounds leave; the two that may be undefined although both classes occur are always among them."""
    positives, negatives = shape
    found = region(wanted, Design(positives + negatives, positives, 1, stratified=True))
    row, fp, complete = _spread(found.low, found.high)
    tp, fp = np.concatenate([[0, positives], found.tp[row]]), np.concatenate([[0, negatives], fp])
    first = np.unique(tp * (negatives + 1) + fp, return_index=True)[1]
    return Cells(np.full(len(first), positives), np.full(len(first), negatives), tp[first], fp[first], complete)


def _of_shapes(shapes: Sequence[Shape], wanted: Sequence[tuple[Metric, Bounds]]) -> Cells:
    """The points that bounds leave to several shapes at once: for each count of true positives an interval."""
    step = 1
    while True:
        positives, negatives = np.array(shapes[::step], np.int64).T
        least, most = np.zeros_like(positives), positives
        for metric, bound in wanted:
            if metric.name == "recall":
                least = np.maximum(least, np.ceil(float(bound[0]) * positives - _CLOSE).astype(np.int64))
                most = np.minimum(most, np.floor(float(bound[1]) * positives + _CLOSE).astype(np.int64))
                # In a fold without positives recall is undefined, whatever is printed for it.
                least = np.where(positives == 0, 0, least)
                most = np.where(positives == 0, 0, most)
        if np.maximum(0, most - least + 1).sum() <= _MOST_ROWS:
            break
        step *= 2
    at, tp, whole = _spread(least, most)
    positives, negatives = positives[at], negatives[at]
    low, high = np.zeros_like(tp), negatives
    for metric, bound in wanted:
        low, high = _cut(metric, bound, positives, negatives, tp, low, high)
    row, fp, complete = _spread(low, high)
    return Cells(positives[row], negatives[row], tp[row], fp, complete and whole and step == 1)


def _cut(
    metric: Metric, bound: Bounds, positives: Ints, negatives: Ints, tp: Ints, low: Ints, high: Ints
) -> tuple[Ints, Ints]:
    """Keep the false positives with which a measure may print so; where it is undefined all of them are kept."""
    form = pooled_form(metric, _Many(positives, negatives))  # type: ignore[arg-type]
    if form is None:
        return low, high
    for end, sign in ((bound[0], 1.0), (bound[1], -1.0)):
        by_tp, slope, constant = (
            sign * (np.asarray(top, np.float64) - float(end) * np.asarray(bottom, np.float64))
            for top, bottom in zip(*form, strict=True)
        )
        rest = by_tp * tp + constant
        slope = np.broadcast_to(slope, rest.shape)
        noise = 1e-13 * (np.abs(by_tp) * positives + np.abs(constant) + np.abs(slope) * negatives)
        edge = -(rest + noise) / np.where(slope == 0, 1.0, slope)
        low = np.where(slope > 0, np.maximum(low, np.ceil(np.maximum(edge, -1.0) - _CLOSE).astype(np.int64)), low)
        falling = np.floor(np.clip(edge, -1.0, 1e15) + _CLOSE).astype(np.int64)
        high = np.where(slope < 0, np.minimum(high, falling), np.where((slope == 0) & (rest < -noise), -1, high))
    return low, high


def _spread(low: Ints, high: Ints) -> tuple[Ints, Ints, bool]:
    """List the whole numbers of many intervals with the interval that each is of; some only, if there are too many."""
    lengths = np.maximum(0, high - low + 1)
    total = int(lengths.sum())
    step = max(1, -(-total // MOST_CELLS))
    index = np.arange(0, total, step)
    ends = np.cumsum(lengths)
    row = np.searchsorted(ends, index, side="right")
    return row, low[row] + index - (ends - lengths)[row], step == 1


def may_be_substituted(printed: Printed) -> bool:
    """Tell whether a printed value may stand for an undefined one: programs print zero or one."""
    return printed.digits * printed.scale in (0, 1)


def _printing(cells: Cells, metric: Metric, bound: Bounds, substituted: bool) -> Mask:
    values = cells.values(metric)
    low, high = float(bound[0]), float(bound[1])
    good = (values >= low) & (values <= high)
    close = np.minimum(np.abs(values - low), np.abs(values - high)) < _CLOSE
    for at in np.flatnonzero(close):
        good[at] = prints(metric, "pooled", [counts_at(cells, int(at))], bound)
    undefined = np.isnan(values)
    if undefined.any():
        good |= undefined & substituted
        if metric.name == "balanced_accuracy":
            good |= undefined & (cells.present >= low - _CLOSE) & (cells.present <= high + _CLOSE)
    return good


def counts_at(cells: Cells, at: int) -> Counts:
    """One cell as a table: tp, fp, fn, tn."""
    tp, fp = int(cells.tp[at]), int(cells.fp[at])
    return tp, fp, int(cells.positives[at]) - tp, int(cells.negatives[at]) - fp


def taken(cells: Cells, index: Ints) -> Cells:
    """Some of the cells."""
    return Cells(cells.positives[index], cells.negatives[index], cells.tp[index], cells.fp[index], cells.complete)
