"""What printed fold values say without counts: intervals of their means, and bounds of a pooled ratio."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from pytest_cvaudit.forensics.combine import CANNOT, FITS, UNDECIDED
from pytest_cvaudit.forensics.exact import WHOLE, squared, ways_of
from pytest_cvaudit.forensics.folds.converter import EITHER, READINGS, ROUNDED, TRUNCATED, within
from pytest_cvaudit.forensics.solve import ClaimFit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.forensics.exact import Bounds
    from pytest_cvaudit.model import Claim, FoldScores, Metric

    Spans = Sequence[Bounds | None]

#: Means over instances: merged or pooled is the mean weighted by fold size.
_LINEAR = ("accuracy", "error", "brier", "log_loss")
#: Ratios of sums over instances: the pooled ratio lies between the least and the greatest ratio of the folds.
_RATIOS = ("accuracy", "error", "precision", "recall", "specificity", "npv")
_POOLED = ("pooled", "tp_fp", "merge")
_SKIPS = ("avg_skip", "avg_nan")
_FILLS = {"avg_zero": Fraction(0), "avg_half": Fraction(1, 2), "avg_one": Fraction(1)}


def fit_means(claim: Claim, scores: FoldScores) -> ClaimFit:
    """Answer for every aggregation of a claim as far as the printed values alone can."""
    unknown = ClaimFit(claim, {claim.aggregation or "unknown": UNDECIDED})
    ways = [way for way in _ways(claim.metric) if claim.aggregation in (None, way)]
    widest = _Values.of(claim.metric, scores, EITHER)
    if claim.label is not None or widest is None or not ways:
        return unknown
    first = {"pr_re_skip": "pr_re"} | dict.fromkeys((*_SKIPS, *_FILLS, "avg_present"), "avg")
    aliases = {way: first[way] for way in ways if widest.plain and first.get(way) in ways}
    for reading, cut in product(READINGS, (ROUNDED, TRUNCATED)):
        values = _Values.of(claim.metric, scores, reading)
        assert values is not None
        answers = {way: _answer(values, way, within(claim.printed, cut)) for way in ways}
        if FITS in answers.values():
            return ClaimFit(claim, answers, cut == TRUNCATED, aliases)
    # Either way of printing was tried last for the log, and both are taken together for the claim.
    answers = {way: _answer(widest, way, within(claim.printed, EITHER)) for way in ways}
    return ClaimFit(claim, answers, False, aliases)


def _ways(metric: Metric) -> tuple[str, ...]:
    if known := ways_of(metric):
        return known
    pooled = "pooled" if metric.name in _LINEAR else "merge" if metric.average is None else "tp_fp"
    fills = () if metric.name in _LINEAR else ("avg_zero", "avg_half") if metric.name == "auc" else ("avg_zero",)
    return ("avg", "avg_skip", *fills, "avg_weighted", pooled)


def _answer(values: _Values, way: str, window: Bounds) -> str:
    if _meets(values.taken_as_printed(way), window):
        return FITS
    most = values.at_most(way)
    return UNDECIDED if most is None or _meets(most, window) else CANNOT


def _meets(span: Bounds | None, window: Bounds) -> bool:
    return span is not None and span[0] <= window[1] and span[1] >= window[0]


@dataclass(frozen=True)
class _Values:
    """A metric's interval in every fold, in one reading of the log; None where it is blank."""

    metric: Metric
    scores: FoldScores
    spans: Spans
    rates: tuple[Spans, Spans] | None

    @classmethod
    def of(cls, metric: Metric, scores: FoldScores, reading: str) -> _Values | None:
        """Read the values as printed, or for F make them of precision and recall; nothing where neither is logged."""
        precision, recall = (_logged(rate, scores, reading, 0.0, 1.0) for rate in ("precision", "recall"))
        rates = None if precision is None or recall is None else (precision, recall)
        name = metric.name if metric.k is None else f"precision_at_{metric.k}"
        spans = _logged(name, scores, reading, metric.low, metric.high)
        if spans is None and metric.is_f and rates is not None:
            spans = [_f_of(metric, p, r) for p, r in zip(*rates, strict=True)]
        return None if spans is None else cls(metric, scores, spans, rates)

    @property
    def plain(self) -> bool:
        """Tell whether no value is blank or may stand for an undefined one."""
        return all(span is not None and not self._substitute(span) for span in self.spans)

    def taken_as_printed(self, way: str) -> Bounds | None:
        """The aggregation if every printed value is defined and every blank one is not."""
        if way.startswith("pr_re"):
            return self._of_means()
        if way in _POOLED and self.metric.name not in _LINEAR:
            return None
        if way in _SKIPS:
            return self._mean([span for span in self.spans if span is not None], way)
        fill = self._fill(way)
        substitute = None if fill is None else (fill, fill)
        return self._mean([substitute if span is None else span for span in self.spans], way)

    def at_most(self, way: str) -> Bounds | None:
        """An interval that holds the aggregation whatever was substituted; nothing where it can be anything."""
        if way.startswith("pr_re"):
            return self._widest_of_means(way)
        if self.plain and way in (*_SKIPS, "avg_present"):
            return self.taken_as_printed(way)
        known = [span for span in self.spans if span is not None]
        between = None
        if len(known) == len(self.spans) and known:
            between = min(low for low, _ in known), max(high for _, high in known)
        if way in _POOLED:
            linear = self._mean(self.spans, way) if self.metric.name in _LINEAR else None
            return linear or (between if self.metric.name in _RATIOS or self.metric.is_f else None)
        if way in _SKIPS:
            return between
        if way == "avg_present" or between is None:
            return None
        fill = self._fill(way)
        if fill is None:
            return self._mean(known, way)
        wide = [(min(span[0], fill), max(span[1], fill)) if self._substitute(span) else span for span in known]
        return self._mean(wide, way)

    def _widest_of_means(self, way: str) -> Bounds | None:
        """F of the widest intervals of mean precision and mean recall; skipped folds leave any mean in between."""
        means: list[Bounds | None] = []
        for rate in self.rates or ():
            known = [span for span in rate if span is not None]
            if len(known) < len(rate):
                return None
            wide = [(Fraction(0), span[1]) if self._substitute(span) else span for span in known]
            if way == "pr_re_skip" and not self.plain:
                means.append((min(low for low, _ in known), max(high for _, high in known)))
            else:
                means.append(self._mean(known if self.plain else wide, "avg"))
        return _f_of(self.metric, *means) if len(means) == 2 else None

    def _substitute(self, span: Bounds) -> bool:
        """Tell whether a value may stand for an undefined one: programs print zero, one, or a half for a ranking."""
        fills = (0, 1) if ways_of(self.metric) else (0, Fraction(1, 2), 1)
        return any(span[0] <= fill <= span[1] for fill in fills)

    def _fill(self, way: str) -> Fraction | None:
        """What an undefined fold counts as; nothing where it leaves the mean undefined."""
        if way in _FILLS:
            return _FILLS[way]
        zero = bool(ways_of(self.metric)) and self.metric.name not in WHOLE
        return Fraction(0) if zero else None

    def _mean(self, spans: Spans, way: str) -> Bounds | None:
        known = [span for span in spans if span is not None]
        weights: list[int] = [1] * len(known)
        repeats = [cell.repeat for cell in self.scores.cells]
        # The mean of the repeats' means is the mean over all folds if every repeat has as many.
        if len(known) != len(spans) or not known or len({repeats.count(repeat) for repeat in repeats}) != 1:
            return None
        if "weighted" in way or way in _POOLED:
            logged = self.scores.positives if way.endswith("positives") else self.scores.n
            weights = [number for number in logged if number is not None]
            if len(weights) != len(known) or len(set(repeats)) > 1:
                return None
        return _weighted(known, weights)

    def _of_means(self) -> Bounds | None:
        if self.rates is None:
            return None
        zero = (Fraction(0), Fraction(0))
        precision, recall = (
            self._mean([zero if span is None else span for span in rate], "avg") for rate in self.rates
        )
        return _f_of(self.metric, precision, recall)


def _logged(name: str, scores: FoldScores, reading: str, low: float, high: float) -> Spans | None:
    if name not in scores.values:
        return None
    spans: list[Bounds | None] = []
    for printed in scores.values[name]:
        ends = None if printed is None else within(printed, reading)
        if ends is not None:
            ends = max(ends[0], Fraction(low)), ends[1] if high == float("inf") else min(ends[1], Fraction(high))
        spans.append(ends)
    return spans


def _weighted(spans: Sequence[Bounds], weights: Sequence[int]) -> Bounds | None:
    total = sum(weights)
    if not total:
        return None
    low, high = (
        sum((end * weight for end, weight in zip(ends, weights, strict=True)), Fraction(0)) / total
        for ends in zip(*spans, strict=True)
    )
    return low, high


def _f_of(metric: Metric, precision: Bounds | None, recall: Bounds | None) -> Bounds | None:
    return None if precision is None or recall is None else f_of(metric, precision, recall)


def f_of(metric: Metric, precision: Bounds, recall: Bounds) -> Bounds:
    """F of two intervals: it rises with both, so the ends give the ends."""
    square = squared(metric.beta or 1.0)

    def f(p: Fraction, r: Fraction) -> Fraction:
        return (1 + square) * p * r / (square * p + r) if square * p + r else Fraction(0)

    return f(precision[0], recall[0]), f(precision[1], recall[1])
