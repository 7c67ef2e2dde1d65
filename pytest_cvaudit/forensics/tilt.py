"""Weights that make random cells add up to the windows on average: of all such weights, those of most entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.problem import Problem

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_SAMPLE = 4000
_STEPS = 60


def tilt(problem: Problem, low: Ints, high: Ints, random: np.random.Generator) -> list[Floats]:
    """Log-weights for the cells of every group; only a guide, so a sample of the cells sets the slopes."""
    scale = np.maximum(1.0, np.max([vectors.std(axis=0) for vectors in problem.vectors], axis=0))
    least, most = low / scale, high / scale
    parts = [
        vectors[random.integers(len(vectors), size=_SAMPLE)] / scale if len(vectors) > _SAMPLE else vectors / scale
        for vectors in problem.vectors
    ]
    rows = len(low)

    def cost(slopes: Floats) -> tuple[float, Floats]:
        direction = slopes[:rows] - slopes[rows:]
        value, mean = 0.0, np.zeros(rows)
        for count, part in zip(problem.counts, parts, strict=True):
            power = part @ direction
            top = power.max()
            weight = np.exp(power - top)
            total = weight.sum()
            value += count * (top + float(np.log(total)))
            mean += count * (weight @ part) / total
        value += float(slopes[rows:] @ most - slopes[:rows] @ least)
        return value, np.concatenate([mean - least, most - mean])

    found = minimize(
        cost, np.zeros(2 * rows), jac=True, method="L-BFGS-B", bounds=[(0.0, 50.0)] * (2 * rows),
        options={"maxiter": _STEPS},
    )  # fmt: skip
    direction = (found.x[:rows] - found.x[rows:]) / scale
    return [vectors @ direction for vectors in problem.vectors]


def draw(weights: Floats, count: int, random: np.random.Generator) -> Ints:
    """Draw distinct cells with these log-weights, all of them if there are no more."""
    if len(weights) <= count:
        return np.arange(len(weights))
    noisy = weights + random.gumbel(size=len(weights))
    return np.argpartition(-noisy, count)[:count]
