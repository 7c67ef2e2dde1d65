"""Aggregations of the point measures of one label, or of the whole table, from confusion counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import folds, measures
from pytest_cvaudit.aggregations.values import (
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pytest_cvaudit.model import Metric
    from pytest_cvaudit.tallies import Counts
    from pytest_cvaudit.tallies.tally import Tallies

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Measures of the whole table: the same number whichever label is called positive.
TABLE_MEASURES = ("accuracy", "error", "balanced_accuracy", "mcc", "kappa")
_LINEAR = ("accuracy", "error")
_NO_PREDICTED, _NO_POSITIVES, _NO_NEGATIVES = "no predicted positives", "no positives", "no negatives"
_NO_PREDICTED_NEGATIVES = "no predicted negatives"


@dataclass(frozen=True)
class _Label:
    """The counts of one label as float vectors over cells (or totals)."""

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats


def label_table(metric: Metric, tallies: Tallies, label: int) -> MetricTable:
    """Build the table of precision, recall, specificity, NPV or F-beta of one label."""
    assert tallies.counts is not None
    counts = _Label(*(getattr(tallies.counts, part)[:, label].astype(np.float64) for part in ("tp", "fp", "fn", "tn")))
    if metric.beta is not None:
        return _f_table(metric, tallies, counts, label)
    measure, why = _RATES[metric.name]
    per_fold = PerFold.exact(measure(counts), why)
    one = PerFold.exact(np.where(np.isnan(per_fold.value), 1.0, per_fold.value), why)
    ways = _rate_ways(per_fold, counts, measure, tallies)
    return _finish(metric, tallies, per_fold, ways, "pooled", label, {"avg_one": one})


_RATES: dict[str, tuple[Callable[[_Label], Floats], str]] = {
    "precision": (lambda c: measures.precision(c.tp, c.fp), _NO_PREDICTED),
    "recall": (lambda c: measures.recall(c.tp, c.fn), _NO_POSITIVES),
    "specificity": (lambda c: measures.recall(c.tn, c.fp), _NO_NEGATIVES),
    "npv": (lambda c: measures.precision(c.tn, c.fn), _NO_PREDICTED_NEGATIVES),
}


def _totals(counts: _Label, cells: Ints) -> _Label:
    return _Label(*(np.asarray(part[cells].sum()) for part in (counts.tp, counts.fp, counts.fn, counts.tn)))


def _rate_ways(
    per_fold: PerFold, counts: _Label, measure: Callable[[_Label], Floats], tallies: Tallies
) -> dict[str, Way]:
    ways: dict[str, Way] = {
        "pooled": lambda cells: point(float(measure(_totals(counts, cells)))),
        "avg": folds.mean_filled(per_fold, 0.0),
        "avg_skip": folds.mean_defined(per_fold),
        "avg_one": folds.mean_filled(per_fold, 1.0),
    }
    if tallies.knows_negatives:
        ways["avg_weighted"] = folds.mean_weighted(per_fold, tallies.n, 0.0)
    return ways


def _f_table(metric: Metric, tallies: Tallies, counts: _Label, label: int) -> MetricTable:
    beta = metric.beta or 1.0
    precision = measures.precision(counts.tp, counts.fp)
    recall = measures.recall(counts.tp, counts.fn)
    per_fold = PerFold.exact(
        measures.f_beta(counts.tp, counts.fp, counts.fn, beta), "no positives and no predicted positives"
    )
    both = ~np.isnan(precision) & ~np.isnan(recall)

    def of_means(cells: Ints, fill: float) -> Span:
        mean_precision, mean_recall = (
            float(np.mean(np.where(np.isnan(rate[cells]), fill, rate[cells]))) for rate in (precision, recall)
        )
        return point(float(measures.f_of(mean_precision, mean_recall, beta)))

    def totals(cells: Ints) -> Span:
        total = _totals(counts, cells)
        return point(float(measures.f_beta(total.tp, total.fp, total.fn, beta)))

    ways: dict[str, Way] = {
        "tp_fp": totals,
        "avg": folds.mean_filled(per_fold, 0.0),
        "pr_re": lambda cells: of_means(cells, 0.0),
        "avg_skip": folds.mean_kept(per_fold, both),
        "pr_re_skip": lambda cells: of_means(cells[both[cells]], 0.0) if both[cells].any() else point(float("nan")),
        "avg_one": folds.mean_filled(per_fold, 1.0),
        "avg_nan": folds.mean_defined(per_fold),
    }
    if tallies.knows_negatives:
        ways["avg_weighted"] = folds.mean_weighted(per_fold, tallies.n, 0.0)
    ways["avg_weighted_positives"] = folds.mean_weighted(per_fold, counts.tp + counts.fn, 0.0)
    kept = PerFold.exact(np.where(both, per_fold.value, np.nan), "no positives or no predicted positives")
    one = PerFold.exact(np.where(np.isnan(per_fold.value), 1.0, per_fold.value), "")
    starts = {"avg_skip": kept, "pr_re_skip": kept, "avg_one": one}
    return _finish(metric, tallies, per_fold, ways, "tp_fp", label, starts)


def table_table(metric: Metric, tallies: Tallies) -> MetricTable:
    """Build the table of a measure of the whole confusion table: accuracy, error, balanced accuracy, MCC or kappa."""
    assert tallies.counts is not None
    measure, why = _whole(metric.name, tallies)
    cells = np.arange(len(tallies.cells))
    per_fold = PerFold.exact(np.array([measure(tallies.counts, np.array([cell])) for cell in cells]), why)
    counts = tallies.counts
    ways: dict[str, Way] = {
        "pooled": lambda cells: point(measure(counts, cells)),
        "avg": folds.mean(per_fold),
        "avg_skip": folds.mean_defined(per_fold),
        "avg_zero": folds.mean_filled(per_fold, 0.0),
        "avg_weighted": folds.mean_weighted(per_fold, tallies.n),
    }
    starts = {}
    if metric.name == "balanced_accuracy":
        starts["avg_present"] = PerFold.exact(
            np.array([_recalls(counts, np.array([c]), _mean_of_present) for c in cells]), "no instances"
        )
        ways["avg_present"] = folds.mean(starts["avg_present"])
    return _finish(metric, tallies, per_fold, ways, "pooled", None, starts)


def _mean_of_present(rates: Floats) -> float:
    present = rates[~np.isnan(rates)]
    return float(present.mean()) if len(present) else float("nan")


def _whole(name: str, tallies: Tallies) -> tuple[Callable[[Counts, Ints], float], str]:
    def accuracy(counts: Counts, cells: Ints) -> float:
        assert counts.correct is not None
        return float(measures.ratio(counts.correct[cells].sum(), counts.n[cells].sum()))

    def margins(counts: Counts, cells: Ints) -> tuple[float, Floats, Floats, float]:
        assert counts.correct is not None
        gold, predicted = (part[cells].sum(axis=0).astype(np.float64) for part in (counts.positives, counts.predicted))
        return float(counts.correct[cells].sum()), gold, predicted, float(counts.n[cells].sum())

    occurring = tallies.gold.sum(axis=0) > 0
    known: dict[str, tuple[Callable[[Counts, Ints], float], str]] = {
        "accuracy": (accuracy, "no instances"),
        "error": (lambda counts, cells: 1 - accuracy(counts, cells), "no instances"),
        "mcc": (
            lambda counts, cells: float(measures.mcc(*margins(counts, cells))),
            "one true or one predicted class only",
        ),
        "kappa": (lambda counts, cells: float(measures.kappa(*margins(counts, cells))), "one class only"),
        "balanced_accuracy": (
            lambda counts, cells: _recalls(counts, cells, lambda rates: float(np.mean(rates[occurring]))),
            "no instance of some class",
        ),
    }
    return known[name]


def _recalls(counts: Counts, cells: Ints, average: Callable[[Floats], float]) -> float:
    return float(average(measures.recall(counts.tp[cells].sum(axis=0), counts.fn[cells].sum(axis=0))))


def _finish(
    metric: Metric,
    tallies: Tallies,
    per_fold: PerFold,
    ways: dict[str, Way],
    recommended: str,
    label: int | None,
    starts: dict[str, PerFold],
) -> MetricTable:
    values = evaluate(ways, per_fold, tallies.cells, per_fold_of=starts)
    families = one_family if metric.name in _LINEAR else stem
    name = tallies.labels[label] if label is not None else None
    return MetricTable(metric, recommended, mark_aliases(values, families), per_fold, tallies.cells, name, starts)
