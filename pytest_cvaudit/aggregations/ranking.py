"""Aggregations of the ranking measures, from one score curve per cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import folds
from pytest_cvaudit.aggregations.values import (
    UNDEFINED,
    MetricTable,
    PerFold,
    Span,
    Way,
    evaluate,
    mark_aliases,
    one_family,
    point,
    stem,
)
from pytest_cvaudit.tallies import Curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.model import Metric
    from pytest_cvaudit.tallies.tally import Tallies

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Means over instances: merging all folds is the mean weighted by fold size.
_LINEAR = ("brier", "log_loss")
_BOUNDED_BY_TIES = ("auc", "ap")
_TINY = float(np.finfo(np.float64).eps)


def ranking_table(metric: Metric, tallies: Tallies, label: int) -> MetricTable:
    """Build the table of a ranking measure of one label."""
    curves = tallies.curves[label]
    rounded = tallies.decimals if tallies.rounded else None
    spans = [_measure(metric, curve, rounded) for curve in curves]
    value, low, high = (np.array(column, dtype=np.float64) for column in zip(*spans, strict=True))
    per_fold = PerFold(value, low, high, [_why(metric, curve) for curve in curves])
    linear = metric.name in _LINEAR
    pooled = "pooled" if linear else "merge"
    ways: dict[str, Way] = {
        "avg": folds.mean(per_fold),
        "avg_skip": folds.mean_defined(per_fold),
        "avg_zero": folds.mean_filled(per_fold, 0.0),
        "avg_half": folds.mean_filled(per_fold, 0.5),
        "avg_weighted": folds.mean_weighted(per_fold, tallies.n),
        pooled: _merged(metric, curves, rounded),
    }
    if metric.name != "auc":
        del ways["avg_half"]
    if linear:
        del ways["avg_zero"]
        ways = {pooled: ways.pop(pooled), **ways}
    values = mark_aliases(evaluate(ways, per_fold, tallies.cells), one_family if linear else stem)
    return MetricTable(metric, pooled if linear else "avg", values, per_fold, tallies.cells, tallies.labels[label])


def over_labels_table(metric: Metric, base: Metric, tallies: Tallies) -> MetricTable:
    """Build the table of a ranking measure of each label against the rest, averaged over the labels that occur.

    Weighted by frequency, a label that a fold lacks has no weight there; unweighted, it leaves the fold undefined.
    """
    labels = [label for label in tallies.curves if tallies.gold[:, label].any()]
    rounded = tallies.decimals if tallies.rounded else None
    weights = (
        tallies.gold[:, labels] if metric.name.startswith("weighted") else np.ones((len(tallies.cells), len(labels)))
    )
    merged = [_merged(base, tallies.curves[label], rounded) for label in labels]
    each = [[way(np.array([cell])) for way in merged] for cell in range(len(tallies.cells))]
    per_fold = _averaged([_over_labels(spans, weights[cell]) for cell, spans in enumerate(each)])
    present = [weights[cell] * [not np.isnan(span.value) for span in spans] for cell, spans in enumerate(each)]
    per_fold_of = {"avg_present": _averaged(list(map(_over_labels, each, present)))}
    ways: dict[str, Way] = {
        "avg": folds.mean(per_fold),
        "avg_skip": folds.mean_defined(per_fold),
        "avg_present": folds.mean(per_fold_of["avg_present"]),
        "avg_weighted": folds.mean_weighted(per_fold, tallies.n),
        "merge": lambda cells: _over_labels([way(cells) for way in merged], weights[cells].sum(axis=0)),
    }
    values = mark_aliases(evaluate(ways, per_fold, tallies.cells, per_fold_of=per_fold_of), stem)
    return MetricTable(metric, "avg", values, per_fold, tallies.cells, per_fold_of=per_fold_of)


def _averaged(spans: Sequence[Span]) -> PerFold:
    value, low, high = (np.array(column, dtype=np.float64) for column in zip(*spans, strict=True))
    return PerFold(value, low, high, ["no instance of some label, or of the others"] * len(spans))


def _over_labels(spans: Sequence[Span], weights: Ints | Floats) -> Span:
    """The mean over labels; one without weight does not count, even where it is undefined."""
    counted = [(span, weight) for span, weight in zip(spans, weights.tolist(), strict=True) if weight]
    total = sum(weight for _, weight in counted)
    if not counted:
        return UNDEFINED
    return Span(*(sum(span[end] * weight for span, weight in counted) / total for end in range(3)))


def _merged(metric: Metric, curves: Sequence[Curve], rounded: int | None) -> Way:
    return lambda cells: _measure(metric, Curve.merge([curves[cell] for cell in cells]), rounded)


def _measure(metric: Metric, curve: Curve, rounded: int | None) -> Span:
    if metric.name in ("precision_at_k", "r_precision"):
        k = metric.k if metric.name == "precision_at_k" else curve.positives
        found = curve.precision_at(k) if k else None
        return UNDEFINED if found is None else Span(*found)
    measured = curve.measures((metric.name,))
    value = getattr(measured, metric.name)
    if value is None:
        return UNDEFINED
    if rounded is not None and metric.name in _BOUNDED_BY_TIES:
        low, high = (getattr(measured, f"{metric.name}_{end}") for end in ("low", "high"))
        # Average precision with tied positives as one step can lie outside the orders that the ties may hide.
        return Span(value, min(low, value), max(high, value))
    if rounded is not None and metric.name in _LINEAR:
        return _lost_digits(metric, curve, value, 0.5 * 10.0**-rounded)
    return point(value)


def _lost_digits(metric: Metric, curve: Curve, value: float, half: float) -> Span:
    """The interval of a loss whose scores may each be off by half a unit of their last digit."""
    scores, positives, negatives = curve.levels()
    ends = []
    for sign in (1, -1):
        for_positives, for_negatives = (np.clip(scores + way * half, 0, 1) for way in (sign, -sign))
        if metric.name == "brier":
            losses = (1 - for_positives) ** 2, for_negatives**2
        else:
            losses = -np.log(np.maximum(for_positives, _TINY)), -np.log(np.maximum(1 - for_negatives, _TINY))
        ends.append(float((positives * losses[0] + negatives * losses[1]).sum() / (positives.sum() + negatives.sum())))
    return Span(value, min(ends[0], value), max(ends[1], value))


def _why(metric: Metric, curve: Curve) -> str:
    if metric.name == "precision_at_k":
        return f"fewer than {metric.k} instances"
    if metric.name in _LINEAR:
        return "scores outside 0..1"
    return "no positives" if curve.positives == 0 else "no negatives"
