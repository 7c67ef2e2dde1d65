"""Turns a claim made by an aggregation into rows: sums over the folds that must fall into windows."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, gcd, lcm
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.exact import WHOLE, squared
from pytest_cvaudit.forensics.forms import Form, excess, pooled_form

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.cells import Cells
    from pytest_cvaudit.forensics.design import Design, Split
    from pytest_cvaudit.forensics.exact import Bounds
    from pytest_cvaudit.model import Metric

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]

#: Whole-number rows stay below this in every sum, so that floats hold them exactly.
_LARGEST = 1 << 50
_LARGEST_SCALE = 10**6
#: The weight of a fold in the weighted means.
WEIGHTS: dict[str, Callable[[Cells], Ints]] = {
    "avg_weighted": lambda cells: cells.positives + cells.negatives,
    "avg_weighted_positives": lambda cells: cells.positives,
}


@dataclass
class Row:
    """A value per cell of every group whose sum must lie in a window; a whole row holds whole numbers."""

    values: list[Floats]
    low: Fraction | None
    high: Fraction | None
    scale: int | None = None

    def narrow(self, low: Fraction | None, high: Fraction | None) -> None:
        """Intersect the window with another."""
        if low is not None:
            self.low = low if self.low is None else max(low, self.low)
        if high is not None:
            self.high = high if self.high is None else min(high, self.high)


@dataclass(frozen=True)
class Curve:
    """A bound on F of mean precision and mean recall, given the rows of their sums and of the folds counted."""

    precision: str
    recall: str
    count: str | None
    square: Fraction
    within: Bounds


@dataclass(frozen=True)
class PooledMcc:
    """A bound on the pooled MCC, given the rows of the totals."""

    within: Bounds


@dataclass
class System:
    """The rows of several claims together, with the cells that are allowed and the bounds that are not linear."""

    split: Split
    cells: list[Cells]
    design: Design
    rows: dict[str, Row] = field(default_factory=dict)
    allowed: list[Mask] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    mccs: list[PooledMcc] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start from what the split demands."""
        self.allowed = [np.ones(len(cells.tp), np.bool_) for cells in self.cells]
        if self.split.free:
            total = Fraction(self.design.positives)
            self.row("positives", lambda cells: cells.positives.astype(np.float64), total, total, 1)

    def row(
        self,
        key: str,
        value: Callable[[Cells], Floats],
        low: Fraction | None,
        high: Fraction | None,
        scale: int | None = None,
    ) -> None:
        """Add a row, or narrow the one that has the same key; ``scale`` makes its values whole."""
        if key in self.rows:
            self.rows[key].narrow(low, high)
        else:
            self.rows[key] = Row([value(cells) for cells in self.cells], low, high, scale)

    def add(self, metric: Metric, way: str, within: Bounds) -> None:
        """Demand that an aggregation lies within the bounds."""
        if way in ("pooled", "tp_fp"):
            self._pooled(metric, within)
        elif way.startswith("pr_re"):
            self._of_means(metric, within, skip=way == "pr_re_skip")
        elif way in ("avg_skip", "avg_nan"):
            self._mean_defined(metric, within, judged=metric.is_f and way == "avg_skip")
        else:
            self._mean_filled(metric, way, within)

    def _mean_filled(self, metric: Metric, way: str, within: Bounds) -> None:
        if way in ("avg", "avg_weighted", "avg_present") and metric.name in WHOLE:
            self.allowed = [
                allowed & ~np.isnan(per_fold(metric, way, cells))
                for allowed, cells in zip(self.allowed, self.cells, strict=True)
            ]
        fill = 1.0 if way == "avg_one" else 0.0
        total, scale = Fraction(self.design.folds), self._scale(metric)
        key = f"{metric.name}:{fill:g}"
        if way in WEIGHTS:
            key, scale = f"{metric.name}*{way}", None
            total = Fraction(self.design.instances if way == "avg_weighted" else self.design.positives)
        elif way == "avg_present":
            key, scale = f"{metric.name}:{way}", None
        self.row(key, lambda cells: summand(metric, way, cells), total * within[0], total * within[1], scale)

    def _mean_defined(self, metric: Metric, within: Bounds, judged: bool) -> None:
        def kept(cells: Cells) -> tuple[Floats, Mask]:
            values = cells.values(metric)
            keep = cells.judged if judged else ~np.isnan(values)
            return np.where(keep, np.nan_to_num(values), 0.0), keep

        def above(bound: Fraction) -> Callable[[Cells], Floats]:
            def value(cells: Cells) -> Floats:
                values, keep = kept(cells)
                return np.where(keep, values - float(bound), 0.0)

            return value

        if all(bool(kept(cells)[1].all()) for cells in self.cells):
            self._mean_filled(metric, "filled", within)
            return
        # The two rows differ by the width of the bounds per counted fold, which closes both windows.
        zero, most = Fraction(0), self.design.folds * (within[1] - within[0])
        what = "judged" if judged else metric.name
        self.row(f"folds:{what}", lambda cells: kept(cells)[1].astype(np.float64), Fraction(1), None, 1)
        self.row(f"{metric.name}/{what}>{within[0]}", above(within[0]), zero, most)
        self.row(f"{metric.name}/{what}<{within[1]}", above(within[1]), -most, zero)

    def _of_means(self, metric: Metric, within: Bounds, skip: bool) -> None:
        k = Fraction(self.design.folds)
        square = squared(metric.beta or 1.0)
        # F reaches the lower bound only if precision does with a recall of one, and the other way round.
        low = max(Fraction(0), within[0])
        least = (low / (1 + square - low * square), low * square / (1 + square - low))
        if skip and not all(bool(cells.judged.all()) for cells in self.cells):
            names, count = ("precision:judged", "recall:judged"), "folds:judged"
            self.row(count, lambda cells: cells.judged.astype(np.float64), Fraction(1), None, 1)
            for name, bound in zip(names, least, strict=True):
                self.row(name, _judged(name, 0.0), None, k)
                self.row(f"{name}>{bound}", _judged(name, float(bound)), Fraction(0), None)
            self.curves.append(Curve(*names, count, square, within))
            return
        names = ("precision:0", "recall:0")
        self.row(names[0], lambda cells: np.nan_to_num(cells.precision), k * least[0], k)
        self.row(names[1], lambda cells: np.nan_to_num(cells.recall), k * least[1], k, self._recall_scale())
        self.curves.append(Curve(*names, None, square, within))

    def _pooled(self, metric: Metric, within: Bounds) -> None:
        form = pooled_form(metric, self.design)
        if metric.name in ("precision", "mcc"):
            self.row("predicted", lambda cells: (cells.tp + cells.fp).astype(np.float64), Fraction(1), None, 1)
        top, bottom = Fraction(self.design.positives), Fraction(self.design.negatives)
        if metric.name in ("npv", "mcc"):
            self.row("predicted", lambda cells: (cells.tp + cells.fp).astype(np.float64), None, top + bottom - 1, 1)
        if form is None:
            self.row("tp", lambda cells: cells.tp.astype(np.float64), Fraction(0), top, 1)
            self.row("fp", lambda cells: cells.fp.astype(np.float64), Fraction(0), bottom, 1)
            self.mccs.append(PooledMcc(within))
        elif form[1].tp == 0 and form[1].fp == 0:
            top_form, size = form[0], form[1].constant
            self._linear(top_form, within[0] * size, within[1] * size)
        else:
            # The two rows differ by the width of the bounds times the denominator, which closes both windows.
            below = form[1]
            ends = (below.tp * self.design.positives, below.fp * self.design.negatives)
            most = (within[1] - within[0]) * (below.constant + sum(max(0, end) for end in ends))
            self._linear(excess(form, within[0]), Fraction(0), most)
            self._linear(excess(form, within[1]), -most, Fraction(0))

    def _linear(self, form: Form, low: Fraction | None, high: Fraction | None) -> None:
        tp, fp, constant = (Fraction(part) for part in form)
        common = lcm(tp.denominator, fp.denominator)
        whole_tp, whole_fp = int(tp * common), int(fp * common)
        shared = gcd(whole_tp, whole_fp) or 1
        factor = Fraction(common, shared)
        a, b = whole_tp // shared, whole_fp // shared
        low, high = (None if end is None else (end - constant) * factor for end in (low, high))
        exact = abs(a) * self.design.positives + abs(b) * self.design.negatives < _LARGEST
        self.row(
            f"{a}tp{b:+}fp", lambda cells: float(a) * cells.tp + float(b) * cells.fp, low, high, 1 if exact else None
        )

    def _scale(self, metric: Metric) -> int | None:
        shapes = [shape for group in self.split.groups for shape in group.shapes]
        if metric.name in ("accuracy", "error"):
            return _common([p + n for p, n in shapes])
        if metric.name == "recall":
            return self._recall_scale()
        return _common([n for _, n in shapes]) if metric.name == "specificity" else None

    def _recall_scale(self) -> int | None:
        return _common([p for group in self.split.groups for p, _ in group.shapes])


def per_fold(metric: Metric, way: str, cells: Cells) -> Floats:
    """What a fold contributes to a mean before undefined folds are filled."""
    return cells.present if way == "avg_present" else cells.values(metric)


def summand(metric: Metric, way: str, cells: Cells) -> Floats:
    """What a fold adds to the sum that a mean over all folds is made of, its weight included."""
    values = per_fold(metric, way, cells)
    filled: Floats = np.where(np.isnan(values), 1.0 if way == "avg_one" else 0.0, values)
    return filled * WEIGHTS[way](cells) if way in WEIGHTS else filled


def _judged(name: str, bound: float) -> Callable[[Cells], Floats]:
    def value(cells: Cells) -> Floats:
        rate = cells.precision if name.startswith("precision") else cells.recall
        return np.where(cells.judged, np.nan_to_num(rate) - bound, 0.0)

    return value


def _common(sizes: Sequence[int]) -> int | None:
    common = 1
    for size in set(sizes):
        common = lcm(common, max(1, size))
        if common > _LARGEST_SCALE:
            return None
    return common


def whole(low: Fraction | None, high: Fraction | None) -> tuple[int | None, int | None]:
    """Round a window inwards to whole numbers."""
    return None if low is None else -floor(-low), None if high is None else floor(high)
