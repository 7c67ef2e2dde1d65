"""Finds pairs of vectors, one from each of two sets, whose sums fall into windows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: A sum is looked up in at most so many bins, each a combination of one bin per component.
_MOST_BINS = 32
#: Windows of at most so many whole numbers are looked up value by value.
_FEW_VALUES = 4
_CHUNK = 1 << 20
#: Bits of a sorted number, and how many of them are kept free for the component that is searched as a range.
_BITS, _RANGE_BITS = 62, 16
_SAMPLE = 1000


@dataclass(frozen=True)
class _Key:
    """A component that is looked up by bins: their width, how many there are, and how many a window can touch."""

    at: int
    width: int
    bins: int
    touched: int


class Index:
    """One set of vectors, sorted by the bins of their most selective components, then by one other component."""

    def __init__(self, vectors: Ints, low: Ints, high: Ints) -> None:
        self.vectors = vectors
        self.least = vectors.min(axis=0)
        spans = vectors.max(axis=0) - self.least + 1
        self.place_bits = len(vectors).bit_length()
        self.keys, self.primary = _plan(vectors, high - low + 1, spans, _BITS - self.place_bits)
        bins = 1
        keys = np.zeros(len(vectors), np.int64)
        for key in self.keys:
            keys += (vectors[:, key.at] - self.least[key.at]) // key.width * bins
            bins *= key.bins
        self.shift = self.primary_bits = 0
        if self.primary is not None:
            needed = int(spans[self.primary]).bit_length()
            self.primary_bits = min(needed, _BITS - self.place_bits - bins.bit_length())
            self.shift = needed - self.primary_bits
            keys = (keys << self.primary_bits) + ((vectors[:, self.primary] - self.least[self.primary]) >> self.shift)
        # The number of each vector rides in the lowest bits, so that a plain sort is enough.
        packed = np.sort((keys << self.place_bits) | np.arange(len(vectors)))
        self.places, self.order = packed >> self.place_bits, packed & ((1 << self.place_bits) - 1)

    def pairs(self, others: Ints, low: Ints, high: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield index pairs (into others, into this set) whose sums fall into the windows, in chunks."""
        for offsets in product(*(range(key.touched) for key in self.keys)):
            mine, keys = self._bins(others, low, high, offsets)
            if len(mine):
                yield from self._expand(others, *self._found(others, mine, keys, low, high), low, high)

    def _bins(self, others: Ints, low: Ints, high: Ints, offsets: tuple[int, ...]) -> tuple[Ints, Ints]:
        """The others that need a bin at these offsets from the first that their windows touch, and that bin."""
        mine, keys, bins = np.arange(len(others)), np.zeros(len(others), np.int64), 1
        for key, offset in zip(self.keys, offsets, strict=True):
            part = others[mine, key.at] + self.least[key.at]
            number = (low[key.at] - part) // key.width + offset
            inside = (number >= 0) & (number < key.bins) & (number * key.width <= high[key.at] - part)
            mine, keys = mine[inside], keys[inside] + number[inside] * bins
            bins *= key.bins
        return mine, keys

    def _found(self, others: Ints, mine: Ints, keys: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints]:
        """The others that have partners, with the places where these start and end."""
        first = last = keys
        if self.primary is not None:
            part, most = others[mine, self.primary] + self.least[self.primary], (1 << self.primary_bits) - 1
            base = keys << self.primary_bits
            first = base + np.clip((low[self.primary] - part) >> self.shift, 0, most + 1)
            last = base + np.clip((high[self.primary] - part) >> self.shift, -1, most)
        # Looking up in order is several times as fast as at random.
        order = np.argsort(first)
        mine, first, last = mine[order], first[order], last[order]
        start = np.searchsorted(self.places, first, "left")
        some = self.places[np.minimum(start, len(self.places) - 1)] <= last
        some &= (start < len(self.places)) & (first <= last)
        mine, start, last = mine[some], start[some], last[some]
        return mine, start, np.searchsorted(self.places, last, "right")

    def _expand(
        self, others: Ints, mine: Ints, start: Ints, end: Ints, low: Ints, high: Ints
    ) -> Iterator[tuple[Ints, Ints]]:
        lengths = end - start
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        for begin in range(0, total, _CHUNK):
            at = np.arange(begin, min(total, begin + _CHUNK))
            which = np.searchsorted(ends, at, "right")
            theirs = self.order[start[which] + at - (ends[which] - lengths[which])]
            sums = others[mine[which]] + self.vectors[theirs]
            good = ((sums >= low) & (sums <= high)).all(axis=1)
            yield mine[which[good]], theirs[good]


def _plan(vectors: Ints, widths: Ints, spans: Ints, room: int) -> tuple[list[_Key], int | None]:
    """Choose the components to look up: the most selective wide one as a range, others by bins until few are left."""
    useful = [at for at in range(len(widths)) if spans[at] > 1 and 0 < widths[at] < spans[at]]
    few = vectors[:: max(1, len(vectors) // _SAMPLE)].astype(np.float64)
    few -= few.mean(axis=0)
    keys: list[_Key] = []
    primary: int | None = None
    looked_up, bits, left = 1, _RANGE_BITS, float(len(vectors))
    while useful and left >= 1.0:
        # Rows can say almost the same; what counts is how far a component varies where the chosen ones are fixed.
        spread = {at: max(1.0, 4.0 * float(few[:, at].std())) for at in useful}
        at = min(useful, key=lambda at: widths[at] / spread[at])
        useful.remove(at)
        if widths[at] >= spread[at]:
            break
        if primary is None and widths[at] > 1:
            primary = at
        else:
            key = _key(at, int(widths[at]), int(spans[at]))
            if looked_up * key.touched > _MOST_BINS or bits + key.bins.bit_length() > room:
                continue
            keys.append(key)
            looked_up, bits = looked_up * key.touched, bits + key.bins.bit_length()
        left *= float(widths[at]) / spread[at]
        _remove(few, at)
    return keys, primary


def _remove(few: Floats, at: int) -> None:
    """Take one component's share out of the others, in place."""
    one = few[:, at].copy()
    length = float(one @ one)
    if length > 0:
        few -= np.outer(one, (one @ few) / length)


def _key(at: int, width: int, span: int) -> _Key:
    if width <= _FEW_VALUES:
        return _Key(at, 1, span, width)
    return _Key(at, width, -(-span // width), 2)


def some(pairs: Iterator[tuple[Ints, Ints]], chunks: int) -> Iterator[tuple[Ints, Ints]]:
    """Look at the first chunks only."""
    return islice(pairs, chunks)
