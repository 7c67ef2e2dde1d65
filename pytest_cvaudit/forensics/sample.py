"""Looks for a table that fits: folds are moved towards the windows one by one, then two are matched at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.index import Index, some

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.exact import Counts
    from pytest_cvaudit.forensics.problem import Problem
    from pytest_cvaudit.forensics.search import Judge

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_FEW = 1500
_CANDIDATES = 20


class Sampler:
    """A random search that can be continued; it finds tables and proves nothing."""

    def __init__(self, problem: Problem, judge: Judge, seed: int = 1) -> None:
        self.problem, self.judge = problem, judge
        self.random = np.random.default_rng(seed)
        self.slots = problem.slots
        spread = np.max([vectors.std(axis=0) for vectors in problem.vectors], axis=0)
        self.weight = 1.0 / np.maximum(spread, 1.0)
        self.indices: dict[int, Index] = {}

    def run(self, deadline: float) -> tuple[Counts, ...] | None:
        """Search until a table is found or the time is up."""
        if self.problem.hopeless:
            return None
        while time.monotonic() < deadline:
            found = self._attempt(deadline)
            if found is not None:
                return found
        return None

    def _attempt(self, deadline: float) -> tuple[Counts, ...] | None:
        vectors = self.problem.vectors
        chosen = [int(self.random.integers(len(vectors[group]))) for group in self.slots]
        total = np.sum([vectors[group][at] for group, at in zip(self.slots, chosen, strict=True)], axis=0)
        rounds = 3
        for step in range(rounds):
            for slot in self.random.permutation(len(self.slots)).tolist():
                group = self.slots[slot]
                rest = total - vectors[group][chosen[slot]]
                pool = self._pool(group, last=step == rounds - 1 and len(vectors[group]) < 200_000)
                distance = self._distance(rest + vectors[group][pool])
                best = np.flatnonzero(distance <= distance.min())
                chosen[slot] = int(pool[self.random.choice(best)])
                total = rest + vectors[group][chosen[slot]]
                if distance.min() == 0:
                    found = self._judge_some(chosen, slot, pool[best])
                    if found is not None:
                        return found
            if time.monotonic() > deadline:
                return None
        return self._match_pairs(chosen, total, deadline)

    def _pool(self, group: int, last: bool) -> Ints:
        size = len(self.problem.vectors[group])
        if last or size <= _FEW:
            return np.arange(size)
        return self.random.integers(size, size=_FEW)

    def _distance(self, totals: Ints) -> Floats:
        off = np.maximum(0, np.maximum(self.problem.low - totals, totals - self.problem.high)) * self.weight
        missed = self.problem.misses(totals) if self.problem.curves or self.problem.mccs else 0.0
        distance: Floats = (off * off).sum(axis=1) + 9.0 * np.square(missed)
        return distance

    def _judge_some(self, chosen: list[int], slot: int, cells: Ints) -> tuple[Counts, ...] | None:
        for cell in self.random.permutation(cells)[:_CANDIDATES].tolist():
            trial = [*chosen[:slot], cell, *chosen[slot + 1 :]]
            table = self.problem.table(list(zip(self.slots, trial, strict=True)))
            if self.judge(table):
                return table
        return None

    def _match_pairs(self, chosen: list[int], total: Ints, deadline: float) -> tuple[Counts, ...] | None:
        if len(self.slots) < 2:
            return None
        problem = self.problem
        for _ in range(2):
            one, two = self.random.choice(len(self.slots), 2, replace=False).tolist()
            first, second = self.slots[one], self.slots[two]
            rest = total - problem.vectors[first][chosen[one]] - problem.vectors[second][chosen[two]]
            if second not in self.indices:
                self.indices[second] = Index(problem.vectors[second], problem.low, problem.high)
            others = problem.vectors[first]
            pick = self.random.permutation(len(others))[:100_000]
            pairs = self.indices[second].pairs(others[pick], problem.low - rest, problem.high - rest)
            for mine, theirs in some(pairs, 6):
                sums = rest + others[pick[mine]] + problem.vectors[second][theirs]
                near = np.flatnonzero(problem.misses(sums) == 0)
                for at in self.random.permutation(near)[:_CANDIDATES].tolist():
                    trial = list(chosen)
                    trial[one], trial[two] = int(pick[mine[at]]), int(theirs[at])
                    table = problem.table(list(zip(self.slots, trial, strict=True)))
                    if self.judge(table):
                        return table
                if time.monotonic() > deadline:
                    return None
        return None
