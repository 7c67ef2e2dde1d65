"""Refutes a problem by its linear relaxation, with a certificate that is checked apart from the solver."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: How far a certificate must separate the sums from the windows, in units of scaled rows of size one.
_MARGIN = 1e-8
_ROUNDS = 60
_MOST_COLUMNS = 200


class Combined(NamedTuple):
    """Linear combinations of the rows, and the window of each."""

    factors: Floats
    low: Floats
    high: Floats


class Relaxation:
    """The convex mixes of cells: so many folds of each group, spread over its vectors in any proportion.

    Columns are generated: a small program over few cells yields multipliers, which are then tried on all cells. The
    cells that mattered for one window are kept for the next.
    """

    def __init__(self, vectors: Sequence[Ints], counts: Sequence[int]) -> None:
        # The solver is slow to import and easy problems never need it.
        from scipy.optimize import linprog

        self.solver = linprog
        self.counts = np.array(counts, np.float64)
        self.size = np.maximum(1.0, np.max([np.abs(v).max(axis=0) for v in vectors], axis=0)).astype(np.float64)
        self.parts: list[Floats] = [part / self.size for part in vectors]
        rows = len(self.size)
        directions = np.concatenate([np.eye(rows), -np.eye(rows)])
        self.start = [np.unique(np.argmax(part @ directions.T, axis=0)) for part in self.parts]
        self.chosen = self.start

    def refuted(self, low: Ints, high: Ints, deadline: float, combined: Combined | None = None) -> bool:
        """Tell whether no mix reaches the windows; false means only that this proves nothing."""
        if (low > high).any():
            return True
        if not len(low):
            return False
        rows, window = np.eye(len(low)), (low / self.size, high / self.size)
        if combined is not None:
            rows = np.concatenate([rows, combined.factors * self.size])
            window = (np.append(window[0], combined.low), np.append(window[1], combined.high))
        if sum(map(len, self.chosen)) > _MOST_COLUMNS:
            self.chosen = self.start
        for _ in range(_ROUNDS):
            if time.monotonic() > deadline:
                return False
            multipliers, distance = self._master(rows, window)
            if multipliers is None or distance < _MARGIN:
                return False
            scores = [part @ (multipliers @ rows) for part in self.parts]
            if self._separates(scores, multipliers, window):
                return True
            grown = [
                np.unique(np.append(known, np.argmax(score))) for known, score in zip(self.chosen, scores, strict=True)
            ]
            if all(len(new) == len(old) for new, old in zip(grown, self.chosen, strict=True)):
                return False
            self.chosen = grown
        return False

    def _separates(self, scores: list[Floats], y: Floats, window: tuple[Floats, Floats]) -> bool:
        """The certificate: the most that y · sum can be lies below the least that it is anywhere in the windows."""
        most = sum(count * float(score.max()) for count, score in zip(self.counts, scores, strict=True))
        least = float(np.where(y > 0, y * window[0], y * window[1]).sum())
        return bool(most + _MARGIN * (1.0 + float(np.abs(y).sum())) < least)

    def _master(self, of_sums: Floats, window: tuple[Floats, Floats]) -> tuple[Floats | None, float]:
        """Bring a mix of the chosen cells as near to the windows as can be; the multipliers point from it to them."""
        cells = np.concatenate([part[index] for part, index in zip(self.parts, self.chosen, strict=True)])
        columns = of_sums @ cells.T
        rows, width = columns.shape
        slack = np.eye(rows)
        upper = np.block([[columns, -slack], [-columns, -slack]])
        ends = np.concatenate([window[1], -window[0]])
        groups = np.zeros((len(self.parts), width + rows))
        start = 0
        for group, index in enumerate(self.chosen):
            groups[group, start : start + len(index)] = 1.0
            start += len(index)
        cost = np.concatenate([np.zeros(width), np.ones(rows)])
        answer = self.solver(cost, A_ub=upper, b_ub=ends, A_eq=groups, b_eq=self.counts, method="highs")
        if answer.status != 0:
            return None, 0.0
        marginals = np.asarray(answer.ineqlin.marginals)
        # Raising the upper end lowers the cost: the sum should fall there, so the multiplier is negative.
        return marginals[:rows] - marginals[rows:], float(answer.fun or 0.0)
