"""The chance that an unstratified split leaves some fold without positives, exactly."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import ceil, comb, exp, expm1, lgamma, log1p, prod
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.designs.laws import binomial, reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.designs.design import Design

#: Beyond this many terms, or integers of so many digits, inclusion–exclusion is not worth its exactness.
_MOST_TERMS, _MOST_INSTANCES = 2_000, 20_000
#: Below this the chance that two folds are empty does not show in the digits.
_TINY = 1e-9


def empty_fold_risk(sizes: Sequence[int], positives: int) -> float:
    """The probability that a random split into folds of these sizes has a fold without positives."""
    if positives < len(sizes):
        return 1.0
    kinds = Counter(sizes)
    if prod(number + 1 for number in kinds.values()) <= _MOST_TERMS and sum(sizes) <= _MOST_INSTANCES:
        return _inclusion_exclusion(kinds, positives)
    union = _union_bound(kinds, positives)
    return union if union < _TINY else min(1.0, max(0.0, 1 - _none_empty(kinds, positives)))


def _inclusion_exclusion(kinds: Counter[int], positives: int) -> float:
    """Inclusion–exclusion over which folds are empty, in exact integers; folds of equal size share a term."""
    instances = sum(size * number for size, number in kinds.items())
    total = 0
    for empty in product(*(range(number + 1) for number in kinds.values())):
        if not any(empty):
            continue
        ways = prod(comb(number, chosen) for number, chosen in zip(kinds.values(), empty, strict=True))
        covered = sum(size * chosen for size, chosen in zip(kinds, empty, strict=True))
        total += (-1) ** (sum(empty) + 1) * ways * comb(instances - covered, positives)
    return float(Fraction(total, comb(instances, positives)))


def _union_bound(kinds: Counter[int], positives: int) -> float:
    instances = sum(size * number for size, number in kinds.items())
    negatives = instances - positives
    return sum(
        number
        * exp(
            lgamma(instances - size + 1) - lgamma(negatives - size + 1) - lgamma(instances + 1) + lgamma(negatives + 1)
        )
        for size, number in kinds.items()
        if size <= negatives
    )


def _none_empty(kinds: Counter[int], positives: int) -> float:
    """The chance that independent binomials, given their sum, are all above zero, by a filter with roots of unity."""
    instances = sum(size * number for size, number in kinds.items())
    share = positives / instances
    roots = ceil(reach(instances, share)) + 1
    turns = np.arange(roots)[:, None]
    whole = np.exp(-2j * np.pi / roots * (turns[:, 0] * positives % roots))
    filled = whole.copy()
    for size, number in kinds.items():
        mine, chance = binomial(size, share)
        phase = np.exp(2j * np.pi / roots * (turns * mine % roots))
        whole *= (phase @ chance) ** number
        filled *= (phase @ (chance * (mine > 0))) ** number
    return float(filled.sum().real / whole.sum().real)


def design_risk(design: Design) -> float:
    """The probability that some fold of a design has no positives, for one trial."""
    return (
        float(design.positives < design.folds) if design.stratified else empty_fold_risk(design.sizes, design.positives)
    )


def risk_in(trials: int, risk: float) -> float:
    """The probability that it happens at least once in that many independent trials."""
    return 1.0 if risk >= 1 else -expm1(trials * log1p(-risk))
