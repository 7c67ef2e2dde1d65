"""A system of rows in whole numbers: choose one cell per fold so that every sum falls into its window."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.relax import Relaxation
from pytest_cvaudit.forensics.rows import Curve, PooledMcc, Row, System, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.cells import Cells
    from pytest_cvaudit.forensics.exact import Bounds

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Steps per unit of a real row after scaling its largest value to one.
_STEPS = float(1 << 34)
#: Bounds that are not linear are judged by floats up to this, then exactly.
_TOLERANCE = 1e-9


@dataclass
class Problem:
    """Groups of folds with a vector of whole numbers per cell, and the window that each component's sum must meet.

    Real values are cut to steps and the windows widened by what cutting can lose, so no solution is lost. Where only
    a few totals (tp, fp) can fit, ``points`` lists them.
    """

    names: list[str]
    counts: list[int]
    vectors: list[Ints]
    cells: list[Cells]
    kept: list[Ints]
    low: Ints
    high: Ints
    units: Floats
    centres: Floats
    design_size: tuple[int, int]
    curves: list[Curve]
    mccs: list[PooledMcc]
    complete: bool
    points: list[tuple[int, int]] | None = None

    @cached_property
    def relaxation(self) -> Relaxation:
        """The convex mixes of the cells."""
        return Relaxation(self.vectors, self.counts)

    @property
    def folds(self) -> int:
        """How many folds there are."""
        return sum(self.counts)

    @property
    def slots(self) -> list[int]:
        """The group of every fold."""
        return [group for group, count in enumerate(self.counts) for _ in range(count)]

    @property
    def hopeless(self) -> bool:
        """Tell whether a window or a group is empty or no totals are left, so that nothing fits."""
        return (
            self.points == []
            or bool((self.low > self.high).any())
            or any(len(vectors) == 0 for vectors in self.vectors)
        )

    def table(self, chosen: Sequence[tuple[int, int]]) -> tuple[tuple[int, int, int, int], ...]:
        """Write chosen (group, cell) pairs as counts per fold."""
        folds = []
        for group, index in chosen:
            cells, at = self.cells[group], int(self.kept[group][index])
            tp, fp = int(cells.tp[at]), int(cells.fp[at])
            folds.append((tp, fp, int(cells.positives[at]) - tp, int(cells.negatives[at]) - fp))
        return tuple(folds)

    def misses(self, sums: Ints) -> Floats:
        """How far sums are from the bounds that are not linear; zero where they may be met."""
        total = np.zeros(len(sums))
        for curve in self.curves:
            precision, recall = (self._real(sums, name) for name in (curve.precision, curve.recall))
            folds = np.full(len(sums), float(self.folds)) if curve.count is None else self._real(sums, curve.count)
            square = float(curve.square)
            bottom = (square * precision + recall) * np.maximum(folds, 1.0)
            value = np.where(bottom > 0, (1 + square) * precision * recall / np.maximum(bottom, 1e-300), 0.0)
            steep = (1 + square) * (1 + 1 / square)
            total += _outside(value, curve.within, _TOLERANCE * steep)
        for mcc in self.mccs:
            p, n = self.design_size
            tp, fp = self._real(sums, "tp"), self._real(sums, "fp")
            spread = (tp + fp) * (p + n - tp - fp) * float(p) * float(n)
            value = (tp * n - fp * p) / np.sqrt(np.maximum(spread, 1e-300))
            total += _outside(value, mcc.within, _TOLERANCE)
        if self.points is not None:
            total += self._off_points(sums)
        return total

    def _off_points(self, sums: Ints) -> Floats:
        """How far the totals are from the nearest of those that can fit, as a share of all instances."""
        tp, fp = (sums[:, self.names.index(name)] for name in ("tp", "fp"))
        nearest = np.full(len(sums), np.inf)
        for point in self.points or ():
            np.minimum(nearest, np.abs(tp - point[0]) + np.abs(fp - point[1]), out=nearest)
        return nearest / sum(self.design_size)

    def _real(self, sums: Ints, name: str) -> Floats:
        at = self.names.index(name)
        real: Floats = np.maximum(0.0, (sums[:, at] + self.centres[at]) * self.units[at])
        return real


def _outside(value: Floats, within: Bounds, tolerance: float) -> Floats:
    low, high = float(within[0]), float(within[1])
    return np.maximum(0.0, np.maximum(low - value, value - high) - tolerance)


def build(system: System, points: list[tuple[int, int]] | None = None) -> Problem:
    """Write a system in whole numbers and drop the cells that no table can hold."""
    folds = system.design.folds
    names = list(system.rows)
    kept = [np.flatnonzero(allowed) for allowed in system.allowed]
    columns: list[list[Ints]] = [[] for _ in kept]
    windows, units, centres = [], [], []
    for name in names:
        row = system.rows[name]
        values = [part[index] for part, index in zip(row.values, kept, strict=True)]
        cut, window, unit, centre = _whole_row(row, values, folds)
        windows.append(window)
        units.append(unit)
        centres.append(centre)
        for column, part in zip(columns, cut, strict=True):
            column.append(part)
    vectors = [
        np.stack(column, axis=1) if column else np.zeros((len(index), 0), np.int64)
        for column, index in zip(columns, kept, strict=True)
    ]
    counts = [group.count for group in system.split.groups]
    limits = np.array(windows, np.int64).reshape(len(names), 2)
    problem = Problem(
        names, counts, vectors, system.cells, kept, limits[:, 0], limits[:, 1], np.array(units), np.array(centres),
        (system.design.positives, system.design.negatives), system.curves, system.mccs,
        all(cells.complete for cells in system.cells), points,
    )  # fmt: skip
    prune(problem)
    return problem


def _whole_row(row: Row, values: list[Floats], folds: int) -> tuple[list[Ints], tuple[int, int], float, float]:
    if row.scale is not None:
        cut = [np.rint(part * row.scale).astype(np.int64) for part in values]
        ends = (None if end is None else end * row.scale for end in (row.low, row.high))
        low, high = whole(*ends)
        unit, centre = 1.0 / row.scale, 0.0
    else:
        largest = max((float(np.abs(part).max(initial=0.0)) for part in values), default=0.0) or 1.0
        steps = _STEPS / largest
        cut = [np.floor(part * steps).astype(np.int64) for part in values]
        # A cut value lies up to one step below the true one, and the float product may be one off.
        low = None if row.low is None else int(np.floor(float(row.low) * steps)) - 2 * folds - 2
        high = None if row.high is None else int(np.ceil(float(row.high) * steps)) + folds + 2
        unit, centre = 1.0 / steps, folds / 2
    far = 4 * (folds + 1) * max((int(np.abs(part).max(initial=0)) for part in cut), default=0) + 1
    # No sum reaches so far; digits beyond number may put a window farther than whole numbers go.
    low, high = -far if low is None else min(max(low, -far), far), far if high is None else max(min(high, far), -far)
    return cut, (low, high), unit, centre


def prune(problem: Problem) -> None:
    """Drop the cells whose vector cannot be completed by any choice for the other folds."""
    for _ in range(4):
        if problem.hopeless:
            return
        least = [vectors.min(axis=0) for vectors in problem.vectors]
        most = [vectors.max(axis=0) for vectors in problem.vectors]
        total_least = np.sum([count * part for count, part in zip(problem.counts, least, strict=True)], axis=0)
        total_most = np.sum([count * part for count, part in zip(problem.counts, most, strict=True)], axis=0)
        problem.low, problem.high = np.maximum(problem.low, total_least), np.minimum(problem.high, total_most)
        dropped = 0
        for group, vectors in enumerate(problem.vectors):
            fits = (vectors >= problem.low - (total_most - most[group])).all(axis=1)
            fits &= (vectors <= problem.high - (total_least - least[group])).all(axis=1)
            dropped += int((~fits).sum())
            problem.vectors[group] = np.ascontiguousarray(vectors[fits])
            problem.kept[group] = problem.kept[group][fits]
        if not dropped:
            return
