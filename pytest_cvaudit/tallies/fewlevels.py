"""Rows with few distinct scores counted by (cell, score, truth), without sorting any."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .keys import as_scores
from .threads import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .arrays import AnyArray, AnyInts, Bytes, Floats, Ints

SAMPLE = 1 << 13
MAX_LEVELS = 1 << 12
MAX_BINS = 1 << 18
_BLOCK = 1 << 16
_SLOTS = 16
# Fibonacci hashing: the high bits of a product with this odd number are well mixed.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(64 - _SLOTS)


def count_levels(
    cell: AnyInts, scores: AnyArray, positive: Bytes, cells: int, threads: int = 1
) -> tuple[Floats, Ints] | None:
    """Return the distinct scores and their (cell, score, truth) counts, or None if there seem to be many scores."""
    if len(scores) < 2 * SAMPLE:
        return None
    seen = np.unique(as_scores(scores[:: len(scores) // SAMPLE]) + 0.0)
    if len(seen) > min(SAMPLE // 4, MAX_LEVELS) or cells * len(seen) * 2 > MAX_BINS:
        return None
    steps = _lattice(seen)
    if steps is not None:
        found = _count_lattice(cell, scores, positive, cells, steps, _extent(seen, steps), threads)
        if found is not None:
            return found
    return _count_hashed(cell, scores, positive, cells, seen)


def _lattice(seen: Floats) -> float | None:
    """Find a number of steps per unit such that all scores seen are whole steps."""
    gap = float(np.diff(seen).min()) if len(seen) > 1 else 1.0
    for steps in (np.rint(1 / gap) if gap > 1e-6 else 0.0, 10.0, 100.0, 1000.0):
        if steps and np.array_equal(np.rint(seen * steps) / steps, seen):
            return float(steps)
    return None


def _extent(seen: Floats, steps: float) -> tuple[int, int]:
    """Return the steps within which to expect all scores: those from 0 to 1 where the scores seen are in there."""
    low, high = (round(float(end) * steps) for end in (seen[0], seen[-1]))
    unit = round(steps)
    return (0, unit) if low >= 0 and high <= unit < MAX_LEVELS else (low, high)


def _count_lattice(
    cell: AnyInts, scores: AnyArray, positive: Bytes, cells: int, steps: float, extent: tuple[int, int], threads: int
) -> tuple[Floats, Ints] | None:
    """Count scores that are whole steps within the extent, or return None at the first that is not."""
    low, high = extent
    levels = high - low + 1
    fit = max(abs(low), abs(high)) <= np.iinfo(np.int32).max
    if not fit or levels > MAX_LEVELS or cells * levels * 2 > MAX_BINS:
        return None
    work = partial(_count_part, cell, scores, positive, (cells, levels), steps, low)
    size = -(-len(scores) // threads)
    parts = spread(work, [slice(start, start + size) for start in range(0, len(scores), size)], threads)
    counts = [part for part in parts if part is not None]
    if len(counts) < len(parts):
        return None
    return np.arange(low, high + 1) / steps, np.sum(counts, axis=0).reshape(cells, levels, 2)


def _count_part(
    cell: AnyInts, scores: AnyArray, positive: Bytes, shape: tuple[int, int], steps: float, low: int, rows: slice
) -> Ints | None:
    """Count the rows of a part by (cell, step, truth)."""
    cells, levels = shape
    total = np.zeros(cells * levels * 2, np.int64)
    for start in range(rows.start, min(rows.stop, len(scores)), _BLOCK):
        part = slice(start, min(start + _BLOCK, rows.stop))
        block = np.asarray(scores[part], np.float64)
        near = block * steps
        np.rint(near, out=near)
        with np.errstate(invalid="ignore"):
            level = near.astype(np.int32)
        # Back from the integers, so that a score too large for them differs as well.
        np.copyto(near, level)
        near /= steps
        level -= np.int32(low)
        if not np.array_equal(near, block) or level.view(np.uint32).max() >= levels:
            return None
        total += _joint(cell[part], level, positive[part], shape)
    return total


def _joint(cell: AnyInts, level: NDArray[np.int32], positive: Bytes, shape: tuple[int, int]) -> Ints:
    """Count (cell, level, truth) in one block."""
    cells, levels = shape
    code = cell.astype(np.int32)
    code *= np.int32(levels)
    code += level
    code += code
    # Adding bytes to wider numbers directly is several times slower than widening them first.
    code += positive.astype(np.int32)
    return np.bincount(code, minlength=cells * levels * 2)


def _count_hashed(
    cell: AnyInts, scores: AnyArray, positive: Bytes, cells: int, seen: Floats
) -> tuple[Floats, Ints] | None:
    """Count arbitrary scores by a hash of their bits, learning new scores on the way."""
    levels = min(MAX_LEVELS, MAX_BINS // (2 * cells))
    known = seen.view(np.uint64)
    table = _table(known)
    total = np.zeros(cells * levels * 2, np.int64)
    for start in range(0, len(scores), _BLOCK):
        part = slice(start, start + _BLOCK)
        bits = (np.asarray(scores[part], np.float64) + 0.0).view(np.uint64)
        level = table.take(((bits * _FACTOR) >> _SHIFT).view(np.int64))
        missed = np.flatnonzero(known.take(level) != bits)
        if missed.size:
            fresh = np.setdiff1d(bits[missed], known)
            if fresh.size:
                known = np.concatenate([known, fresh])
                if len(known) > levels:
                    return None
                table = _table(known)
            order = np.argsort(known)
            level[missed] = order[np.searchsorted(known, bits[missed], sorter=order)]
        total += _joint(cell[part], level, positive[part], (cells, levels))
    values = known.view(np.float64)
    order = np.argsort(values)
    return values[order], total.reshape(cells, levels, 2)[:, : len(known)][:, order]


def _table(known: np.ndarray) -> np.ndarray:
    """Return the index of a known score for every hash; of scores that share a hash one is looked up slowly."""
    table = np.zeros(1 << _SLOTS, np.int32)
    table[(known * _FACTOR) >> _SHIFT] = np.arange(len(known), dtype=np.int32)
    return table
