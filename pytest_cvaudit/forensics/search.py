"""Decides a problem both ways by exhaustion: all sums of one part of the folds meet all sums of the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import comb, log
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.index import Index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.exact import Counts
    from pytest_cvaudit.forensics.problem import Problem

    Ints = NDArray[np.int64]

Judge = Callable[[tuple["Counts", ...]], bool]
_CHUNK = 1 << 18
#: A step that forms more sums than this per second that is left is not begun.
_PER_SECOND = 4e6
#: Pruning and equal sums are trusted to shrink a search by this much, as a logarithm.
_HOPE = 5.0
_SMALL = 5000
_HASH = np.random.default_rng(7).integers(-(1 << 62), 1 << 62, 64)


@dataclass
class Answer:
    """A table that fits, or the proof that there is none, or neither."""

    table: tuple[Counts, ...] | None = None
    proven: bool = False


@dataclass
class _Frontier:
    """The distinct sums of some folds, with the way back to their cells."""

    sums: Ints
    slots: list[int] = field(default_factory=list)
    steps: list[tuple[Ints, Ints]] = field(default_factory=list)

    def path(self, index: int) -> list[tuple[int, int]]:
        """The (group, class) choices that make one sum."""
        chosen = []
        for group, (parents, classes) in zip(reversed(self.slots), reversed(self.steps), strict=True):
            chosen.append((group, int(classes[index])))
            index = int(parents[index])
        return chosen


def distinct(vectors: Ints) -> Ints:
    """The indices of the distinct vectors; equal hashes are compared, never trusted."""
    with np.errstate(over="ignore"):
        hashes = (vectors * _HASH[: vectors.shape[1]]).sum(axis=1)
    order = np.argsort(hashes, kind="stable")
    ordered = vectors[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order[new]


def exhaust(problem: Problem, judge: Judge, work: float, deadline: float) -> Answer:
    """Search everything, or give up when a step would form more sums than ``work``."""
    if problem.hopeless or not problem.complete:
        return Answer(proven=problem.complete)
    answer, doubtful = _exhaust(problem, judge, work, deadline, merge=True)
    if answer.proven and doubtful:
        # A sum on the edge of a window stood for others that were cut to the same steps: judge each by itself.
        answer, _ = _exhaust(problem, judge, work, deadline, merge=False)
    return answer


def _exhaust(problem: Problem, judge: Judge, work: float, deadline: float, merge: bool) -> tuple[Answer, bool]:
    classes = [distinct(vectors) if merge else np.arange(len(vectors)) for vectors in problem.vectors]
    vectors = [part[index] for part, index in zip(problem.vectors, classes, strict=True)]
    if _half([len(part) for part in vectors], problem.counts) > log(work) + _HOPE:
        return Answer(), False
    least = [part.min(axis=0) for part in vectors]
    most = [part.max(axis=0) for part in vectors]
    total_least = sum((least[group] for group in problem.slots), np.zeros_like(problem.low))
    total_most = sum((most[group] for group in problem.slots), np.zeros_like(problem.low))
    waiting = sorted(problem.slots, key=lambda group: -len(vectors[group]))
    sides = [_Frontier(np.zeros((1, len(problem.low)), np.int64)) for _ in range(2)]
    while waiting:
        side = min(sides, key=lambda each: len(each.sums))
        # The smaller side takes a fold; each side stays within one group as long as it can.
        group = waiting.pop(0) if side is sides[0] else waiting.pop()
        side.slots.append(group)
        if len(side.sums) * len(vectors[group]) > min(work, _PER_SECOND * (deadline - time.monotonic())):
            return Answer(), False
        low = problem.low - (total_most - sum(most[g] for g in side.slots))
        high = problem.high - (total_least - sum(least[g] for g in side.slots))
        _extend(side, vectors[group], low, high, merge)
        if not len(side.sums):
            return Answer(proven=problem.complete), False
    return _join(problem, sides, classes, judge, deadline)


def small(problem: Problem) -> bool:
    """Tell whether all tables can be searched within milliseconds."""
    return _half([len(vectors) for vectors in problem.vectors], problem.counts) < log(_SMALL)


def _half(classes: list[int], counts: list[int]) -> float:
    """The logarithm of the multisets of cells that half of the folds can have."""
    return sum(log(comb(size + count - 1, count)) for size, count in zip(classes, counts, strict=True)) / 2


def _extend(side: _Frontier, vectors: Ints, low: Ints, high: Ints, merge: bool) -> None:
    twins = len(side.slots) == 2 and side.slots[0] == side.slots[1]
    rows = max(1, _CHUNK // len(vectors))
    sums, parents, classes = [], [], []
    for start in range(0, len(side.sums), rows):
        part = side.sums[start : start + rows]
        together = (part[:, None, :] + vectors[None, :, :]).reshape(-1, vectors.shape[1])
        good = ((together >= low) & (together <= high)).all(axis=1)
        parent, cell = np.divmod(np.arange(len(together)), len(vectors))
        if twins:
            good &= side.steps[0][1][parent + start] <= cell
        together, parent, cell = together[good], parent[good] + start, cell[good]
        kept = distinct(together) if merge else np.arange(len(together))
        sums.append(together[kept])
        parents.append(parent[kept])
        classes.append(cell[kept])
    everything = np.concatenate(sums)
    kept = distinct(everything) if merge and len(sums) > 1 else np.arange(len(everything))
    side.sums = everything[kept]
    side.steps.append((np.concatenate(parents)[kept], np.concatenate(classes)[kept]))


def _join(
    problem: Problem, sides: list[_Frontier], classes: list[Ints], judge: Judge, deadline: float
) -> tuple[Answer, bool]:
    one, two = sorted(sides, key=lambda side: len(side.sums))
    if len(one.sums) + len(two.sums) > _PER_SECOND * (deadline - time.monotonic()):
        return Answer(), False
    index = Index(two.sums, problem.low, problem.high)
    doubtful = False
    for mine, theirs in index.pairs(one.sums, problem.low, problem.high):
        near = problem.misses(one.sums[mine] + two.sums[theirs]) == 0
        for left, right in zip(mine[near].tolist(), theirs[near].tolist(), strict=True):
            chosen = [(group, int(classes[group][each])) for group, each in one.path(left) + two.path(right)]
            table = problem.table(chosen)
            if judge(table):
                return Answer(table), False
            doubtful = True
            if time.monotonic() > deadline:
                return Answer(), False
        if time.monotonic() > deadline:
            return Answer(), False
    return Answer(proven=problem.complete), doubtful
