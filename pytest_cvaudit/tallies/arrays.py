"""Array types and block sizes that the tallies share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
AnyInts = NDArray[np.integer[Any]]
AnyArray = NDArray[Any]

# Rows per block: small enough for the temporaries to stay in cache, large enough that threads seldom wait for Python.
BLOCK = 1 << 17


def code_dtype(bins: int) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds the codes below `bins`."""
    return np.min_scalar_type(max(bins - 1, 0))


def as_flags(positive: AnyArray) -> Bytes:
    """Return truth values as bytes 0 and 1 without copying where that is possible."""
    flags = np.asarray(positive)
    if flags.dtype == np.bool_ or flags.dtype == np.int8:
        return flags.view(np.uint8)
    return flags if flags.dtype == np.uint8 else (flags != 0).view(np.uint8)


def stable_order(codes: AnyInts, bins: int) -> Ints:
    """Return the order that sorts codes below `bins`, equal codes keeping their order."""
    if bins <= 1 << 16:
        return np.argsort(codes.astype(code_dtype(bins), copy=False), kind="stable")
    # numpy's stable sort is a radix sort for 16 bits only, so wider codes take one such pass per half.
    low = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    return low[stable_order(codes[low] >> 16, ((bins - 1) >> 16) + 1)]
