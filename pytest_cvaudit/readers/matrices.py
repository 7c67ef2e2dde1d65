"""Logs with a confusion matrix per fold, as a list or as its printed text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.model import FoldCounts, MissingFold
from pytest_cvaudit.model.labels import conventional_positive, sorted_labels
from pytest_cvaudit.readers.cells import find_cells, fold_rows
from pytest_cvaudit.readers.metric_columns import parsed, wide_columns
from pytest_cvaudit.readers.multilabel import listed
from pytest_cvaudit.readers.reasons import is_empty, reasons
from pytest_cvaudit.readers.repeated import refuse_repeated
from pytest_cvaudit.readers.roles import squashed
from pytest_cvaudit.readers.table import listing

if TYPE_CHECKING:
    from pytest_cvaudit.model import Protocol
    from pytest_cvaudit.model.experiment import Ints
    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Table

_CLASSES = frozenset(["classes", "labels", "classnames", "labelnames", "displaylabels", "cmlabels", "matrixlabels"])
_ROW = re.compile(r"\[([^\[\]]*)\]")
_COUNT = re.compile(r"\d+(?:\.0*)?")
_MATRIX = re.compile(r"(?:array\()?\s*\[(?:[\s,]*\[[^\[\]]*\])+[\s,]*\]\s*(?:,\s*dtype=\w+)?\)?")


def has_matrix(table: Table, roles: Roles) -> bool:
    """Tell whether a column holds confusion matrices."""
    names = roles.candidates("matrix")
    return "matrix" in roles.given or any(
        _is_matrix(str(text)) for name in names for text in table.text(name).categories
    )


def _is_matrix(text: str) -> bool:
    return _MATRIX.fullmatch(_with_labels(text)[0]) is not None


def _with_labels(text: str) -> tuple[str, tuple[str, ...]]:
    """Part ``{"labels": […], "matrix": […]}`` into the matrix's text and its labels; other texts have none."""
    try:
        found = json.loads(text) if text.startswith("{") else None
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(found.get(key), list) for key in ("labels", "matrix")):
        return text, ()
    return json.dumps(found["matrix"]), tuple(str(label) for label in found["labels"])


def read_matrices(table: Table, roles: Roles, protocol: Protocol) -> tuple[FoldCounts | None, tuple[MissingFold, ...]]:
    """Read a table with a matrix per fold: rows are true labels and columns predicted ones, as in scikit-learn."""
    name = roles.find("matrix") or ""
    table = fold_rows(table, roles)
    texts = table.texts(name)
    blank = np.array([is_empty(text) for text in texts], dtype=bool)
    cells, cell = find_cells(table, roles)
    reason = reasons(table, roles)
    missing = tuple(
        MissingFold(cells[cell[row]], "the confusion matrix is blank", reason(row), table.place(row)[1])
        for row in np.flatnonzero(blank).tolist()
    )
    if blank.all():
        return None, missing
    table = table.take(np.flatnonzero(~blank))
    cells, cell = find_cells(table, roles)
    refuse_repeated(table, roles, cell, [name], lambda row: f"fold '{cells[cell[row]].fold}'")
    beside = _labels_beside(table)
    read = [_parsed(table, name, row, text, beside[row]) for row, text in enumerate(table.texts(name))]
    named = {labels for _, labels in read}
    sizes = {len(matrix) for matrix, _ in read}
    if len(sizes) > 1 or len(named) > 1:
        raise table.error(
            f"the matrices in column '{name}' are of different size, so their rows are not about the same labels"
        )
    labels = named.pop() or _labels(table, roles, protocol, sizes.pop())
    matrices = np.stack([matrix for matrix, _ in read])
    _refuse_turned(table, roles, matrices, labels, protocol)
    matrices = matrices[np.argsort(cell)]
    hits = np.diagonal(matrices, axis1=1, axis2=2)
    fp, fn = matrices.sum(axis=1) - hits, matrices.sum(axis=2) - hits
    tn = matrices.sum(axis=(1, 2))[:, None] - hits - fp - fn
    return FoldCounts(cells, labels, hits.copy(), fp, fn, tn, single_label=True), missing


def _labels_beside(table: Table) -> list[tuple[str, ...]]:
    """Return the labels that a column such as ``classes`` lists for the matrix of each row."""
    columns = [table.texts(name) for name in table.columns if squashed(name) in _CLASSES]
    found = [{labels for text in row if (labels := listed(text))} for row in zip(*columns, strict=True)]
    for row, every in enumerate(found):
        if len(every) > 1:
            raise table.error("the labels of the matrix are listed in two ways; keep one list", row)
    return [every.pop() if every else () for every in found] or [()] * len(table)


def _parsed(table: Table, name: str, row: int, text: str, beside: tuple[str, ...]) -> tuple[Ints, tuple[str, ...]]:
    """Read one matrix, with its labels where they are written in it or beside it."""
    text, labels = _with_labels(text)
    rows = [re.split(r"[\s,]+", part.replace('"', " ").strip(" ,")) for part in _ROW.findall(text)]
    square = len(rows) > 1 and all(len(counts) == len(rows) for counts in rows) and len(labels) in (0, len(rows))
    if not _MATRIX.fullmatch(text) or not square:
        shown = " ".join(text.split())
        raise table.error(
            f"'{shown[:60]}' in column '{name}' is no confusion matrix; [[tn, fp], [fn, tp]] is needed", row
        )
    if not labels and len(beside) == len(set(beside)):
        labels = beside
        if labels and len(labels) != len(rows):
            raise table.error(f"{len(labels)} labels stand beside a matrix of {len(rows)} rows in column '{name}'", row)
    for count in (count for counts in rows for count in counts):
        if not _COUNT.fullmatch(count):
            raise table.error(f"'{count}' in the matrix in column '{name}' is no count", row)
    return np.array([[int(count.partition(".")[0]) for count in counts] for counts in rows], dtype=np.int64), labels


def _labels(table: Table, roles: Roles, protocol: Protocol, size: int) -> tuple[str, ...]:
    """Name the rows: by the declared labels, or by number."""
    if protocol.labels is None:
        labels = tuple(str(number) for number in range(size))
        if protocol.positive is not None and protocol.positive not in labels:
            raise table.error(
                f"the rows of the matrix have no names, so which is '{protocol.positive}' is not known; declare labels:"
                " in the order of the rows"
            )
        return labels
    if len(protocol.labels) != size:
        raise table.error(f"{len(protocol.labels)} labels are declared, but the matrix has {size} rows")
    if "matrix" not in roles.given and protocol.labels != sorted_labels(protocol.labels):
        name = roles.find("matrix")
        raise table.error(
            f"the rows of the matrix may be in the declared order, {listing(protocol.labels)}, or sorted; if as"
            f" declared, say so with columns: {{matrix: {name}}}, else sort labels:"
        )
    return protocol.labels


def _refuse_turned(table: Table, roles: Roles, matrices: Ints, labels: tuple[str, ...], protocol: Protocol) -> None:
    """Refuse matrices that only fit the recall or the precision beside them if rows are what was predicted."""
    positive = protocol.positive or conventional_positive(labels)
    columns = wide_columns(table, roles)
    if len(labels) != 2 or positive not in labels:
        return
    at = labels.index(positive)
    tp = matrices[:, at, at]
    for metric, axis in (("recall", 2), ("precision", 1)):
        if metric not in columns:
            continue
        straight, turned = (matrices.sum(axis=a)[:, at] for a in (axis, 3 - axis))
        printed = [parsed(text) for text in table.texts(columns[metric])]
        for row, value in enumerate(printed):
            if value is None or not straight[row] or not turned[row]:
                continue
            fits, fits_turned = (value.rounded.meets(tp[row] / whole[row]) for whole in (straight, turned))
            if fits_turned and not fits:
                raise table.error(
                    f"the {metric} beside the matrix fits it only if its rows are the predicted labels; scikit-learn's"
                    " rows are the true ones, so turn the matrix",
                    row,
                )
