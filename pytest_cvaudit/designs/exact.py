"""Exact means and variances of aggregations over folds whose split may be random.

A random split deals the positives out by a hypergeometric law: independent binomials, one per fold, given that their
sum is the number of positives. The condition is a coefficient of a product of polynomials, one per fold, which a filter
with roots of unity reads off; a known split needs a single root. The mean over the D folds that are defined needs 1/D,
which is the integral of z^(D-1) over [0, 1]; D is at most k, so a Gauss rule makes it exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from math import ceil, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_cvaudit.designs.design import Classifier, Design, Fold
from pytest_cvaudit.designs.laws import binomial, reach
from pytest_cvaudit.designs.moments import Moments, fold_moments, outcomes

if TYPE_CHECKING:
    from collections import Counter

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Array = NDArray[np.float64] | NDArray[np.complex128]

#: Beyond so many outcomes (about a second) a simulation answers sooner.
MOST_OUTCOMES = 50_000_000
#: Beyond so many folds the rule for 1/D costs more than it is worth.
MOST_FOLDS = 2_000


class Series(NamedTuple):
    """E[z^D], E[S z^D] and E[S² z^D] for a sum S over folds, of which D are defined."""

    one: Array
    first: Array
    second: Array

    def times(self, other: Series) -> Series:
        """The series of a sum of two independent parts."""
        return Series(
            self.one * other.one,
            self.first * other.one + self.one * other.first,
            self.second * other.one + 2 * self.first * other.first + self.one * other.second,
        )

    def power(self, n: int) -> Series:
        """The series of n such parts."""
        if n == 1:
            return self
        fewer = self.one ** (n - 2)
        rest = fewer * self.one
        second = n * rest * self.second + n * (n - 1) * fewer * self.first * self.first
        return Series(rest * self.one, n * rest * self.first, second)


@dataclass(frozen=True)
class Kind:
    """Folds of one size: the numbers of positives they may have, with chances, and what F is then."""

    count: int
    size: int
    positives: Ints
    chance: Floats
    moments: tuple[Moments, ...]

    @cached_property
    def columns(self) -> tuple[Floats, ...]:
        """The moments by number of positives: E[F], E[F²], undefined, kept."""
        return tuple(np.array(self.moments, dtype=np.float64).T)


@dataclass(frozen=True)
class Split:
    """All folds of a cross-validation, by kind."""

    kinds: tuple[Kind, ...]
    positives: int
    roots: int

    @property
    def folds(self) -> int:
        """The number of folds."""
        return sum(kind.count for kind in self.kinds)

    @property
    def instances(self) -> int:
        """The number of instances."""
        return sum(kind.count * kind.size for kind in self.kinds)

    @cached_property
    def _phases(self) -> tuple[NDArray[np.complex128], ...]:
        """For each kind, the chance of each number of positives, turned by each root of unity of one half circle."""
        turns = np.arange(self.roots // 2 + 1)[:, None]
        return tuple(
            np.exp(2j * np.pi / self.roots * (turns * kind.positives % self.roots)) * kind.chance for kind in self.kinds
        )

    def total(self, folds: list[Series]) -> Series:
        """The series of all folds, given that the positives sum up; rows: number of positives, columns: z."""
        whole: Series | None = None
        for kind, phase, fold in zip(self.kinds, self._phases, folds, strict=True):
            part = Series(*(phase @ values for values in fold)).power(kind.count)
            whole = part if whole is None else whole.times(part)
        assert whole is not None
        turns = np.arange(self.roots // 2 + 1)
        back = np.exp(-2j * np.pi / self.roots * (turns * self.positives % self.roots)) / self.roots
        back[1 : (self.roots + 1) // 2] *= 2  # the other half circle is the mirror image
        return Series(*((back @ values).real for values in whole))


def known_split(folds: Counter[Fold], classifier: Classifier) -> Split | None:
    """The folds of a split that leaves nothing to chance; None if there are too many outcomes."""
    if sum(outcomes(fold, classifier) for fold in folds) > MOST_OUTCOMES:
        return None
    kinds = tuple(
        Kind(count, sum(fold), np.array([fold.positives]), np.ones(1), (fold_moments(fold, classifier),))
        for fold, count in folds.items()
    )
    return Split(kinds, sum(fold.positives * count for fold, count in folds.items()), 1)


def random_split(design: Design, classifier: Classifier) -> Split | None:
    """The folds of an unstratified split; None if there are too many outcomes."""
    share = design.positives / design.instances
    laws = {}
    for size in dict.fromkeys(design.sizes):
        positives, chance = binomial(size, share)
        fits = (positives <= design.positives) & (size - positives <= design.negatives)
        laws[size] = positives[fits], chance[fits]
    folds = {size: [Fold(mine, size - mine) for mine in positives.tolist()] for size, (positives, _) in laws.items()}
    if sum(outcomes(fold, classifier) for kind in folds.values() for fold in kind) > MOST_OUTCOMES:
        return None
    kinds = tuple(
        Kind(design.sizes.count(size), size, *laws[size], tuple(fold_moments(fold, classifier) for fold in folds[size]))
        for size in laws
    )
    return Split(kinds, design.positives, ceil(reach(design.instances, share)) + 1)


class MeanSd(NamedTuple):
    """An expectation and a standard deviation."""

    mean: float
    sd: float


def mean_sd(mean: float, second: float) -> MeanSd:
    """Make a standard deviation of a mean square."""
    return MeanSd(mean, sqrt(max(0.0, second - mean * mean)))


def mean_of_folds(split: Split, *, weight: str = "equal", undefined: float = 0.0) -> MeanSd:
    """The mean over all folds, weighed equally, by size or by positives, with undefined folds counted as a number."""
    folds = []
    for kind in split.kinds:
        f, f_squared, missing, _ = kind.columns
        weights = {
            "equal": np.full(len(f), 1 / split.folds),
            "size": np.full(len(f), kind.size / split.instances),
            "positives": kind.positives / split.positives,
        }[weight]
        first = weights * (f + undefined * missing)
        second = weights**2 * (f_squared + undefined**2 * missing)
        folds.append(Series(*(values[:, None] for values in (np.ones_like(f), first, second))))
    one, mean, square = (float(values[0].real) for values in split.total(folds))
    return mean_sd(mean / one, square / one)


def mean_of_defined(split: Split, *, only_f: bool = False) -> MeanSd | None:
    """The mean over the folds where precision and recall (or only F) are defined, given that one is."""
    nodes, once, twice = rule(split.folds)
    z = np.concatenate([[0.0, 1.0], nodes])
    folds = []
    for kind in split.kinds:
        f, f_squared, missing, kept = kind.columns
        chance = (1 - missing if only_f else kept)[:, None]
        folds.append(Series(1 - chance + z * chance, f[:, None] * z, f_squared[:, None] * z))
    total = split.total(folds)
    some = float(total.one[1] - total.one[0])
    if some <= 0:
        return None
    mean = float(once @ (total.first[2:].real / nodes)) / some
    return mean_sd(mean, float(twice @ (total.second[2:].real / nodes)) / some)


@cache
def rule(folds: int) -> tuple[Floats, Floats, Floats]:
    """Nodes in (0, 1) with weights such that the sums of z^(D-1) are 1/D and 1/D², for every D up to so many folds."""
    number = min(folds, 20 + ceil(6 * sqrt(folds)))
    x, weights = np.polynomial.legendre.leggauss(number)
    degree = np.arange(1, number)
    # The Legendre coefficients of -log z, whose integral against z^(D-1) is 1/D².
    coefficients = np.concatenate([[1.0], (2 * degree + 1) * (-1.0) ** degree / (degree * (degree + 1))])
    twice = weights / 2 * (np.polynomial.legendre.legvander(x, number - 1) @ coefficients)
    return (x + 1) / 2, weights / 2, twice
