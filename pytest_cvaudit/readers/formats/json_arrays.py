"""Arrays per fold, ``{"y_true": […], "y_pred": […]}``, laid out as a row per instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell, MissingFold
from pytest_cvaudit.readers.reasons import says_why
from pytest_cvaudit.readers.roles import is_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_cvaudit.readers.formats.json_shapes import Rows
    from pytest_cvaudit.readers.formats.json_text import Record

_CLASSES = ("classes", "classes_", "labels", "class_names")
_PER_INSTANCE = ("truth", "predicted", "score", "id")


def with_instances(rows: Rows, line: Callable[[int], int], shown: str) -> tuple[MissingFold, ...]:
    """Lay out the arrays of each fold in place; folds without any are returned as missing."""
    arrays = [_arrays(record) for record in rows.records]
    if not _are_arrays(rows, arrays):
        return ()
    records, paths, missing = [], [], []
    for at, (record, names) in enumerate(zip(rows.records, arrays, strict=True)):
        if not names:
            missing.append(_missing(record, line(at)))
        try:
            laid = _laid_out(record, names)
        except InputError as error:
            raise error.at(shown, line(at)) from None
        records += laid
        paths += [rows.paths[at]] * len(laid)
    rows.records, rows.paths = records, paths
    return tuple(missing)


def with_classes(rows: Rows, document: Any) -> None:
    """Give confusion matrices the list of classes that stands around their records."""
    matrices = [name for name in {name for record in rows.records for name in record} if is_named(name, "matrix")]
    for at, record in enumerate(rows.records if matrices else ()):
        if not any(name in record for name in matrices) or any(name in record for name in _CLASSES):
            continue
        around = [document]
        for step in rows.paths[at]:
            around.append(around[-1][step])
        objects = [value for value in around if isinstance(value, dict)]
        found = {name: value[name] for value in objects for name in _CLASSES if isinstance(value.get(name), list)}
        rows.records[at] = {**record, **found}


def _arrays(record: Record) -> list[str]:
    lists = [name for name, value in record.items() if isinstance(value, list) and is_named(name, *_PER_INSTANCE)]
    found = [name for name in lists if name not in _CLASSES]
    if found and not any(is_named(name, "truth") for name in found):
        # Beside predictions without other true labels, "labels" are those, and not the names of the classes.
        found += [name for name in lists if name in _CLASSES]
    return found


def _are_arrays(rows: Rows, arrays: list[list[str]]) -> bool:
    """Tell arrays with a value per instance from sets of labels, which have a record per instance."""
    listed = [(record, names) for record, names in zip(rows.records, arrays, strict=True) if len(names) > 1]
    listed = [(record, names) for record, names in listed if any(is_named(name, "truth") for name in names)]
    if not listed or rows.by_fold:
        return bool(listed)
    # A set of labels does not list one twice; the true labels of many instances do.
    twice = sum(any(_has_twice(record[name]) for name in names if is_named(name, "truth")) for record, names in listed)
    if not _one_per_fold(rows.records):
        return twice > len(listed) / 2
    paired = all(len({len(record[name]) for name in names}) == 1 for record, names in listed)
    return twice > 0 or (paired and any(len(record[names[0]]) > 1 for record, names in listed))


def _has_twice(values: list[Any]) -> bool:
    return len({str(value) for value in values}) < len(values)


def _one_per_fold(records: list[Record]) -> bool:
    keys = [
        tuple(str(value) for name, value in record.items() if is_named(name, "fold", "repeat")) for record in records
    ]
    return all(keys) and len(set(keys)) == len(keys)


def _missing(record: Record, line: int) -> MissingFold:
    fold, repeat = (
        next((str(v) for name, v in record.items() if is_named(name, role)), "0") for role in ("fold", "repeat")
    )
    reason = next(
        (v for name, v in record.items() if is_named(name, "info") and isinstance(v, str) and says_why(v)), None
    )
    return MissingFold(Cell(fold, repeat), "no predictions", reason, line)


def _laid_out(record: Record, names: list[str]) -> list[Record]:
    lengths = {name: len(record[name]) for name in names}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"'{name}' {length}" for name, length in lengths.items())
        raise InputError(f"the arrays of a fold differ in length: {listed}")
    rest = {name: value for name, value in record.items() if not isinstance(value, list)}
    columns: dict[str, list[Any]] = {}
    for name in names:
        columns |= _per_class(name, record) if _is_matrix(record[name], name) else {name: record[name]}
    return [{**rest, **dict(zip(columns, row, strict=True))} for row in zip(*columns.values(), strict=True)]


def _is_matrix(values: list[Any], name: str) -> bool:
    return is_named(name, "score") and any(isinstance(value, list) for value in values)


def _per_class(name: str, record: Record) -> dict[str, list[Any]]:
    """Give each class its scores; which one a column is about is said by ``classes``, or is its own number."""
    rows = record[name]
    widths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if len(widths) != 1:
        raise InputError(f"the rows of '{name}' differ in length")
    (width,) = widths
    classes = next((record[key] for key in _CLASSES if isinstance(record.get(key), list)), None)
    if classes is None:
        truths = {str(item) for key, value in record.items() if is_named(key, "truth") for item in value}
        classes = [str(number) for number in range(width)]
        if not truths <= set(classes):
            raise InputError(f"'{name}' has {width} columns; say of which labels with \"classes\": […] beside it")
    if len(classes) != width:
        raise InputError(f"'{name}' has {width} columns for {len(classes)} classes")
    return {f"score_{label}": [row[i] for row in rows] for i, label in enumerate(classes)}
