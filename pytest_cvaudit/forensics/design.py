"""What is known of a binary cross-validation before its result: sizes, classes, and which splits are possible."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pytest_cvaudit.errors import InputError

Shape = tuple[int, int]


@dataclass(frozen=True)
class Design:
    """A binary design; ``stratified`` says that each class's counts per fold differ by at most one.

    Without it, and without known folds, the folds are as equal in size as possible and the positives may fall anywhere.
    """

    instances: int
    positives: int
    folds: int
    stratified: bool
    fold_positives: tuple[int, ...] | None = None
    fold_negatives: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a design that no data can have."""
        if not 0 < self.positives < self.instances:
            raise InputError(f"{self.positives} positives of {self.instances} instances: both classes must occur")
        if not 1 <= self.folds <= self.instances:
            raise InputError(f"{self.instances} instances cannot make {self.folds} folds")
        if (self.fold_positives is None) != (self.fold_negatives is None):
            raise InputError("known folds need both their positives and their negatives")
        if self.fold_positives is not None and self.fold_negatives is not None:
            for name, counts, total in (
                ("positives", self.fold_positives, self.positives),
                ("negatives", self.fold_negatives, self.negatives),
            ):
                if len(counts) != self.folds or sum(counts) != total or min(counts) < 0:
                    raise InputError(f"the {name} per fold must be {self.folds} counts that sum to {total}")

    @property
    def negatives(self) -> int:
        """The instances that are not positive."""
        return self.instances - self.positives

    @property
    def known(self) -> tuple[Shape, ...] | None:
        """The folds as (positives, negatives), where they are known."""
        if self.fold_positives is None or self.fold_negatives is None:
            return None
        return tuple(zip(self.fold_positives, self.fold_negatives, strict=True))


@dataclass(frozen=True)
class Group:
    """Interchangeable folds: how many, and the shapes (positives, negatives) that each of them may have."""

    count: int
    shapes: tuple[Shape, ...]


@dataclass(frozen=True)
class Split:
    """One family of splits; ``free`` when the shapes vary and their positives must add up to the design's."""

    groups: tuple[Group, ...]
    free: bool = False


def splits(design: Design) -> tuple[Split, ...]:
    """List the families of splits that the design allows; together they hold every possible split."""
    known = design.known
    if known is not None:
        return (_fixed(Counter(known)),)
    if design.stratified:
        return _stratified(design)
    size, larger = divmod(design.instances, design.folds)
    counts = {size: design.folds - larger, size + 1: larger}
    groups = tuple(Group(count, _shapes(each, design)) for each, count in counts.items() if count)
    return (Split(groups, free=True),)


def _fixed(folds: Counter[Shape]) -> Split:
    return Split(tuple(Group(count, (shape,)) for shape, count in sorted(folds.items()) if count))


def _stratified(design: Design) -> tuple[Split, ...]:
    k = design.folds
    (few, more_positives), (some, more_negatives) = divmod(design.positives, k), divmod(design.negatives, k)
    found = []
    # Which folds get both an extra positive and an extra negative is not said: every overlap is possible.
    for both in range(max(0, more_positives + more_negatives - k), min(more_positives, more_negatives) + 1):
        folds = Counter({
            (few + 1, some + 1): both,
            (few + 1, some): more_positives - both,
            (few, some + 1): more_negatives - both,
            (few, some): k - more_positives - more_negatives + both,
        })  # fmt: skip
        # Nobody tests on nothing.
        if not folds[0, 0]:
            found.append(_fixed(folds))
    return tuple(found)


def _shapes(size: int, design: Design) -> tuple[Shape, ...]:
    fewest = max(0, size - design.negatives)
    return tuple((positives, size - positives) for positives in range(fewest, min(size, design.positives) + 1))
