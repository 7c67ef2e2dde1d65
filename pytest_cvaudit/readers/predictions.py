"""Logs with a row per tested instance: its true label, the predicted one, and scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pytest_cvaudit.model import Predictions, TrainingRows
from pytest_cvaudit.model.labels import sorted_labels
from pytest_cvaudit.readers.cells import find_cells, refuse_header
from pytest_cvaudit.readers.multilabel import label_counts
from pytest_cvaudit.readers.prediction_columns import labels_of
from pytest_cvaudit.readers.repeated import refuse_mixture, refuse_repeated
from pytest_cvaudit.readers.subsets import without_training
from pytest_cvaudit.readers.table import is_blank, listing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_cvaudit.model import Cell
    from pytest_cvaudit.model.experiment import Codes, Floats
    from pytest_cvaudit.readers.prediction_columns import PredictionColumns
    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Marks, Table

#: Rows to look up in one go: more would not stay in the cache.
_BLOCK = 1 << 16
_INFINITY = np.float64(np.inf).view(np.uint64)


def read_predictions(table: Table, roles: Roles, columns: PredictionColumns, threshold: float | None) -> Predictions:
    """Read the rows of a part."""
    table, seen = without_training(table, roles)
    cells, cell = find_cells(table, roles)
    refuse_mixture(table, roles, cells, cell)
    names = [name for name in (columns.truth, columns.predicted) if name is not None]
    known = {*labels_of([table.names(name) for name in names], columns.parse), *(columns.protocol.labels or ())}
    positive = columns.positive(known)
    labels = sorted_labels([*known, *columns.class_scores, *([positive] if positive is not None else [])])
    if columns.parse is not None:
        gold, *sets = (label_counts(table.names(name), columns.parse, labels) for name in names)
        scores = _scores(table, columns, labels, positive)
        found = Predictions(cells, cell, labels, gold=gold, predicted_sets=sets[0] if sets else None, scores=scores)
    else:
        truth, *guesses = (_codes(table, name, labels) for name in names)
        scores = _scores(table, columns, labels, positive)
        if guesses and columns.score is not None and positive is not None and scores:
            _refuse_confidence(table, columns.score, scores[positive], guesses[0], labels.index(positive))
        predicted = guesses[0] if guesses else _by_threshold(table, scores, labels, positive, threshold)
        found = Predictions(cells, cell, labels, truth, predicted, scores=scores)
    if columns.predicted is None and not scores:
        raise table.error(
            f"one column of scores cannot speak for {listing(labels)}; log predicted labels or a score each"
        )
    ids, name = _ids(table, roles, columns, cell), roles.optional("hash")
    hashes = None if name is None else table.strings(name)
    training = None if seen is None else _training(seen, roles, cells, "id" if ids is not None else "hash")
    group = columns.protocol.group
    groups = table.strings(group) if group in table.columns and group not in roles.used("fold") else None
    return replace(found, ids=ids, hashes=hashes, training=training, groups=groups)


def _training(table: Table, roles: Roles, cells: tuple[Cell, ...], role: str) -> TrainingRows | None:
    """Read who was trained on in each fold that is tested."""
    name = roles.optional(role)
    if name is None:
        return None
    own, cell = find_cells(table, roles)
    position = np.array([cells.index(each) if each in cells else -1 for each in own], dtype=np.int64)[cell]
    return TrainingRows(position[position >= 0], table.strings(name)[position >= 0])


def _ids(table: Table, roles: Roles, columns: PredictionColumns, cell: Codes) -> Marks | None:
    name = roles.optional("id")
    if name is None:
        return None
    ids = table.strings(name)
    used = [name, columns.truth, columns.predicted, columns.score, *columns.class_scores.values()]
    others = {*table.columns, *table.of_paths}.difference(used, roles.used("fold", "repeat"))
    if others and not _all_distinct(ids):
        codes, names = pd.factorize(ids)
        key = cell.astype(np.int64) * max(len(names), 1) + codes
        known = [column for column in used if column is not None]
        refuse_repeated(table, roles, key, known, lambda row: f"{name} '{ids[row]}' in the same fold", for_sure=False)
    return ids


def _all_distinct(ids: Marks) -> bool:
    if ids.dtype.kind not in "iu" or not ids.size:
        return pd.Index(ids).is_unique
    # Seen without a sign, negative numbers are large: one pass tells that all are small and not below 0.
    top = int(ids.view(ids.dtype.str.replace("i", "u")).max())
    low, top = (0, top) if top < 4 * ids.size else (int(ids.min()), int(ids.max()))
    if top - low >= 4 * ids.size:
        return pd.Index(ids).is_unique
    seen = np.zeros(top - low + 1, dtype=bool)
    for start in range(0, ids.size, _BLOCK):
        part = ids[start : start + _BLOCK]
        seen[part - ids.dtype.type(low) if low else part] = True
    return int(np.count_nonzero(seen)) == ids.size


def _codes(table: Table, name: str, labels: tuple[str, ...]) -> Codes:
    column = table.names(name)
    refuse_header(table, name, column)
    position = {label: i for i, label in enumerate(labels)}
    kind = np.min_scalar_type(-max(len(labels), 1))
    places = np.array([position.get(str(text), -1) for text in column.categories], dtype=kind)
    same = places.dtype == column.codes.dtype and np.array_equal(places, np.arange(len(places)))
    codes: Codes = column.codes if same else places[column.codes]
    if any(is_blank(str(text)) for text in column.categories):
        raise table.error(f"column '{name}' is blank; every row needs a label", int((codes < 0).argmax()))
    return codes


def _scores(
    table: Table, columns: PredictionColumns, labels: tuple[str, ...], positive: str | None
) -> Mapping[str, Floats]:
    if columns.score is None:
        return {label: _finite(table, name) for label, name in columns.class_scores.items()}
    if len(labels) > 2 or columns.parse is not None:
        return {}
    if positive is None:
        raise table.error(
            f"column '{columns.score}' is one score for {listing(labels)}; say for which with positive: {labels[-1]}",
            remedy={"positive": (labels[-1],)},
        )
    return {positive: _finite(table, columns.score)}


def _finite(table: Table, name: str) -> Floats:
    values = table.numbers(name)
    # The bits of infinity are above those of all numbers without a sign, and one maximum is quicker than many flags.
    if values.size and values.view(np.uint64).max() >= _INFINITY and not np.isfinite(values).all():
        row = int((~np.isfinite(values)).argmax())
        what = "blank or not a number" if np.isnan(values[row]) else "infinite"
        raise table.error(f"the score in column '{name}' is {what}; every row needs one", row)
    return values


def _by_threshold(
    table: Table, scores: Mapping[str, Floats], labels: tuple[str, ...], positive: str | None, threshold: float | None
) -> Codes | None:
    if threshold is None:
        return None
    if positive is None or positive not in scores or len(labels) > 2:
        raise table.error(f"threshold: needs two labels and a score for the positive one; labels are {listing(labels)}")
    at = labels.index(positive)
    codes: Codes = np.where(scores[positive] >= threshold, at, 1 - at).astype(np.int8)
    return codes


def _refuse_confidence(table: Table, name: str, scores: Floats, predicted: Codes, positive: int) -> None:
    """Refuse a column that is the probability of whatever was predicted: it ranks nothing."""
    # One early score below settles it, as it mostly does.
    if (
        scores[:1000].min() >= 0.5
        and scores.min() >= 0.5
        and scores.max() <= 1
        and len({code == positive for code in np.unique(predicted).tolist()}) > 1
    ):
        raise table.error(
            f"column '{name}' is never below 0.5, so it seems to be the probability of the predicted label, not of the"
            f" positive one; log the latter, or say whose it is with columns: {{score_<label>: {name}}}"
        )
