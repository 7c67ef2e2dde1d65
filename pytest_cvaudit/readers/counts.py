"""Logs with confusion counts per fold, and perhaps per label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.model import FoldCounts, MissingFold
from pytest_cvaudit.model.labels import sorted_labels
from pytest_cvaudit.readers.cells import SUMMARIES, find_cells, fold_rows
from pytest_cvaudit.readers.reasons import reasons
from pytest_cvaudit.readers.repeated import refuse_repeated
from pytest_cvaudit.readers.table import is_blank, listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.model import Cell, Protocol
    from pytest_cvaudit.model.experiment import Codes, Ints
    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Table

    Columns = dict[str, Ints]

#: Rows below those of the labels, as in scikit-learn's classification report.
_TOTALS = SUMMARIES | {"macro", "micro", "weighted", "macro avg", "micro avg", "weighted avg", "accuracy"}
_OPTIONAL = ("tn", "positives", "negatives", "n")
_ROLES = ("tp", "fp", "fn", *_OPTIONAL)


def read_counts(table: Table, roles: Roles, protocol: Protocol) -> tuple[FoldCounts | None, tuple[MissingFold, ...]]:
    """Read a table with a row per fold, or per fold and label."""
    names = {role: name for role in _ROLES if (name := roles.find(role)) is not None}
    # What is blank in all of this part was not counted here, though it may be in another part of the table.
    blank = {role for role, name in names.items() if np.isnan(table.numbers(name)).all()}
    names = {role: name for role, name in names.items() if "tp" in blank or role not in blank.intersection(_OPTIONAL)}
    if "fn" not in names and "positives" not in names:
        raise roles.ask(f"beside '{names['tp']}' and '{names['fp']}', fn or positives is needed", "fn", "NAME")
    table = fold_rows(table, roles)
    table, missing = _without_failed(table, roles, names)
    if not len(table):
        return None, missing
    cells, cell = find_cells(table, roles)
    counts = _confusion(table, names)
    label_column = roles.find("label")
    if label_column is None:
        refuse_repeated(table, roles, cell, [*names.values()], lambda row: f"fold '{cells[cell[row]].fold}'")
        return _two_labels(cells, cell, counts, protocol), missing
    labels, code = _label_codes(table, label_column, protocol)
    refuse_repeated(
        table, roles, cell.astype(np.int64) * len(labels) + code, [*names.values(), label_column],
        lambda row: f"fold '{cells[cell[row]].fold}', label '{labels[code[row]]}'",
    )  # fmt: skip
    grids = {role: _grid(values, cell, code, len(cells), len(labels)) for role, values in counts.items()}
    _refuse_gaps(table, cells, labels, grids["tp"])
    return _by_label(cells, labels, grids), missing


def _without_failed(table: Table, roles: Roles, names: dict[str, str]) -> tuple[Table, tuple[MissingFold, ...]]:
    """Set apart the folds in which every count is blank."""
    blank = np.all([np.isnan(table.numbers(name)) for name in names.values()], axis=0)
    if not blank.any():
        return table, ()
    cells, cell = find_cells(table, roles)
    usable = set(cell[~blank].tolist())
    reason = reasons(table, roles)
    missing: dict[int, MissingFold] = {}
    for row in np.flatnonzero(blank).tolist():
        if (code := int(cell[row])) not in usable:
            missing.setdefault(code, MissingFold(cells[code], "every count is blank", reason(row), table.place(row)[1]))
    return table.take(np.flatnonzero(~blank)), tuple(missing[code] for code in sorted(missing))


def _confusion(table: Table, names: dict[str, str]) -> Columns:
    """Work out tp, fp, fn and, where the log tells it, tn in each row."""
    given = {role: _integers(table, name) for role, name in names.items()}
    tp, fp = given["tp"], given["fp"]
    fn = given["fn"] if "fn" in given else given["positives"] - tp
    tn = given.get("tn")
    if tn is None and "negatives" in given:
        tn = given["negatives"] - fp
    elif tn is None and "n" in given:
        tn = given["n"] - tp - fp - fn
    shown = {role: f"'{name}'" for role, name in names.items()}
    _check(table, fn >= 0, f"{shown['tp']} is greater than {shown.get('positives')}")
    if "positives" in given:
        _check(table, tp + fn == given["positives"], f"{shown['positives']} is not tp + fn")
    if tn is not None:
        whole = shown.get("negatives") or shown.get("n")
        _check(table, tn >= 0, f"the counts are greater than {whole} allows")
        if "negatives" in given:
            _check(table, fp + tn == given["negatives"], f"{shown['negatives']} is not fp + tn")
        if "n" in given:
            _check(table, tp + fp + fn + tn == given["n"], f"{shown['n']} is not the sum of the counts")
    return {"tp": tp, "fp": fp, "fn": fn} | ({"tn": tn} if tn is not None else {})


def _integers(table: Table, name: str) -> Ints:
    numbers = table.numbers(name)
    with np.errstate(invalid="ignore"):
        whole = numbers.astype(np.int64)
    for row in np.flatnonzero((whole != numbers) | (numbers < 0)).tolist():
        raise table.error(f"'{table.texts(name)[row]}' in column '{name}' is no count", row)
    return whole


def _check(table: Table, holds: np.ndarray, message: str) -> None:
    if not holds.all():
        raise table.error(message, int((~holds).argmax()))


def _label_codes(table: Table, name: str, protocol: Protocol) -> tuple[tuple[str, ...], Codes]:
    column = table.names(name)
    labels = sorted_labels(str(text) for text in column.categories)
    position = {label: i for i, label in enumerate(labels)}
    codes = np.array([position[str(text)] for text in column.categories])[column.codes]
    for label in labels:
        if is_blank(label):
            row = int((codes == position[label]).argmax())
            raise table.error(f"column '{name}' is blank; every row needs a label", row)
        if len(labels) > 2 and label.lower() in _TOTALS and label not in (protocol.labels or ()):
            raise table.error(
                f"label '{label}' in column '{name}' seems to sum up the others; leave its rows out, or declare labels:"
            )
    if protocol.positive is not None and protocol.positive not in {*labels, *(protocol.labels or ())}:
        raise table.error(
            f"positive label '{protocol.positive}' never occurs in column '{name}'; labels are {listing(labels)}"
        )
    return labels, codes


def _grid(values: Ints, cell: Codes, code: Codes, height: int, width: int) -> Ints:
    grid = np.full((height, width), -1, dtype=np.int64)
    grid[cell, code] = values
    return grid


def _refuse_gaps(table: Table, cells: Sequence[Cell], labels: tuple[str, ...], grid: Ints) -> None:
    for row, column in np.argwhere(grid < 0).tolist():
        raise table.error(
            f"fold '{cells[row].fold}' has no row for label '{labels[column]}';"
            " every fold needs every label, if only with zeros"
        )


def _two_labels(cells: tuple[Cell, ...], cell: Codes, counts: Columns, protocol: Protocol) -> FoldCounts:
    order = np.argsort(cell)
    ordered = {role: values[order] for role, values in counts.items()}
    positive = protocol.positive or "positive"
    others = [label for label in protocol.labels or () if label != positive]
    negative = others[0] if len(others) == 1 else "negative"
    tp, fp, fn, tn = (ordered.get(role) for role in ("tp", "fp", "fn", "tn"))
    if tp is None or fp is None or fn is None or tn is None:
        one = {role: values[:, None] for role, values in ordered.items()}
        return FoldCounts(cells, (positive,), one["tp"], one["fp"], one["fn"])
    hits, misses = np.stack([tp, tn], axis=1), np.stack([fp, fn], axis=1)
    return FoldCounts(cells, (positive, negative), hits, misses, misses[:, ::-1], hits[:, ::-1], single_label=True)


def _by_label(cells: tuple[Cell, ...], labels: tuple[str, ...], grids: Columns) -> FoldCounts:
    tp, fp, fn, tn = grids["tp"], grids["fp"], grids["fn"], grids.get("tn")
    gold, guessed = (tp + fn).sum(axis=1), (tp + fp).sum(axis=1)
    if tn is None:
        single = bool((gold == guessed).all())
        return FoldCounts(cells, labels, tp, fp, fn, gold[:, None] - tp - fp - fn if single else None, single)
    n = tp + fp + fn + tn
    single = bool((n == gold[:, None]).all() and (n == guessed[:, None]).all())
    return FoldCounts(cells, labels, tp, fp, fn, tn, single)
