"""Cells: which repeat and fold each row belongs to."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pytest_cvaudit.model import Cell, sorted_cells
from pytest_cvaudit.readers.roles import squashed
from pytest_cvaudit.readers.subsets import SUBSETS
from pytest_cvaudit.readers.table import is_blank, listing, recoded, without_point_zero

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.model.experiment import Codes
    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Table

#: Columns whose values are often left out one after the other.
_GROUPS = frozenset([
    "site", "subject", "subjectid", "patient", "patientid", "group", "center", "centre", "hospital", "speaker", "user",
    "session", "batch", "cohort", "participant", "testset", "domain", "location", "project",
])  # fmt: skip
_NUMBERS_OF_FOLDS = frozenset(["cv", "kfold"])
#: Rows below the folds of a table that sum them up.
SUMMARIES = frozenset(["mean", "avg", "average", "median", "std", "sd", "stdev", "total", "sum", "overall", "all"])
#: Words that such rows are also made of, where the folds are numbered and so nothing else is a word.
_SUMMING = SUMMARIES | {"min", "max", "count", "sem", "var", "variance", "stddev", "pooled", "micro", "macro"}
_BESIDE = _SUMMING | {"fold", "folds", "cv", "of", "over", "across", "and", "the", "score", "dev", "deviation"}
_BRACKETS = re.compile(r"\(.*?\)|\b(?:25|50|75)%")
_COMMA_ZERO = re.compile(r"\d+,0+")
_WORD = re.compile(r"[^\W\d_]+")


def find_cells(table: Table, roles: Roles) -> tuple[tuple[Cell, ...], Codes]:
    """Return the cells in order, and for each row the code of its cell."""
    fold = _folds(table, roles)
    repeat = _repeats(table, roles, fold)
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
    summing = {text for text in texts if text in SUMMARIES or _sums_up(text)}
    if not all(any(map(str.isdigit, text)) for text in texts if text not in summing and not is_blank(text)):
        summing &= SUMMARIES  # a name among names may be a site or a person called Max
    other = [i for i, text in enumerate(texts) if text in summing or (drop_blank and is_blank(text))]
    if not other:
        return table
    rows = np.flatnonzero(~np.isin(fold.codes, other))
    if not len(rows):
        raise table.error(f"no row has a fold: column '{roles.find('fold')}' has {listing(fold.categories)}")
    return table.take(rows)


def _sums_up(text: str) -> bool:
    """Tell whether a row is named ``mean ± std``, ``CV mean``, ``Mean (5 folds)``, ``25%`` or the like."""
    rest = _BRACKETS.sub("", text)
    words = set(_WORD.findall(rest))
    if not words:
        return rest != text and not rest.strip()
    return words <= _BESIDE and not words.isdisjoint(_SUMMING) and not any(map(str.isdigit, rest))


def refuse_header(table: Table, name: str, column: pd.Categorical) -> None:
    """Refuse a row that repeats the header, as files have that were appended to each other."""
    if name in column.categories:
        row = int((column == name).argmax())
        raise table.error(f"the row has '{name}' in column '{name}', as the header does; delete the second header", row)


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
        column = _whole(table.text(name))
        refuse_header(table, name, column)
        subsets = [text for text in column.categories if text.lower() in SUBSETS]
        if "fold" not in roles.given and squashed(name) in _NUMBERS_OF_FOLDS and len(column.categories) == 1:
            raise roles.ask(f"column '{name}' may be the number of folds, and no fold", "fold", name)
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
        maybe += f", or with {listing(table.of_paths)} if its name tells the fold" if table.of_paths else ""
        raise table.error(
            f"no fold column; say which it is with columns: {{fold: NAME}}{maybe}, or log a file or directory per fold"
            f"{by_id} ({table.seen()})",
            remedy={"columns": {"fold": groups[0]}} if len(groups) == 1 else None,
        )
    return table.text(roles.fold_of_paths)


def _whole(column: pd.Categorical) -> pd.Categorical:
    """Write ``1.0``, or with a decimal comma ``1,0``, as ``1``."""
    texts = [str(text) for text in column.categories]
    if all(map(_COMMA_ZERO.fullmatch, texts)):
        return recoded(column, (text.partition(",")[0] for text in texts))
    return without_point_zero(column)


def _folds(table: Table, roles: Roles) -> pd.Categorical:
    column = _fold_column(table, roles)
    _refuse_blank(table, column, "fold")
    return column


def _repeats(table: Table, roles: Roles, fold: pd.Categorical) -> pd.Categorical | None:
    name = roles.find("repeat")
    if name is None:
        return None
    column = _whole(table.text(name))
    _refuse_blank(table, column, "repeat")
    # A run is mostly a repeat, but may be what trained one fold.
    is_run = "repeat" not in roles.given and squashed(name).startswith("run")
    if is_run and len(column.categories) > 1 and len(fold.categories) > 1:
        pairs = pd.DataFrame({"fold": fold.codes, "repeat": column.codes}).drop_duplicates()
        if not pairs["repeat"].duplicated().any():
            if not pairs["fold"].duplicated().any():
                return None
            raise table.error(
                f"no value of column '{name}' is in two folds, and some folds have several; if they are repeats, say so"
                f" with columns: {{repeat: {name}}}, else give the column another name"
            )
    return column


def _refuse_blank(table: Table, column: pd.Categorical, what: str) -> None:
    blank = [i for i, text in enumerate(column.categories) if is_blank(text)]
    if blank:
        row = int(np.isin(column.codes, blank).argmax())
        raise table.error(f"the {what} is blank; every row needs one", row)
