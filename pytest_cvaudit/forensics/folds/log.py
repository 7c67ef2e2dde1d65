"""What a log of printed fold values and the declared totals leave possible for the shape of every fold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
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


class _ContradictionError(InputError):
    """Sizes in the log that the declared totals do not leave possible."""


@dataclass(frozen=True)
class FoldLog:
    """The folds of one cross-validation with their possible shapes; ``design`` is absent, with the reason, if unknown.

    ``contradiction`` says that the reason is one of the log against what is declared.
    """

    folds: tuple[Fold, ...]
    design: Design | None
    reason: str | None = None
    repeated: bool = False
    contradiction: bool = False

    @property
    def fixed(self) -> bool:
        """Tell whether the shape of every fold is known; otherwise shapes must add up to the design."""
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
    repeats = [cell.repeat for cell in scores.cells]
    repeated = len(set(repeats)) > 1
    try:
        for repeat in dict.fromkeys(repeats):
            here = [at for at, other in enumerate(repeats) if other == repeat]
            _compare([sizes[at] for at in here], [positives[at] for at in here], totals)
        design, shapes = _shapes(sizes, positives, totals, repeated)
    except InputError as error:
        unknown = tuple(Fold(*each, ()) for each in zip(names, printed, strict=True))
        contradiction = isinstance(error, _ContradictionError)
        return FoldLog(unknown, None, error.message, repeated, contradiction=contradiction)
    known = tuple(Fold(*each) for each in zip(names, printed, shapes, strict=True))
    return FoldLog(known, design, _REPEATED if repeated else None, repeated)


def _compare(sizes: Sequence[int | None], positives: Sequence[int | None], totals: Totals) -> None:
    """Refuse logged sizes of one split that do not add up to the declared total, unless folds are missing."""
    if totals.folds not in (None, len(sizes)):
        return
    for what, counts, declared in (
        ("instances", sizes, totals.instances),
        ("positives", positives, totals.positives),
    ):
        logged = sum(count or 0 for count in counts)
        if declared is not None and (logged > declared or (None not in counts and logged < declared)):
            raise _ContradictionError(f"the folds in the log have {logged} {what}, but {declared} are declared")


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
    if any(min(shape) < 0 for shape in known):
        raise InputError("a fold has more positives than instances")
    if len(known) == folds:
        all_, of_them = sum(map(sum, known)), sum(p for p, _ in known)
        fold_positives, fold_negatives = zip(*known, strict=True)
        design = Design(all_, of_them, folds, False, fold_positives, fold_negatives)
        return design, [(shape,) for shape in known]
    if repeated:
        raise InputError(_REPEATED)
    instances, in_class = _total(totals.instances, sizes), _total(totals.positives, positives)
    if instances is None or in_class is None:
        raise InputError(_NEEDED)
    if totals.folds is not None and totals.folds != folds:
        raise InputError(f"{totals.folds} folds are declared, but {folds} have values in the log")
    pairs = list(zip(sizes, positives, strict=True))
    design = Design(instances, in_class, folds, totals.stratified)
    # What is logged is not doubted for what is declared: folds that are not stratified are not taken for stratified.
    for possible in (_stratified, _possible)[not design.stratified :]:
        of_pair = {pair: possible(design, *pair, _even(instances, sizes)) for pair in set(pairs)}
        shapes = [of_pair[pair] for pair in pairs]
        if _add_up(shapes, design):
            return design, shapes
    raise _ContradictionError("the sizes in the log contradict the declared ones")


def _total(declared: int | None, logged: Sequence[int | None]) -> int | None:
    """What is declared, else the sum of what is logged of every fold."""
    known = [count for count in logged if count is not None]
    return sum(known) if declared is None and len(known) == len(logged) else declared


def _even(instances: int, sizes: Sequence[int | None]) -> tuple[int, ...]:
    """The sizes of the folds without a logged one: as equal as possible, if those that are logged are."""
    known = [size for size in sizes if size is not None]
    unknown = len(sizes) - len(known)
    if not unknown:
        return ()
    usual = instances // len(sizes)
    if unknown > 1 and not set(known) <= {usual, usual + 1}:
        raise InputError("the logged sizes are uneven, so those of the other folds are not known")
    common, larger = divmod(instances - sum(known), unknown)
    return (common, common + 1) if larger else (common,)


def _add_up(shapes: Sequence[tuple[Shape, ...]], design: Design) -> bool:
    """Tell whether the folds' shapes may add up to the design's classes and instances."""
    if not all(shapes):
        return False
    parts: tuple[tuple[Callable[[Shape], int], int], ...] = (
        (lambda shape: shape[0], design.positives),
        (lambda shape: shape[1], design.negatives),
        (sum, design.instances),
    )
    return all(
        sum(min(map(part, fold)) for fold in shapes) <= total <= sum(max(map(part, fold)) for fold in shapes)
        for part, total in parts
    )


def _possible(design: Design, size: int | None, positives: int | None, even: tuple[int, ...]) -> tuple[Shape, ...]:
    """The shapes of a fold of which this much is known; ``even`` are the sizes it may have where none is logged."""
    return tuple(
        (count, each - count)
        for each in (even if size is None else (size,))
        for count in (range(min(design.positives, each) + 1) if positives is None else (positives,))
        if each > 0 and 0 <= each - count <= design.negatives
    )


def _stratified(design: Design, size: int | None, positives: int | None, _: tuple[int, ...]) -> tuple[Shape, ...]:
    """The shapes of a fold of which this much is known if each class's counts differ by at most one between folds."""
    (few, more), (some, rest) = divmod(design.positives, design.folds), divmod(design.negatives, design.folds)
    even = product((few, few + 1) if more else (few,), (some, some + 1) if rest else (some,))
    return tuple(
        shape for shape in even if sum(shape) > 0 and size in (None, sum(shape)) and positives in (None, shape[0])
    )
