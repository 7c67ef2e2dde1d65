"""Rows of many cells sorted at once into keys, the rows of a cell next to each other.

Where the scores leave enough of the 64 bits, the cell goes into the high bits and one sort does every cell. Otherwise
the rows are first brought together by cell, then sorted cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from .arrays import BLOCK, AnyArray, AnyInts, Bytes, Floats, Ints, Keys, code_dtype, stable_order
from .keys import ONE, Run, pack, turn
from .threads import spread

_ALL = ~np.uint64(0)
_ZERO_SCORE = _ALL - ONE


@dataclass(frozen=True, eq=False)
class SortedRows:
    """Sorted keys by group: a group is a cell, or with signed scores a cell's scores from zero up or below zero."""

    keys: Keys
    bounds: Ints
    signed: bool

    def runs(self) -> list[list[Run]]:
        """Return the runs of every cell."""
        groups = [self.keys[start:stop] for start, stop in pairwise(self.bounds.tolist())]
        if not self.signed:
            return [[Run(keys, below=False)] for keys in groups]
        pairs = zip(groups[::2], groups[1::2], strict=True)
        return [[Run(above, below=False), Run(below, below=True)] for above, below in pairs]


@dataclass(frozen=True)
class _Layout:
    """How a score, the truth and the group share 64 bits: magnitude bits less `offset`, `shift` bits shorter."""

    width: int
    offset: np.uint64
    shift: np.uint64
    zeros: bool
    signed: bool

    @property
    def mask(self) -> np.uint64:
        """Bits of score and truth."""
        return np.uint64((1 << self.width) - 1)

    def pack(self, cell: AnyInts, scores: Floats, positive: Bytes, keys: Keys, room: Keys) -> None:
        """Fill `keys` with keys that sort by group first, using `room` for what is in between."""
        np.left_shift(scores.view(np.uint64), ONE, out=keys)
        if self.shift:
            keys >>= self.shift
        keys -= self.offset
        if self.zeros:
            keys[scores == 0] = 0
        keys |= positive
        room[:] = cell
        if self.signed:
            below = scores < 0
            keys ^= np.where(below, ONE, self.mask)
            room <<= ONE
            room |= below
        else:
            keys ^= self.mask
        room <<= np.uint64(self.width)
        keys |= room

    def unpack(self, keys: Keys, below: bool) -> None:
        """Turn the sorted keys of a group into plain keys in place."""
        for start in range(0, len(keys), BLOCK):
            part = keys[start : start + BLOCK]
            if below:
                part &= self.mask
                part += self.offset
            else:
                part |= ~self.mask
                part[: np.searchsorted(part, _ZERO_SCORE)] -= self.offset
            if self.shift:
                self._widen(part, below)

    def _widen(self, keys: Keys, below: bool) -> None:
        """Put back the zero bits that all scores end with."""
        if not below:
            np.invert(keys, out=keys)
        lowest = keys & ONE
        keys ^= lowest
        keys <<= self.shift
        keys |= lowest
        if not below:
            np.invert(keys, out=keys)


def sort_rows(cell: AnyInts, scores: AnyArray, positive: Bytes, cells: int, threads: int = 1) -> SortedRows:
    """Sort rows by cell and score."""
    lowest = float(scores.min()) if len(scores) else 0.0
    signed = lowest < 0
    groups = cells * (1 + signed)
    grouped = not signed and bool((cell[1:] >= cell[:-1]).all())
    layout = None if grouped else _layout(scores, lowest, groups)
    if layout is None:
        rows = (cell, scores, positive, cells)
        keys, bounds = _keep(*rows) if grouped else _gather(*rows, signed)
        spans = [keys[start:stop] for start, stop in pairwise(bounds.tolist())]
        spread(np.ndarray.sort, spans, threads)
        return SortedRows(keys, bounds, signed)
    keys = np.empty(len(scores), np.uint64)
    bounds = np.empty(groups + 1, np.int64)
    cut = cells // 2 if threads > 1 else cells
    first = int(np.count_nonzero(cell < cut)) if cut < cells else len(keys)
    halves = [(0, cut, 0, first), (cut, cells, first, len(keys))]
    work = partial(_sort_span, layout, cell, scores, positive, keys, bounds)
    spread(lambda half: work(*half), halves if cut < cells else halves[:1], threads)
    bounds[-1] = len(keys)
    return SortedRows(keys, bounds, signed)


def _sort_span(
    layout: _Layout,
    cell: AnyInts,
    scores: AnyArray,
    positive: Bytes,
    keys: Keys,
    bounds: Ints,
    low: int,
    high: int,
    start: int,
    stop: int,
) -> None:
    """Fill keys[start:stop] with the sorted rows of cells low to high."""
    place, everything = start, stop - start == len(keys)
    room, packed = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    for row in range(0, len(scores), BLOCK):
        part = slice(row, min(row + BLOCK, len(scores)))
        size = part.stop - part.start
        target = keys[part] if everything else packed[:size]
        layout.pack(cell[part], np.asarray(scores[part], np.float64), positive[part], target, room[:size])
        if not everything:
            # take is several times quicker than a mask, which mispredicts a branch for every other row.
            chosen = target.take(np.flatnonzero((cell[part] >= low) & (cell[part] < high)))
            keys[place : place + len(chosen)] = chosen
            place += len(chosen)
    span = keys[start:stop]
    span.sort()
    per_cell = 1 + layout.signed
    groups = np.arange(low * per_cell, high * per_cell, dtype=np.uint64)
    starts = start + np.searchsorted(span, groups << np.uint64(layout.width))
    bounds[low * per_cell : high * per_cell] = starts
    for group, (left, right) in enumerate(pairwise([*starts.tolist(), stop])):
        layout.unpack(keys[left:right], below=layout.signed and group % 2 == 1)


def _layout(scores: AnyArray, lowest: float, groups: int) -> _Layout | None:
    """Find a layout that fits scores and groups into 64 bits, if there is one."""
    room = 64 - max(groups - 1, 1).bit_length()
    zeros, high = False, abs(lowest)
    low = lowest
    for start in range(0, len(scores), BLOCK):
        block = scores[start : start + BLOCK]
        high = max(high, float(block.max()))
        if lowest <= 0:
            size = np.abs(block)
            zero = size == 0
            zeros = zeros or bool(zero.any())
            smallest = float(size.min(where=~zero, initial=np.inf))
            low = smallest if low <= 0 else min(low, smallest)
    if not 0 < low <= high:
        return None
    low_bits, high_bits = (int(np.float64(value).view(np.uint64)) for value in (low, high))
    for shift in (0, _trailing_zeros(scores)):
        base = ((low_bits << 1) >> shift) - 2
        width = (((high_bits << 1) >> shift) - base + 1).bit_length()
        if width <= room:
            return _Layout(width, np.uint64(base), np.uint64(shift), zeros, lowest < 0)
    return None


def _trailing_zeros(scores: AnyArray) -> int:
    """Return how many low bits are zero in all scores: 29 or more if they were made as float32."""
    bits = np.uint64(0)
    for start in range(0, len(scores), BLOCK):
        block = np.asarray(scores[start : start + BLOCK], np.float64).view(np.uint64)
        bits |= np.bitwise_or.reduce(block)
        if bits & ONE:
            return 0
    return (int(bits) & -int(bits)).bit_length() - 1 if bits else 0


def _keep(cell: AnyInts, scores: AnyArray, positive: Bytes, cells: int) -> tuple[Keys, Ints]:
    """Return plain keys of rows that already are in the order of their cells."""
    keys = np.empty(len(scores), np.uint64)
    for start in range(0, len(scores), BLOCK):
        part = slice(start, start + BLOCK)
        keys[part] = pack(np.asarray(scores[part], np.float64), positive[part])
    starts = np.searchsorted(cell, np.arange(cells, dtype=cell.dtype))
    return keys, np.append(starts, len(keys))


def _gather(cell: AnyInts, scores: AnyArray, positive: Bytes, cells: int, signed: bool) -> tuple[Keys, Ints]:
    """Bring plain keys together by group, unsorted within it."""
    groups = cells * (1 + signed)
    dtype = code_dtype(groups)
    keys = np.empty(len(scores), np.uint64)
    sizes = np.zeros(groups, np.int64)
    step = max(BLOCK, 4 * groups)
    codes = partial(_groups, cell, scores, dtype, signed)
    for start in range(0, len(scores), step):
        sizes += np.bincount(codes(slice(start, start + step)), minlength=groups)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    places = bounds[:-1].copy()
    for start in range(0, len(scores), step):
        part = slice(start, start + step)
        group = codes(part)
        values = np.asarray(scores[part], np.float64)
        packed = pack(values, positive[part])
        if signed:
            packed = np.where(values < 0, turn(packed), packed)
        count = np.bincount(group, minlength=groups)
        order = stable_order(group, groups)
        target = (places - np.cumsum(count) + count).take(group[order])
        target += np.arange(len(target))
        keys[target] = packed.take(order)
        places += count
    return keys, bounds


def _groups(cell: AnyInts, scores: AnyArray, dtype: np.dtype[Any], signed: bool, part: slice) -> AnyInts:
    """Return the group of every row of a part."""
    group = cell[part].astype(dtype)
    return group * dtype.type(2) + (scores[part] < 0) if signed else group
