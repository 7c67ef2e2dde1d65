"""Confusion counts per cell and label, mergeable by addition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import AnyInts, Bytes, Flags, Ints, code_dtype, stable_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.unsignedinteger[Any]]

# Rows per bincount call, a multiple of 2 and of 3: large enough to amortise clearing and adding up to 2**16 bins.
COUNT_BLOCK = 3 << 19
# Up to so many (cell, truth, prediction) codes one joint histogram is quicker than three marginal ones.
JOINT_BINS = 1 << 17


@dataclass(frozen=True, eq=False)
class Counts:
    """Confusion counts of every (cell, label), with the rows and the fully correct rows of every cell."""

    tp: Ints
    fp: Ints
    fn: Ints
    tn: Ints
    n: Ints
    correct: Ints | None = None

    @property
    def positives(self) -> Ints:
        """Rows that truly carry the label."""
        return self.tp + self.fn

    @property
    def predicted(self) -> Ints:
        """Predictions of the label."""
        return self.tp + self.fp

    def __add__(self, other: Counts) -> Counts:
        """Add the counts of other rows over the same cells and labels."""
        if self.tp.shape != other.tp.shape:
            raise ValueError(f"counts of shapes {self.tp.shape} and {other.tp.shape} cannot be added")
        correct = None if self.correct is None or other.correct is None else self.correct + other.correct
        return Counts(
            tp=self.tp + other.tp,
            fp=self.fp + other.fp,
            fn=self.fn + other.fn,
            tn=self.tn + other.tn,
            n=self.n + other.n,
            correct=correct,
        )


def count_labels(cell: AnyInts, truth: AnyInts, predicted: AnyInts, cells: int, labels: int) -> Counts:
    """Count single-label predictions given as codes, where a predicted code of -1 is no label of the set."""
    outside = bool(predicted.size) and predicted.dtype.kind == "i" and int(predicted.min()) < 0
    choices = labels + outside
    if cells * labels * choices <= JOINT_BINS:
        joint = _histogram((cell, truth, predicted), (cells, labels, choices), outside)
        joint = joint.reshape(cells, labels, choices)
        actual = joint.sum(axis=2)
        inner = joint[:, :, int(outside) :]
        tp, claimed = np.diagonal(inner, axis1=1, axis2=2).copy(), inner.sum(axis=1)
    else:
        shape = (cells, labels)
        inside = (cell, predicted)
        if outside:
            keep = np.flatnonzero(predicted >= 0)
            inside = (cell[keep], predicted[keep])
        # Places, not flags: a mask of random flags mispredicts a branch for every other row.
        agree = np.flatnonzero(truth == predicted)
        tp = _histogram((cell[agree], truth[agree]), shape)
        claimed = _histogram(inside, shape)
        actual = _histogram((cell, truth), shape)
    tp, claimed, actual = (part.reshape(cells, labels) for part in (tp, claimed, actual))
    n = actual.sum(axis=1)
    return Counts(
        tp=tp,
        fp=claimed - tp,
        fn=actual - tp,
        tn=n[:, None] - claimed - actual + tp,
        n=n,
        correct=tp.sum(axis=1),
    )


def count_label_sets(cell: AnyInts, gold: Bytes, predicted: Bytes, cells: int) -> Counts:
    """Count multi-label predictions given as (rows, labels) multiplicities, a doubled prediction being one more fp."""
    rows, labels = gold.shape
    tp, fp, fn, either = (np.zeros((cells, labels), np.int64) for _ in range(4))
    n, correct = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    step = max(1, (1 << 20) // max(labels, 1))
    for start in range(0, rows, step):
        block = cell[start : start + step]
        order = stable_order(block, cells)
        which = block[order]
        listed, claimed = gold[start : start + step][order], predicted[start : start + step][order]
        real, said = listed > 0, claimed > 0
        hit = real & said
        exact = (listed == claimed).all(axis=1) & (listed <= 1).all(axis=1)
        tp += _cell_sums(which, hit, cells)
        fp += _cell_sums(which, said & ~real, cells)
        fn += _cell_sums(which, real & ~said, cells)
        either += _cell_sums(which, real | said, cells)
        n += np.bincount(which, minlength=cells)
        correct += np.bincount(which[exact], minlength=cells)
        doubled = np.flatnonzero((claimed > 1).any(axis=1))
        if doubled.size:
            extra = claimed[doubled].astype(np.int64) - said[doubled]
            np.add.at(fp, which[doubled], extra)
    return Counts(tp=tp, fp=fp, fn=fn, tn=n[:, None] - either, n=n, correct=correct)


def _cell_sums(cell: AnyInts, flags: Flags, cells: int) -> Ints:
    """Sum flag rows by cell, the cells being in ascending order."""
    total = np.zeros((cells, flags.shape[1]), np.int64)
    if not flags.size:
        return total
    # Segments of at most 255 rows cannot overflow a byte, and byte sums are several times quicker.
    change = np.flatnonzero(cell[1:] != cell[:-1]) + 1
    starts = np.union1d(change, np.arange(0, len(cell), 255))
    np.add.at(total, cell[starts], np.add.reduceat(flags.view(np.uint8), starts, axis=0, dtype=np.uint8))
    return total


def _histogram(codes: tuple[AnyInts, ...], sizes: tuple[int, ...], shift_last: bool = False) -> Ints:
    """Count every combination of the codes, `shift_last` moving the last code up by one so that -1 fits."""
    bins = int(np.prod(sizes))
    rows = len(codes[0])
    digits = _digits(bins, rows)
    # Written again for every block: fresh memory would cost as much as the arithmetic.
    buffer = np.empty(min(rows, COUNT_BLOCK), code_dtype(bins))
    packed, wide = np.empty((2, len(buffer) // digits if digits > 1 else 0), np.uint16)
    total, tuples = np.zeros(bins, np.int64), np.zeros(bins**digits, np.int64)
    for start in range(0, rows, COUNT_BLOCK):
        joint = buffer[: rows - start]
        _join([part[start : start + COUNT_BLOCK] for part in codes], sizes, shift_last, joint)
        whole = len(joint) // digits if digits > 1 else 0
        if whole:
            _pack(joint[: whole * digits].reshape(digits, whole), bins, packed[:whole], wide[:whole])
            tuples += np.bincount(packed[:whole], minlength=len(tuples))
        total += np.bincount(joint[whole * digits :], minlength=bins)
    each = tuples.reshape((bins,) * digits)
    for digit in range(digits):
        total += each.sum(axis=tuple(axis for axis in range(digits) if axis != digit))
    return total


def _digits(bins: int, rows: int) -> int:
    """Return how many rows to count as the digits of one number: bincount costs per element, not per byte."""
    digits = 3 if bins <= 40 else 2 if bins <= 256 else 1
    return digits if rows >= digits * bins**digits else 1


def _join(parts: list[AnyInts], sizes: tuple[int, ...], shift_last: bool, joint: Codes) -> None:
    """Write one code for every combination of codes."""
    dtype, bins = joint.dtype, int(np.prod(sizes))
    np.copyto(joint, parts[0], casting="unsafe")
    for part, size in zip(parts[1:], sizes[1:], strict=True):
        # Where this code alone has all the bins there is nothing to shift, and its size may not fit the type.
        joint *= dtype.type(size if size < bins else 1)
        joint += part.view(dtype) if part.dtype.itemsize == dtype.itemsize else part.astype(dtype)
    if shift_last:
        joint += dtype.type(1)


def _pack(rows: Codes, bins: int, packed: Codes, wide: Codes) -> None:
    """Write numbers to the base of `bins`, the rows being their digits."""
    packed[:] = rows[0]
    for row in rows[1:]:
        packed *= np.uint16(bins)
        # Adding bytes to wider numbers directly is several times slower than widening them first.
        wide[:] = row
        packed += wide
