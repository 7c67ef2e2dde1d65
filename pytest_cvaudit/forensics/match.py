"""Looks for a table among many at once: most folds are drawn, and all pairs for the last two are met."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.index import Index, some
from pytest_cvaudit.forensics.pieces import random_target
from pytest_cvaudit.forensics.tilt import Draw, tilt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.exact import Counts
    from pytest_cvaudit.forensics.pieces import Target
    from pytest_cvaudit.forensics.problem import Problem
    from pytest_cvaudit.forensics.search import Judge

    Ints = NDArray[np.int64]

#: Cells per fold whose pairs are indexed, and sums of the other folds that are looked up there at once.
_CELLS, _OTHERS = 600, 30_000
_CANDIDATES = 20
_REFRESH = 8
#: Folds beyond this many keep one cell each within a round.
_VARIED = 8


class Matcher:
    """A random search by meeting in the middle; it finds tables and proves nothing."""

    def __init__(self, problem: Problem, judge: Judge, seed: int = 2) -> None:
        self.problem, self.judge = problem, judge
        self.random = np.random.default_rng(seed)
        self.slots = problem.slots
        self.target: Target | None = None
        self.left_rounds = 0

    def run(self, deadline: float) -> tuple[Counts, ...] | None:
        """Search until a table is found or the time is up."""
        while time.monotonic() < deadline and not self.problem.hopeless:
            if self.left_rounds == 0:
                self.target = random_target(self.problem, self.random, deadline)
                if self.target is None:
                    continue
                self._prepare(self.target)
                self.left_rounds = _REFRESH
            self.left_rounds -= 1
            found = self._attempt(deadline)
            if found is not None:
                return found
        return None

    def _prepare(self, target: Target) -> None:
        """Choose which folds are drawn and which are matched, and index the pairs of the last two."""
        weights = tilt(target, self.problem.counts, self.random)
        self.draws = [Draw(each, self.random) for each in weights]
        order = self.random.permutation(self.slots).tolist()
        right = min(2, len(order) // 2) or 1
        self.right, self.left = order[:right], order[right:]
        grid = np.meshgrid(*(self.draws[group].distinct(_CELLS) for group in self.right), indexing="ij")
        self.held = [axis.ravel() for axis in grid]
        self.index = Index(self._sums(target, self.right, self.held), target.low, target.high)

    def _attempt(self, deadline: float) -> tuple[Counts, ...] | None:
        target, problem = self.target, self.problem
        if target is None:
            return None
        left = [self._cells(group, varied=at < _VARIED) for at, group in enumerate(self.left)]
        sums = self._sums(target, self.left, left)
        for mine, theirs in some(self.index.pairs(sums, target.low, target.high), 32):
            totals = sums[mine] + self.index.vectors[theirs]
            near = np.flatnonzero(problem.misses(totals) == 0)
            for at in self.random.permutation(near)[:_CANDIDATES].tolist():
                chosen = [
                    *((group, int(cells[mine[at]])) for group, cells in zip(self.left, left, strict=True)),
                    *((group, int(cells[theirs[at]])) for group, cells in zip(self.right, self.held, strict=True)),
                ]
                table = problem.table(chosen)
                if self.judge(table):
                    return table
            if time.monotonic() > deadline:
                return None
        return None

    def _cells(self, group: int, varied: bool) -> Ints:
        return self.draws[group].many(_OTHERS) if varied else np.repeat(self.draws[group].many(1), _OTHERS)

    def _sums(self, target: Target, groups: list[int], cells: list[Ints]) -> Ints:
        if not groups:
            return np.zeros((1, len(target.low)), np.int64)
        parts = [target.vectors[group][index] for group, index in zip(groups, cells, strict=True)]
        return sum(parts[1:], parts[0])
