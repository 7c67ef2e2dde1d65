"""Curves and ranking measures of many cells at once, from rows in any order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .arrays import AnyArray, AnyInts, Bytes, as_flags
from .curve import Curve
from .fewlevels import count_levels
from .measures import MEASURES, RankingMeasures, check_names
from .smallcells import measure_cells
from .sorting import sort_rows
from .threads import spread

if TYPE_CHECKING:
    from collections.abc import Collection

# Cells with fewer rows than this on average are swept together: one by one, numpy's calls cost more than the rows.
SMALL_CELL = 1 << 13
# From so many cells on, counting levels per cell would cost more than sorting.
MANY_CELLS = 256


def curves(cell: AnyInts, scores: AnyArray, positive: AnyArray, cells: int, *, threads: int = 1) -> list[Curve]:
    """Return the curve of every cell, an empty one for a cell without rows."""
    flags = as_flags(positive)
    counted = _counted(cell, scores, flags, cells, threads)
    return counted or [Curve(runs) for runs in sort_rows(cell, scores, flags, cells, threads).runs()]


def rank(
    cell: AnyInts,
    scores: AnyArray,
    positive: AnyArray,
    cells: int,
    *,
    threads: int = 1,
    which: Collection[str] = MEASURES,
) -> tuple[list[RankingMeasures], RankingMeasures]:
    """Return the ranking measures of every cell and of all rows merged, or just those named in `which`."""
    which = check_names(which)
    flags = as_flags(positive)
    each = _counted(cell, scores, flags, cells, threads)
    if not each:
        rows = sort_rows(cell, scores, flags, cells, threads)
        each = [Curve(runs) for runs in rows.runs()]
        if cells > 1 and len(rows.keys) < SMALL_CELL * cells:
            return measure_cells(rows, which), Curve.merge(each).measures(which)
    measured = spread(partial(Curve.measures, which=which), each, threads)
    return measured, Curve.merge(each).measures(which, threads=threads)


def _counted(cell: AnyInts, scores: AnyArray, flags: Bytes, cells: int, threads: int) -> list[Curve]:
    """Return curves made by counting if there are few distinct scores and cells, else nothing."""
    counted = count_levels(cell, scores, flags, cells, threads) if cells <= MANY_CELLS else None
    if counted is None:
        return []
    levels, counts = counted
    return [Curve.from_levels(levels, part[:, 1], part[:, 0]) for part in counts]
