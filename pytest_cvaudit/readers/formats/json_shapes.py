"""Where the folds are in a JSON value: a list of records, an object per fold, a table, at any of the usual depths."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.json_claims import claims_beside
from pytest_cvaudit.readers.formats.json_frames import frame_rows, is_named_after_folds, is_record_list, only_object
from pytest_cvaudit.readers.formats.json_text import cell_text
from pytest_cvaudit.readers.metric_columns import is_split, metric_of
from pytest_cvaudit.readers.roles import is_named
from pytest_cvaudit.readers.subsets import SUBSETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_cvaudit.model import Claim
    from pytest_cvaudit.readers.formats.json_text import Path, Record

NEEDED = "a list of records, an object with one list of records, or one record per line (.jsonl) is needed"
FOLD, EXPERIMENT = "fold", "experiment"

_SUMMARY = re.compile(r"summary|mean|average|aggregat", re.IGNORECASE)

_FOLD_KEY = re.compile(r"(?:(?:outer|cv|test)?[ _-]?(?:fold|split)[ _-]?)?\d+", re.IGNORECASE)
_NESTING = frozenset((list, dict))
_KEYS = {FOLD: _FOLD_KEY, "repeat": re.compile(r"rep(?:eat|etition)?[ _-]?\d+", re.IGNORECASE)}
#: Settings, which tell experiments apart as a whole.
_KEPT = frozenset(["params", "best_params", "config", "settings", "hyperparameters"])
_LIFTED = frozenset(
    ["metrics", "scores", "results", "result", "performance", "measures", "counts", "confusion", "confusion_matrix"]
)


@dataclass
class Rows:
    """The records that were found, the path that leads to each, and the claims of each group of them."""

    records: list[Record] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    groups: list[tuple[Mapping[str, str], tuple[Claim, ...]]] = field(default_factory=list)
    #: Whether each record is a fold by its place, so that a list in it may hold the fold's instances.
    by_fold: bool = False

    def add(self, other: Rows) -> None:
        """Append the rows of another group."""
        self.records += other.records
        self.paths += other.paths
        self.groups += other.groups
        self.by_fold |= other.by_fold


def find_rows(value: Any, shown: str) -> Rows:
    """Find the records of a document."""
    searched = isinstance(value, dict) and any(map(is_split, value))
    rows = None if searched else _rows(value, (), {}, shown)
    if rows is None and isinstance(value, dict):
        rows = _tables(value, shown)
        record = {name: item for name, item in value.items() if not isinstance(item, (list, dict))}
        if rows is None and record:
            lists = [name for name, item in value.items() if isinstance(item, list) and not is_named(name, "matrix")]
            rows = Rows([lifted({name: item for name, item in value.items() if name not in lists})], [()])
    if rows is None or not rows.records:
        raise InputError(f"no records in the file; {NEEDED}", shown)
    return rows


def _tables(value: Record, shown: str) -> Rows | None:
    """Read an object that is a table by columns, or that has such tables under the names of experiments."""
    found = frame_rows(value, shown)
    if found is not None:
        return Rows(found, [()] * len(found), [({}, _claims(value, found, shown))])
    inner = {name: frame_rows(item, shown) for name, item in value.items() if isinstance(item, dict)}
    rows = Rows()
    for name, records in inner.items():
        if records is not None and len(inner) > 1:
            marked = [{EXPERIMENT: name, **record} for record in records]
            claims = _claims(value[name], records, shown)
            rows.add(Rows(marked, [(name,)] * len(marked), [({EXPERIMENT: name}, claims)]))
    return rows if rows.records else None


def _claims(table: Record, rows: list[Record], shown: str) -> tuple[Claim, ...]:
    _, inner = only_object(table) or ("", {})
    return claims_beside({**inner, **table}, shown, rows[0] if rows else ())


def _rows(value: Any, path: Path, words: Mapping[str, str], shown: str) -> Rows | None:
    if is_record_list(value):
        # A record of plain values holds no folds of its own; mostly none does, and there are many.
        groups = [_rows(item, (*path, i), words, shown) if _is_nested(item) else None for i, item in enumerate(value)]
        if any(group is not None for group in groups):
            rows = Rows()
            for group in groups:
                rows.add(group or Rows())
            return rows
        return Rows([{**words, **lifted(item)} for item in value], [(*path, i) for i in range(len(value))])
    return _group(value, path, words, shown) if isinstance(value, dict) else None


def _group(group: Record, path: Path, words: Mapping[str, str], shown: str) -> Rows | None:
    """Read an object that holds folds, directly or one object further down."""
    around = {**words, **_words(group)}
    containers = dict(_containers(group))
    if len(containers) > 1:
        containers = {name: rows for name, rows in containers.items() if _is_per_fold(name, rows)} or containers
    if len(containers) > 1 and _are_experiments(group, containers):
        containers = {}
    if len(containers) > 1:
        both = " and ".join(f"'{name}'" for name in containers)
        raise InputError(f"lists of records under {both}; put the one to audit into a file of its own", shown)
    for name, items in containers.items():
        rows = _of_container(name, items, (*path, name) if name else path, around, shown)
        marks = {column: value for column, value in group.items() if is_named(column, FOLD, "repeat")}
        if any(is_named(column, FOLD) for column in marks) and not _have_folds(rows):
            # The object itself is a fold, and its list holds the instances.
            rows.records, rows.groups = [{**marks, **record} for record in rows.records], []
            return rows
        # The means may also stand among the folds: {"fold_0": {…}, "mean": {…}}.
        among = group[name] if name and isinstance(group[name], dict) else {}
        rows.groups = rows.groups or [(around, claims_beside({**group, **among}, shown, _columns(rows)))]
        return rows
    inner = {name: value for name, value in group.items() if isinstance(value, dict)}
    tried = {name: _rows(value, (*path, name), around, shown) for name, value in inner.items()}
    found = {name: rows for name, rows in tried.items() if rows is not None}
    if not found:
        return None
    result = Rows()
    for name, rows in found.items():
        if len(found) > 1:
            key = next((key for key, pattern in _KEYS.items() if all(map(pattern.fullmatch, found))), EXPERIMENT)
            rows.records = [_under(key, name, record) for record in rows.records]
            rows.groups = [(_under(key, name, at), claims) for at, claims in rows.groups if key == EXPERIMENT]
        result.add(rows)
    if len(found) == 1 and not any(claims for _, claims in result.groups):
        result.groups = [(at, claims_beside(group, shown, _columns(result))) for at, _ in result.groups]
    return result


def _under(key: str, name: str, words: Mapping[str, Any]) -> dict[str, Any]:
    """Add the name of what words stand under; of experiments in experiments, both names."""
    if key == EXPERIMENT and key in words:
        return {**words, key: f"{name}/{words[key]}"}
    return {key: name, **words}


def _are_experiments(group: Record, names: Iterable[str]) -> bool:
    """Tell whether objects keyed by fold are named after models or the like, not after parts of the results."""
    return all(isinstance(group[name], dict) and name.lower() not in SUBSETS | _LIFTED for name in names)


def _containers(group: Record) -> Iterator[tuple[str, dict[str | int, Any]]]:
    """Give the members that hold records, by their name; the object itself has the name ''."""
    if (keyed := _keyed_by_fold(group)) is not None:
        yield "", keyed
        return
    for name, value in group.items():
        if is_record_list(value):
            yield name, dict(enumerate(value))
        elif isinstance(value, dict) and (keyed := _keyed_by_fold(value)) is not None:
            yield name, keyed


def _keyed_by_fold(value: Record) -> dict[str | int, Any] | None:
    """Return the folds of an object such as ``{"fold_0": {"f1": 0.5}, "fold_1": {…}, "mean": {…}}``."""
    folds: dict[str | int, Any] = {
        name: item for name, item in value.items() if isinstance(item, dict) and _FOLD_KEY.fullmatch(name)
    }
    named = any(not str(name).isdigit() for name in folds)
    alone = len(folds) == len(value)
    plain = all(not is_record_list(inner) for item in folds.values() for inner in item.values())
    # An object keyed by bare numbers alone may be a column of a table; with words inside it is a row per number.
    is_column = not named and any(str(key).isdigit() for item in folds.values() for key in item)
    return folds if folds and plain and not is_column and (named or alone) else None


def _is_per_fold(name: str, items: Mapping[str | int, Any]) -> bool:
    return _is_fold_list(name) or all(any(is_named(key, FOLD) for key in item) for item in items.values())


def _is_fold_list(name: str) -> bool:
    return is_named_after_folds(name) and not _SUMMARY.search(name)


def _of_container(name: str, items: Mapping[str | int, Any], path: Path, words: Mapping[str, str], shown: str) -> Rows:
    # A bare number is a fold only where the list says so: it may be the number of any row.
    named = any(isinstance(key, str) and not key.isdigit() for key in items)
    rows = Rows(by_fold=named or _is_fold_list(name))
    is_fold = rows.by_fold
    for key, item in items.items():
        record, at = lifted(item), (*path, key)
        own = any(is_named(column, FOLD) for column in record)
        if not own and is_fold:
            record = {FOLD: str(key), **record}
        nested = _rows(item, at, {**words, **_words(record)}, shown) if _holds_rows(item) else None
        if nested is not None:
            marks = {column: value for column, value in record.items() if is_named(column, FOLD, "repeat")}
            nested.records = [{**marks, **inner} for inner in nested.records]
            nested.groups, nested.by_fold = [], False
            rows.by_fold = False
            rows.add(nested)
        else:
            rows.add(Rows([{**words, **record}], [at]))
    return rows


def _columns(rows: Rows) -> set[str]:
    return {column for record in rows.records for column in record}


def _have_folds(rows: Rows) -> bool:
    return all(any(is_named(column, FOLD) for column in record) for record in rows.records)


def _is_nested(item: Record) -> bool:
    return not _NESTING.isdisjoint(map(type, item.values()))


def _holds_rows(item: Record) -> bool:
    return any(is_record_list(value) for value in item.values())


def _words(group: Record) -> dict[str, str]:
    # Words around the list (model, task) tell experiments apart; numbers there (n, auc) are not about a fold, nor is
    # the way of splitting, or a note on the whole.
    words = {name: value for name, value in group.items() if isinstance(value, str) and not _is_number(value)}
    return {name: value for name, value in words.items() if not is_named(name, FOLD, "info")}


def lifted(record: Record) -> Record:
    """Put ``{"metrics": {"f1": …}}`` on one level; other objects give their name to what is in them."""
    if not _is_nested(record):
        return record
    record = {name: cell_text(value) if name in _KEPT else value for name, value in record.items()}
    flat: Record = {}
    for name, value in record.items():
        inner = value if isinstance(value, dict) and "matrix" not in value else {name: value}
        for key, item in inner.items():
            column = key if inner is not value or name.lower() in _LIFTED else f"{name}_{key}"
            if flat.setdefault(column, item) != item:
                raise InputError(f"a record has two values of '{column}', one of them under '{name}'; keep one")
    # A list of true positive rates is a curve, and no recall.
    return {name: item for name, item in flat.items() if not isinstance(item, list) or metric_of(name) is None}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
