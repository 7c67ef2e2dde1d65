"""The nouns of a design: how many instances in how many folds, and the classifier that is imagined on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from pytest_cvaudit.errors import InputError

#: What numpy's hypergeometric sampler and a patient reader can take.
MOST_INSTANCES, MOST_FOLDS = 10**9 - 1, 100_000


class Fold(NamedTuple):
    """The size of a test fold, by class."""

    positives: int
    negatives: int


def fold_sizes(instances: int, folds: int) -> tuple[int, ...]:
    """The sizes of k folds that are as equal as they can be."""
    small, larger = divmod(instances, folds)
    return tuple(small + 1 if fold < larger else small for fold in range(folds))


@dataclass(frozen=True)
class Design:
    """A cross-validation as it can be planned before any result is seen."""

    instances: int
    positives: int
    folds: int
    stratified: bool = True

    def __post_init__(self) -> None:
        if self.folds < 2:
            raise InputError(f"cross-validation needs at least 2 folds, not {self.folds}")
        if self.instances > MOST_INSTANCES or self.folds > MOST_FOLDS:
            raise InputError(f"a design has at most {MOST_INSTANCES} instances and {MOST_FOLDS} folds")
        if self.folds > self.instances:
            raise InputError(f"{self.instances} instances cannot be split into {self.folds} folds")
        if self.positives < 1:
            raise InputError(f"F-measure needs at least 1 positive, not {self.positives}")
        if self.positives > self.instances:
            raise InputError(f"{self.positives} positives are more than the {self.instances} instances")

    @property
    def negatives(self) -> int:
        """The number of negatives."""
        return self.instances - self.positives

    @property
    def sizes(self) -> tuple[int, ...]:
        """The fold sizes, as equal as they can be."""
        return fold_sizes(self.instances, self.folds)

    def stratified_folds(self) -> tuple[Fold, ...]:
        """Positives, then negatives, dealt to the folds in turn: classes and sizes differ by at most one."""
        positives = fold_sizes(self.positives, self.folds)
        return tuple(Fold(mine, size - mine) for mine, size in zip(positives, self.sizes, strict=True))

    def known_folds(self) -> Counter[Fold] | None:
        """How often each kind of fold occurs, if the split leaves nothing to chance."""
        return Counter(self.stratified_folds()) if self.stratified else None


@dataclass(frozen=True)
class Classifier:
    """A classifier with a known true precision and recall on data with this many positives and negatives."""

    precision: float
    recall: float
    positives: int
    negatives: int

    @classmethod
    def of_rates(cls, recall: float, false_positive_rate: float, positives: int, negatives: int) -> Classifier:
        """The classifier with these rates of positives and negatives that are called positive."""
        right = positives * recall
        return cls(right / (right + negatives * false_positive_rate), recall, positives, negatives)

    @property
    def f1(self) -> float:
        """The true F1."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)

    @property
    def _wrong(self) -> float:
        """The expected number of false positives."""
        return self.positives * self.recall * (1 - self.precision) / self.precision

    @property
    def false_positive_rate(self) -> float:
        """The rate that makes the precision what it is."""
        return min(1.0, self._wrong / self.negatives) if self.negatives else 0.0

    def check(self) -> None:
        """Raise an error if no classifier can be like that."""
        for name, value in (("precision", self.precision), ("recall", self.recall)):
            if not 0 < value <= 1:
                raise InputError(f"{name} must be above 0 and at most 1, not {value:g}")
        # Rates that are computed from whole numbers may miss a rate of exactly 1 by a rounding error.
        if self._wrong > self.negatives * (1 + 1e-9):
            raise InputError(
                f"precision {self.precision:g} and recall {self.recall:g} with {self.positives} positives mean "
                f"{self._wrong:.1f} false positives, but there are only {self.negatives} negatives"
            )


@dataclass(frozen=True)
class Expectation:
    """What an aggregation gives on average over many test sets, against the true F."""

    expectation: float
    relative_bias: float
    sd: float
    method: str
    mc_error: float | None = None
