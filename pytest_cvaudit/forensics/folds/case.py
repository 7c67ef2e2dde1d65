"""One case over logged folds: every claim by one given aggregation, every fold by a table that prints its values."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.case import Case
from pytest_cvaudit.forensics.combine import Combiner
from pytest_cvaudit.forensics.design import Group, Split
from pytest_cvaudit.forensics.folds.converter import convert
from pytest_cvaudit.forensics.match import Matcher
from pytest_cvaudit.forensics.pieces import refuted_in_pieces
from pytest_cvaudit.forensics.problem import Problem, build
from pytest_cvaudit.forensics.rows import System
from pytest_cvaudit.forensics.sample import Sampler
from pytest_cvaudit.forensics.search import exhaust, small

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.forensics.case import Part
    from pytest_cvaudit.forensics.cells import Cells
    from pytest_cvaudit.forensics.design import Design
    from pytest_cvaudit.forensics.exact import Bounds, Counts
    from pytest_cvaudit.forensics.folds.converter import Fold
    from pytest_cvaudit.model import Metric

#: Sums that an exhaustive search may form per step, its seconds, and those of random search, at each level of effort.
_WORK = (2e5, 4e6, 2e7)
_SEARCH = (0.3, 2.0, 60.0)
_LOOK = (0.05, 0.6, 1.0)


@dataclass(frozen=True)
class FoldTables:
    """The tables that each fold may have: folds that are alike share theirs, and ``members`` says who they are."""

    design: Design
    cells: tuple[Cells, ...]
    members: tuple[tuple[int, ...], ...]
    fixed: bool

    @property
    def empty(self) -> tuple[int, ...]:
        """The folds that no table prints."""
        of_group = zip(self.cells, self.members, strict=True)
        return tuple(sorted(at for cells, folds in of_group if cells.complete and not len(cells.tp) for at in folds))

    @property
    def unique(self) -> bool:
        """Tell whether every fold has exactly one table."""
        return all(cells.complete and len(cells.tp) == 1 for cells in self.cells)


def fold_tables(folds: Sequence[Fold], design: Design, reading: str, fixed: bool) -> FoldTables:
    """Convert every fold; those with the same values and shapes only once."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for at, fold in enumerate(folds):
        groups.setdefault((fold.printed, fold.shapes), []).append(at)
    cells = tuple(convert(folds[members[0]], reading) for members in groups.values())
    return FoldTables(design, cells, tuple(map(tuple, groups.values())), fixed)


@dataclass
class FoldProblem(Problem):
    """A problem whose tables list the folds in the log's order."""

    members: tuple[tuple[int, ...], ...] = field(default=())

    def table(self, chosen: Sequence[tuple[int, int]]) -> tuple[Counts, ...]:
        """Write chosen (group, cell) pairs as counts per fold."""
        waiting = [list(folds) for folds in self.members]
        placed = [(waiting[group].pop(0), (group, cell)) for group, cell in chosen]
        return super().table([pair for _, pair in sorted(placed)])


class FoldCase(Case):
    """A case that can be worked on with growing effort."""

    def __init__(self, parts: Sequence[Part], tables: FoldTables) -> None:
        super().__init__(parts, tables.design)
        self.tables = tables
        self.problem: FoldProblem | None = None
        self.searched = -1
        self.searches: tuple[Matcher, Sampler] | None = None

    def screen(self, deadline: float) -> None:
        """Try a small search and the relaxation."""
        if self.problem is not None or time.monotonic() > deadline:
            return
        self.problem = _problem(self.tables, self.parts)
        if not self.problem.hopeless and small(self.problem):
            self._exhaust(0, deadline)
        if self.open and self.problem.complete:
            self.impossible = refuted_in_pieces(self.problem, min(deadline, time.monotonic() + _LOOK[1]))

    def work(self, level: int, deadline: float) -> None:
        """Look at random for a while, then search exhaustively where that is small enough for the level."""
        self.screen(deadline)
        if self.problem is None or not self.open or self.problem.hopeless:
            return
        level = min(level, 2)
        if level == 2 and self.problem.complete:
            self.impossible = refuted_in_pieces(self.problem, deadline)
        self.searches = self.searches or (Matcher(self.problem, self.judge), Sampler(self.problem, self.judge))
        for search in self.searches:
            if self.open:
                self.table = search.run(min(deadline, time.monotonic() + _LOOK[level]))
        if self.open:
            self._exhaust(level, deadline)

    def _exhaust(self, level: int, deadline: float) -> None:
        if level <= self.searched or self.problem is None:
            return
        self.searched = level
        answer = exhaust(self.problem, self.judge, _WORK[level], min(deadline, time.monotonic() + _SEARCH[level]))
        self.table, self.impossible = answer.table, answer.proven


def _problem(tables: FoldTables, parts: Sequence[Part]) -> FoldProblem:
    design = tables.design
    groups = tuple(
        Group(len(members), tuple(sorted(set(zip(cells.positives.tolist(), cells.negatives.tolist(), strict=True)))))
        for cells, members in zip(tables.cells, tables.members, strict=True)
    )
    system = System(Split(groups, free=not tables.fixed), list(tables.cells), design)
    if not tables.fixed:
        total = Fraction(design.negatives)
        system.row("negatives", lambda cells: cells.negatives.astype(np.float64), total, total, 1)
    for metric, way, within in parts:
        system.add(metric, way, within)
    built = build(system)
    return FoldProblem(**{each.name: getattr(built, each.name) for each in fields(built)}, members=tables.members)


class FoldCombiner(Combiner):
    """Works on the combinations of aggregations over logged folds."""

    def __init__(
        self, claims: Sequence[tuple[Metric, tuple[str, ...], Bounds]], tables: FoldTables, deadline: float
    ) -> None:
        super().__init__(claims, tables.design, deadline)
        self.tables = tables

    def _case(self, choice: tuple[tuple[int, str], ...]) -> Case:
        if choice not in self.cases:
            parts = [(self.claims[at][0], way, self.claims[at][2]) for at, way in choice]
            self.cases[choice] = FoldCase(parts, self.tables)
        return self.cases[choice]
