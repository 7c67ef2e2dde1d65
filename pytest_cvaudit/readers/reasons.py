"""Why a fold has no result, where the log says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Table

_EMPTY = frozenset(
    ["", "nan", "na", "n/a", "none", "null", "-", "--", "–", "—", "?", "undefined", "undef", "error", "failed"]
)
_FINE = frozenset(["ok", "success", "done", "completed", "finished"])


def is_empty(text: str) -> bool:
    """Tell whether a cell of results holds no result."""
    return text.lower() in _EMPTY


def reasons(table: Table, roles: Roles, used: Collection[str] = ()) -> Callable[[int], str | None]:
    """Return a function from a row to the first text in a column such as ``info`` or ``error``."""
    columns = [table.texts(name) for name in roles.candidates("info") if name not in used]
    return lambda row: next((column[row] for column in columns if says_why(column[row])), None)


def says_why(text: str) -> bool:
    """Tell whether a text such as a status gives the reason of a failure."""
    return not is_empty(text) and text.lower() not in _FINE
