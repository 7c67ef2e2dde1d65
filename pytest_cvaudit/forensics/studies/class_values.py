"""Judges a table of several classes with exact arithmetic: every aggregation over folds and labels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_cvaudit.forensics.exact import aggregate, mean, squared
from pytest_cvaudit.model.metrics import Metric, find_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_cvaudit.forensics.exact import Counts, Surd

#: One fold of several classes: the counts of every class, in the order of the labels.
ClassFold = tuple["Counts", ...]


@dataclass(frozen=True)
class Subject(Metric):
    """A metric together with the place of the label that it is about, if it is about one."""

    label: int | None = None


def base_of(metric: Metric) -> Metric:
    """The measure of one label that an average over labels is made of."""
    found = find_metric(metric.base or "recall")
    assert found is not None
    return found


def totals(folds: Sequence[ClassFold]) -> ClassFold:
    """Add up the folds, class by class."""
    return tuple(
        (sum(c[0] for c in one), sum(c[1] for c in one), sum(c[2] for c in one), sum(c[3] for c in one))
        for one in zip(*folds, strict=True)
    )


def realizable(fold: ClassFold) -> bool:
    """Tell whether some confusion matrix has these counts: every error is a miss of one class and a hit of another."""
    missed = sum(fn for _, _, fn, _ in fold)
    return missed == sum(fp for _, fp, _, _ in fold) and all(fp + fn <= missed for _, fp, fn, _ in fold)


def class_value(metric: Metric, way: str, folds: Sequence[ClassFold]) -> Surd | None:
    """Compute one aggregation exactly; nothing where it is undefined."""
    if isinstance(metric, Subject) and metric.label is not None:
        return aggregate(metric, way, [fold[metric.label] for fold in folds])
    base, _, where = way.partition("@")
    if metric.average == "weighted" and where == "test":
        weights = [tp + fn for tp, _, fn, _ in totals(folds)]
        return _over_folds(base, folds, lambda fold: _average(metric, base, fold, weights))
    return _over_folds(base, folds, lambda fold: _average(metric, base, fold, _weights(metric, fold)))


def _over_folds(base: str, folds: Sequence[ClassFold], of: Callable[[ClassFold], Fraction | None]) -> Surd | None:
    if not base.startswith("avg"):
        value = of(totals(folds))
        return None if value is None else {1: value}
    values = [of(fold) for fold in folds]
    weights = [sum(fold[0]) for fold in folds] if base == "avg_weighted" else None
    return None if None in values else mean([{1: value} for value in values if value is not None], weights)


def _weights(metric: Metric, fold: ClassFold) -> list[int]:
    return [tp + fn if metric.average == "weighted" else 1 for tp, _, fn, _ in fold]


def _average(metric: Metric, base: str, fold: ClassFold, weights: Sequence[int]) -> Fraction | None:
    """The value of one fold, or of the totals."""
    correct, size = sum(tp for tp, _, _, _ in fold), sum(fold[0])
    if metric.name in ("accuracy", "error"):
        return Fraction(correct if metric.name == "accuracy" else size - correct, size) if size else None
    if metric.average == "micro":
        # Every error is one false positive and one false negative, so all micro averages are the accuracy.
        return Fraction(correct, size) if size else Fraction(0)
    if metric.name == "kappa":
        chance = sum((tp + fn) * (tp + fp) for tp, fp, fn, _ in fold)
        return Fraction(size * correct - chance, size * size - chance) if size * size != chance else None
    if metric.name == "balanced_accuracy" and any(tp + fn == 0 for tp, _, fn, _ in fold):
        return None
    if base.endswith("of_means"):
        precision, recall = (_mean_of(name, fold, weights) for name in ("precision", "recall"))
        square = squared(metric.beta or 1.0)
        bottom = square * precision + recall
        return (1 + square) * precision * recall / bottom if bottom else Fraction(0)
    return _mean_of(base_of(metric).name, fold, weights)


def _mean_of(name: str, fold: ClassFold, weights: Sequence[int]) -> Fraction:
    """The weighted mean over labels; a label for which the measure is 0/0 counts as zero."""
    measure = find_metric(name)
    assert measure is not None
    pooled = "tp_fp" if measure.is_f else "pooled"
    values = [aggregate(measure, pooled, [counts]) for counts in fold]
    parts = [weight * (value[1] if value else Fraction(0)) for weight, value in zip(weights, values, strict=True)]
    return sum(parts, Fraction(0)) / sum(weights)
