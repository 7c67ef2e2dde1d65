"""Ranking measures of one curve, and the terms that score levels add to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from .arrays import AnyArray, Floats, Ints

MEASURES = frozenset({"auc", "ap", "max_f1", "max_mcc", "auk", "brier", "log_loss"})


def check_names(which: Collection[str]) -> frozenset[str]:
    """Return the names of measures as a set, refusing unknown ones."""
    unknown = set(which) - MEASURES
    if unknown:
        raise ValueError(f"unknown ranking measures: {', '.join(sorted(unknown))}")
    return frozenset(which)


# Below this the harmonic numbers come from a table, from here on the asymptotic series is exact to the last bit.
_TABLE = 32
_HARMONIC = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, _TABLE + 1))])


@dataclass(frozen=True)
class RankingMeasures:
    """Measures of how well scores rank positives above negatives; None where undefined or not asked for.

    The low and high values break ties in the worst and the best order, each row then having its own threshold, so `ap`,
    which gives tied rows one threshold, may lie outside them when positives tie with positives.
    """

    positives: int
    negatives: int
    auc: float | None = None
    auc_low: float | None = None
    auc_high: float | None = None
    ap: float | None = None
    ap_low: float | None = None
    ap_high: float | None = None
    max_f1: float | None = None
    max_mcc: float | None = None
    auk: float | None = None
    brier: float | None = None
    log_loss: float | None = None


@dataclass
class Totals:
    """What a sweep over a curve adds up: exact integers of pairs, sums of precisions, maxima and an area."""

    lost: int = 0
    tied: int = 0
    ap: float = 0.0
    ap_low: float = 0.0
    ap_high: float = 0.0
    f1: float = 0.0
    mcc: float = 0.0
    area: float = 0.0
    squares: float | None = None
    logs: float | None = None

    def add(self, other: Totals) -> None:
        """Add the sums of another part of the same curve."""
        for name in ("lost", "tied", "ap", "ap_low", "ap_high", "area"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def measures(self, positives: int, negatives: int, which: Collection[str] = MEASURES) -> RankingMeasures:
        """Return the measures of a curve with so many rows."""
        pairs, rows = positives * negatives, positives + negatives
        auc = bool(pairs) and "auc" in which
        ap = bool(positives) and "ap" in which
        return RankingMeasures(
            positives=positives,
            negatives=negatives,
            auc=(2 * (pairs - self.lost) - self.tied) / (2 * pairs) if auc else None,
            auc_low=(pairs - self.lost - self.tied) / pairs if auc else None,
            auc_high=(pairs - self.lost) / pairs if auc else None,
            ap=self.ap / positives if ap else None,
            ap_low=self.ap_low / positives if ap else None,
            ap_high=self.ap_high / positives if ap else None,
            max_f1=self.f1 if positives and "max_f1" in which else None,
            max_mcc=self.mcc if pairs and "max_mcc" in which else None,
            auk=self.area / negatives if pairs and "auk" in which else None,
            brier=self.squares / rows if rows and self.squares is not None else None,
            log_loss=self.logs / rows if rows and self.logs is not None else None,
        )


class LevelTerms(NamedTuple):
    """Terms that each score level adds: pairs lost and tied, and precisions summed over its positives."""

    lost: Ints
    tied: Ints
    ap: Floats
    ap_low: Floats
    ap_high: Floats


def level_terms(tp: Ints, ranked: Ints, pos: Ints, neg: Ints) -> LevelTerms:
    """Return the terms of levels with `pos` and `neg` rows, `tp` of `ranked` rows above each being positive."""
    return LevelTerms(
        lost=pos * (ranked - tp),
        tied=pos * neg,
        ap=pos * ((tp + pos) / np.maximum(ranked + pos + neg, 1)),
        ap_low=_precisions(tp, ranked + neg, pos),
        ap_high=_precisions(tp, ranked, pos),
    )


def f1_at(tp: AnyArray, ranked: AnyArray, positives: AnyArray | int) -> Floats:
    """Return F1 where `tp` of `ranked` predicted positives are right."""
    return np.asarray(2.0 * tp / np.maximum(ranked + positives, 1))


def mcc_at(tp: AnyArray, ranked: AnyArray, positives: AnyArray | int, negatives: AnyArray | int) -> Floats:
    """Return the Matthews correlation at thresholds, 0 where its denominator is 0."""
    rows = np.asarray(positives + negatives, np.float64)
    spread = np.sqrt(ranked * (rows - ranked) * (np.asarray(positives, np.float64) * negatives))
    skill = tp * rows - ranked * np.asarray(positives, np.float64)
    return np.asarray(np.divide(skill, spread, out=np.zeros_like(spread), where=spread > 0))


def kappa_at(tp: AnyArray, ranked: AnyArray, positives: AnyArray | int, negatives: AnyArray | int) -> Floats:
    """Return Cohen's kappa at thresholds, 0 where its denominator is 0."""
    rows = np.asarray(positives + negatives, np.float64)
    chance = np.asarray(positives * rows + ranked * np.asarray(negatives - positives, np.float64))
    skill = 2.0 * (tp * rows - ranked * np.asarray(positives, np.float64))
    return np.asarray(np.divide(skill, chance, out=np.zeros_like(chance), where=chance > 0))


def _precisions(tp: Ints, ranked: Ints, pos: Ints) -> Floats:
    """Return the sum over j = 1..pos of (tp + j) / (ranked + j)."""
    sums = pos * ((tp + 1) / (ranked + 1))
    many = np.flatnonzero(pos > 1)
    if many.size:
        tp, ranked, pos = tp[many], ranked[many], pos[many]
        sums[many] = pos + (tp - ranked) * _harmonic_span(ranked, pos)
    return sums


def _harmonic_span(start: Ints, count: Ints) -> Floats:
    """Return 1/(start+1) + ... + 1/(start+count) without summing."""
    stop = start + count
    small = _HARMONIC[np.minimum(stop, _TABLE)] - _HARMONIC[np.minimum(start, _TABLE)]
    low, high = np.maximum(start, _TABLE) + 0.5, np.maximum(stop, _TABLE) + 0.5
    return np.asarray(small + np.log1p((high - low) / low) + _series(high) - _series(low))


def _series(x: Floats) -> Floats:
    """Return the correction of log(x) to the harmonic number of x - 1/2."""
    square = 1.0 / (x * x)
    return np.asarray(square * (1 / 24 - square * (7 / 960 - square * (31 / 8064 - square * (127 / 30720)))))
