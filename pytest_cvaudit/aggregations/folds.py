"""The named ways to average per-fold values over the cells of a repeat, one per policy for undefined folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations.values import UNDEFINED, PerFold, Span, Way

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]


def mean(per_fold: PerFold) -> Way:
    """Average over the folds; undefined as soon as one fold is."""
    return lambda cells: per_fold.each(lambda values: float(np.mean(values[cells]))) if len(cells) else UNDEFINED


def mean_filled(per_fold: PerFold, fill: float) -> Way:
    """Average over the folds with undefined ones counted as ``fill``."""
    return lambda cells: (
        per_fold.each(lambda values: float(np.mean(_filled(values[cells], fill)))) if len(cells) else (UNDEFINED)
    )


def mean_kept(per_fold: PerFold, keep: Mask) -> Way:
    """Average over the folds that are kept; undefined when none is."""

    def way(cells: Ints) -> Span:
        kept = cells[keep[cells]]
        return per_fold.each(lambda values: float(np.mean(values[kept]))) if len(kept) else UNDEFINED

    return way


def mean_defined(per_fold: PerFold) -> Way:
    """Average over the folds where the measure is defined."""
    return mean_kept(per_fold, ~np.isnan(per_fold.value))


def mean_weighted(per_fold: PerFold, weights: Floats | Ints, fill: float | None = None) -> Way:
    """Average over the folds, each with its weight; undefined folds count as ``fill`` or leave it undefined."""

    def way(cells: Ints) -> Span:
        share = weights[cells].astype(np.float64)
        if share.sum() <= 0:
            return UNDEFINED
        return per_fold.each(lambda values: float(np.sum(_filled(values[cells], fill) * share) / share.sum()))

    return way


def _filled(values: Floats, fill: float | None) -> Floats:
    return values if fill is None else np.where(np.isnan(values), fill, values)
