"""Aggregations of per-fold values that the log itself prints, each standing for every number that prints so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import folds, measures
from pytest_cvaudit.aggregations.values import (
    UNDEFINED,
    MetricTable,
    PerFold,
    Span,
    Value,
    Way,
    evaluate,
    mark_aliases,
    one_family,
    stem,
)
from pytest_cvaudit.model import metric as metric_named
from pytest_cvaudit.model import sorted_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.model import Cell, Experiment, Metric

    Ints = NDArray[np.int64]

_LINEAR = ("accuracy", "error", "brier", "log_loss")
#: Ratios whose numerator and denominator are sums over instances.
_BETWEEN = ("accuracy", "error", "precision", "recall", "specificity", "npv")
#: Why a fold that the log mentions has no value.
NO_VALUE = "no value in the log"
_NEEDS_COUNTS = "only per-fold values are logged; log tp, fp, fn and tn per fold (or the predictions)"
_NEEDS_SCORES = "only per-fold values are logged; log the predictions with their scores"


def logged_table(metric: Metric, experiment: Experiment) -> MetricTable:
    """Build the table of a metric from the values that the log gives per fold."""
    cells = sorted_cells((*experiment.cells, *(missing.cell for missing in experiment.missing)))
    per_fold = _per_fold(metric.name, experiment, cells)
    ranking = metric.family == "ranking" and metric.name not in _LINEAR
    recommended = "avg" if ranking else _pooled_name(metric)
    ways: dict[str, Way] = {}
    if not ranking:
        ways[recommended] = _unknown
    sizes = _sizes(experiment, cells)
    if metric.name in _LINEAR and sizes is not None:
        ways[recommended] = folds.mean_weighted(per_fold, sizes)
    ways["avg"] = folds.mean(per_fold)
    if metric.is_f and {"precision", "recall"} <= _logged(experiment):
        ways["pr_re"] = _of_means(experiment, cells, metric.beta or 1.0)
    ways["avg_skip"] = folds.mean_defined(per_fold)
    ways["avg_zero"] = folds.mean_filled(per_fold, 0.0)
    if sizes is not None:
        ways["avg_weighted"] = folds.mean_weighted(per_fold, sizes)
    if ranking:
        ways["merge"] = _unknown
    needs = {recommended: _NEEDS_COUNTS} if not ranking else {"merge": _NEEDS_SCORES}
    values = evaluate(ways, per_fold, cells, needs=needs)
    if metric.name in _BETWEEN or metric.is_f:
        values[recommended] = _between(values[recommended], per_fold)
    families = one_family if metric.name in _LINEAR else stem
    return MetricTable(metric, recommended, mark_aliases(values, families), per_fold, cells)


def with_printed(table: MetricTable, experiment: Experiment) -> MetricTable:
    """Let a mean of folds also be that of the values which the log prints beside, where these have the same digits."""
    printed = logged_table(table.metric, experiment).values
    values = {name: _also(value, printed.get(name)) for name, value in table.values.items()}
    return replace(table, values=values)


def _also(value: Value, printed: Value | None) -> Value:
    if printed is None or printed.value is None or value.value is None or printed.unknown:
        return value
    if not printed.low <= value.value <= printed.high:
        return value
    return replace(value, low=min(value.low, printed.value), high=max(value.high, printed.value))


def _between(value: Value, per_fold: PerFold) -> Value:
    """A ratio of totals lies between the least and the greatest ratio of the parts, whatever their sizes."""
    known = ~np.isnan(per_fold.value)
    if not value.unknown or not known.all():
        return value
    return replace(value, low=float(per_fold.low.min()), high=float(per_fold.high.max()))


def _unknown(_: Ints) -> Span:
    return UNDEFINED


def _pooled_name(metric: Metric) -> str:
    if metric.is_f:
        return "tp_fp"
    if metric.family == "labels":
        return "tp_fp@test" if metric.average == "weighted" else "tp_fp@train"
    return "pooled"


def _logged(experiment: Experiment) -> set[str]:
    return set(experiment.scores.values) if experiment.scores is not None else set()


def _per_fold(name: str, experiment: Experiment, cells: tuple[Cell, ...]) -> PerFold:
    assert experiment.scores is not None
    known = metric_named(name)
    spans = dict.fromkeys(cells, UNDEFINED)
    for cell, printed in zip(experiment.scores.cells, experiment.scores.values[name], strict=True):
        if printed is not None:
            within = printed.rounded
            spans[cell] = Span(printed.value, max(within.low, known.low), min(within.high, known.high))
    value, low, high = (np.array(column, dtype=np.float64) for column in zip(*spans.values(), strict=True))
    return PerFold(value, low, high, [NO_VALUE] * len(cells))


def _sizes(experiment: Experiment, cells: tuple[Cell, ...]) -> Ints | None:
    scores = experiment.scores
    if scores is None or not scores.n:
        return None
    known = dict(zip(scores.cells, scores.n, strict=True))
    sizes = [known.get(cell) for cell in cells]
    return None if any(size is None for size in sizes) else np.array(sizes, dtype=np.int64)


def _of_means(experiment: Experiment, cells: tuple[Cell, ...], beta: float) -> Way:
    precision, recall = (_per_fold(name, experiment, cells) for name in ("precision", "recall"))

    def way(chosen: Ints) -> Span:
        means = [folds.mean_filled(rate, 0.0)(chosen) for rate in (precision, recall)]
        # F rises with both, so the ends of the intervals give the ends of F.
        return Span(*(float(measures.f_of(p, r, beta)) for p, r in zip(*means, strict=True)))

    return way
