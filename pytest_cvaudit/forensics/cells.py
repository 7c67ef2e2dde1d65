"""The cells of a split: everything that can happen in one fold, and what each measure says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import measures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.design import Group, Shape, Split
    from pytest_cvaudit.model import Metric

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]

#: A group with more cells than this is thinned: what is found in it is found, but nothing is proven by not finding.
MOST_CELLS, _THINNED = 600_000, 60_000
#: A thinned axis keeps at least so many counts; with many shapes more would add up.
_FEWEST = 16
#: A thinned group keeps at most so many shapes, and so many neighbours among them.
_MOST_SHAPES, _NEIGHBOURS = 1000, 100


@dataclass(frozen=True)
class Cells:
    """The cells of one group of folds, as parallel vectors; ``complete`` unless they had to be thinned."""

    positives: Ints
    negatives: Ints
    tp: Ints
    fp: Ints
    complete: bool
    _known: dict[str, Floats] = field(default_factory=dict, repr=False)

    def values(self, metric: Metric) -> Floats:
        """What a measure says of every cell; NaN where it is undefined."""
        if metric.name not in self._known:
            self._known[metric.name] = self._values(metric)
        return self._known[metric.name]

    def _values(self, metric: Metric) -> Floats:
        if metric.beta is not None:
            return measures.f_beta(self.tp, self.fp, self.positives - self.tp, metric.beta)
        tn, fn = self.negatives - self.fp, self.positives - self.tp
        size = self.positives + self.negatives
        if metric.name == "accuracy":
            return measures.ratio(self.tp + tn, size)
        if metric.name == "error":
            return measures.ratio(self.fp + fn, size)
        if metric.name == "precision":
            return self.precision
        if metric.name == "recall":
            return self.recall
        specificity = measures.ratio(tn, self.negatives)
        if metric.name == "specificity":
            return specificity
        if metric.name == "npv":
            return measures.precision(tn, fn)
        if metric.name == "balanced_accuracy":
            return (self.recall + specificity) / 2
        above = (self.tp * tn - self.fp * fn).astype(np.float64)
        predicted = (self.tp + self.fp).astype(np.float64)
        if metric.name == "kappa":
            return measures.ratio(2 * above, predicted * self.negatives + self.positives * (size - predicted))
        root = np.sqrt(predicted * (size - predicted)) * np.sqrt(self.positives.astype(np.float64) * self.negatives)
        return measures.ratio(above, root)

    @cached_property
    def precision(self) -> Floats:
        """Precision of every cell."""
        return measures.precision(self.tp, self.fp)

    @cached_property
    def recall(self) -> Floats:
        """Recall of every cell."""
        return measures.recall(self.tp, self.positives - self.tp)

    @cached_property
    def present(self) -> Floats:
        """The mean recall over the classes that a cell has; NaN in an empty fold."""
        specificity = measures.ratio(self.negatives - self.fp, self.negatives)
        both = (np.nan_to_num(self.recall) + np.nan_to_num(specificity)).astype(np.float64)
        return measures.ratio(both, (self.positives > 0).astype(np.int64) + (self.negatives > 0))

    @cached_property
    def judged(self) -> Mask:
        """The cells where precision and recall are both defined."""
        return ~np.isnan(self.precision) & ~np.isnan(self.recall)


def cells_of(split: Split, most_tp: int, most_fp: int) -> list[Cells]:
    """Build the cells of every group with at most so many true and false positives."""
    return [_cells(group, most_tp, most_fp) for group in split.groups]


def _cells(group: Group, most_tp: int, most_fp: int) -> Cells:
    sizes = [(min(p, most_tp) + 1) * (n + 1 if n < most_fp else most_fp + 1) for p, n in group.shapes]
    keep = 1.0 if sum(sizes) <= MOST_CELLS else _THINNED / sum(sizes)
    shapes = group.shapes if keep == 1.0 else _some_shapes(group.shapes)
    parts = [_cells_of_shape(shape, most_tp, most_fp, keep) for shape in shapes]
    positives, negatives, tp, fp = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Cells(positives, negatives, tp, fp, complete=keep == 1.0)


def _some_shapes(shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    """Shapes over the whole range and some neighbours in its middle, so that their positives can add up."""
    if len(shapes) <= _MOST_SHAPES:
        return shapes
    even, middle = np.linspace(0, len(shapes) - 1, _MOST_SHAPES - _NEIGHBOURS), len(shapes) // 2
    near = np.arange(middle - _NEIGHBOURS // 2, middle + _NEIGHBOURS // 2)
    return tuple(shapes[at] for at in np.unique(np.append(np.rint(even).astype(np.int64), near)).tolist())


def _cells_of_shape(shape: Shape, most_tp: int, most_fp: int, keep: float) -> tuple[Ints, Ints, Ints, Ints]:
    positives, negatives = shape
    tps, fps = (_axis(min(count, most), keep**0.5) for count, most in ((positives, most_tp), (negatives, most_fp)))
    tp, fp = (axis.ravel() for axis in np.meshgrid(tps, fps, indexing="ij"))
    return np.full(len(tp), positives), np.full(len(tp), negatives), tp, fp


def _axis(most: int, keep: float) -> Ints:
    if keep == 1.0 or most < _FEWEST:
        return np.arange(most + 1, dtype=np.int64)
    count = max(_FEWEST, int((most + 1) * keep))
    # Small counts matter most to a score, so half of the axis is spent on them.
    even, small = np.linspace(0, most, count // 2), np.arange(min(most, count // 2) + 1)
    return np.unique(np.concatenate([np.rint(even).astype(np.int64), small]))
