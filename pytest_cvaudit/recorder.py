"""Folds recorded in memory, as the ``cvaudit`` fixture does, and turned into an experiment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from pytest_cvaudit.engine import Audit, audit
from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.model import Cell, Claim, Experiment, Location, Predictions, Protocol, sorted_cells
from pytest_cvaudit.model.labels import conventional_positive, sorted_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_cvaudit.settings import Settings

_PROTOCOL = tuple(Protocol.__dataclass_fields__)
_MISSING = ("nan", "<NA>", "NaT")
_COUNTS = ("folds", "repeats", "instances", "positives")
P = ParamSpec("P")


def _in_one_line(method: Callable[P, None]) -> Callable[P, None]:
    """Let a bad call show the line of the test that made it, not this file."""

    @wraps(method)
    def call(*args: P.args, **keywords: P.kwargs) -> None:
        __tracebackhide__ = True
        try:
            method(*args, **keywords)
        except InputError as error:
            raise InputError(error.message) from None

    return call


@dataclass(frozen=True)
class _Fold:
    cell: Cell
    truth: NDArray[np.str_]
    predicted: NDArray[np.str_] | None
    score: NDArray[np.float64] | None

    def check(self) -> None:
        """Refuse a fold that cannot be audited by itself."""
        where, size = f"fold {self.cell.fold}", len(self.truth)
        if not size:
            raise InputError(f"{where} has no instances")
        if self.predicted is None and self.score is None:
            raise InputError(f"{where} has neither y_pred nor y_score")
        for name, values in (("y_pred", self.predicted), ("y_score", self.score)):
            if values is not None and len(values) != size:
                raise InputError(f"{where}: {name} has {len(values)} rows and y_true has {size}")
        if self.score is not None and not np.isfinite(self.score).all():
            row = int(np.argwhere(~np.isfinite(self.score))[0][0])
            raise InputError(f"{where}: y_score is not finite in row {row} (the first is row 0)")

    def check_like(self, first: _Fold) -> None:
        """Refuse a fold that does not go with the first one."""
        for name in ("predicted", "score"):
            if (getattr(self, name) is None) != (getattr(first, name) is None):
                option = "y_pred" if name == "predicted" else "y_score"
                raise InputError(f"fold {self.cell.fold}: {option} must be given for all folds or for none")
        if self.score is not None and first.score is not None and self.score.shape[1:] != first.score.shape[1:]:
            shapes = f"shape {self.score.shape}, and that of fold {first.cell.fold} has {first.score.shape}"
            raise InputError(f"fold {self.cell.fold}: y_score has {shapes}; the columns must be the same")


@dataclass
class Recorder:
    """Collects folds and claims; ``finish`` audits them."""

    name: str
    path: str = "<memory>"
    line: int | None = None
    classes: Sequence[object] | None = None
    _folds: list[_Fold] = field(default_factory=list, repr=False)
    _claims: list[Claim] = field(default_factory=list, repr=False)
    _protocol: Protocol = field(default_factory=Protocol, repr=False)

    @_in_one_line
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
        new = _Fold(
            cell,
            _labels(y_true, "y_true"),
            None if y_pred is None else _labels(y_pred, "y_pred"),
            None if y_score is None else _score(y_score),
        )
        new.check()
        if self._folds:
            new.check_like(self._folds[0])
        self._folds.append(new)

    @_in_one_line
    def claim(self, metric: str, value: object, *, aggregation: str | None = None, label: object = None) -> None:
        """Record a claimed number; pass it as text to keep trailing zeros."""
        claim = Claim.parse(f"{metric} = {value}")
        self._claims.append(replace(claim, aggregation=aggregation, label=None if label is None else _label(label)))

    @_in_one_line
    def protocol(self, **declared: Any) -> None:
        """Declare the design: positive, folds, repeats, stratified, instances, labels, calibrated …"""
        for key in declared:
            if key not in _PROTOCOL:
                raise InputError(f"unknown protocol entry '{key}'{suggestion(key, _PROTOCOL)}")
        for key in _COUNTS:
            if key in declared and not (isinstance(declared[key], int | np.integer) and declared[key] > 0):
                raise InputError(f"protocol entry '{key}' must be a positive whole number, not {declared[key]!r}")
        if "positive" in declared:
            declared["positive"] = _label(declared["positive"])
        if "labels" in declared:
            declared["labels"] = tuple(_label(label) for label in declared["labels"])
        if "frequencies" in declared:
            declared["frequencies"] = {_label(label): share for label, share in declared["frequencies"].items()}
        self._protocol = replace(self._protocol, **declared)

    def experiment(self) -> Experiment:
        """The experiment as recorded so far."""
        location = Location(self.path, self.line)
        predictions = self._predictions() if self._folds else None
        return Experiment(self.name, self._protocol, tuple(self._claims), predictions, location=location)

    def finish(self, settings: Settings | None = None) -> Audit:
        """Audit what was recorded."""
        if self._claims and not self._folds:
            raise InputError(f"'{self._claims[0]}' is claimed, but no fold was recorded")
        return audit([self.experiment()], settings) if self._folds else Audit()

    def _predictions(self) -> Predictions:
        cells = sorted_cells(fold.cell for fold in self._folds)
        cell = np.repeat([cells.index(fold.cell) for fold in self._folds], [len(fold.truth) for fold in self._folds])
        truth = np.concatenate([fold.truth for fold in self._folds])
        given = [fold.predicted for fold in self._folds if fold.predicted is not None]
        predicted = np.concatenate(given) if given else None
        seen = {*np.unique(truth).tolist(), *(np.unique(predicted).tolist() if predicted is not None else ())}
        classes = tuple(map(_label, self.classes or ()))
        labels = sorted_labels({*seen, *(self._protocol.labels or ()), *classes})
        positive = self._protocol.positive
        if positive is not None and positive not in labels:
            raise InputError(f"positive label '{positive}' never occurs; labels are {', '.join(labels)}")
        return Predictions(
            cells, cell, labels, _codes(truth, labels), None if predicted is None else _codes(predicted, labels),
            scores=self._scores(labels, classes or sorted_labels(seen)),
        )  # fmt: skip

    def _scores(self, labels: tuple[str, ...], columns: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
        given = [fold.score for fold in self._folds if fold.score is not None]
        if not given:
            return {}
        scores = np.concatenate(given)
        if scores.ndim == 1:
            positive = self._protocol.positive or conventional_positive(labels)
            if positive is None:
                raise InputError(
                    f"one score per instance, and labels {', '.join(labels)}: declare protocol(positive=…)"
                )
            return {positive: scores}
        if scores.shape[1] != len(columns):
            raise InputError(
                f"y_score has {scores.shape[1]} columns for {len(columns)} classes ({', '.join(columns)}); "
                "set cvaudit.classes to the classes in the order of the columns"
            )
        return {label: scores[:, index] for index, label in enumerate(columns)}


def _labels(values: ArrayLike, name: str) -> NDArray[np.str_]:
    """Labels as text: 1, 1.0 and '1' are the same label."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} must have one label per instance; its rows differ in length") from None
    if array.ndim != 1:
        raise InputError(f"{name} must have one label per instance; it has shape {array.shape}")
    if array.dtype.kind == "O":
        return np.array([_label(value, name) for value in array.tolist()], dtype=np.str_)
    if array.dtype.kind == "f":
        if not (odd := array[~np.equal(array, np.floor(array))]).size:
            array = array.astype(np.int64)
        elif np.isnan(odd).any():
            raise InputError(f"{name} has a missing label")
        else:
            raise InputError(f"{name} has {odd[0]:g}, which is no label; scores are given as y_score")
    return array.astype(np.str_)


def _label(value: object, name: str = "the declaration") -> str:
    if value is None or (not isinstance(value, str) and str(value) in _MISSING):
        raise InputError(f"{name} has a missing label")
    return str(int(value)) if isinstance(value, float | np.floating) and value == int(value) else str(value)


def _score(values: ArrayLike) -> NDArray[np.float64]:
    try:
        score = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"y_score must be numbers: {error}") from None
    if score.ndim not in (1, 2):
        raise InputError(f"y_score must have a row per instance; it has shape {score.shape}")
    return score[:, 0] if score.ndim == 2 and score.shape[1] == 1 else score


def _codes(values: NDArray[np.str_], labels: tuple[str, ...]) -> NDArray[np.signedinteger]:
    names, inverse = np.unique(values, return_inverse=True)
    return np.array([labels.index(name) for name in names.tolist()], dtype=np.int32)[inverse]
