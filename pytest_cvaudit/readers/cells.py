"""Cells: which repeat and fold each row belongs to."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pytest_cvaudit.model import Cell, sorted_cells
from pytest_cvaudit.readers.roles import squashed
from pytest_cvaudit.readers.table import is_blank, listing, without_point_zero

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.model.experiment import Codes
    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Table

TRAIN = frozenset({"train", "training"})
TEST = frozenset({"test", "testing"})
#: Values of a column named "split" that are no folds.
_SUBSETS = TRAIN | TEST | {"val", "valid", "validation", "dev", "holdout"}
#: Columns whose values are often left out one after the other.
_GROUPS = frozenset([
    "site", "subject", "subjectid", "patient", "patientid", "group", "center", "centre", "hospital", "speaker", "user",
    "session", "batch", "cohort", "participant", "testset", "domain", "location", "project",
])  # fmt: skip
#: Rows below the folds of a table that sum them up.
_SUMMARIES = frozenset(["mean", "avg", "average", "median", "std", "sd", "stdev", "total", "sum", "overall", "all"])


def find_cells(table: Table, roles: Roles) -> tuple[tuple[Cell, ...], Codes]:
    """Return the cells in order, and for each row the code of its cell."""
    fold = _folds(table, roles)
    repeat = _repeats(table, roles)
    if repeat is None:
        codes, found = fold.codes, [Cell(str(name)) for name in fold.categories]
    else:
        width = len(repeat.categories)
        codes, keys = pd.factorize(fold.codes.astype(np.int64) * width + repeat.codes)
        found = [Cell(str(fold.categories[at // width]), str(repeat.categories[at % width])) for at in keys.tolist()]
    cells = sorted_cells(found)
    _refuse_written_twice(table, cells)
    position = {cell: i for i, cell in enumerate(cells)}
    order = np.array([position[cell] for cell in found], dtype=np.min_scalar_type(-max(len(found), 1)))
    return cells, codes if list(cells) == found else order[codes]


def fold_rows(table: Table, roles: Roles, *, drop_blank: bool = False) -> Table:
    """Leave out the rows of a table of results that are no folds: means and totals, perhaps those without a fold."""
    fold = _fold_column(table, roles)
    texts = [str(text).lower() for text in fold.categories]
    other = [i for i, text in enumerate(texts) if text in _SUMMARIES or (drop_blank and is_blank(text))]
    if not other:
        return table
    rows = np.flatnonzero(~np.isin(fold.codes, other))
    if not len(rows):
        raise table.error(f"no row has a fold: column '{roles.find('fold')}' has {listing(fold.categories)}")
    return table.take(rows)


def _refuse_written_twice(table: Table, cells: Sequence[Cell]) -> None:
    """Refuse folds ``1`` and ``01``, which may be one fold or two."""
    for one, other in pairwise(cells):
        if one.order == other.order:
            names = (one.fold, other.fold) if one.fold != other.fold else (one.repeat, other.repeat)
            raise table.error(
                f"folds {listing(sorted(names, key=len))} may be one fold or two; write each fold in one way"
            )


def _fold_column(table: Table, roles: Roles) -> pd.Categorical:
    name = roles.find("fold")
    if name is not None:
        column = without_point_zero(table.text(name))
        subsets = [text for text in column.categories if text.lower() in _SUBSETS]
        if "fold" not in roles.given and subsets:
            raise table.error(
                f"column '{name}' has {listing(subsets)}, which are no folds; name the fold column with"
                f" columns: {{fold: NAME}} and keep the test rows with select: {{{name}: test}} ({table.seen()})"
            )
        return column
    if roles.fold_of_paths is None:
        by_id = ", or join the folds by id with folds_from: FILE (columns: an id and a fold)" * roles.has("id")
        groups = [column for column in roles.free if squashed(column) in _GROUPS]
        maybe = f", such as {listing(groups)} where each was left out in turn" if groups else ""
        raise table.error(
            f"no fold column; say which it is with columns: {{fold: NAME}}{maybe}, or log a file or directory per fold"
            f"{by_id} ({table.seen()})",
            remedy={"columns": {"fold": groups[0]}} if len(groups) == 1 else None,
        )
    return table.text(roles.fold_of_paths)


def _folds(table: Table, roles: Roles) -> pd.Categorical:
    column = _fold_column(table, roles)
    _refuse_blank(table, column, "fold")
    return column


def _repeats(table: Table, roles: Roles) -> pd.Categorical | None:
    name = roles.find("repeat")
    if name is None:
        return None
    column = without_point_zero(table.text(name))
    _refuse_blank(table, column, "repeat")
    return column


def _refuse_blank(table: Table, column: pd.Categorical, what: str) -> None:
    blank = [i for i, text in enumerate(column.categories) if is_blank(text)]
    if blank:
        row = int(np.isin(column.codes, blank).argmax())
        raise table.error(f"the {what} is blank; every row needs one", row)
