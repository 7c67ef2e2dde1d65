"""An experiment: what was declared, what was logged, and what is claimed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
    """Printed values per cell and metric name (None where a cell is blank), with fold sizes where known.

    ``lines`` says for messages where each cell is logged, as ``file:line``; empty where the log cannot tell.
    """

    cells: tuple[Cell, ...]
    values: Mapping[str, tuple[Printed | None, ...]]
    n: tuple[int | None, ...] = ()
    positives: tuple[int | None, ...] = ()
    lines: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class MissingFold:
    """A fold that the log mentions without a usable result."""

    cell: Cell
    what: str
    reason: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class DataSet:
    """One of several data sets whose results are averaged into the claimed numbers."""

    instances: int
    positives: int
    folds: int
    stratified: bool = False


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
    supports: Mapping[str, int] | None = None
    datasets: tuple[DataSet, ...] | None = None

    @property
    def described(self) -> str:
        """The design in words."""
        if self.datasets is not None:
            return f"the mean over {len(self.datasets)} data sets"
        if self.supports is not None:
            sizes = ", ".join(f"{count} {label}" for label, count in self.supports.items())
            return f"classes of {sizes} and {self.folds} folds"
        design = f"{self.instances} instances, {self.positives} positives and {self.folds} folds"
        return design if (self.repeats or 1) == 1 else f"{design} repeated {self.repeats} times"


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

    @classmethod
    def from_arrays(
        cls,
        y_true: Any,
        y_pred: Any = None,
        y_score: Any = None,
        fold: Any = None,
        *,
        repeat: Any = None,
        name: str = "experiment",
        claims: Mapping[str, object] | Iterable[object] = (),
        classes: Sequence[object] | None = None,
        ids: Any = None,
        **protocol: Any,
    ) -> Experiment:
        """Make an experiment of arrays with a row per tested instance; ``fold`` and ``repeat`` say where it was tested.

        ``classes`` names the columns of ``y_score``; further keywords declare the protocol, such as ``positive=1``.
        """
        # Numpy is imported when rows are there, not with the nouns.
        from pytest_cvaudit.model.declared import declared, read_claims
        from pytest_cvaudit.model.folds import assemble, cut

        folds = cut(y_true, y_pred, y_score, fold, repeat, classes=classes, ids=ids)
        predictions, known = assemble(folds, Protocol(**declared(protocol)))
        return cls(name, known, read_claims(claims), predictions)

    @overload
    @classmethod
    def from_table(cls, frame: Any, *, by: None = None, **options: Any) -> Experiment: ...
    @overload
    @classmethod
    def from_table(cls, frame: Any, *, by: Sequence[str], **options: Any) -> list[Experiment]: ...
    @classmethod
    def from_table(
        cls, frame: Any, *, by: Sequence[str] | None = None, **options: Any
    ) -> Experiment | list[Experiment]:
        """Read a pandas, polars or arrow table as a log file is read; with ``by`` it holds several experiments.

        Options are those of a log in a manifest (``columns``, ``select``, ``threshold``, ``separator``), the ``name``
        and ``claims``, and declarations about the protocol.
        """
        from pytest_cvaudit.in_memory import experiments_of_table

        found = experiments_of_table(frame, by=by or (), **options)
        return found if by else found[0]

    @classmethod
    def from_cross_validate(
        cls,
        results: Mapping[str, Any],
        X: Any = None,  # noqa: N803 (scikit-learn's name)
        y: Any = None,
        **options: Any,
    ) -> Experiment:
        """Make an experiment of what scikit-learn's ``cross_validate`` returned.

        With its estimators and indices (``return_estimator=True, return_indices=True``), and X and y, the rows are
        predicted anew; else the per-fold scores are all there is, and ``scoring`` names what ``test_score`` is. Options
        are ``cv``, ``name``, ``claims``, and declarations about the protocol.
        """
        from pytest_cvaudit.in_memory import experiment_of_results

        return experiment_of_results(results, X, y, **options)
