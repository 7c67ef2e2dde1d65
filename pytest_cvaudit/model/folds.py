"""Recorded folds, checked one by one and put together as predictions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model.arrays import (
    Labels,
    joined_names,
    label_texts,
    read_labels,
    read_marks,
    read_scores,
    same_kind,
)
from pytest_cvaudit.model.experiment import Cell, Predictions, Protocol, TrainingRows, sorted_cells
from pytest_cvaudit.model.labels import conventional_positive, sorted_labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.model.arrays import Floats, Marks
    from pytest_cvaudit.model.experiment import Codes

    Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Fold:
    """One test fold; ``train`` are the ids that its model was trained on, ``trained`` the counts of their labels."""

    cell: Cell
    truth: Labels
    predicted: Labels | None = None
    score: Floats | None = None
    ids: Marks | None = None
    train: Marks | None = None
    trained: Mapping[str, int] = field(default_factory=dict)
    classes: tuple[str, ...] | None = None

    @classmethod
    def read(
        cls,
        cell: Cell,
        y_true: Any,
        y_pred: Any = None,
        y_score: Any = None,
        *,
        test: Any = None,
        train: Any = None,
        y_train: Any = None,
        classes: Sequence[object] | None = None,
    ) -> Fold:
        """Read the arrays of a fold, and refuse those that cannot be audited."""
        given = {"y_true": y_true, "y_pred": y_pred, "y_train": y_train}
        parts = {name: read_labels(rows, name, classes) for name, rows in given.items() if rows is not None}
        if classes is not None:
            textual = any(isinstance(label, str) for label in classes)
            parts["classes"] = Labels(label_texts(classes, "classes"), textual=textual)
        labels = same_kind(parts, cell.fold)
        fold = cls(
            cell,
            labels["y_true"],
            labels.get("y_pred"),
            None if y_score is None else read_scores(y_score),
            None if test is None else read_marks(test, "test"),
            None if train is None else read_marks(train, "train"),
            labels["y_train"].counts() if "y_train" in labels else {},
            labels["classes"].names if "classes" in labels else None,
        )
        fold.check()
        return fold

    def check(self) -> None:
        """Refuse a fold that cannot be audited by itself."""
        where, size = f"fold {self.cell.fold}", len(self.truth)
        if not size:
            raise InputError(f"{where} has no instances")
        if self.predicted is None and self.score is None:
            raise InputError(f"{where} has neither y_pred nor y_score")
        for name, values in (("y_pred", self.predicted), ("y_score", self.score), ("test", self.ids)):
            if values is not None and len(values) != size:
                raise InputError(f"{where}: {name} has {len(values)} rows and y_true has {size}")
        if self.predicted is not None and (self.predicted.sets is None) != (self.truth.sets is None):
            sets, single = ("y_true", "y_pred") if self.predicted.sets is None else ("y_pred", "y_true")
            raise InputError(f"{where}: {sets} has sets of labels, and {single} one label per instance")
        if self.score is not None and not np.isfinite(self.score).all():
            row = int(np.argwhere(~np.isfinite(self.score))[0][0])
            raise InputError(f"{where}: y_score is not finite in row {row} (the first is row 0)")
        if self.score is not None and self.score.ndim == 1 and self.truth.sets is not None:
            raise InputError(f"{where}: multi-label data needs a column of y_score for each label")

    def part(self, cell: Cell, rows: NDArray[np.intp]) -> Fold:
        """Some rows, as a fold of its own."""
        return replace(
            self, cell=cell, truth=self.truth.take(rows),
            predicted=None if self.predicted is None else self.predicted.take(rows),
            score=None if self.score is None else self.score[rows], ids=None if self.ids is None else self.ids[rows],
        )  # fmt: skip

    def head(self) -> Fold:
        """The fold without its rows: enough to compare others with."""
        empty = self.part(self.cell, np.zeros(0, dtype=np.intp))
        return replace(empty, train=None if self.train is None else self.train[:0])

    def check_like(self, first: Fold) -> None:
        """Refuse a fold that does not go with the first one."""
        for name, option in (("predicted", "y_pred"), ("score", "y_score"), ("ids", "test"), ("train", "train")):
            if (getattr(self, name) is None) != (getattr(first, name) is None):
                raise InputError(f"fold {self.cell.fold}: {option} must be given for all folds or for none")
        if (self.truth.sets is None) != (first.truth.sets is None):
            what = "sets of labels in some folds, and one label per instance in others"
            raise InputError(f"fold {self.cell.fold}: y_true has {what}")
        same_kind({f"fold {first.cell.fold}": first.truth, "this fold": self.truth}, self.cell.fold, rename=False)
        if self.score is None or first.score is None or self.score.shape[1:] == first.score.shape[1:]:
            return
        if self.score.ndim != first.score.ndim or self.classes is None or first.classes is None:
            mine, theirs = (1 if score.ndim == 1 else score.shape[1] for score in (self.score, first.score))
            what = f"{mine} column{'' if mine == 1 else 's'}, and in fold {first.cell.fold} it has {theirs}"
            raise InputError(f"fold {self.cell.fold}: y_score has {what}; they must be the same, or named by classes=…")


def cut(
    y_true: Any,
    y_pred: Any,
    y_score: Any,
    fold: Any,
    repeat: Any = None,
    *,
    classes: Sequence[object] | None = None,
    ids: Any = None,
) -> list[Fold]:
    """Cut arrays over all folds into the folds."""
    if fold is None:
        raise InputError("fold is missing: give the fold of each row")
    whole = Fold.read(Cell("all"), y_true, y_pred, y_score, test=ids, classes=classes)
    folds = read_labels(fold, "fold")
    repeats = read_labels(np.zeros(len(whole.truth), dtype=np.int8) if repeat is None else repeat, "repeat")
    for name, values in (("fold", folds), ("repeat", repeats)):
        if values.codes is None or len(values) != len(whole.truth):
            raise InputError(f"{name} must have one name per row; it has {len(values)} and y_true {len(whole.truth)}")
    assert folds.codes is not None and repeats.codes is not None
    key = repeats.codes.astype(np.int64) * len(folds.names) + folds.codes
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    return [
        whole.part(
            Cell(folds.names[key[rows[0]] % len(folds.names)], repeats.names[key[rows[0]] // len(folds.names)]), rows
        )
        for rows in np.split(order, starts[1:])
    ]


def assemble(folds: Sequence[Fold], protocol: Protocol) -> tuple[Predictions, Protocol]:
    """Put folds together; the protocol comes back with what the training labels add to it."""
    folds = sorted(folds, key=lambda fold: fold.cell.order)  # whichever process was first
    cells = sorted_cells(fold.cell for fold in folds)
    cell = np.repeat([cells.index(fold.cell) for fold in folds], [len(fold.truth) for fold in folds])
    parts = [part for fold in folds for part in (fold.truth, fold.predicted) if part is not None]
    seen = joined_names(parts)
    classes = [fold.classes for fold in folds if fold.classes is not None]
    protocol = _with_training(protocol, folds)
    labels = sorted_labels({*seen, *(protocol.labels or ()), *(name for names in classes for name in names)})
    if protocol.positive is not None and protocol.positive not in labels:
        raise InputError(f"positive label '{protocol.positive}' never occurs; labels are {', '.join(labels)}")
    given = [fold.predicted for fold in folds if fold.predicted is not None]
    scores = _scores(folds, protocol.positive, labels, seen)
    found = Predictions(cells, cell.astype(np.min_scalar_type(-max(len(cells), 1))), labels, scores=scores)
    if folds[0].truth.sets is None:
        found = replace(found, truth=_codes([fold.truth for fold in folds], labels))
        found = replace(found, predicted=_codes(given, labels) if given else None)
    else:
        found = replace(found, gold=_sets([fold.truth for fold in folds], labels))
        found = replace(found, predicted_sets=_sets(given, labels) if given else None)
    if all(fold.ids is not None for fold in folds):
        found = replace(found, ids=np.concatenate([_texts(fold.ids) for fold in folds]))
        found = replace(found, training=_training(folds, cells))
    return found, protocol


def _codes(parts: Sequence[Labels], labels: tuple[str, ...]) -> Codes:
    kind = np.min_scalar_type(-max(len(labels), 1))
    position = {label: index for index, label in enumerate(labels)}
    columns = []
    for part in parts:
        assert part.codes is not None
        columns.append(np.array([position[name] for name in part.names], dtype=kind)[part.codes])
    return np.concatenate(columns)


def _sets(parts: Sequence[Labels], labels: tuple[str, ...]) -> NDArray[np.uint8]:
    position = {label: index for index, label in enumerate(labels)}
    rows = []
    for part in parts:
        assert part.sets is not None
        wide = np.zeros((len(part), len(labels)), dtype=np.uint8)
        wide[:, [position[name] for name in part.names]] = part.sets
        rows.append(wide)
    return np.concatenate(rows)


def _scores(
    folds: Sequence[Fold], positive: str | None, labels: tuple[str, ...], seen: tuple[str, ...]
) -> dict[str, Doubles]:
    given = [fold.score.astype(np.float64) for fold in folds if fold.score is not None]
    if not given:
        return {}
    if given[0].ndim == 1:
        positive = positive or conventional_positive(labels)
        if positive is None:
            raise InputError(f"one score per instance, and labels {', '.join(labels)}: declare protocol(positive=…)")
        return {positive: np.concatenate(given)}
    columns = [seen if fold.classes is None else fold.classes for fold in folds]
    for names, score in zip(columns, given, strict=True):
        if score.shape[1] != len(names):
            raise InputError(
                f"y_score has {score.shape[1]} columns for {len(names)} classes ({', '.join(names)}); "
                "name the classes in the order of the columns: classes=…"
            )
    every = tuple(dict.fromkeys(name for names in columns for name in names))
    parts = [_spread(*part, every) for part in zip(given, columns, strict=True)]
    return {name: np.concatenate([part[name] for part in parts]) for name in every}


def _spread(score: Doubles, names: tuple[str, ...], every: tuple[str, ...]) -> dict[str, Doubles]:
    """The scores of a fold for every class; one that its model never saw comes last, as in ``cross_val_predict``."""
    found = {name: score[:, index] for index, name in enumerate(names)}
    absent = [name for name in every if name not in found]
    probabilities = bool(absent) and score.min() >= 0 and np.allclose(score.sum(axis=1), 1, atol=1e-3)
    least = 0.0 if probabilities else float(np.finfo(np.float64).min)
    return {**found, **{name: np.full(len(score), least) for name in absent}}


def _texts(marks: Marks | None) -> NDArray[np.object_]:
    assert marks is not None
    return np.array(list(map(str, marks.tolist())), dtype=object)


def _training(folds: Sequence[Fold], cells: tuple[Cell, ...]) -> TrainingRows | None:
    """Keep the trained ids that the same fold tests, and one more per fold to show that there are ids: all that tells.

    Ten folds of a million instances would otherwise be nine million texts.
    """
    cell, marks = [], []
    for fold in folds:
        if fold.train is None or fold.ids is None or not len(fold.train):
            continue
        train, ids = fold.train, fold.ids
        if train.dtype != ids.dtype:
            train, ids = _texts(train), _texts(ids)
        both = train[np.isin(train, ids)] if train.dtype != object else _common(train, ids)
        kept = _texts(np.concatenate([both, train[:1]]))
        marks.append(kept)
        cell.append(np.full(len(kept), cells.index(fold.cell), dtype=np.int64))
    return TrainingRows(np.concatenate(cell), np.concatenate(marks)) if marks else None


def _common(train: Marks, ids: Marks) -> NDArray[np.object_]:
    tested = set(ids.tolist())
    return np.array([mark for mark in train.tolist() if mark in tested], dtype=object)


def _with_training(protocol: Protocol, folds: Sequence[Fold]) -> Protocol:
    """Declare the training labels and their frequencies, where they say more than the other folds do."""
    if protocol.labels is not None or protocol.frequencies is not None or not all(fold.trained for fold in folds):
        return protocol
    tested: dict[str, dict[str, int]] = {}
    for fold in folds:
        whole = tested.setdefault(fold.cell.repeat, {})
        for name, number in fold.truth.counts().items():
            whole[name] = whole.get(name, 0) + number
    if all(dict(fold.trained) == _others(tested[fold.cell.repeat], fold.truth.counts()) for fold in folds):
        return protocol
    total: dict[str, int] = {}
    for fold in folds:
        for name, number in fold.trained.items():
            total[name] = total.get(name, 0) + number
    frequencies = {name: total[name] / sum(total.values()) for name in sorted_labels(total)}
    return replace(protocol, labels=sorted_labels(total), frequencies=frequencies)


def _others(whole: dict[str, int], own: dict[str, int]) -> dict[str, int]:
    rest = {name: number - own.get(name, 0) for name, number in whole.items()}
    return {name: number for name, number in rest.items() if number}
