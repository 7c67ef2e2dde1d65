"""The confusion matrix; for multi-label data its cells are split between a row value and a column value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.tallies.tally import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.model import Predictions

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Confusion:
    """Gold labels by predicted labels; rows add up to gold occurrences, columns to predicted ones."""

    labels: tuple[str, ...]
    by_row: Floats
    by_column: Floats

    @property
    def split(self) -> bool:
        """Tell whether some cell has two values."""
        return not np.array_equal(self.by_row, self.by_column)


def confusion(rows: Predictions) -> Confusion | None:
    """Count which gold label met which predicted label; None where no predicted labels are logged."""
    if rows.gold is not None:
        return _split(rows) if rows.predicted_sets is not None else None
    if rows.truth is None or rows.predicted is None:
        return None
    size = len(rows.labels)
    known = rows.predicted >= 0
    codes = rows.truth[known].astype(np.int64) * size + rows.predicted[known]
    table = np.bincount(codes, minlength=size * size).reshape(size, size).astype(np.float64)
    return Confusion(rows.labels, table, table)


def _split(rows: Predictions) -> Confusion:
    """A missed gold label is shared among the wrong predictions of its instance, and the other way round.

    Labels that are both gold and predicted lie on the diagonal. What has no counterpart meets NONE.
    """
    assert rows.gold is not None and rows.predicted_sets is not None
    gold = rows.gold > 0
    hit = gold & (rows.predicted_sets > 0)
    missed = (gold & ~hit).astype(np.float64)
    # A label listed once more than it is right is a wrong prediction like any other.
    wrong = rows.predicted_sets.astype(np.float64) - hit
    size = len(rows.labels)
    by_row, by_column = np.zeros((size + 1, size + 1)), np.zeros((size + 1, size + 1))
    misses, wrongs = missed.sum(axis=1), wrong.sum(axis=1)
    both = (misses > 0) & (wrongs > 0)
    by_row[:size, :size] = missed[both].T @ (wrong[both] / wrongs[both, None]) + np.diag(hit.sum(axis=0))
    by_column[:size, :size] = (missed[both] / misses[both, None]).T @ wrong[both] + np.diag(hit.sum(axis=0))
    by_row[:size, size] = by_column[:size, size] = missed[wrongs == 0].sum(axis=0)
    by_row[size, :size] = by_column[size, :size] = wrong[misses == 0].sum(axis=0)
    if not (by_row[size].any() or by_row[:, size].any()):
        return Confusion(rows.labels, by_row[:size, :size], by_column[:size, :size])
    return Confusion((*rows.labels, NONE), by_row, by_column)
