"""The score curve of one set of rows: distinct scores with their positives and negatives, exactly mergeable."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .arrays import AnyArray, AnyInts, Floats, Ints, Keys, as_flags
from .keys import Run, as_scores, pack, turn, unpack
from .measures import MEASURES, RankingMeasures, check_names
from .sweep import level_blocks, sweep_levels, sweep_runs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

# A sweep over more runs than this spends more on cutting them than one sort of them all costs.
MAX_RUNS = 64


class Curve:
    """An immutable score curve, held either as sorted keys of its rows or as its levels."""

    def __init__(self, runs: Sequence[Run] = (), levels: tuple[Floats, Ints, Ints] | None = None) -> None:
        """Hold sorted runs of keys, or levels of descending score; the other constructors make them."""
        self._runs = tuple(run for run in runs if len(run.keys))
        self._levels = levels

    @classmethod
    def from_scores(cls, scores: AnyArray, positive: AnyArray) -> Curve:
        """Make the curve of rows with finite scores."""
        values = as_scores(scores)
        keys = pack(values, as_flags(positive))
        below = values < 0
        if not below.any():
            keys.sort()
            return cls([Run(keys, below=False)])
        parts = [keys[~below], turn(keys[below])]
        for part in parts:
            part.sort()
        return cls([Run(parts[0], below=False), Run(parts[1], below=True)])

    @classmethod
    def from_levels(cls, scores: AnyArray, positives: AnyInts, negatives: AnyInts) -> Curve:
        """Make a curve from distinct scores, ascending or descending, and the rows that have them."""
        values = as_scores(scores) + 0.0
        pos, neg = (np.asarray(counts, np.int64) for counts in (positives, negatives))
        if len(values) > 1 and values[0] < values[-1]:
            values, pos, neg = values[::-1], pos[::-1], neg[::-1]
        used = (pos > 0) | (neg > 0)
        return cls(levels=(values[used], pos[used], neg[used]))

    @classmethod
    def merge(cls, curves: Iterable[Curve]) -> Curve:
        """Return the curve of the rows of all curves together."""
        parts = [curve for curve in curves if curve.rows]
        if len(parts) <= 1:
            return parts[0] if parts else cls()
        if all(part._levels is None for part in parts):
            runs = [run for part in parts for run in part._runs]
            return cls(runs if len(runs) <= MAX_RUNS else join(runs))
        columns = [np.concatenate(column) for column in zip(*(part.levels() for part in parts), strict=True)]
        scores, pos, neg = columns
        order = np.argsort(-scores, kind="stable")
        scores = scores[order]
        starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
        return cls(levels=(scores[starts], np.add.reduceat(pos[order], starts), np.add.reduceat(neg[order], starts)))

    def __add__(self, other: Curve) -> Curve:
        """Return the curve of both sets of rows."""
        return Curve.merge([self, other])

    @cached_property
    def positives(self) -> int:
        """Number of positive rows."""
        if self._levels is not None:
            return int(self._levels[1].sum())
        return sum(run.positives for run in self._runs)

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        if self._levels is not None:
            return int(self._levels[1].sum() + self._levels[2].sum())
        return sum(len(run.keys) for run in self._runs)

    @property
    def negatives(self) -> int:
        """Number of negative rows."""
        return self.rows - self.positives

    @cached_property
    def distinct(self) -> int:
        """Number of distinct scores."""
        if self._levels is not None:
            return len(self._levels[0])
        return sum(len(pos) for _, _, pos, _ in level_blocks(self._runs))

    def levels(self) -> tuple[Floats, Ints, Ints]:
        """Return the distinct scores in descending order with their positives and negatives."""
        if self._levels is not None:
            return self._levels
        blocks = [(unpack(keys, below), pos, neg) for keys, below, pos, neg in level_blocks(self._runs)]
        if not blocks:
            return np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
        scores, pos, neg = (np.concatenate(column) for column in zip(*blocks, strict=True))
        return scores, pos, neg

    def measures(self, which: Collection[str] = MEASURES, *, threads: int = 1) -> RankingMeasures:
        """Return the ranking measures, or just those named in `which`."""
        which = check_names(which)
        if self._levels is not None:
            totals = sweep_levels(*self._levels, which)
        else:
            totals = sweep_runs(self._runs, self.positives, self.negatives, which, threads)
        return totals.measures(self.positives, self.negatives, which)

    def precision_at(self, k: int) -> tuple[float, float, float] | None:
        """Return the precision among the k highest scores, expected, lowest and highest over the orders of ties."""
        if k < 1 or k > self.rows:
            return None
        tp = ranked = 0
        for pos, neg in self._counts():
            size = int(pos.sum() + neg.sum())
            if ranked + size < k:
                tp, ranked = tp + int(pos.sum()), ranked + size
                continue
            reach = ranked + np.cumsum(pos + neg)
            level = int(np.searchsorted(reach, k))
            tp += int(pos[:level].sum())
            tied_pos, tied_neg = int(pos[level]), int(neg[level])
            taken = k - (int(reach[level]) - tied_pos - tied_neg)
            expected = taken * tied_pos / (tied_pos + tied_neg)
            return (tp + expected) / k, (tp + max(0, taken - tied_neg)) / k, (tp + min(taken, tied_pos)) / k
        return None

    def _counts(self) -> Iterable[tuple[Ints, Ints]]:
        """Yield the positives and negatives of levels in blocks of descending score."""
        if self._levels is not None:
            return [self._levels[1:]]
        return ((pos, neg) for _, _, pos, neg in level_blocks(self._runs))


def join(runs: Sequence[Run]) -> list[Run]:
    """Sort many runs into at most one for each sign."""
    joined = []
    for below in (False, True):
        parts: list[Keys] = [run.keys for run in runs if run.below is below]
        if parts:
            keys = np.concatenate(parts)
            keys.sort()
            joined.append(Run(keys, below))
    return joined
