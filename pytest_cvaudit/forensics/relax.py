"""Refutes a problem by its linear relaxation, with a certificate that is checked apart from the solver."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.problem import Problem

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: How far a certificate must separate the sums from the windows, in units of scaled rows of size one.
_MARGIN = 1e-8
_ROUNDS = 60


def refuted(problem: Problem, low: Ints, high: Ints, deadline: float) -> bool:
    """Tell whether no convex mix of cells reaches the windows; false means only that this proves nothing.

    Columns are generated: a small program over few cells yields multipliers, which are then tried on all cells.
    """
    if (low > high).any():
        return True
    if not len(low):
        return False
    size = np.maximum(1.0, np.max([np.abs(v).max(axis=0) for v in problem.vectors], axis=0)).astype(np.float64)
    parts = [vectors / size for vectors in problem.vectors]
    window = (low / size, high / size)
    directions = np.concatenate([np.eye(len(low)), -np.eye(len(low))])
    chosen = [np.unique(np.argmax(part @ directions.T, axis=0)) for part in parts]
    for _ in range(_ROUNDS):
        multipliers, distance = _master(problem, parts, chosen, window)
        if multipliers is None or distance < _MARGIN or time.monotonic() > deadline:
            return False
        if _separates(problem, parts, multipliers, window):
            return True
        grown = [
            np.unique(np.append(known, np.argmax(part @ multipliers)))
            for known, part in zip(chosen, parts, strict=True)
        ]
        if all(len(new) == len(old) for new, old in zip(grown, chosen, strict=True)):
            return False
        chosen = grown
    return False


def _separates(problem: Problem, parts: list[Floats], y: Floats, window: tuple[Floats, Floats]) -> bool:
    """The certificate: the most that y · sum can be lies below the least that it is anywhere in the windows."""
    most = sum(count * float((part @ y).max()) for count, part in zip(problem.counts, parts, strict=True))
    least = float(np.where(y > 0, y * window[0], y * window[1]).sum())
    return most + _MARGIN * (1.0 + float(np.abs(y).sum())) < least


def _master(
    problem: Problem, parts: list[Floats], chosen: list[Ints], window: tuple[Floats, Floats]
) -> tuple[Floats | None, float]:
    """Bring a mix of the chosen cells as near to the windows as can be; the multipliers point from it to them."""
    columns = np.concatenate([part[index] for part, index in zip(parts, chosen, strict=True)]).T
    rows, width = columns.shape
    slack = np.eye(rows)
    upper = np.block([[columns, -slack], [-columns, -slack]])
    ends = np.concatenate([window[1], -window[0]])
    groups = np.zeros((len(parts), width + rows))
    start = 0
    for group, index in enumerate(chosen):
        groups[group, start : start + len(index)] = 1.0
        start += len(index)
    cost = np.concatenate([np.zeros(width), np.ones(rows)])
    answer = linprog(cost, A_ub=upper, b_ub=ends, A_eq=groups, b_eq=np.array(problem.counts, float), method="highs")
    if answer.status != 0:
        return None, 0.0
    marginals = np.asarray(answer.ineqlin.marginals)
    # Raising the upper end lowers the cost: the sum should fall there, so the multiplier is negative.
    return marginals[:rows] - marginals[rows:], float(answer.fun or 0.0)
