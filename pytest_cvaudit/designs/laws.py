"""The binomial law without its negligible tails, accurate to rounding for any size."""

from __future__ import annotations

from math import ceil, floor, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Minus the logarithm of the chance (1e-20) that is left out on either side.
_TAIL = 46.0


def reach(n: int, p: float) -> float:
    """How far from its mean a binomial is, but for a negligible chance (Bernstein's inequality)."""
    return _TAIL / 3 + sqrt((_TAIL / 3) ** 2 + 2 * _TAIL * n * p * (1 - p))


def window(n: int, p: float) -> tuple[int, int]:
    """The least and the largest outcome that matter."""
    if p <= 0 or p >= 1:
        return (0, 0) if p <= 0 else (n, n)
    far = reach(n, p)
    return max(0, floor(n * p - far)), min(n, ceil(n * p + far))


def binomial(n: int, p: float) -> tuple[Ints, Floats]:
    """Outcomes and their chances, by the ratio of neighbours from the mode outwards: no factorials, no cancellation."""
    low, high = window(n, p)
    values = np.arange(low, high + 1)
    if low == high:
        return values, np.ones(1)
    mode = min(max(int((n + 1) * p), low), high)
    odds = p / (1 - p)
    up = values[values < high]
    up = up[mode - low :]
    down = values[1 : mode - low + 1][::-1]
    chance = np.concatenate(
        [np.cumprod(down / (n - down + 1) / odds)[::-1], [1.0], np.cumprod((n - up) / (up + 1) * odds)]
    )
    return values, chance / chance.sum()
