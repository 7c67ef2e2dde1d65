"""Scores and truth packed into sortable 64-bit keys, losing nothing.

A key holds the magnitude bits of a float64 score and, in its lowest bit, whether the row is negative. Scores of either
sign have their own keys, so that all 63 magnitude bits fit: ascending keys are descending scores, positives first among
equal scores. Magnitude bits drop the sign, so -0.0 and 0.0 are one score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .arrays import BLOCK, AnyArray, Bytes, Floats, Keys

ONE = np.uint64(1)
LEVEL = ~ONE
SIGN = np.uint64(1 << 63)


def pack(scores: Floats, positive: Bytes) -> Keys:
    """Return keys of the scores as if none were below zero."""
    keys = scores.view(np.uint64) << ONE
    keys |= positive
    np.invert(keys, out=keys)
    return keys


def turn(keys: Keys) -> Keys:
    """Return keys made by `pack` from scores below zero in the form that sorts such scores."""
    return keys ^ LEVEL


def unpack(keys: Keys, below: bool, room: Keys | None = None) -> Floats:
    """Return the scores of keys, in the memory of `room` if it is given."""
    if below:
        bits = np.right_shift(keys, ONE, out=room)
        bits |= SIGN
    else:
        bits = np.invert(keys, out=room)
        bits >>= ONE
    return bits.view(np.float64)


def as_scores(scores: AnyArray) -> Floats:
    """Return scores as contiguous float64 values."""
    return np.ascontiguousarray(scores, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Run:
    """Sorted keys of scores of one sign; the sums are kept since every merged curve shares its runs."""

    keys: Keys
    below: bool

    @cached_property
    def positives(self) -> int:
        """Number of positive rows."""
        return len(self.keys) - count_negatives(self.keys)

    @cached_property
    def squares(self) -> float:
        """Sum of (score - truth) squared."""
        total = 0.0
        size = min(BLOCK, len(self.keys))
        room, truth = np.empty(size, np.uint64), np.empty(size)
        for start in range(0, len(self.keys), BLOCK):
            keys = self.keys[start : start + BLOCK]
            off = unpack(keys, self.below, room[: len(keys)])
            off -= np.equal(keys.astype(np.uint8) & 1, 0, out=truth[: len(keys)])
            # Not a dot product: BLAS would start threads of its own for it, which costs more than it saves.
            off *= off
            total += float(off.sum())
        return total

    @cached_property
    def logs(self) -> float:
        """Sum of the negative log likelihood, clipped as scikit-learn does for float64."""
        total = 0.0
        for start in range(0, len(self.keys), BLOCK):
            keys = self.keys[start : start + BLOCK]
            total -= float(np.log(likelihood(unpack(keys, self.below), (keys & ONE) == 0)).sum())
        return total


def likelihood(scores: Floats, positive: AnyArray | bool) -> Floats:
    """Return the clipped probability that the scores give to the truth."""
    eps = np.finfo(np.float64).eps
    clipped = np.clip(scores, eps, 1 - eps)
    return np.where(positive, clipped, 1 - clipped)


def count_negatives(keys: Keys) -> int:
    """Count the negative rows among keys."""
    starts = range(0, len(keys), BLOCK)
    return int(sum(np.count_nonzero(keys[start : start + BLOCK].astype(np.uint8) & 1) for start in starts))
