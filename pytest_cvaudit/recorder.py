"""Folds recorded in memory, as the ``cvaudit`` fixture does, and turned into an experiment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cvaudit.engine import Audit, audit
from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.model import Cell, Claim, Experiment, Location, Predictions, Protocol, sorted_cells
from pytest_cvaudit.model.labels import conventional_positive, sorted_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_cvaudit.settings import Settings

_PROTOCOL = tuple(Protocol.__dataclass_fields__)


@dataclass(frozen=True)
class _Fold:
    cell: Cell
    truth: NDArray[np.str_]
    predicted: NDArray[np.str_] | None
    score: NDArray[np.float64] | None


@dataclass
class Recorder:
    """Collects folds and claims; ``finish`` audits them."""

    name: str
    path: str = "<memory>"
    line: int | None = None
    classes: tuple[str, ...] | None = None
    _folds: list[_Fold] = field(default_factory=list)
    _claims: list[Claim] = field(default_factory=list)
    _protocol: Protocol = field(default_factory=Protocol)

    def fold(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike | None = None,
        y_score: ArrayLike | None = None,
        *,
        fold: object = None,
        repeat: object = 0,
    ) -> None:
        """Record one test fold: true labels, predicted labels, and a score per instance or per instance and class."""
        cell = Cell(str(len(self._folds) if fold is None else fold), str(repeat))
        if any(known.cell == cell for known in self._folds):
            raise InputError(f"fold {cell.fold} of repeat {cell.repeat} was recorded already")
        truth = _labels(y_true, "y_true")
        predicted = None if y_pred is None else _labels(y_pred, "y_pred")
        score = None if y_score is None else np.asarray(y_score, dtype=np.float64)
        for name, values in (("y_pred", predicted), ("y_score", score)):
            if values is not None and len(values) != len(truth):
                raise InputError(f"fold {cell.fold}: {name} has {len(values)} rows and y_true has {len(truth)}")
        if score is not None and not np.isfinite(score).all():
            raise InputError(f"fold {cell.fold}: y_score is not finite in row {int(np.argwhere(~np.isfinite(score))[0][0])}")
        if self._folds and (self._folds[0].predicted is None) != (predicted is None):
            raise InputError(f"fold {cell.fold}: y_pred must be given for all folds or for none")
        if self._folds and (self._folds[0].score is None) != (score is None):
            raise InputError(f"fold {cell.fold}: y_score must be given for all folds or for none")
        self._folds.append(_Fold(cell, truth, predicted, score))

    def claim(self, metric: str, value: object, *, aggregation: str | None = None, label: object = None) -> None:
        """Record a claimed number; pass it as text to keep trailing zeros."""
        claim = Claim.parse(f"{metric} = {value}")
        self._claims.append(replace(claim, aggregation=aggregation, label=None if label is None else str(label)))

    def protocol(self, **declared: Any) -> None:
        """Declare the design: positive, folds, repeats, stratified, instances, labels, calibrated …"""
        for key in declared:
            if key not in _PROTOCOL:
                raise InputError(f"unknown protocol entry '{key}'{suggestion(key, _PROTOCOL)}")
        if "positive" in declared:
            declared["positive"] = str(declared["positive"])
        if "labels" in declared:
            declared["labels"] = tuple(str(label) for label in declared["labels"])
        self._protocol = replace(self._protocol, **declared)

    def experiment(self) -> Experiment:
        """The experiment as recorded so far."""
        location = Location(self.path, self.line)
        predictions = self._predictions() if self._folds else None
        return Experiment(self.name, self._protocol, tuple(self._claims), predictions, location=location)

    def finish(self, settings: Settings | None = None) -> Audit:
        """Audit what was recorded."""
        return audit([self.experiment()], settings) if self._folds or self._claims else Audit()

    def _predictions(self) -> Predictions:
        cells = sorted_cells(fold.cell for fold in self._folds)
        cell = np.repeat([cells.index(fold.cell) for fold in self._folds], [len(fold.truth) for fold in self._folds])
        truth = np.concatenate([fold.truth for fold in self._folds])
        given = [fold.predicted for fold in self._folds if fold.predicted is not None]
        predicted = np.concatenate(given) if given else None
        seen = {*np.unique(truth).tolist(), *(np.unique(predicted).tolist() if predicted is not None else ())}
        labels = sorted_labels({*seen, *(self._protocol.labels or ())})
        positive = self._protocol.positive
        if positive is not None and positive not in labels:
            raise InputError(f"positive label '{positive}' never occurs; labels are {', '.join(labels)}")
        return Predictions(
            cells, cell, labels, _codes(truth, labels), None if predicted is None else _codes(predicted, labels),
            scores=self._scores(labels, seen),
        )  # fmt: skip

    def _scores(self, labels: tuple[str, ...], seen: set[str]) -> dict[str, NDArray[np.float64]]:
        given = [fold.score for fold in self._folds if fold.score is not None]
        if not given:
            return {}
        scores = np.concatenate(given)
        if scores.ndim == 1:
            positive = self._protocol.positive or conventional_positive(labels)
            if positive is None:
                raise InputError(f"one score per instance, and labels {', '.join(labels)}: declare protocol(positive=…)")
            return {positive: scores}
        columns: Sequence[str] = self.classes or sorted_labels(seen)
        if scores.shape[1] != len(columns):
            raise InputError(f"y_score has {scores.shape[1]} columns for {len(columns)} classes; set `classes` to their order")
        return {label: scores[:, index] for index, label in enumerate(columns)}


def _labels(values: ArrayLike, name: str) -> NDArray[np.str_]:
    """Labels as text: 1, 1.0 and '1' are the same label."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must have one label per instance; it has shape {array.shape}")
    if array.dtype.kind == "f" and np.equal(array, np.floor(array)).all():
        array = array.astype(np.int64)
    return array.astype(np.str_)


def _codes(values: NDArray[np.str_], labels: tuple[str, ...]) -> NDArray[np.signedinteger]:
    names, inverse = np.unique(values, return_inverse=True)
    return np.array([labels.index(name) for name in names.tolist()], dtype=np.int32)[inverse]
