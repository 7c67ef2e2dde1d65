"""Weights that make random cells add up to the windows on average and leave the rest to chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.pieces import Target

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_SAMPLE = 4000
_STEPS = 30
_POOL = 1 << 14
#: How near the mean must come to the windows, in standard deviations, and how much one step may change a log-weight.
_NEAR, _FARTHEST = 0.05, 3.0
#: Directions that vary less than this share of the widest are taken for none.
_SAME = 1e-3


def tilt(target: Target, counts: Sequence[int], random: np.random.Generator) -> list[Floats]:
    """Weights for the cells of every group; only a guide, so a sample of the cells sets the slopes."""
    scale = np.maximum(1.0, np.max([vectors.std(axis=0) for vectors in target.vectors], axis=0))
    least, most = target.low / scale, target.high / scale
    parts = [
        vectors[random.integers(len(vectors), size=_SAMPLE)] / scale if len(vectors) > _SAMPLE else vectors / scale
        for vectors in target.vectors
    ]
    slopes = np.zeros(len(scale))
    for _ in range(_STEPS):
        mean, spread = _moments(parts, counts, slopes)
        off = mean - np.clip(mean, least, most)
        if float(np.abs(off).max(initial=0.0)) < _NEAR:
            break
        # A Newton step, shortened where it would leave only a few cells; rows that say the same share it.
        step = np.linalg.lstsq(spread, off, rcond=_SAME)[0]
        reach = max(float(np.ptp(part @ step)) for part in parts)
        slopes -= step * min(1.0, _FARTHEST / max(reach, 1e-12))
    powers = [vectors @ (slopes / scale) for vectors in target.vectors]
    return [np.exp(power - power.max()) for power in powers]


def _moments(parts: list[Floats], counts: Sequence[int], slopes: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of the sum over the folds, each drawn with the weights that the slopes give."""
    mean, spread = np.zeros(len(slopes)), np.zeros((len(slopes), len(slopes)))
    for count, part in zip(counts, parts, strict=True):
        power = part @ slopes
        weight = np.exp(power - power.max())
        weight /= weight.sum()
        middle = weight @ part
        mean += count * middle
        away = part - middle
        spread += count * ((away * weight[:, None]).T @ away)
    return mean, spread


class Draw:
    """Draws cells of one group with given weights, from a pool that is drawn once."""

    def __init__(self, weights: Floats, random: np.random.Generator) -> None:
        self.size, self.random = len(weights), random
        steps = np.cumsum(weights)
        places = np.sort(random.random(_POOL)) * steps[-1]
        self.pool = np.minimum(np.searchsorted(steps, places, "right"), self.size - 1)

    def many(self, count: int) -> Ints:
        """Draw so many cells, with repetitions."""
        cells: Ints = self.pool[self.random.integers(_POOL, size=count)]
        return cells

    def distinct(self, count: int) -> Ints:
        """Draw at most so many different cells, all of them if there are no more."""
        if self.size <= count:
            return np.arange(self.size)
        found = np.unique(self.many(4 * count))
        return found if len(found) <= count else self.random.choice(found, count, replace=False)
