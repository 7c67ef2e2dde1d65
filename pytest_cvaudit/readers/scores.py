"""Logs with the printed values of each fold: wide, long, or in the manner of scikit-learn's ``cv_results_``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.model import Cell, FoldScores, MissingFold, Printed, find_metric, sorted_cells
from pytest_cvaudit.readers.cells import find_cells, fold_rows
from pytest_cvaudit.readers.metric_columns import key, metric_of, parsed, split_columns, wide_columns
from pytest_cvaudit.readers.reasons import is_empty, reasons
from pytest_cvaudit.readers.repeated import refuse_repeated
from pytest_cvaudit.readers.table import listing, with_points

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Table

    Scores = tuple[FoldScores | None, tuple[MissingFold, ...]]

_USED = ("n", "positives", "negatives", "metric", "value", "info", "tp", "fp", "fn", "tn")


@dataclass(frozen=True)
class Entry:
    """What was written for a metric of a fold, and in which row."""

    cell: Cell
    metric: str
    text: str
    row: int


def read_wide(table: Table, roles: Roles) -> Scores:
    """Read a table with a row per fold and a column per metric."""
    columns = wide_columns(table, roles)
    table = fold_rows(table, roles)
    cells = _cell_of_row(table, roles)
    texts = {metric: table.texts(name) for metric, name in columns.items()}
    entries = [Entry(cell, metric, text[row], row) for row, cell in enumerate(cells) for metric, text in texts.items()]
    return _collect(table, roles, entries, columns.values())


def read_long(table: Table, roles: Roles) -> Scores:
    """Read a table with a row per fold and metric; metrics that are not known are left out."""
    names, values = roles.find("metric"), roles.find("value")
    if names is None or values is None:
        return None, ()
    known = {str(name): metric_of(str(name)) for name in table.text(names).categories}
    table = fold_rows(table, roles, drop_blank=True)
    cells = _cell_of_row(table, roles)
    rows = enumerate(zip(cells, table.texts(names), table.texts(values), strict=True))
    found = [(cell, known[name], text, row) for row, (cell, name, text) in rows]
    entries = [Entry(cell, key(metric), text, row) for cell, metric, text, row in found if metric is not None]
    return _collect(table, roles, entries, ())


def read_splits(table: Table, roles: Roles) -> Scores:
    """Read a table with a row per parameter setting and a column per split and metric."""
    columns = split_columns(table, roles)
    rows = range(len(table))
    entries = [
        Entry(Cell(split), metric, text, row)
        for metric, splits in columns.items()
        for split, name in splits.items()
        for row, text in zip(rows, table.texts(name), strict=True)
    ]
    numbers = [name for name in table.columns if name.startswith(("split", "mean_", "std_", "rank_"))]
    return _collect(table, roles, entries, numbers, row_per_fold=False)


def _cell_of_row(table: Table, roles: Roles) -> list[Cell]:
    cells, codes = find_cells(table, roles)
    return [cells[code] for code in codes.tolist()]


def _collect(
    table: Table, roles: Roles, entries: list[Entry], used: Collection[str], *, row_per_fold: bool = True
) -> Scores:
    _refuse_repeated(table, roles, entries, used)
    found = {(entry.cell, entry.metric): entry for entry in entries}
    # A metric that is blank in every fold was not measured here; that is no failure of a fold.
    filled = [entry for entry in found.values() if not is_empty(entry.text)]
    metrics = list(dict.fromkeys(entry.metric for entry in filled))
    usable = {entry.cell for entry in filled}
    cells = sorted_cells(usable)
    printed = {metric: _printed(table, metric, [e for e in filled if e.metric == metric]) for metric in metrics}
    rows = {entry.cell: entry.row for entry in reversed(entries)}
    reason = reasons(table, roles, used)
    missing = [
        MissingFold(cell, "every metric is blank", reason(rows[cell]), table.place(rows[cell])[1])
        for cell in sorted_cells(cell for cell in rows if cell not in usable)
    ]
    for cell in cells:
        for metric in metrics:
            if cell not in printed[metric]:
                entry = found.get((cell, metric))
                row = rows[cell] if entry is None else entry.row
                what = f"{metric} has no row" if entry is None else f"{metric} is {entry.text or 'blank'}"
                missing.append(MissingFold(cell, what, reason(row), table.place(row)[1]))
    missing.sort(key=lambda fold: fold.cell.order)
    if not cells:
        return None, tuple(missing)
    values = {metric: tuple(printed[metric].get(cell) for cell in cells) for metric in metrics}
    if not row_per_fold:
        return FoldScores(cells, values), tuple(missing)
    n, positives = (_sizes(table, roles.optional(role), cells, rows) for role in ("n", "positives"))
    lines = tuple(":".join(str(part) for part in table.place(rows[cell]) if part is not None) for cell in cells)
    return FoldScores(cells, values, n, positives, lines), tuple(missing)


def _refuse_repeated(table: Table, roles: Roles, entries: list[Entry], used: Collection[str]) -> None:
    first = {entry.row: entry for entry in reversed(entries)}
    rows = np.array(sorted(first), dtype=np.intp)
    codes: dict[tuple[Cell, str], int] = {}
    key = [codes.setdefault((first[row].cell, first[row].metric), len(codes)) for row in rows.tolist()]

    def describe(row: int) -> str:
        entry = first[int(rows[row])]
        return f"{entry.metric} of {_name(entry.cell, roles)}"

    refuse_repeated(table.take(rows), roles, np.array(key, dtype=np.int64), [*roles.used(*_USED), *used], describe)


def _name(cell: Cell, roles: Roles) -> str:
    return f"fold '{cell.fold}'" + (f" of repeat '{cell.repeat}'" if roles.find("repeat") else "")


def _printed(table: Table, metric: str, entries: list[Entry]) -> dict[Cell, Printed]:
    """Read the values of a metric; a column that can only be percentages is read as percentages."""
    values = {}
    for entry, text in zip(entries, with_points([entry.text for entry in entries]), strict=True):
        value = parsed(text)
        if value is None:
            raise table.error(f"'{entry.text}' is not a value of {metric}", entry.row)
        values[entry.cell] = value
    known = find_metric(metric)
    low, high = (known.low, known.high) if known else (0.0, 1.0)
    if high == 1 and _are_percentages(list(values.values())):
        return {cell: Printed.parse(f"{value.text}%") for cell, value in values.items()}
    for entry in entries:
        if not low <= values[entry.cell].value <= high:
            hint = "; write percentages with a % sign" if 1 < values[entry.cell].digits <= 100 else ""
            raise table.error(f"{metric} of {entry.text} lies outside {low:g}..{high:g}{hint}", entry.row)
    return values


def _are_percentages(values: list[Printed]) -> bool:
    """Tell whether numbers without a percent sign can be nothing else; a 1 among them could be either."""
    digits = [value.digits for value in values]
    return max(digits) > 1 and all(d == 0 or 1 < d <= 100 for d in digits) and not any(v.percent for v in values)


def _sizes(table: Table, name: str | None, cells: tuple[Cell, ...], rows: Mapping[Cell, int]) -> tuple[int | None, ...]:
    if name is None:
        return ()
    numbers = table.numbers(name)
    sizes: list[int | None] = []
    for cell in cells:
        number = float(numbers[rows[cell]])
        if not math.isnan(number) and (number < 0 or not number.is_integer()):
            raise table.error(f"{number:g} in column '{name}' is no number of instances", rows[cell])
        sizes.append(None if math.isnan(number) else int(number))
    return tuple(sizes)


def unknown_metrics(table: Table, roles: Roles) -> str:
    """Say which metrics a long table has, for messages."""
    name = roles.find("metric")
    return f"metrics: {listing(table.text(name).categories)}" if name is not None else table.seen()
