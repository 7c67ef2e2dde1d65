"""Claims on one of several classes: the class against the rest is a binary design."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.forensics.combine import Combiner
from pytest_cvaudit.forensics.design import Design
from pytest_cvaudit.forensics.everything import all_tables
from pytest_cvaudit.forensics.studies.class_values import Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.forensics.combine import Found
    from pytest_cvaudit.forensics.exact import Bounds, Counts
    from pytest_cvaudit.forensics.studies.classes import Classes
    from pytest_cvaudit.forensics.studies.parts import FullTable
    from pytest_cvaudit.model import Metric


def only_class(metrics: Sequence[Metric], classes: Classes) -> int | None:
    """The one class that all claims are about, where its folds against the rest are exactly those of a binary design.

    Of several other classes that stratification does not deal out evenly, the rest may differ by more than one.
    """
    labels = {metric.label if isinstance(metric, Subject) else None for metric in metrics}
    label = labels.pop() if len(labels) == 1 else None
    if label is None:
        return None
    uneven = [other for other in _others(classes, label) if classes.supports[other] % classes.folds]
    return label if not classes.stratified or len(uneven) <= 1 else None


def _others(classes: Classes, label: int) -> list[int]:
    return [at for at in range(len(classes.labels)) if at != label]


class OneClassCombiner(Combiner):
    """Combines the aggregations of claims on one class, and gives the other classes some counts that go with it."""

    def __init__(
        self,
        claims: Sequence[tuple[Metric, tuple[str, ...], Bounds]],
        classes: Classes,
        label: int,
        deadline: float,
    ) -> None:
        design = Design(classes.instances, classes.supports[label], classes.folds, classes.stratified)
        super().__init__(claims, design, deadline, all_tables(design))
        self.classes, self.label = classes, label

    def run(self) -> Found:
        """Answer as for two classes, with a table of all classes."""
        found = super().run()
        if found.table is not None:
            found.table = _with_others(found.table, self.classes, self.label)
        return found


def _with_others(table: Sequence[Counts], classes: Classes, label: int) -> FullTable:
    left = {other: classes.supports[other] for other in _others(classes, label)}
    full: list[Counts] = []
    for fold in table:
        dealt = _deal(fold[1] + fold[3], classes, left)
        left = {other: count - dealt[other] for other, count in left.items()}
        full += _fold(fold, dealt, label)
    return tuple(full)


def _deal(size: int, classes: Classes, left: dict[int, int]) -> dict[int, int]:
    """Deal instances of the other classes to a fold: evenly where that is promised, else as they come."""
    dealt = {other: classes.supports[other] // classes.folds if classes.stratified else 0 for other in left}
    for other, count in left.items():
        room = size - sum(dealt.values())
        even = classes.stratified and classes.supports[other] % classes.folds == 0
        dealt[other] += 0 if even else min(room, count - dealt[other])
    return dealt


def _fold(fold: Counts, dealt: dict[int, int], label: int) -> list[Counts]:
    """One fold of all classes: misses of the class go to the first other, its false positives come from the first."""
    tp, fp, fn, tn = fold
    size, wrong, found = sum(fold), fp, {label: (tp, fp, fn, tn)}
    for place, (other, count) in enumerate(dealt.items()):
        missed, alarms = min(wrong, count), 0 if place else fn
        wrong -= missed
        found[other] = (count - missed, alarms, missed, size - count - alarms)
    return [found[at] for at in sorted(found)]
