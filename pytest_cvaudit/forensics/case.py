"""One case: every claim made by one given aggregation; is there a table?"""

from __future__ import annotations

import time
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.cells import cells_of
from pytest_cvaudit.forensics.design import splits
from pytest_cvaudit.forensics.exact import prints
from pytest_cvaudit.forensics.match import Matcher
from pytest_cvaudit.forensics.pieces import refuted_in_pieces
from pytest_cvaudit.forensics.problem import build
from pytest_cvaudit.forensics.rows import System
from pytest_cvaudit.forensics.sample import Sampler
from pytest_cvaudit.forensics.search import exhaust, small
from pytest_cvaudit.forensics.totals import first_point, region

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.forensics.cells import Cells
    from pytest_cvaudit.forensics.design import Design, Split
    from pytest_cvaudit.forensics.exact import Bounds, Counts
    from pytest_cvaudit.forensics.problem import Problem
    from pytest_cvaudit.model import Metric

Part = tuple["Metric", str, "Bounds"]
POOLED = ("pooled", "tp_fp")
#: With at most so many points of the totals, each is looked at by itself.
_FEW_TOTALS = 8
#: Seconds that a first look at the relaxation may take, and a second one at the level where it is thorough.
_SCREEN, _AGAIN, _THOROUGH = 0.25, 1.0, 2
#: At each level of effort: sums that an exhaustive search may form per step, and seconds of both random searches.
_WORK = (2e5, 4e6, 1e7)
_SAMPLE = (0.03, 0.0, 0.3)
_MATCH = (0.12, 0.4, 0.8)


class Case:
    """A case that can be worked on with growing effort; ``open`` until a table is found or none can exist."""

    def __init__(self, parts: Sequence[Part], design: Design) -> None:
        self.parts, self.design = parts, design
        self.table: tuple[Counts, ...] | None = None
        self.impossible = False
        self._splits: list[_SplitCase] | None = None

    @property
    def open(self) -> bool:
        """Tell whether the case is still undecided."""
        return self.table is None and not self.impossible

    def judge(self, table: Sequence[Counts]) -> bool:
        """Tell whether a table prints every part."""
        return all(prints(metric, way, table, within) for metric, way, within in self.parts)

    def screen(self, deadline: float) -> None:
        """Try the totals and the relaxation."""
        if self._splits is not None or time.monotonic() > deadline:
            return
        totals = region([(metric, within) for metric, way, within in self.parts if way in POOLED], self.design)
        self._splits = []
        if totals.empty:
            self.impossible = True
        elif all(way in POOLED for _, way, _ in self.parts):
            self._judge_totals(deadline)
        else:
            most_tp, most_fp = int(totals.tp.max()), int(totals.high.max())
            points = list(totals.points()) if totals.count <= _FEW_TOTALS else None
            for split in splits(self.design):
                if time.monotonic() > deadline:
                    self._splits = None
                    return
                problem = _problem(split, self.design, most_tp, most_fp, self.parts)
                if problem.complete and problem.hopeless:
                    continue
                if problem.complete and small(problem):
                    # Searching all of a small split is quicker than the relaxation.
                    answer = exhaust(problem, self.judge, _WORK[0], deadline)
                    self.table = answer.table
                    if answer.proven:
                        continue
                    if self.table is not None:
                        return
                elif points is not None:
                    problem = _problem(split, self.design, most_tp, most_fp, self.parts, points)
                if not (problem.complete and _refuted(problem, deadline)):
                    self._splits.append(_SplitCase(problem, self))
            self.impossible = not self._splits

    def _judge_totals(self, deadline: float) -> None:
        def table(tp: int, fp: int) -> tuple[Counts, ...]:
            return ((tp, fp, self.design.positives - tp, self.design.negatives - fp),)

        totals = region([(metric, within) for metric, _, within in self.parts], self.design)
        point, all_judged = first_point(totals, lambda tp, fp: self.judge(table(tp, fp)), deadline)
        if point is not None:
            self.table = spread(*point, self.design)
        self.impossible = point is None and all_judged

    def work(self, level: int, deadline: float) -> None:
        """Search exhaustively where that is small enough for the level, and at random for a while."""
        self.screen(deadline)
        for split in list(self._splits or ()):
            if time.monotonic() > deadline or not self.open:
                break
            split.work(level, deadline)
            self.table = split.table
            if split.impossible and self._splits is not None:
                self._splits.remove(split)
                self.impossible = not self._splits


def _refuted(problem: Problem, deadline: float) -> bool:
    """Tell whether a short look at the relaxation refutes a problem."""
    if problem.hopeless:
        return True
    # Setting up may import the solver, which is not to count as looking.
    _ = problem.relaxation
    return refuted_in_pieces(problem, min(deadline, time.monotonic() + _SCREEN), thorough=False)


class _SplitCase:
    """A case within one family of splits."""

    def __init__(self, problem: Problem, case: Case) -> None:
        self.problem, self.case = problem, case
        self.table: tuple[Counts, ...] | None = None
        self.impossible = False
        self.searched = -1
        self.sampler: Sampler | None = None
        self.matcher: Matcher | None = None

    def work(self, level: int, deadline: float) -> None:
        """Put in the effort of a level; random search before large exhaustion, as most open cases have tables."""
        effort = min(level, len(_WORK) - 1)
        if level == 0:
            self._exhaust(effort, deadline)
        if level == _THOROUGH and self.problem.complete:
            self.impossible = refuted_in_pieces(self.problem, min(deadline, time.monotonic() + _AGAIN), thorough=True)
        if self.table is None and not self.impossible:
            self._look(effort, deadline)
        if level > 0 and self.table is None and not self.impossible:
            self._exhaust(effort, deadline)

    def _look(self, effort: int, deadline: float) -> None:
        if not self.problem.hopeless:
            self._at_random(effort, deadline)
        # Points of the totals that are refuted during the search are left out: perhaps none remain.
        self.impossible = self.problem.hopeless and self.problem.complete

    def _at_random(self, effort: int, deadline: float) -> None:
        if self.sampler is None or self.matcher is None:
            self.sampler = Sampler(self.problem, self.case.judge)
            self.matcher = Matcher(self.problem, self.case.judge)
        for search, seconds in ((self.sampler, _SAMPLE[effort]), (self.matcher, _MATCH[effort])):
            if self.table is None:
                self.table = search.run(min(deadline, time.monotonic() + seconds))

    def _exhaust(self, level: int, deadline: float) -> None:
        if level <= self.searched:
            return
        self.searched = level
        answer = exhaust(self.problem, self.case.judge, _WORK[level], deadline)
        self.table, self.impossible = answer.table, answer.proven


def _problem(
    split: Split,
    design: Design,
    most_tp: int,
    most_fp: int,
    parts: Sequence[Part],
    points: list[tuple[int, int]] | None = None,
) -> Problem:
    """Write the parts as a problem; the few points that pooled claims leave to the totals stand for these claims."""
    system = System(split, _cells(split, most_tp, most_fp), design)
    for metric, way, within in parts:
        if points is None or way not in POOLED:
            system.add(metric, way, within)
    if points is not None:
        tps, fps = zip(*points, strict=True)
        system.row("tp", lambda cells: cells.tp.astype(np.float64), Fraction(min(tps)), Fraction(max(tps)), 1)
        system.row("fp", lambda cells: cells.fp.astype(np.float64), Fraction(min(fps)), Fraction(max(fps)), 1)
    return build(system, None if points is None else list(points))


@cache
def _last_cells(split: Split, most_tp: int, most_fp: int) -> list[Cells]:
    return cells_of(split, most_tp, most_fp)


def _cells(split: Split, most_tp: int, most_fp: int) -> list[Cells]:
    """Keep the cells of the last few splits: the cases of one design share them."""
    if _last_cells.cache_info().currsize > 8:
        _last_cells.cache_clear()
    return _last_cells(split, most_tp, most_fp)


def spread(tp: int, fp: int, design: Design) -> tuple[Counts, ...]:
    """Spread totals over the folds of some split of the design."""
    folds = []
    for positives, negatives in some_split(design):
        here_tp, here_fp = min(tp, positives), min(fp, negatives)
        tp, fp = tp - here_tp, fp - here_fp
        folds.append((here_tp, here_fp, positives - here_tp, negatives - here_fp))
    return tuple(folds)


def some_split(design: Design) -> list[tuple[int, int]]:
    """One split that the design allows: stratified where nothing else is said."""
    if design.known is not None:
        return list(design.known)
    k = design.folds
    size, larger = divmod(design.instances, k)
    few, more = divmod(design.positives, k)
    # Extra positives go to the first folds and extra negatives to the last, so that sizes differ by at most one.
    sizes = [size + (fold < larger) for fold in range(k)]
    positives = [few + (fold < more) for fold in range(k)]
    if not design.stratified:
        return [(p, n - p) for p, n in zip(positives, sizes, strict=True)]
    some, rest = divmod(design.negatives, k)
    return [(p, some + (fold >= k - rest)) for fold, p in enumerate(positives)]
