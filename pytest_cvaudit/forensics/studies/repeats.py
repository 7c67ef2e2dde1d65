"""Repeated cross-validation: means over repeats of every aggregation, and aggregations over all repeats' folds."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics.design import Design, Split
from pytest_cvaudit.forensics.exact import aggregate
from pytest_cvaudit.forensics.forms import excess, pooled_form
from pytest_cvaudit.forensics.rows import Row, System
from pytest_cvaudit.forensics.studies.blocks import FOLD_MEANS, POOLED, SUMS, Blocks, written
from pytest_cvaudit.forensics.studies.parts import balance, fold_groups, shared_cells
from pytest_cvaudit.forensics.studies.tables import tables_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.forensics.exact import Bounds, Surd
    from pytest_cvaudit.forensics.studies.parts import Demand, Draft, FullTable
    from pytest_cvaudit.model import Claim, Metric


#: With more repeats than this the positives of each are too many rows.
_MOST_BALANCED = 100


class Repeats(Blocks):
    """The same data cross-validated several times, each time with a split of its own."""

    def __init__(self, design: Design, repeats: int) -> None:
        if repeats < 1:
            raise InputError(f"{repeats} repeats: there must be one at least")
        super().__init__((design,) * repeats)

    @property
    def everything(self) -> Design:
        """The folds of all repeats as one design."""
        one, times = self.designs[0], len(self.designs)
        known = [None if part is None else part * times for part in (one.fold_positives, one.fold_negatives)]
        return Design(one.instances * times, one.positives * times, one.folds * times, one.stratified, *known)

    def names(self, claim: Claim) -> dict[str, str]:
        """Within each repeat and averaged, or over all folds, which for sums over folds is the same."""
        within = super().names(claim)
        if len(self.designs) == 1:
            return within
        over_all = {}
        for way, first in within.items():
            same = first in FOLD_MEANS or (first in POOLED and claim.metric.name in SUMS)
            over_all[f"{way}_all"] = first if same else f"{first}_all"
        return {**within, **over_all}

    def value(self, metric: Metric, way: str, table: FullTable) -> Surd | None:
        """Average over the repeats, or take all folds at once."""
        if way.endswith("_all"):
            return aggregate(metric, way.removesuffix("_all"), table)
        return super().value(metric, way, table)

    def keys(self, table: FullTable) -> tuple[dict[str, str | int], ...]:
        """The repeat of every fold."""
        return tuple({"repeat": at // self.designs[0].folds + 1} for at in range(len(table)))

    def total(self, system: System, metric: Metric, way: str, within: Bounds) -> bool:
        """Write pooled values of each repeat, or of all repeats together."""
        base = way.removesuffix("_all")
        if base == way or base not in POOLED:
            return super().total(system, metric, way, within)
        system.add(metric, base, within)
        return True

    def over_folds(self, demands: Sequence[Demand]) -> Draft | None:
        """Write the aggregations that are sums over the folds of all repeats.

        Where a repeat is stratified, folds with the right totals can always be dealt out to the repeats.
        """
        one, times = self.designs[0], len(self.designs)
        dealt = one.stratified or one.known is not None
        if not dealt and times > _MOST_BALANCED:
            return None
        groups = fold_groups(one, times) if dealt else fold_groups(one) * times
        split = Split(groups)
        system = System(split, shared_cells(split, one.positives, one.negatives), self.everything)
        size = len(groups) if dealt else len(groups) // times
        for start in range(0, len(groups), size):
            balance(system, range(start, start + size), one, times if dealt else 1)
        said = [self._over_all(system, *demand) for demand in demands]
        return written(system, said, self._deal if dealt else lambda table: table)

    def _over_all(self, system: System, metric: Metric, way: str, within: Bounds) -> bool:
        base = way.removesuffix("_all")
        if way == base and base not in FOLD_MEANS and not (base in POOLED and metric.name in SUMS):
            return False
        system.add(metric, base, within)
        return True

    def _deal(self, folds: FullTable) -> FullTable:
        """Deal folds out to the repeats so that each repeat has its positives and negatives."""
        one, times = self.designs[0], len(self.designs)
        shapes: dict[tuple[int, int], list[tuple[int, int, int, int]]] = {}
        for fold in folds:
            shapes.setdefault((fold[0] + fold[2], fold[1] + fold[3]), []).append(fold)
        if one.known is not None:
            return tuple(shapes[shape].pop() for _ in range(times) for shape in one.known)
        (few, more), (some, rest) = divmod(one.positives, one.folds), divmod(one.negatives, one.folds)
        both = len(shapes.get((few + 1, some + 1), []))
        dealt = []
        for repeat in range(times):
            here = both * (repeat + 1) // times - both * repeat // times
            counts = {
                (few + 1, some + 1): here, (few + 1, some): more - here, (few, some + 1): rest - here,
                (few, some): one.folds - more - rest + here,
            }  # fmt: skip
            dealt += [shapes[shape].pop() for shape, count in counts.items() for _ in range(count)]
        return tuple(dealt)

    def table_rows(self, metric: Metric, way: str, within: Bounds) -> dict[str, Row] | None:
        """Pooled values over all repeats are bounds on sums of their totals; other ways over all folds are not."""
        base = way.removesuffix("_all")
        if base == way:
            return super().table_rows(metric, way, within)
        form = pooled_form(metric, self.everything) if base in POOLED else None
        if form is None:
            return None
        totals = np.array([[sum(f[0] for f in t), sum(f[1] for f in t)] for t in tables_of(self.designs[0])[0]], float)
        rows = {}
        for name, bound, sign in (("above", within[0], 1), ("below", within[1], -1)):
            tp, fp, constant = excess(form, bound)
            values = sign * (float(tp) * totals[:, 0] + float(fp) * totals[:, 1])
            rows[f"{metric.name} {way} {name}"] = Row([values], Fraction(-sign * constant), None)
        return rows
