"""What an aggregation says of many tables at once, in floats: a guide for the search, which judges exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import measures
from pytest_cvaudit.forensics.cells import Cells
from pytest_cvaudit.forensics.exact import WHOLE
from pytest_cvaudit.forensics.rows import WEIGHTS, per_fold, summand
from pytest_cvaudit.forensics.studies.class_values import Subject, base_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.model import Metric

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


def many(metric: Metric, way: str, tables: Ints) -> Floats:
    """One aggregation of tables (table, fold, tp fp fn tn); NaN where it is undefined."""
    if way in ("pooled", "tp_fp"):
        return _cells(tables.sum(axis=1)).values(metric)
    shape, cells = tables.shape[:2], _cells(tables.reshape(-1, 4))
    if way.startswith("pr_re"):
        keep = cells.judged.reshape(shape) if way == "pr_re_skip" else np.ones(shape, np.bool_)
        rates = (np.nan_to_num(rate).reshape(shape) for rate in (cells.precision, cells.recall))
        precision, recall = (measures.ratio((rate * keep).sum(axis=1), keep.sum(axis=1)) for rate in rates)
        return np.where(keep.any(axis=1), measures.f_of(precision, recall, metric.beta or 1.0), np.nan)
    values = per_fold(metric, way, cells).reshape(shape)
    if way in ("avg_skip", "avg_nan"):
        kept = cells.judged.reshape(shape) if metric.is_f and way == "avg_skip" else ~np.isnan(values)
        return measures.ratio(np.where(kept, np.nan_to_num(values), 0.0).sum(axis=1), kept.sum(axis=1))
    weight = WEIGHTS[way](cells).reshape(shape) if way in WEIGHTS else np.ones(shape)
    found = measures.ratio(summand(metric, way, cells).reshape(shape).sum(axis=1), weight.sum(axis=1))
    strict = metric.name in WHOLE and way in ("avg", "avg_weighted", "avg_present")
    return np.where(np.isnan(values).any(axis=1), np.nan, found) if strict else found


def many_classes(metric: Metric, way: str, tables: Ints, supports: Sequence[int]) -> Floats:
    """One aggregation of tables of several classes (table, fold, class, tp fp fn tn); NaN where it is undefined."""
    if isinstance(metric, Subject) and metric.label is not None:
        return many(metric, way, tables[:, :, metric.label])
    base = way.partition("@")[0]
    if not base.startswith("avg"):
        return many_folds(metric, way, tables.sum(axis=1), supports)
    values = many_folds(metric, way, tables.reshape(-1, *tables.shape[2:]), supports).reshape(tables.shape[:2])
    sizes = tables[:, :, 0].sum(axis=2)
    weights = sizes if base == "avg_weighted" else np.ones_like(sizes)
    return measures.ratio((values * weights).sum(axis=1), weights.sum(axis=1))


def many_folds(metric: Metric, way: str, folds: Ints, supports: Sequence[int]) -> Floats:
    """What folds of several classes (fold, class, tp fp fn tn) add to a mean over folds; NaN where it is undefined."""
    if isinstance(metric, Subject) and metric.label is not None:
        return summand(metric, way, _cells(folds[:, metric.label]))
    size, right = folds[:, 0].sum(axis=1), folds[:, :, 0].sum(axis=1)
    base, _, where = way.partition("@")
    if metric.name in ("accuracy", "error") or metric.average == "micro":
        accuracy = measures.ratio(right, size)
        return 1 - accuracy if metric.name == "error" else accuracy
    true = (folds[:, :, 0] + folds[:, :, 2]).astype(np.float64)
    if metric.name == "kappa":
        chance = (true * (folds[:, :, 0] + folds[:, :, 1])).sum(axis=1)
        return measures.ratio(size * right - chance, size * size - chance)
    weights = np.ones_like(true)
    if metric.average == "weighted":
        weights = true if where == "fold" else np.tile(np.array(supports, np.float64), (len(true), 1))

    def mean(values: Floats) -> Floats:
        return measures.ratio((weights * np.nan_to_num(values).reshape(true.shape)).sum(axis=1), weights.sum(axis=1))

    cells = _cells(folds.reshape(-1, 4))
    if base.endswith("of_means"):
        return measures.f_of(mean(cells.precision), mean(cells.recall), metric.beta or 1.0)
    found = mean(cells.values(base_of(metric)))
    return np.where((true == 0).any(axis=1), np.nan, found) if metric.name == "balanced_accuracy" else found


def _cells(counts: Ints) -> Cells:
    tp, fp, fn, tn = counts.T
    return Cells(tp + fn, fp + tn, tp, fp, complete=True)
