"""From an experiment's rows or counts to its tallies: the only step that touches rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.model.experiment import sorted_cells
from pytest_cvaudit.model.labels import conventional_positive, sorted_labels
from pytest_cvaudit.tallies import curves
from pytest_cvaudit.tallies.counts import Counts, count_label_sets, count_labels
from pytest_cvaudit.tallies.curve import Curve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pytest_cvaudit.model import Cell, Experiment, FoldCounts, Predictions

    Ints = NDArray[np.int64]

#: The empty set, where it counts as a label of its own.
NONE = "NONE"
#: From this many rows on, a second thread pays.
_ROWS_FOR_THREADS = 1_000_000
#: Scores that all have this many decimals were probably rounded when they were logged; fewer are votes or hard labels.
_ROUNDED = range(2, 9)


@dataclass(frozen=True)
class Tallies:
    """Sufficient statistics of an experiment per cell (repeat and fold): confusion counts and score curves."""

    cells: tuple[Cell, ...]
    labels: tuple[str, ...]
    n: Ints
    gold: Ints
    counts: Counts | None = None
    knows_negatives: bool = True
    single_label: bool = True
    positive: int | None = None
    curves: Mapping[int, tuple[Curve, ...]] = field(default_factory=dict)
    decimals: int | None = None

    @property
    def rounded(self) -> bool:
        """Tell whether the scores were probably rounded when they were logged."""
        return self.decimals in _ROUNDED

    def index(self, label: str | None) -> int | None:
        """The index of a label, or of the positive one."""
        if label is None:
            return self.positive
        return self.labels.index(label) if label in self.labels else None

    def merge(self, other: Tallies) -> Tallies:
        """Add the tallies of other rows of the same experiment; cells and labels are aligned by name."""
        cells = sorted_cells((*self.cells, *other.cells))
        labels = sorted_labels({*self.labels, *other.labels})
        mine, theirs = _Frame(self, cells, labels), _Frame(other, cells, labels)
        counts = None
        if self.counts is not None and other.counts is not None:
            counts = mine.counts(self.counts) + theirs.counts(other.counts)
        known = [one.labels[one.positive] for one in (self, other) if one.positive is not None]
        return Tallies(
            cells, labels, mine.vector(self.n) + theirs.vector(other.n),
            mine.matrix(self.gold) + theirs.matrix(other.gold), counts,
            self.knows_negatives and other.knows_negatives, self.single_label and other.single_label,
            labels.index(known[0]) if known else None, _merge_curves(mine, theirs),
            None if self.decimals is None or other.decimals is None else max(self.decimals, other.decimals),
        )  # fmt: skip


@dataclass(frozen=True)
class _Frame:
    """One side of a merge: where its cells and labels lie in the merged axes."""

    tallies: Tallies
    cells: tuple[Cell, ...]
    labels: tuple[str, ...]

    def vector(self, values: Ints) -> Ints:
        out = np.zeros(len(self.cells), dtype=np.int64)
        out[[self.cells.index(cell) for cell in self.tallies.cells]] = values
        return out

    def matrix(self, values: Ints, fill: Ints | None = None) -> Ints:
        rows = [self.cells.index(cell) for cell in self.tallies.cells]
        columns = [self.labels.index(label) for label in self.tallies.labels]
        out = np.zeros((len(self.cells), len(self.labels)), dtype=np.int64)
        if fill is not None:
            out[rows] = fill[:, None]
        out[np.ix_(rows, columns)] = values
        return out

    def counts(self, counts: Counts) -> Counts:
        """Spread counts over the merged axes; a label that this side never saw is a true negative of every row."""
        correct = None if counts.correct is None else self.vector(counts.correct)
        return Counts(
            self.matrix(counts.tp), self.matrix(counts.fp), self.matrix(counts.fn), self.matrix(counts.tn, counts.n),
            self.vector(counts.n), correct,
        )  # fmt: skip

    def curves(self) -> dict[str, dict[Cell, Curve]]:
        tallies = self.tallies
        return {
            tallies.labels[label]: dict(zip(tallies.cells, cells, strict=True))
            for label, cells in tallies.curves.items()
        }


def _merge_curves(one: _Frame, two: _Frame) -> dict[int, tuple[Curve, ...]]:
    mine, theirs = one.curves(), two.curves()
    merged: dict[int, tuple[Curve, ...]] = {}
    for label in mine.keys() & theirs.keys():
        parts = [[side[label][cell] for side in (mine, theirs) if cell in side[label]] for cell in one.cells]
        merged[one.labels.index(label)] = tuple(Curve.merge(part) for part in parts)
    return merged


def tally(experiment: Experiment) -> Tallies | None:
    """Count an experiment's rows, or take over the counts that it logged; None where it has neither."""
    if experiment.predictions is not None:
        wanted = {claim.label for claim in experiment.claims if claim.label is not None}
        rows = experiment.predictions
        if any(claim.metric.base == "auc" for claim in experiment.claims):
            wanted |= rows.scores.keys()
        if experiment.protocol.none == "label" and rows.gold is not None:
            rows = _with_none(rows)
        return _tally_rows(rows, experiment.protocol.positive, wanted)
    if experiment.counts is not None:
        found = _tally_counts(experiment.counts, experiment.protocol.positive)
        return _with_declared(found, experiment.protocol.labels or ())
    return None


def _with_declared(tallies: Tallies, declared: tuple[str, ...]) -> Tallies:
    """Add declared labels that a table of counts never mentions: they are in the label set, with nothing found."""
    absent = tuple(label for label in declared if label not in tallies.labels)
    if not absent or tallies.counts is None or len(tallies.labels) == 1 or "negative" in tallies.labels:
        return tallies
    labels = (*tallies.labels, *absent)
    frame = _Frame(tallies, tallies.cells, labels)
    return replace(tallies, labels=labels, gold=frame.matrix(tallies.gold), counts=frame.counts(tallies.counts))


def _positive(labels: tuple[str, ...], declared: str | None) -> int | None:
    name = declared if declared is not None else conventional_positive(labels)
    return labels.index(name) if name in labels else None


def _with_none(rows: Predictions) -> Predictions:
    """Count the empty set as a label of its own."""
    assert rows.gold is not None
    sets = [rows.gold] if rows.predicted_sets is None else [rows.gold, rows.predicted_sets]
    gold, *predicted = (np.column_stack([each, ~each.any(axis=1)]).astype(np.uint8) for each in sets)
    return replace(rows, labels=(*rows.labels, NONE), gold=gold, predicted_sets=predicted[0] if predicted else None)


def _tally_rows(rows: Predictions, declared: str | None, wanted: set[str]) -> Tallies:
    cells = len(rows.cells)
    positive = _positive(rows.labels, declared)
    n = np.bincount(rows.cell, minlength=cells)
    counts, gold = _count(rows, cells)
    labels = (wanted | ({rows.labels[positive]} if positive is not None else set())) & rows.scores.keys()
    threads = 2 if len(rows.cell) >= _ROWS_FOR_THREADS else 1
    by_label: dict[int, tuple[Curve, ...]] = {}
    for label in labels:
        index = rows.labels.index(label)
        by_label[index] = tuple(curves(rows.cell, rows.scores[label], _is_label(rows, index), cells, threads=threads))
    places = [_decimals(rows.scores[label]) for label in labels]
    known = [number for number in places if number is not None]
    return Tallies(
        rows.cells, rows.labels, n, gold, counts, single_label=rows.gold is None, positive=positive, curves=by_label,
        decimals=max(known) if known and len(known) == len(places) else None,
    )  # fmt: skip


def _count(rows: Predictions, cells: int) -> tuple[Counts | None, Ints]:
    if rows.gold is not None:
        blank = np.zeros_like(rows.gold) if rows.predicted_sets is None else rows.predicted_sets
        found = count_label_sets(rows.cell, rows.gold, blank, cells)
        return (found if rows.predicted_sets is not None else None), found.positives
    assert rows.truth is not None
    size = len(rows.labels)
    if rows.predicted is not None:
        counts = count_labels(rows.cell, rows.truth, rows.predicted, cells, size)
        return counts, counts.positives
    codes = rows.cell.astype(np.int64) * size + rows.truth
    return None, np.bincount(codes, minlength=cells * size).reshape(cells, size)


def _is_label(rows: Predictions, index: int) -> NDArray[np.bool_]:
    if rows.gold is not None:
        return rows.gold[:, index] > 0
    assert rows.truth is not None
    return np.equal(rows.truth, index)


def _tally_counts(logged: FoldCounts, declared: str | None) -> Tallies:
    tn = logged.tn if logged.tn is not None else np.zeros_like(logged.tp)
    n = (logged.tp + logged.fp + logged.fn + tn)[:, 0]
    correct = logged.tp.sum(axis=1) if logged.single_label else None
    counts = Counts(logged.tp, logged.fp, logged.fn, tn, n, correct)
    # A table without a label column is about the positive label: readers put it first.
    positive = 0 if logged.labels[0] == "positive" else _positive(logged.labels, declared)
    return Tallies(
        logged.cells, logged.labels, n, logged.tp + logged.fn, counts, knows_negatives=logged.tn is not None,
        single_label=logged.single_label, positive=positive,
    )  # fmt: skip


def _decimals(scores: NDArray[np.float64]) -> int | None:
    """The number of decimals that all scores have at most, or None if it is more than anybody rounds to."""
    sample = scores[:: max(1, len(scores) // 1000)]
    for places in range(_ROUNDED.stop):
        if _fits(sample, places) and _fits(scores, places):
            return places
    return None


def _fits(scores: NDArray[np.float64], places: int) -> bool:
    return bool(np.array_equal(np.round(scores, places), scores))
