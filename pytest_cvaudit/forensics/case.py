"""One case: every claim made by one given aggregation; is there a table?"""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING

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
#: Seconds that a first look at the relaxation may take; it is taken up again at the thorough level.
_SCREEN, _THOROUGH = 0.25, 2
#: Sums that an exhaustive search may form per step, and seconds of random search, at each level of effort.
_WORK = (2e5, 4e6, 1e7)
_LOOK = (0.05, 0.6, 1.0)


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
            for split in splits(self.design):
                if time.monotonic() > deadline:
                    self._splits = None
                    return
                problem = _problem(split, self.design, most_tp, most_fp, self.parts)
                if not self._screened(problem, deadline):
                    self._splits.append(_SplitCase(problem, self))
                if self.table is not None:
                    return
            self.impossible = not self._splits

    def _screened(self, problem: Problem, deadline: float) -> bool:
        """Tell whether a split is out; a small one is searched at once, which is quicker than the relaxation."""
        if not problem.complete:
            return False
        if problem.hopeless:
            return True
        if small(problem):
            answer = exhaust(problem, self.judge, _WORK[0], deadline)
            self.table = answer.table
            if answer.table is not None or answer.proven:
                return answer.proven
        return refuted_in_pieces(problem, min(deadline, time.monotonic() + _SCREEN))

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
        if level == 0:
            self._exhaust(level, deadline)
        if level == _THOROUGH and self.problem.complete:
            self.impossible = refuted_in_pieces(self.problem, deadline)
        if self.table is None and not self.impossible:
            self._look(level, deadline)
        if level > 0 and self.table is None and not self.impossible:
            self._exhaust(min(level, 2), deadline)

    def _look(self, level: int, deadline: float) -> None:
        if self.sampler is None or self.matcher is None:
            self.sampler = Sampler(self.problem, self.case.judge)
            self.matcher = Matcher(self.problem, self.case.judge)
        searches = ((self.sampler,), (self.matcher,))[level] if level < 2 else (self.matcher, self.sampler)
        for search in searches:
            if self.table is None:
                self.table = search.run(min(deadline, time.monotonic() + _LOOK[min(level, 2)]))

    def _exhaust(self, level: int, deadline: float) -> None:
        if level <= self.searched:
            return
        self.searched = level
        answer = exhaust(self.problem, self.case.judge, _WORK[level], deadline)
        self.table, self.impossible = answer.table, answer.proven


def _problem(split: Split, design: Design, most_tp: int, most_fp: int, parts: Sequence[Part]) -> Problem:
    system = System(split, _cells(split, most_tp, most_fp), design)
    for metric, way, within in parts:
        system.add(metric, way, within)
    return build(system)


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
