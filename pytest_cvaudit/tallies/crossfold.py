"""How positives of one fold rank against negatives of another: what merging scores over folds does to the AUC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .arrays import Floats, Ints
    from .curve import Curve

# Size of a (folds, levels) matrix: with smaller ones the calls cost more than what they do.
ELEMENTS = 1 << 17


@dataclass(frozen=True, eq=False)
class CrossFold:
    """The AUC of every pair of folds, and how the AUC within folds differs from the AUC between them."""

    auc: Floats
    positives: Ints
    negatives: Ints
    standard_error: float | None

    @property
    def merge(self) -> float | None:
        """AUC of all scores in one curve."""
        return self._mean(np.ones_like(self.auc, dtype=bool))

    @property
    def within(self) -> float | None:
        """AUC over pairs of the same fold."""
        return self._mean(np.eye(len(self.auc), dtype=bool))

    @property
    def between(self) -> float | None:
        """AUC over pairs of different folds."""
        return self._mean(~np.eye(len(self.auc), dtype=bool))

    @property
    def effect(self) -> float | None:
        """How much higher the AUC is within folds than between them."""
        within, between = self.within, self.between
        if within is None or between is None or _complete(self.positives, self.negatives) < 2:
            return None
        return within - between

    def _mean(self, chosen: np.ndarray) -> float | None:
        """Average the chosen folds' AUCs, weighted by their pairs."""
        pairs = np.outer(self.positives, self.negatives)
        chosen = chosen & (pairs > 0)
        total = int(pairs[chosen].sum())
        return float((pairs[chosen] * self.auc[chosen]).sum() / total) if total else None


class _Spread:
    """Mean and squared deviations of weighted values per fold, block by block without cancellation."""

    def __init__(self, folds: int) -> None:
        """Start with no values."""
        self.count, self.mean, self.squares = np.zeros(folds), np.zeros(folds), np.zeros(folds)

    def add(self, weights: Floats, values: Floats) -> None:
        """Add a (folds, levels) block of values that occur `weights` times."""
        count = weights.sum(axis=1)
        mean = (weights * values).sum(axis=1) / np.maximum(count, 1)
        values = values - mean[:, None]
        values *= values
        values *= weights
        squares = values.sum(axis=1)
        total = self.count + count
        shift = mean - self.mean
        share = count / np.maximum(total, 1)
        self.squares += squares + shift * shift * self.count * share
        self.mean += shift * share
        self.count = total

    def variance_of_sum(self) -> float | None:
        """Return the variance of the sum of all values, independent within folds; None if no fold shows a spread."""
        free = np.maximum(self.count - 1, 0)
        if not free.any():
            return None
        pooled = self.squares.sum() / free.sum()
        each = np.divide(self.squares, free, out=np.full_like(free, pooled), where=free > 0)
        return float((self.count * each).sum())


def cross_fold(curves: Sequence[Curve]) -> CrossFold:
    """Compare the positives of every fold with the negatives of every fold."""
    folds = len(curves)
    positives = np.array([curve.positives for curve in curves], np.int64)
    negatives = np.array([curve.negatives for curve in curves], np.int64)
    pairs = np.outer(positives, negatives)
    inner = int(np.trace(pairs))
    outer = int(pairs.sum()) - inner
    wanted = inner > 0 and outer > 0 and _complete(positives, negatives) >= 2
    same, other = (1 / inner + 1 / outer, -1 / outer) if wanted else (0.0, 0.0)
    by_positive, by_negative = _Spread(folds), _Spread(folds)
    wins, ties, by_row, by_column = (np.zeros((folds, folds)) for _ in range(4))
    seen_pos, seen_neg = np.zeros((folds, 1)), np.zeros((folds, 1))
    for pos, neg in _joint_levels(curves):
        above = seen_pos + np.cumsum(pos, axis=1) - pos / 2
        below = negatives[:, None] - seen_neg - np.cumsum(neg, axis=1) + neg / 2
        seen_pos = seen_pos + pos.sum(axis=1, keepdims=True)
        seen_neg = seen_neg + neg.sum(axis=1, keepdims=True)
        wins += pos @ below.T
        if wanted:
            ties += pos @ neg.T
            by_row += pos @ (below**2).T
            by_column += above**2 @ neg.T
            by_positive.add(pos, same * below + other * below.sum(axis=0))
            by_negative.add(neg, same * above + other * above.sum(axis=0))
    auc = np.divide(wins, pairs, out=np.full((folds, folds), np.nan), where=pairs > 0)
    first, second = by_positive.variance_of_sum(), by_negative.variance_of_sum()
    if not wanted or first is None or second is None:
        return CrossFold(auc, positives, negatives, None)
    squares = _interaction(wins - ties / 4, by_row, by_column, wins, positives, negatives)
    weights = np.where(np.eye(folds, dtype=bool), 1 / inner, 1 / outer)
    joint = float((weights**2 * pairs * squares).sum())
    # Both projections hold the chance of single pairs, which is there but once. For equal folds that do not differ it
    # is all there is: unsubtracted, the variance would be twice too large. It never is less than that part.
    return CrossFold(auc, positives, negatives, max(first + second - joint, joint) ** 0.5)


def _interaction(
    squared: Floats, by_row: Floats, by_column: Floats, wins: Floats, positives: Ints, negatives: Ints
) -> Floats:
    """Return the variance of a pair's outcome that neither its positive nor its negative explains, by pair of folds."""
    pos, neg = np.maximum(positives, 1)[:, None], np.maximum(negatives, 1)[None, :]
    squares = np.maximum(squared - by_row / neg - by_column / pos + wins**2 / (pos * neg), 0)
    free = (pos - 1) * (neg - 1)
    pooled = squares.sum() / max(int(free.sum()), 1)
    return np.asarray(np.divide(squares, free, out=np.full(squares.shape, pooled), where=free > 0))


def _complete(positives: Ints, negatives: Ints) -> int:
    """Count the folds that have both classes."""
    return int(((positives > 0) & (negatives > 0)).sum())


def _joint_levels(curves: Sequence[Curve]) -> Iterator[tuple[Floats, Floats]]:
    """Yield (folds, levels) matrices of positives and negatives at joint levels, in blocks of descending score."""
    tables = [curve.levels() for curve in curves]
    if not any(len(scores) for scores, _, _ in tables):
        return
    width = max(64, ELEMENTS // max(len(curves), 1))
    step = max(1, width // 32)
    sample = np.sort(np.concatenate([-scores[step // 2 :: step] for scores, _, _ in tables]))
    splitters = np.append(np.unique(sample[width // step :: width // step]), np.inf)
    cuts = np.stack([np.searchsorted(-scores, splitters) for scores, _, _ in tables])
    start = np.zeros(len(tables), np.int64)
    for stop in cuts.T:
        parts = [slice(*bounds) for bounds in zip(start.tolist(), stop.tolist(), strict=True)]
        scores = np.concatenate([table[0][part] for table, part in zip(tables, parts, strict=True)])
        start = stop
        if not len(scores):
            continue
        values, place = np.unique(-scores, return_inverse=True)
        fold = np.repeat(np.arange(len(tables)), [part.stop - part.start for part in parts])
        matrices = []
        for column in (1, 2):
            matrix = np.zeros((len(tables), len(values)))
            cells = [table[column][part] for table, part in zip(tables, parts, strict=True)]
            matrix[fold, place] = np.concatenate(cells)
            matrices.append(matrix)
        yield matrices[0], matrices[1]
