"""Looks for a table among many at once: most folds are drawn, and for the last four all pairs meet all pairs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.index import Index, some
from pytest_cvaudit.forensics.pieces import random_window
from pytest_cvaudit.forensics.tilt import draw, tilt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.exact import Counts
    from pytest_cvaudit.forensics.problem import Problem
    from pytest_cvaudit.forensics.search import Judge

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Cells per fold whose pairs are indexed, and pairs that are looked up there at once.
_CELLS, _PAIRS = 600, 30_000
_CANDIDATES = 20
_REFRESH = 12


class Matcher:
    """A random search by meeting in the middle; it finds tables and proves nothing."""

    def __init__(self, problem: Problem, judge: Judge, seed: int = 2) -> None:
        self.problem, self.judge = problem, judge
        self.random = np.random.default_rng(seed)
        self.slots = problem.slots
        self.round = 0

    def run(self, deadline: float) -> tuple[Counts, ...] | None:
        """Search until a table is found or the time is up."""
        while time.monotonic() < deadline and not self.problem.hopeless:
            found = self._attempt(deadline)
            if found is not None:
                return found
        return None

    def _attempt(self, deadline: float) -> tuple[Counts, ...] | None:
        if self.round % _REFRESH == 0:
            self._prepare()
        self.round += 1
        if self.window is None:
            return None
        low, high = self.window
        fixed = [(group, int(draw(self.weights[group], 1, self.random)[0])) for group in self.drawn]
        rest = sum((self.problem.vectors[group][cell] for group, cell in fixed), np.zeros_like(low))
        left = self._tuples(self.left)
        sums = self._sums(self.left, left)
        for mine, theirs in some(self.index.pairs(sums, low - rest, high - rest), 8):
            totals = rest + sums[mine] + self.index.vectors[theirs]
            near = np.flatnonzero(self.problem.misses(totals) == 0)
            for at in self.random.permutation(near)[:_CANDIDATES].tolist():
                chosen = [
                    *fixed,
                    *self._chosen(self.left, left, mine[at]),
                    *self._chosen(self.right, self.held, theirs[at]),
                ]
                table = self.problem.table(chosen)
                if self.judge(table):
                    return table
            if time.monotonic() > deadline:
                return None
        return None

    def _prepare(self) -> None:
        """Choose which folds are drawn and which are matched, and index the pairs of the last two."""
        problem = self.problem
        self.window = random_window(problem, self.random)
        if self.window is None:
            return
        self.weights = tilt(problem, *self.window, self.random)
        order = self.random.permutation(self.slots).tolist()
        right = min(2, len(order) // 2) or 1
        self.right, self.left, self.drawn = order[:right], order[right : right + 2], order[right + 2 :]
        cells = [draw(self.weights[group], _CELLS, self.random) for group in self.right]
        grid = np.meshgrid(*cells, indexing="ij")
        self.held = [axis.ravel() for axis in grid]
        self.index = Index(self._sums(self.right, self.held), *self.window)

    def _tuples(self, groups: list[int]) -> list[Ints]:
        """Draw cells for the left folds: many combinations of some hundreds for each."""
        pools = [draw(self.weights[group], 2 * _CELLS, self.random) for group in groups]
        return [pool[self.random.integers(len(pool), size=_PAIRS)] for pool in pools]

    def _sums(self, groups: list[int], cells: list[Ints]) -> Ints:
        if not groups:
            return np.zeros((1, len(self.problem.low)), np.int64)
        parts = [self.problem.vectors[group][index] for group, index in zip(groups, cells, strict=True)]
        return sum(parts[1:], parts[0])

    def _chosen(self, groups: list[int], cells: list[Ints], at: int) -> list[tuple[int, int]]:
        return [(group, int(index[at])) for group, index in zip(groups, cells, strict=True)]
