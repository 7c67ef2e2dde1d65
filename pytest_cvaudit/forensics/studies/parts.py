"""A study as parts that each take one candidate: its claims become windows for sums over the parts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.cells import Cells, cells_of
from pytest_cvaudit.forensics.design import Design, Group, Split
from pytest_cvaudit.forensics.problem import Problem, build
from pytest_cvaudit.forensics.rows import Row, System, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.exact import Bounds, Counts
    from pytest_cvaudit.model import Metric

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

#: A claim that is to be met: what is measured, by which aggregation, and the bounds of the value.
Demand = tuple["Metric", str, "Bounds"]
FullTable = tuple["Counts", ...]


@dataclass
class Draft:
    """A study's demands written as a problem; without one, no whole number lies in some window.

    ``whole`` says that a solution meets every demand; ``proves`` that every table is among the problem's.
    """

    problem: Problem | None
    whole: bool
    proves: bool = True

    @property
    def refutes(self) -> bool:
        """Tell whether some window is empty already."""
        if self.problem is None:
            return True
        return self.proves and self.problem.complete and self.problem.hopeless


@dataclass
class _Placed(Problem):
    """A problem whose groups are places of a larger table, which a function puts together."""

    arrange: Callable[[FullTable], FullTable] = lambda table: table

    def table(self, chosen: Sequence[tuple[int, int]]) -> FullTable:
        """Write the chosen cells in the order of the places, then as the full table."""
        return self.arrange(super().table(sorted(chosen)))


@dataclass
class _Listed(Problem):
    """A problem whose candidates are listed tables instead of cells."""

    lists: Sequence[Sequence[FullTable]] = ()
    arrange: Callable[[list[FullTable]], FullTable] = lambda tables: tuple(fold for table in tables for fold in table)

    def table(self, chosen: Sequence[tuple[int, int]]) -> FullTable:
        """Take the chosen tables in the order of the parts, then as the full table."""
        return self.arrange([self.lists[group][int(self.kept[group][at])] for group, at in sorted(chosen)])


@dataclass(frozen=True)
class Part:
    """Interchangeable parts of a study: how many, and the tables that each may have, all of them if ``complete``."""

    count: int
    tables: Sequence[FullTable]
    complete: bool


def placed(system: System, arrange: Callable[[FullTable], FullTable]) -> Problem | None:
    """Build the problem of a system over cells; nothing where a window of whole numbers is empty."""
    if _no_whole_number(system):
        return None
    problem = build(system)
    return _Placed(**{field.name: getattr(problem, field.name) for field in fields(problem)}, arrange=arrange)


def listed(
    parts: Sequence[Part],
    rows: dict[str, Row],
    allowed: Sequence[Mask],
    arrange: Callable[[list[FullTable]], FullTable],
) -> Problem | None:
    """Build the problem of choosing one listed table per part; nothing where a window of whole numbers is empty."""
    slots = sum(part.count for part in parts)
    groups = tuple(Group(part.count, ((0, 0),)) for part in parts)
    cells = [_nothing(len(part.tables), part.complete) for part in parts]
    # The design is only asked for the number of its folds, which bounds what cutting to steps can lose.
    system = System(Split(groups), cells, Design(2 * slots, slots, slots, stratified=False))
    system.rows, system.allowed = rows, list(allowed)
    if _no_whole_number(system):
        return None
    problem = build(system)
    known = {field.name: getattr(problem, field.name) for field in fields(problem)}
    return _Listed(**known, lists=[part.tables for part in parts], arrange=arrange)


def _nothing(count: int, complete: bool) -> Cells:
    zeros = np.zeros(count, np.int64)
    return Cells(zeros, zeros, zeros, zeros, complete)


def demand_row(rows: dict[str, Row], key: str, row: Row) -> None:
    """Add a row, or narrow the one that has the same key."""
    if key in rows:
        rows[key].narrow(row.low, row.high)
    else:
        rows[key] = row


def _no_whole_number(system: System) -> bool:
    """Tell whether no whole number lies in the window of a row of whole numbers."""
    for row in system.rows.values():
        if row.scale is not None:
            low, high = whole(*(None if end is None else end * row.scale for end in (row.low, row.high)))
            if low is not None and high is not None and low > high:
                return True
    return False


@lru_cache(maxsize=4)
def shared_cells(split: Split, most_tp: int, most_fp: int) -> list[Cells]:
    """The cells of a split, kept for the cases of one study."""
    return cells_of(split, most_tp, most_fp)


def fold_groups(design: Design, times: int = 1) -> tuple[Group, ...]:
    """The folds of so many cross-validations of a design, each fold with any shape that it may have.

    Where shapes vary, the classes must still be balanced: see ``balance``.
    """
    if design.known is not None:
        return tuple(Group(times * count, (shape,)) for shape, count in sorted(Counter(design.known).items()))
    k = design.folds
    if design.stratified:
        few, some = divmod(design.positives, k), divmod(design.negatives, k)
        options = [[low, low + 1] if more else [low] for low, more in (few, some)]
        return (Group(times * k, tuple((p, n) for p in options[0] for n in options[1] if p + n)),)
    size, larger = divmod(design.instances, k)
    groups = []
    for each, count in ((size, k - larger), (size + 1, larger)):
        if count:
            fewest, most = max(0, each - design.negatives), min(each, design.positives)
            shapes = tuple((positives, each - positives) for positives in range(fewest, most + 1))
            groups.append(Group(times * count, shapes))
    return tuple(groups)


def balance(system: System, groups: range, design: Design, times: int = 1) -> None:
    """Demand that the folds of some groups have the design's positives and negatives together."""
    shapes = [group.shapes for group in system.split.groups[groups.start : groups.stop]]
    if all(len(options) == 1 for options in shapes):
        return
    for name, total in (("positives", design.positives), ("negatives", design.negatives)):
        if name == "negatives" and all(len({p + n for p, n in options}) == 1 for options in shapes):
            continue  # sizes are known, so the positives fix the negatives
        values: list[Floats] = [
            getattr(cells, name).astype(np.float64) if at in groups else np.zeros(len(cells.tp))
            for at, cells in enumerate(system.cells)
        ]
        end = Fraction(times * total)
        system.rows[f"{name} of {groups.start}"] = Row(values, end, end, 1)
