"""Point measures from confusion counts, over arrays of any shape; NaN is undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Divide elementwise; 0/0 and x/0 are undefined."""
    top, bottom = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    out: Floats = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


def precision(tp: ArrayLike, fp: ArrayLike) -> Floats:
    """Precision; undefined where nothing was predicted positive."""
    return ratio(tp, np.add(tp, fp))


def recall(tp: ArrayLike, fn: ArrayLike) -> Floats:
    """Recall; undefined where there is no positive."""
    return ratio(tp, np.add(tp, fn))


def f_beta(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, beta: float) -> Floats:
    """F-beta in its ratio form; undefined where tp, fp and fn are all zero."""
    b2 = beta * beta
    top = (1 + b2) * np.asarray(tp, np.float64)
    return ratio(top, top + b2 * np.asarray(fn, np.float64) + np.asarray(fp, np.float64))


def f_of(precision: ArrayLike, recall: ArrayLike, beta: float) -> Floats:
    """F-beta of a given precision and recall; zero where both are."""
    p, r = np.asarray(precision, np.float64), np.asarray(recall, np.float64)
    b2 = beta * beta
    bottom = b2 * p + r
    return np.where(bottom == 0, 0.0, ratio((1 + b2) * p * r, bottom))


def kappa(correct: ArrayLike, gold: Floats, predicted: Floats, n: ArrayLike) -> Floats:
    """Cohen's kappa from the margins of the whole table (last axis: labels)."""
    total = np.asarray(n, np.float64)
    chance = ratio((gold * predicted).sum(-1), total * total)
    return ratio(ratio(correct, total) - chance, 1 - chance)


def mcc(correct: ArrayLike, gold: Floats, predicted: Floats, n: ArrayLike) -> Floats:
    """Matthews correlation from the margins of the whole table (last axis: labels); for two labels the usual phi."""
    total = np.asarray(n, np.float64)
    top = np.asarray(correct, np.float64) * total - (gold * predicted).sum(-1)
    # What was predicted outside the label set is a class of its own.
    outside = total - predicted.sum(-1)
    guesses = (predicted * predicted).sum(-1) + outside * outside
    spread = (total * total - (gold * gold).sum(-1)) * (total * total - guesses)
    return ratio(top, np.sqrt(np.maximum(spread, 0)))
