"""What a log of printed fold values and the declared totals leave possible for the shape of every fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics.design import Design
from pytest_cvaudit.forensics.folds.converter import Fold
from pytest_cvaudit.model.metrics import COUNTS, find_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_cvaudit.forensics.design import Shape
    from pytest_cvaudit.model import Cell, FoldScores, Metric, Printed

_NEEDED = "the positives and the size of every fold are not known, neither logged nor by their declared totals"
_REPEATED = "the tables of repeated folds are not unique, and several repeats are not searched"


@dataclass(frozen=True)
class Totals:
    """What is declared beside the log."""

    instances: int | None = None
    positives: int | None = None
    folds: int | None = None
    stratified: bool = False


@dataclass(frozen=True)
class FoldLog:
    """The folds of one cross-validation with their possible shapes; ``design`` is absent, with the reason, if unknown.

    ``fixed`` says that every fold has one shape only; otherwise shapes must add up to the design.
    """

    folds: tuple[Fold, ...]
    design: Design | None
    reason: str | None = None
    repeated: bool = False

    @property
    def fixed(self) -> bool:
        """Tell whether the shape of every fold is known."""
        return all(len(fold.shapes) == 1 for fold in self.folds)


def fold_log(scores: FoldScores, totals: Totals, name: Callable[[Cell], str]) -> FoldLog:
    """Read logged values with what is known of the folds' sizes."""
    folds = len(scores.cells)
    sizes = list(scores.n or [None] * folds)
    positives = list(scores.positives or [None] * folds)
    printed = [_printed(scores, at) for at in range(folds)]
    names = [name(cell) for cell in scores.cells]
    if scores.lines:
        names = [f"{fold} at {line}" for fold, line in zip(names, scores.lines, strict=True)]
    repeated = len({cell.repeat for cell in scores.cells}) > 1
    try:
        design, shapes = _shapes(sizes, positives, totals, repeated)
    except InputError as error:
        unknown = tuple(Fold(*each, ()) for each in zip(names, printed, strict=True))
        return FoldLog(unknown, None, error.message, repeated)
    known = tuple(Fold(*each) for each in zip(names, printed, shapes, strict=True))
    return FoldLog(known, design, _REPEATED if repeated else None, repeated)


def _printed(scores: FoldScores, at: int) -> tuple[tuple[Metric, Printed], ...]:
    found = []
    for name, values in scores.values.items():
        metric, value = find_metric(name), values[at]
        if metric is not None and value is not None and metric.family == COUNTS:
            found.append((metric, value))
    return tuple(found)


def _shapes(
    sizes: Sequence[int | None], positives: Sequence[int | None], totals: Totals, repeated: bool
) -> tuple[Design, list[tuple[Shape, ...]]]:
    """The design and the possible shapes of every fold; refuses what no data can have or what is not known."""
    folds = len(sizes)
    known = [(p, n - p) for p, n in zip(positives, sizes, strict=True) if p is not None and n is not None]
    if len(known) == folds:
        if any(min(shape) < 0 for shape in known):
            raise InputError("a fold has more positives than instances")
        all_, of_them = sum(map(sum, known)), sum(p for p, _ in known)
        fold_positives, fold_negatives = zip(*known, strict=True)
        return Design(all_, of_them, folds, False, fold_positives, fold_negatives), [(shape,) for shape in known]
    if repeated:
        raise InputError(_REPEATED)
    if totals.instances is None or totals.positives is None:
        raise InputError(_NEEDED)
    if totals.folds is not None and totals.folds != folds:
        raise InputError(f"{totals.folds} folds are declared, but {folds} have values in the log")
    design = Design(totals.instances, totals.positives, folds, totals.stratified)
    shapes = [_possible(design, size, count) for size, count in zip(sizes, positives, strict=True)]
    if not all(shapes):
        raise InputError("the sizes in the log contradict the declared ones")
    return design, shapes


def _possible(design: Design, size: int | None, positives: int | None) -> tuple[Shape, ...]:
    """The shapes of a fold of which this much is known; what is logged is not doubted for what is declared."""
    common = design.instances // design.folds
    sizes = (common, common + 1) if size is None else (size,)
    found = {
        (count, each - count)
        for each in sizes
        for count in (range(min(design.positives, each) + 1) if positives is None else (positives,))
        if 0 <= each - count <= design.negatives
    }
    if design.stratified:
        few, some = design.positives // design.folds, design.negatives // design.folds
        even = {(count, rest) for count in (few, few + 1) for rest in (some, some + 1)}
        even = {shape for shape in even if size in (None, sum(shape)) and positives in (None, shape[0])}
        found = even or found
    return tuple(sorted(shape for shape in found if sum(shape) > 0))
