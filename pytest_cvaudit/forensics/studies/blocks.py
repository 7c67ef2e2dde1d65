"""What repeats and data sets share: a claim is the mean over blocks, each a cross-validation of its own."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.aliases import canonical
from pytest_cvaudit.forensics.case import spread
from pytest_cvaudit.forensics.design import Design, Group, Split
from pytest_cvaudit.forensics.exact import aggregate, mean, ways_of
from pytest_cvaudit.forensics.rows import Row, System
from pytest_cvaudit.forensics.studies.many import many
from pytest_cvaudit.forensics.studies.parts import Draft, Part, demand_row, listed, placed, shared_cells
from pytest_cvaudit.forensics.studies.study import Study
from pytest_cvaudit.forensics.studies.tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.exact import Bounds, Surd
    from pytest_cvaudit.forensics.studies.parts import Demand, FullTable
    from pytest_cvaudit.model import Claim, Metric

    Floats = NDArray[np.float64]

POOLED = ("pooled", "tp_fp")
#: Means over all folds, in which no fold is left out: averaging them over blocks keeps them sums over folds.
FOLD_MEANS = ("avg", "avg_one", "avg_zero", "avg_weighted", "avg_weighted_positives", "avg_present")
#: Measures whose pooled value is a sum over folds as well.
SUMS = ("accuracy", "error", "recall", "specificity", "balanced_accuracy")


@dataclass(frozen=True)
class Blocks(Study):
    """Cross-validations side by side, in the order of their designs."""

    designs: tuple[Design, ...]

    @property
    def together(self) -> Design:
        """All blocks as one design in which every block is one fold."""
        instances, positives = (sum(getattr(d, name) for d in self.designs) for name in ("instances", "positives"))
        shapes = ((d.positives, d.negatives) for d in self.designs)
        fold_positives, fold_negatives = zip(*shapes, strict=True)
        return Design(instances, positives, len(self.designs), False, fold_positives, fold_negatives)

    @property
    def distinct(self) -> dict[Design, int]:
        """The designs that differ, and how many blocks have each."""
        return {design: self.designs.count(design) for design in self.designs}

    def parts_of(self, table: FullTable) -> list[FullTable]:
        """Cut a full table into the tables of the blocks."""
        found, start = [], 0
        for design in self.designs:
            found.append(table[start : start + design.folds])
            start += design.folds
        return found

    def in_order(self, items: Sequence[FullTable]) -> FullTable:
        """Put the tables of the blocks, given by distinct design, into the order of the blocks."""
        waiting: dict[Design, list[FullTable]] = {}
        at = 0
        for design, count in self.distinct.items():
            waiting[design] = list(items[at : at + count])
            at += count
        return tuple(fold for design in self.designs for fold in waiting[design].pop(0))

    def value(self, metric: Metric, way: str, table: FullTable) -> Surd | None:
        """Average an aggregation over the blocks; undefined as soon as one block is."""
        values = [aggregate(metric, way, part) for part in self.parts_of(table)]
        return None if None in values else mean([value for value in values if value is not None])

    def names(self, claim: Claim) -> dict[str, str]:
        """Aggregations are one if they are in every block."""
        if not ways_of(claim.metric) or claim.label is not None:
            return {}
        each = [canonical(claim.metric, design) for design in self.distinct]
        first: dict[tuple[str, ...], str] = {}
        return {way: first.setdefault(tuple(names[way] for names in each), way) for way in each[0]}

    def drafts(self, demands: Sequence[Demand]) -> Iterator[Draft]:
        """Write the demands over the blocks' totals, over all folds, and over the blocks' tables."""
        for write in (self._over_totals, self.over_folds, self._over_tables):
            draft = write(demands)
            if draft is not None:
                yield draft

    def _over_totals(self, demands: Sequence[Demand]) -> Draft | None:
        together = self.together
        split = Split(tuple(Group(count, ((d.positives, d.negatives),)) for d, count in self.distinct.items()))
        system = System(split, shared_cells(split, together.positives, together.negatives), together)
        return written(system, [self.total(system, *demand) for demand in demands], self._spread)

    def total(self, system: System, metric: Metric, way: str, within: Bounds) -> bool:
        """Write the mean over blocks of a pooled value, if that is what is demanded."""
        if way not in POOLED:
            return False
        system.allowed = [
            allowed & ~np.isnan(cells.values(metric))
            for allowed, cells in zip(system.allowed, system.cells, strict=True)
        ]
        system.add(metric, "avg", within)
        return True

    def _spread(self, totals: FullTable) -> FullTable:
        designs = [design for design, count in self.distinct.items() for _ in range(count)]
        return self.in_order([spread(fold[0], fold[1], one) for one, fold in zip(designs, totals, strict=True)])

    @abstractmethod
    def over_folds(self, demands: Sequence[Demand]) -> Draft | None:
        """Write the demands over the folds of all blocks."""

    def _over_tables(self, demands: Sequence[Demand]) -> Draft | None:
        parts = [Part(count, *tables_of(design)) for design, count in self.distinct.items()]
        allowed = [np.ones(len(part.tables), np.bool_) for part in parts]
        rows: dict[str, Row] = {}
        whole = True
        for metric, way, within in demands:
            found = self.table_rows(metric, way, within)
            whole &= found is not None
            for key, row in (found or {}).items():
                allowed = [mask & ~np.isnan(part) for mask, part in zip(allowed, row.values, strict=True)]
                row.values = [np.nan_to_num(part) for part in row.values]
                demand_row(rows, key, row)
        return Draft(listed(parts, rows, allowed, self.in_order), whole) if rows else None

    def table_rows(self, metric: Metric, way: str, within: Bounds) -> dict[str, Row] | None:
        """Write a demand over the tables of the blocks, NaN where a table leaves it undefined."""
        values = [values_of(design, metric, way) for design in self.distinct]
        count = len(self.designs)
        return {f"{metric.name} {way}": Row(values, count * within[0], count * within[1])}


def written(system: System, said: Sequence[bool], arrange: Callable[[FullTable], FullTable]) -> Draft | None:
    """Make a draft of a system in which some demands were written; nothing if none was."""
    return Draft(placed(system, arrange), all(said)) if any(said) else None


@lru_cache(maxsize=256)
def values_of(design: Design, metric: Metric, way: str) -> Floats:
    """What an aggregation says of every table of a block that is looked at."""
    return many(metric, way, np.array(tables_of(design)[0], np.int64))
