"""Rows that say the same thing twice, which is what several experiments in one log look like."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pandas as pd

from pytest_cvaudit.readers.roles import squashed
from pytest_cvaudit.readers.table import is_fractional, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_cvaudit.model import Cell
    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Table

    Keys = NDArray[np.signedinteger]

_NEVER_IN_ONE_FOLD = frozenset(
    [
        "seed", "randomseed", "randomstate", "model", "modelname", "classifier", "algorithm", "framework", "estimator",
        "learner", "clf", "epoch", "epochs", "checkpoint", "innerfold", "innersplit", "trial",
    ]
)  # fmt: skip
_MOST_CANDIDATES = 20
_MOST_COLUMNS = 3


def refuse_repeated(
    table: Table, roles: Roles, key: Keys, used: Sequence[str], describe: Callable[[int], str], *, for_sure: bool = True
) -> None:
    """Refuse rows with the same key, naming columns that tell them apart; unless sure, only if there are some."""
    again = pd.Series(key).duplicated().to_numpy()
    if not again.any():
        return
    candidates = _candidates(table, roles, used)
    by = telling_apart(candidates, key)
    if not by and not for_sure:
        return
    second = int(again.argmax())
    first = int((key == key[second]).argmax())
    lines = [table.place(row)[1] for row in (first, second)]
    hint = ""
    if by:
        others = [name for name in candidates if name not in by]
        hint = f"; if several experiments are in the log, tell them apart with by: [{', '.join(by)}]"
        hint += f", or repeats of one with columns: {{repeat: {by[0]}}}" * (len(by) == 1 and not roles.has("repeat"))
        hint += f" (columns that vary too: {listing(others)})" if others else ""
    message = f"{describe(second)} is there twice, on lines {lines[0]} and {lines[1]}{hint}"
    remedy = {"by": by, "also": tuple(name for name in candidates if name not in by)}
    raise table.error(message, second, remedy if by else None)


def refuse_mixture(table: Table, roles: Roles, cells: Sequence[Cell], cell: Keys) -> None:
    """Refuse folds with predictions of several models, seeds or files, which would be taken for one."""
    columns = [(name, f"column '{name}' has several values in") for name in roles.free if _is_mixed(name)]
    files = [(name, "several files have") for name in table.together if name not in (*roles.taken, roles.fold_of_paths)]
    for name, what in (*columns, *files):
        pairs = pd.DataFrame({"cell": cell, "value": table.text(name).codes}).drop_duplicates()
        again = pairs.index[pairs["cell"].duplicated()].tolist()
        if again:
            row = again[0]
            listed = ", or list the files if they are parts of one" * (name in table.together)
            raise table.error(
                f"{what} fold '{cells[cell[row]].fold}'; tell experiments apart with by: [{name}], or repeats of one"
                f" with columns: {{repeat: {name}}}{listed}",
                row,
                {"by": (name,)},
            )


def _is_mixed(name: str) -> bool:
    return squashed(name) in _NEVER_IN_ONE_FOLD


def _candidates(table: Table, roles: Roles, used: Sequence[str]) -> dict[str, Keys]:
    """Return the columns that may tell experiments apart: neither distinct in each row nor fractions."""
    known = {*used, *roles.used("fold", "repeat"), roles.fold_of_paths}
    names = [name for name in (*table.of_paths, *table.columns) if name not in known]
    table.prefetch(dict.fromkeys(names, "category"))
    columns = {name: table.text(name) for name in sorted(names, key=roles.candidates("id").__contains__)}
    most = max(2, len(table) // 2)
    few = [name for name, text in columns.items() if 1 < len(text.categories) <= most and not is_fractional(text)]
    return {name: columns[name].codes for name in few[:_MOST_CANDIDATES]}


def telling_apart(candidates: Mapping[str, Keys], key: Keys) -> tuple[str, ...]:
    """Return the fewest columns that leave no row twice."""
    for size in range(1, _MOST_COLUMNS + 1):
        for group in combinations(candidates, size):
            if not pd.DataFrame({"": key, **{name: candidates[name] for name in group}}).duplicated().any():
                return group
    return ()
