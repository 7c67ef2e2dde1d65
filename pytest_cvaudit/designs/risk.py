"""The chance that an unstratified split leaves some fold without positives, exactly."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb, expm1, log1p, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Beyond this many terms the inclusion–exclusion sum is not worth its exactness.
_MOST_TERMS = 20_000


def fold_sizes(instances: int, folds: int) -> tuple[int, ...]:
    """The sizes of k folds that are as equal as they can be."""
    small, larger = divmod(instances, folds)
    return tuple(small + 1 if fold < larger else small for fold in range(folds))


def empty_fold_risk(sizes: Sequence[int], positives: int) -> float:
    """The probability that a random split into folds of these sizes has a fold without positives.

    Inclusion–exclusion over which folds are empty, in exact integers; folds of equal size share a term.
    """
    instances = sum(sizes)
    if positives < len(sizes):
        return 1.0
    kinds = Counter(sizes)
    if prod(number + 1 for number in kinds.values()) > _MOST_TERMS:
        return _union_bound(sizes, positives)
    total = 0
    for empty in product(*(range(number + 1) for number in kinds.values())):
        if not any(empty):
            continue
        ways = prod(comb(number, chosen) for number, chosen in zip(kinds.values(), empty, strict=True))
        covered = sum(size * chosen for size, chosen in zip(kinds, empty, strict=True))
        total += (-1) ** (sum(empty) + 1) * ways * comb(instances - covered, positives)
    return float(Fraction(total, comb(instances, positives)))


def _union_bound(sizes: Sequence[int], positives: int) -> float:
    instances = sum(sizes)
    chances = (Fraction(comb(instances - size, positives), comb(instances, positives)) for size in sizes)
    return min(1.0, float(sum(chances)))


def risk_in(trials: int, risk: float) -> float:
    """The probability that it happens at least once in that many independent trials."""
    return 1.0 if risk >= 1 else -expm1(trials * log1p(-risk))
