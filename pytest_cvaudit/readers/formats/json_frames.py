"""Tables by columns: what pandas writes with ``to_json``, and scikit-learn's dict of arrays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.json_claims import mean_or_spread
from pytest_cvaudit.readers.metric_columns import is_split, is_validated, metric_of
from pytest_cvaudit.readers.roles import is_named

if TYPE_CHECKING:
    from pytest_cvaudit.readers.formats.json_text import Record

_PER_FOLD = re.compile(r"(?:per_?|by_?)?folds?_(?P<before>.+)|(?P<after>.+?)_(?:per_?|by_?)?folds?", re.IGNORECASE)
# A scaffold is no fold.
_FOLD_LIST = re.compile(
    r"(?:.*[_\- .])?(?i:(?:per|by|outer|inner|cv|k)?[_-]?folds?)(?:[_\- .].*|[A-Z].*)?"
    r"|(?i:splits|cv|cv_?results|cross_?validation)"
)
_SCORES = re.compile(r".+_scores", re.IGNORECASE)
_SPLIT = {"columns", "data"}


def is_record_list(value: Any) -> bool:
    """Tell whether a value is a list of objects."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def is_named_after_folds(name: str) -> bool:
    """Tell whether a list's or an object's name says that it has an entry per fold."""
    return _FOLD_LIST.fullmatch(name) is not None


def only_object(value: Record) -> tuple[str, Record] | None:
    """Return the one object in an object without lists, and its name: it holds the results."""
    nested = [(name, item) for name, item in value.items() if isinstance(item, dict)]
    return nested[0] if len(nested) == 1 and not any(isinstance(item, list) for item in value.values()) else None


def frame_rows(value: Record, shown: str) -> list[Record] | None:
    """Return the rows of an object that is a table by columns, or nothing."""
    if value.keys() >= _SPLIT and isinstance(value["data"], list) and isinstance(value["columns"], list):
        return _split(value, shown)
    return _columns(value) or _lists(value, shown)


def _split(value: Record, shown: str) -> list[Record] | None:
    """Read pandas' orient="split"."""
    names = [str(name) for name in value["columns"]]
    if not all(isinstance(row, list) for row in value["data"]):
        return None
    for number, row in enumerate(value["data"]):
        if len(row) != len(names):
            raise InputError(f"row {number} under 'data' has {len(row)} values for {len(names)} columns", shown)
    return [dict(zip(names, row, strict=True)) for row in value["data"]]


def _columns(value: Record) -> list[Record] | None:
    """Read pandas' default: an object of row number → value for each column."""
    columns = list(value.values())
    if not columns or not all(isinstance(column, dict) and column for column in columns):
        return None
    numbers = list(columns[0])
    if any(list(column) != numbers for column in columns) or not all(number.isdigit() for number in numbers):
        return None
    # Only the settings of a search are objects.
    plain = (column for name, column in value.items() if name != "params")
    if any(isinstance(item, dict) for column in plain for item in column.values()):
        return None
    return [{name: column[number] for name, column in value.items()} for number in numbers]


def _lists(value: Record, shown: str) -> list[Record] | None:
    """Read lists of equal length, a value per row; lists that are named after folds have one per fold."""
    # With return_indices scikit-learn adds who was in which split; the results do not need it.
    value = {name: item for name, item in value.items() if name not in ("indices", "estimator")}
    if (only := only_object(value)) is not None:
        name, inner = only
        rows = _lists(inner, shown)
        if rows is not None and is_named_after_folds(name):
            return _numbered(rows)
        return rows
    lists = {name: item for name, item in value.items() if isinstance(item, list) and item}
    named = {name: match for name in lists if (match := _PER_FOLD.fullmatch(name))}
    per_fold = {_singular(match["before"] or match["after"]): lists[name] for name, match in named.items()}
    if per_fold:
        return _numbered(_transposed(per_fold, shown))
    # Beside the results of one fold, lists are points of a curve, or names of features, and no columns of a log.
    results = "fit_time" not in lists and any(metric_of(name) for name, item in value.items() if isinstance(item, str))
    words = {name: item for name, item in value.items() if isinstance(item, str)}
    averaged = _averaged(lists, words)
    known = any(is_split(name) or metric_of(name) or is_named(name, "fold", "truth", "metric") for name in lists)
    known |= bool(averaged) or is_validated(lists)
    if results or not known or any(isinstance(item, dict) for item in value.values()):
        return None
    if averaged:
        return _numbered(_transposed(averaged, shown))
    return [{**words, **row} for row in _transposed(lists, shown)]


def _averaged(lists: dict[str, list[Any]], words: Record) -> dict[str, list[Any]]:
    """Return lists such as ``f1_scores`` whose mean is beside: of folds, unless another list tells of what else."""
    scores = {name: item for name, item in lists.items() if _SCORES.fullmatch(name)}
    means = {metric_of(named[1]) for name in words if (named := mean_or_spread(name)) is not None} - {None}
    found = {_singular(name): item for name, item in scores.items() if metric_of(_singular(name)) in means}
    # Values of as many seeds, classes or epochs are no folds.
    others = {len(item) for name, item in lists.items() if name not in scores}
    return {name: item for name, item in found.items() if len(item) > 1 and len(item) not in others}


def _singular(name: str) -> str:
    return name[:-1] if metric_of(name) is None and metric_of(name[:-1]) is not None else name


def _transposed(lists: dict[str, list[Any]], shown: str) -> list[Record]:
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        first, *others = lengths
        odd = next(name for name in others if lengths[name] != lengths[first])
        raise InputError(
            f"'{first}' has {lengths[first]} values and '{odd}' has {lengths[odd]}; lists beside each other must be of"
            " one length, a value per fold or per row",
            shown,
        )
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _numbered(rows: list[Record]) -> list[Record]:
    return [{"fold": str(number), **row} for number, row in enumerate(rows)]
