"""Writing an experiment's evidence as a log that reads back as the same evidence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model.labels import sorted_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_cvaudit.model import Cell, Experiment, FoldCounts, FoldScores, MissingFold, Predictions

    Columns = dict[str, Any]

_FORMATS = (".csv", ".parquet")
_TWO = 2


def write_log(experiment: Experiment, path: Path) -> None:
    """Write the evidence as CSV or Parquet; under the same protocol every value reads back bit for bit.

    Of folds without a result the table keeps the reason; beside predictions, which have no row for them, it cannot.
    """
    if path.suffix not in _FORMATS:
        raise InputError(f"logs are written as {' or '.join(_FORMATS)}", str(path))
    frame = pd.DataFrame(_columns(experiment))
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)


def _columns(experiment: Experiment) -> Columns:
    if experiment.predictions is not None:
        return _of_predictions(experiment.predictions, experiment.protocol.group)
    if experiment.counts is not None:
        return _of_counts(experiment.counts, experiment.scores, experiment.missing)
    if experiment.scores is not None:
        return _of_scores(experiment.scores, experiment.missing)
    raise InputError(f"'{experiment.name}' has no folds to write", experiment.location.path)


def _cells(cells: Iterable[Cell]) -> Columns:
    listed = list(cells)
    repeats = [cell.repeat for cell in listed]
    fold = {"fold": _texts(cell.fold for cell in listed)}
    return fold if set(repeats) <= {"0"} else {"repeat": _texts(repeats), **fold}


def _texts(values: Iterable[object]) -> pd.Series:
    return pd.Series([str(value) for value in values], dtype="str")


def _of_predictions(rows: Predictions, group: str | None) -> Columns:
    columns = _cells(rows.cells[code] for code in rows.cell.tolist())
    for name, marks in (("id", rows.ids), ("hash", rows.hashes), (group, rows.groups)):
        if name is not None and marks is not None:
            columns[name] = _texts(marks)
    for name, codes, sets in (("y_true", rows.truth, rows.gold), ("y_pred", rows.predicted, rows.predicted_sets)):
        if codes is not None:
            columns[name] = _texts(rows.labels[code] for code in codes.tolist())
        elif sets is not None:
            columns[name] = _texts(_set(counts, rows.labels) for counts in sets)
    columns |= {f"score_{label}": np.asarray(scores) for label, scores in rows.scores.items()}
    return columns if rows.training is None else _with_training(columns, rows)


def _set(counts: NDArray[np.uint8], labels: Sequence[str]) -> str:
    return json.dumps([label for label, count in zip(labels, counts.tolist(), strict=True) for _ in range(count)])


def _with_training(columns: Columns, rows: Predictions) -> Columns:
    """Add a row for each training instance, which has a mark and no result."""
    if rows.training is None:
        return columns
    tested = pd.DataFrame(columns).assign(set="test")
    trained = pd.DataFrame(_cells(rows.cells[code] for code in rows.training.cell.tolist()))
    trained["id" if rows.ids is not None else "hash"] = _texts(rows.training.marks)
    both = pd.concat([tested, trained.assign(set="train")], ignore_index=True)
    blank = {"repeat": "0"}
    return {
        str(name): column if pd.api.types.is_numeric_dtype(column) else column.fillna(blank.get(str(name), ""))
        for name, column in both.items()
    }


def _of_counts(counts: FoldCounts, scores: FoldScores | None, missing: Sequence[MissingFold]) -> Columns:
    if len(counts.labels) > _TWO or (len(counts.labels) == _TWO and not counts.single_label):
        if scores is not None:
            raise InputError(
                f"counts of {len(counts.labels)} labels and metrics of the folds do not fit into one table"
            )
        return _by_label(counts, missing)
    blank = [one for one in missing if one.cell not in counts.cells]
    cells = [*counts.cells, *(one.cell for one in blank)]
    columns = _cells(cells)
    if counts.labels != sorted_labels(counts.labels) or len(counts.labels) < _TWO:
        for role in ("tp", "fp", "fn", "tn"):
            if (values := getattr(counts, role)) is not None:
                columns[role] = _padded(values[:, 0].tolist(), len(cells))
    else:
        matrices = [
            json.dumps({"labels": counts.labels, "matrix": [[hits[0], lost[0]], [lost[1], hits[1]]]})
            for hits, lost in zip(counts.tp.tolist(), counts.fn.tolist(), strict=True)
        ]
        columns["confusion_matrix"] = _padded(matrices, len(cells))
    return columns | _beside(cells, scores, missing)


def _by_label(counts: FoldCounts, missing: Sequence[MissingFold]) -> Columns:
    width = len(counts.labels)
    blank = [one for one in missing if one.cell not in counts.cells]
    cells = [*(cell for cell in counts.cells for _ in range(width)), *(one.cell for one in blank)]
    columns = _cells(cells) | {"label": _texts([*counts.labels * len(counts.cells), *counts.labels[:1] * len(blank)])}
    for role in ("tp", "fp", "fn", "tn"):
        if (values := getattr(counts, role)) is not None:
            columns[role] = _padded(values.ravel().tolist(), len(cells))
    return columns | _reasons(cells, blank)


def _of_scores(scores: FoldScores, missing: Sequence[MissingFold]) -> Columns:
    cells = list(dict.fromkeys([*scores.cells, *(one.cell for one in missing)]))
    return _cells(cells) | _beside(cells, scores, missing)


def _beside(cells: Sequence[Cell], scores: FoldScores | None, missing: Sequence[MissingFold]) -> Columns:
    """Return the columns of metrics, with what stood in a cell instead of a value, of sizes, and of reasons."""
    columns: Columns = {}
    if scores is None:
        return _reasons(cells, missing)
    for metric, values in scores.values.items():
        written = {cell: value.text for cell, value in zip(scores.cells, values, strict=True) if value is not None}
        for one in missing:
            instead = one.what.removeprefix(f"{metric} is ")
            if instead not in (one.what, "blank"):
                written[one.cell] = instead
        columns[metric] = _texts(written.get(cell, "") for cell in cells)
    for name, sizes in (("n", scores.n), ("n_pos", scores.positives)):
        if sizes:
            columns[name] = _padded(["" if size is None else size for size in sizes], len(cells))
    return columns | _reasons(cells, missing)


def _reasons(cells: Sequence[Cell], missing: Sequence[MissingFold]) -> Columns:
    why = {one.cell: one.reason for one in missing if one.reason}
    return {"info": _texts(why.get(cell, "") for cell in cells)} if why else {}


def _padded(values: Sequence[object], length: int) -> pd.Series:
    return _texts([*values, *[""] * (length - len(values))])
