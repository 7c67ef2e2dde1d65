"""Several data sets averaged into one number: a claim is the plain mean over data sets of one aggregation."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics.design import Design, Group, Split
from pytest_cvaudit.forensics.exact import WHOLE
from pytest_cvaudit.forensics.forms import pooled_form
from pytest_cvaudit.forensics.rows import WEIGHTS, Row, System, per_fold, summand
from pytest_cvaudit.forensics.studies.blocks import FOLD_MEANS, POOLED, SUMS, Blocks, written
from pytest_cvaudit.forensics.studies.parts import balance, demand_row, fold_groups, shared_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.cells import Cells
    from pytest_cvaudit.forensics.exact import Bounds
    from pytest_cvaudit.forensics.studies.parts import Demand, Draft, FullTable
    from pytest_cvaudit.model import Metric

    Floats = NDArray[np.float64]

#: A common denominator up to this keeps the sums of a row exact.
_LARGEST = 1 << 40


class Datasets(Blocks):
    """Data sets, each cross-validated by itself."""

    def __init__(self, designs: Sequence[Design]) -> None:
        if not designs:
            raise InputError("no data set is given")
        super().__init__(tuple(designs))

    def keys(self, table: FullTable) -> tuple[dict[str, str | int], ...]:
        """The data set of every fold."""
        del table
        return tuple({"dataset": at} for at, design in enumerate(self.designs, 1) for _ in range(design.folds))

    def over_folds(self, demands: Sequence[Demand]) -> Draft | None:
        """Write the aggregations that are sums over the folds of every data set, each with its weight."""
        groups: list[Group] = []
        owners: list[tuple[Design, range]] = []
        for design, count in self.distinct.items():
            times = 1 if len(fold_groups(design)) > 1 or len(fold_groups(design)[0].shapes) > 1 else count
            # Folds of equal shape go together; where shapes vary, every data set needs a balance of its own.
            for _ in range(count // times):
                more = fold_groups(design, times)
                owners.append((design, range(len(groups), len(groups) + len(more))))
                groups += more
        split = Split(tuple(groups))
        most = self.together
        system = System(split, shared_cells(split, most.positives, most.negatives), _joint(self.designs))
        for design, own in owners:
            balance(system, own, design)
        place = {at: design for design, own in owners for at in own}
        said = [self._sum(system, place, *demand) for demand in demands]
        return written(system, said, self._by_block)

    def _by_block(self, folds: FullTable) -> FullTable:
        items, at = [], 0
        for design, count in self.distinct.items():
            for _ in range(count):
                items.append(folds[at : at + design.folds])
                at += design.folds
        return self.in_order(items)

    def _sum(self, system: System, place: dict[int, Design], metric: Metric, way: str, within: Bounds) -> bool:
        linear = way in POOLED and metric.name in SUMS
        if way not in FOLD_MEANS and not linear:
            return False
        if metric.name in WHOLE and way in ("avg", "avg_weighted", "avg_present"):
            system.allowed = [
                allowed & ~np.isnan(per_fold(metric, way, cells))
                for allowed, cells in zip(system.allowed, system.cells, strict=True)
            ]
        terms, weights, shift, common = [], [], Fraction(0), 1
        for at, cells in enumerate(system.cells):
            term, weight, constant, denominator = _term(metric, way, cells, place[at], linear)
            terms.append(term)
            weights.append(weight / len(self.designs))
            shift += constant * system.split.groups[at].count / place[at].folds / len(self.designs)
            # Zero says that the value has no denominator that is known before.
            common = lcm(common, (weights[-1] / denominator).denominator) if denominator and common else 0
            common = 0 if common > _LARGEST else common
        values: list[Floats] = [float(weight) * term for weight, term in zip(weights, terms, strict=True)]
        row = Row(values, within[0] - shift, within[1] - shift, common or None)
        demand_row(system.rows, f"{metric.name} {way}", row)
        return True


def _term(
    metric: Metric, way: str, cells: Cells, design: Design, linear: bool
) -> tuple[Floats, Fraction, Fraction, int]:
    """What a fold adds to its data set's value: term, weight, a constant per data set, and the term's denominator."""
    if linear:
        form = pooled_form(metric, design)
        assert form is not None
        (tp, fp, constant), size = form[0], Fraction(form[1].constant)
        return float(tp) * cells.tp + float(fp) * cells.fp, 1 / size, Fraction(constant) / size, 1
    total = design.folds
    if way in WEIGHTS:
        total = design.instances if way == "avg_weighted" else design.positives
    sizes = {
        "accuracy": cells.positives + cells.negatives, "error": cells.positives + cells.negatives,
        "recall": cells.positives, "specificity": cells.negatives,
    }  # fmt: skip
    denominator = 0
    if metric.name in sizes:
        denominator = lcm(*(max(1, int(size)) for size in np.unique(sizes[metric.name])))
        denominator = denominator if denominator <= _LARGEST else 0
    return summand(metric, way, cells), Fraction(1, total), Fraction(0), denominator


def _joint(designs: Sequence[Design]) -> Design:

    instances, positives, folds = (
        sum(getattr(design, name) for design in designs) for name in ("instances", "positives", "folds")
    )
    return Design(instances, positives, folds, stratified=False)
