"""Finds pairs of vectors, one from each of two sets, whose sums fall into windows."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

#: Narrow windows are searched value by value if they have at most so many values together.
_MOST_TARGETS = 64
_CHUNK = 1 << 20
_KEYS = 1 << 60


class Index:
    """One set of vectors, sorted by the components whose windows are a few whole numbers, then by one other."""

    def __init__(self, vectors: Ints, low: Ints, high: Ints) -> None:
        self.vectors = vectors
        self.least, self.most = vectors.min(axis=0), vectors.max(axis=0)
        spans = self.most - self.least
        self.exact = self._exact(high - low + 1, spans)
        others = [at for at in range(vectors.shape[1]) if at not in self.exact and spans[at] > 0]
        narrow = [(float(high[at] - low[at] + 1) / float(spans[at] + 1), at) for at in others]
        self.primary = min(narrow)[1] if narrow else None
        self.width = int(spans[self.primary]) + 1 if self.primary is not None else 1
        numbers = self._number(spans)
        if len(self.keys) * self.width >= _KEYS:
            self.exact = []
            numbers = self._number(spans)
        places = numbers * self.width
        if self.primary is not None:
            places += vectors[:, self.primary] - self.least[self.primary]
        self.order = np.argsort(places, kind="stable")
        self.places = places[self.order]

    def _number(self, spans: Ints) -> Ints:
        """Number the vectors by their exactly matched components."""
        self.radix = np.ones(len(self.exact), np.int64)
        for at in range(1, len(self.exact)):
            self.radix[at] = self.radix[at - 1] * (int(spans[self.exact[at - 1]]) + 1)
        keys = (self.vectors[:, self.exact] - self.least[self.exact]) @ self.radix
        self.keys, numbers = np.unique(keys, return_inverse=True)
        return numbers.astype(np.int64)

    def _exact(self, widths: Ints, spans: Ints) -> list[int]:
        chosen: list[int] = []
        targets, keys = 1, 1
        for at in sorted(range(len(widths)), key=lambda at: int(widths[at])):
            if spans[at] == 0:
                continue
            targets, keys = targets * max(1, int(widths[at])), keys * (int(spans[at]) + 1)
            if targets > _MOST_TARGETS or keys > _KEYS or spans[at] > 1 << 24:
                break
            chosen.append(at)
        return chosen

    def pairs(self, others: Ints, low: Ints, high: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield index pairs (into others, into this set) whose sums fall into the windows, in chunks."""
        ranges = (range(int(low[at]), int(high[at]) + 1) for at in self.exact)
        for target in product(*ranges):
            mine, number = self._matching(others, np.array(target, np.int64))
            if not len(mine):
                continue
            start, end = self._places(others[mine], number, low, high)
            yield from self._expand(others, mine, start, end, low, high)

    def _matching(self, others: Ints, target: Ints) -> tuple[Ints, Ints]:
        if not self.exact:
            return np.arange(len(others)), np.zeros(len(others), np.int64)
        needed = target - others[:, self.exact] - self.least[self.exact]
        inside = ((needed >= 0) & (needed <= (self.most - self.least)[self.exact])).all(axis=1)
        mine = np.flatnonzero(inside)
        keys = needed[mine] @ self.radix
        number = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found = self.keys[number] == keys
        return mine[found], number[found].astype(np.int64)

    def _places(self, others: Ints, number: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        first, last = number * self.width, number * self.width + self.width - 1
        if self.primary is not None:
            offset = others[:, self.primary] + self.least[self.primary]
            last = first + np.clip(high[self.primary] - offset, -1, self.width - 1)
            first = first + np.clip(low[self.primary] - offset, 0, self.width)
        return np.searchsorted(self.places, first, "left"), np.searchsorted(self.places, last, "right")

    def _expand(
        self, others: Ints, mine: Ints, start: Ints, end: Ints, low: Ints, high: Ints
    ) -> Iterator[tuple[Ints, Ints]]:
        lengths = np.maximum(0, end - start)
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        for begin in range(0, total, _CHUNK):
            at = np.arange(begin, min(total, begin + _CHUNK))
            which = np.searchsorted(ends, at, "right")
            theirs = self.order[start[which] + at - (ends[which] - lengths[which])]
            sums = others[mine[which]] + self.vectors[theirs]
            good = ((sums >= low) & (sums <= high)).all(axis=1)
            yield mine[which[good]], theirs[good]


def some(pairs: Iterator[tuple[Ints, Ints]], chunks: int) -> Iterator[tuple[Ints, Ints]]:
    """Look at the first chunks only."""
    return islice(pairs, chunks)
