"""An experiment: what was declared, what was logged, and what is claimed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from pytest_cvaudit.errors import InputError
    from pytest_cvaudit.model.claim import Claim
    from pytest_cvaudit.model.printed import Printed

    Ints = NDArray[np.int64]
    Codes = NDArray[np.signedinteger]
    Floats = NDArray[np.float64]


class Evidence(IntEnum):
    """How much a log tells; a higher level holds everything that a lower one does."""

    SUMMARY = 0
    SCORES = 1
    COUNTS = 2
    PREDICTIONS = 3

    def __str__(self) -> str:
        """Give the level's name as the contract writes it."""
        return self.name.lower()


@dataclass(frozen=True)
class Cell:
    """One test fold of one repeat, by the names it has in the log."""

    fold: str
    repeat: str = "0"

    @property
    def order(self) -> tuple[object, ...]:
        """A key that sorts fold 2 before fold 10."""
        return (_natural(self.repeat), _natural(self.fold))


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    parts = re.split(r"(\d+)", name)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part)


def sorted_cells(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the distinct cells in the order that a person would number them."""
    return tuple(sorted(set(cells), key=lambda cell: cell.order))


@dataclass(frozen=True)
class Predictions:
    """A row per tested instance: its cell, its true label and what was predicted, as codes into ``labels``.

    Single-label logs have ``truth`` and ``predicted``; multi-label logs have ``gold`` and ``predicted_sets``, which
    count how often each label was listed. ``scores`` maps a label to the scores that speak for it (high = that label).
    """

    cells: tuple[Cell, ...]
    cell: Codes
    labels: tuple[str, ...]
    truth: Codes | None = None
    predicted: Codes | None = None
    gold: NDArray[np.uint8] | None = None
    predicted_sets: NDArray[np.uint8] | None = None
    scores: Mapping[str, Floats] = field(default_factory=dict)
    ids: NDArray[np.object_] | None = None
    hashes: NDArray[np.object_] | None = None
    groups: NDArray[np.object_] | None = None
    training: TrainingRows | None = None


@dataclass(frozen=True)
class TrainingRows:
    """The logged training rows: the cell whose model saw them, and their id (or feature hash, where there is no id)."""

    cell: Codes
    marks: NDArray[np.object_]


@dataclass(frozen=True)
class FoldCounts:
    """Confusion counts per cell and label; ``tn`` and ``n`` are absent where the log does not tell them."""

    cells: tuple[Cell, ...]
    labels: tuple[str, ...]
    tp: Ints
    fp: Ints
    fn: Ints
    tn: Ints | None = None
    single_label: bool = False


@dataclass(frozen=True)
class FoldScores:
    """Printed values per cell and metric name (None where a cell is blank), with fold sizes where known."""

    cells: tuple[Cell, ...]
    values: Mapping[str, tuple[Printed | None, ...]]
    n: tuple[int | None, ...] = ()
    positives: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class MissingFold:
    """A fold that the log mentions without a usable result."""

    cell: Cell
    what: str
    reason: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Protocol:
    """What the authors declare about the design; None is undeclared."""

    positive: str | None = None
    folds: int | None = None
    repeats: int | None = None
    stratified: bool | None = None
    instances: int | None = None
    positives: int | None = None
    labels: tuple[str, ...] | None = None
    frequencies: Mapping[str, float] | None = None
    calibrated: bool | None = None
    group: str | None = None
    k: int | None = None
    none: str | None = None


@dataclass(frozen=True)
class Location:
    """A place in a file."""

    path: str
    line: int | None = None


@dataclass(frozen=True)
class Experiment:
    """Everything an audit knows about one experiment."""

    name: str
    protocol: Protocol = Protocol()
    claims: tuple[Claim, ...] = ()
    predictions: Predictions | None = None
    counts: FoldCounts | None = None
    scores: FoldScores | None = None
    missing: tuple[MissingFold, ...] = ()
    location: Location = Location("<memory>")
    log: tuple[str, ...] = ()
    problem: InputError | None = None

    @property
    def evidence(self) -> Evidence:
        """The richest level of evidence at hand."""
        if self.predictions is not None:
            return Evidence.PREDICTIONS
        if self.counts is not None:
            return Evidence.COUNTS
        return Evidence.SCORES if self.scores is not None else Evidence.SUMMARY

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The logged cells, in order, without those that have no usable result."""
        source = self.predictions or self.counts or self.scores
        return source.cells if source is not None else ()
