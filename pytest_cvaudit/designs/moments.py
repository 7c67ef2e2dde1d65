"""The first two moments of a fold's F1, by enumerating its true and false positives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_cvaudit.designs.laws import binomial, window

if TYPE_CHECKING:
    from pytest_cvaudit.designs.design import Classifier, Fold

#: Outcomes that are held in memory at a time.
_BLOCK = 1 << 18


class Moments(NamedTuple):
    """What the law of (TP, FP) makes of F in one fold; where F is undefined it counts as 0 in the moments."""

    f: float
    f_squared: float
    undefined: float
    kept: float


def outcomes(fold: Fold, classifier: Classifier) -> int:
    """How many pairs (TP, FP) have to be enumerated."""
    sides = ((fold.positives, classifier.recall), (fold.negatives, classifier.false_positive_rate))
    tp, fp = (high - low + 1 for low, high in (window(n, p) for n, p in sides))
    return tp * fp


def fold_moments(fold: Fold, classifier: Classifier) -> Moments:
    """Mean and mean square of F, the chance that F is undefined, and that precision and recall are both defined."""
    silent = (1 - classifier.recall) ** fold.positives * (1 - classifier.false_positive_rate) ** fold.negatives
    if not fold.positives:
        return Moments(0.0, 0.0, silent, 0.0)
    tp, tp_chance = binomial(fold.positives, classifier.recall)
    fp, fp_chance = binomial(fold.negatives, classifier.false_positive_rate)
    first = second = 0.0
    rows = max(1, _BLOCK // len(fp))
    for start in range(0, len(tp), rows):
        part, chance = tp[start : start + rows, None].astype(np.float64), tp_chance[start : start + rows]
        f = 2 * part / (part + (fp + fold.positives))
        first += float(chance @ (f @ fp_chance))
        f *= f
        second += float(chance @ (f @ fp_chance))
    return Moments(first, second, 0.0, 1 - silent)
