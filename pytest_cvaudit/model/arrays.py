"""Labels, scores and ids as programs have them in memory, brought into one form."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model.labels import label_order, sorted_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.model.experiment import Codes

    Sets = NDArray[np.uint8]
    Floats = NDArray[np.floating[Any]]
    #: Whole numbers, or texts as objects.
    Marks = NDArray[np.int64] | NDArray[np.object_]

_MISSING = ("nan", "<NA>", "NaT")
_MOST_REPEATS = 255
_BOOLEANS = ("False", "True")
#: Beyond it, a float is not a whole number for sure.
_LARGEST = 2.0**53


@dataclass(frozen=True)
class Labels:
    """A label per row as codes into ``names``, or for multi-label data how often each row lists each name.

    ``names`` are in the order in which scikit-learn has its classes: numbers by value, texts by letter.
    """

    names: tuple[str, ...]
    codes: Codes | None = None
    sets: Sets | None = None
    textual: bool = False

    def __len__(self) -> int:
        """Count the rows."""
        rows = self.codes if self.sets is None else self.sets
        return 0 if rows is None else len(rows)

    def take(self, rows: NDArray[np.intp]) -> Labels:
        """Keep some rows."""
        if self.codes is not None:
            return Labels(self.names, self.codes[rows], textual=self.textual)
        return Labels(self.names, sets=None if self.sets is None else self.sets[rows], textual=self.textual)

    def counts(self) -> dict[str, int]:
        """How often each label occurs."""
        if self.codes is not None:
            numbers = np.bincount(self.codes, minlength=len(self.names))
        else:
            assert self.sets is not None
            numbers = (self.sets > 0).sum(axis=0)
        return {name: int(number) for name, number in zip(self.names, numbers, strict=True) if number}


def label_text(value: object, name: str = "the declaration") -> str:
    """Write a label as text: 1, 1.0 and '1' are the same label."""
    if value is None or (not isinstance(value, str) and str(value) in _MISSING):
        raise InputError(f"{name} has a missing label")
    return str(int(value)) if isinstance(value, float | np.floating) and float(value).is_integer() else str(value)


def label_texts(values: Iterable[object], name: str = "the declaration") -> tuple[str, ...]:
    """Write several labels as texts, each of which may stand there once."""
    texts = tuple(label_text(value, name) for value in values)
    if len(set(texts)) < len(texts):
        raise InputError(f"{name} has the label '{next(t for t in texts if texts.count(t) > 1)}' twice")
    return texts


def read_labels(values: Any, name: str, classes: Sequence[object] | None = None) -> Labels:
    """Read a label per row, a set of labels per row, or a matrix of zeros and ones with a column per class."""
    if hasattr(values, "toarray"):
        values = values.toarray()
    if (rows := _rows_of_sets(values)) is not None:
        return _label_sets(rows, name)
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] != 1:
        return _indicator(array, name, classes)
    if array.ndim not in (1, 2):
        raise InputError(f"{name} must have one label or one set of labels per instance; it has shape {array.shape}")
    return _single(array.reshape(-1), name)


def same_kind(parts: dict[str, Labels], fold: str, *, rename: bool = True) -> dict[str, Labels]:
    """Make True and False of one array the 1 and 0 of another; refuse words in one beside numbers in another."""
    kinds = {name: _kind(labels) for name, labels in parts.items()}
    for odd, other in (("words", "numbers"), ("words", "booleans"), *(() if rename else (("booleans", "numbers"),))):
        if {odd, other} <= set(kinds.values()):
            one, two = (next(name for name, kind in kinds.items() if kind == each) for each in (odd, other))
            shown = [", ".join(parts[name].names[:4]) for name in (one, two)]
            raise InputError(f"fold {fold}: labels are {odd} in {one} ({shown[0]}) and {other} in {two} ({shown[1]})")
    if not {"booleans", "numbers"} <= set(kinds.values()):
        return parts
    numbers = {"False": "0", "True": "1"}
    return {
        name: replace(labels, names=tuple(numbers[each] for each in labels.names))
        if kinds[name] == "booleans"
        else labels
        for name, labels in parts.items()
    }


def _kind(labels: Labels) -> str | None:
    """What the labels of an array are, where that is sure; texts of digits go with numbers."""
    names = labels.names
    if not names or labels.sets is not None:
        return None
    if labels.textual:
        return None if any(name in _BOOLEANS or _is_number(name) for name in names) else "words"
    if all(name in _BOOLEANS for name in names):
        return "booleans"
    return "numbers" if all(map(_is_number, names)) else None


def _is_number(name: str) -> bool:
    return label_order(name)[0] == 0


def _rows_of_sets(values: Any) -> list[Any] | None:
    """The rows of a sequence that holds collections of labels; None where it holds labels or is a matrix."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return None
    if getattr(values, "ndim", 1) != 1 or not isinstance(values, Iterable):
        return None
    rows = values if isinstance(values, list) else list(values) if _is_object(values) else None
    if not rows or not any(
        issubclass(kind, Collection) and kind not in (str, bytes, np.str_) for kind in set(map(type, rows))
    ):
        return None
    if all(isinstance(row, list | tuple | np.ndarray) for row in rows) and len({len(row) for row in rows}) == 1:
        # Rows of zeros and ones of one length are a matrix: as sets of labels they would all be the same one.
        flat = [each for row in rows for each in row]
        if len(rows[0]) > 1 and all(not isinstance(each, str) and each in (0, 1) for each in flat):
            return None
    return rows


def _is_object(values: Any) -> bool:
    return isinstance(values, tuple) or str(getattr(values, "dtype", "")) in ("object", "list")


def _is_set(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes)


def _label_sets(rows: list[Any], name: str) -> Labels:
    for number, row in enumerate(rows):
        if not _is_set(row):
            raise InputError(f"{name} has a set of labels in some rows and {row!r} in row {number}")
    texts = [[label_text(label, name) for label in row] for row in rows]
    textual = any(isinstance(label, str) for row in rows for label in row)
    names = _in_order({label for row in texts for label in row}, textual)
    position = {label: index for index, label in enumerate(names)}
    counts = np.zeros((len(texts), len(names)), dtype=np.int64)
    for at, row in enumerate(texts):
        for label in row:
            counts[at, position[label]] += 1
    if counts.max(initial=0) > _MOST_REPEATS:
        raise InputError(f"{name} lists a label more than {_MOST_REPEATS} times in one row")
    return Labels(names, sets=counts.astype(np.uint8), textual=textual)


def _indicator(array: NDArray[Any], name: str, classes: Sequence[object] | None) -> Labels:
    columns = array.shape[1]
    if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        what = f"it has shape {array.shape} and holds other values than 0 and 1"
        raise InputError(f"{name} must have one label per instance, or a column of zeros and ones per label; {what}")
    names = tuple(map(str, range(columns))) if classes is None else label_texts(classes, "classes")
    if len(names) != columns:
        raise InputError(f"{name} has {columns} columns and classes names {len(names)} ({', '.join(names)})")
    return Labels(names, sets=array.astype(np.uint8), textual=False)


def _single(array: NDArray[Any], name: str) -> Labels:
    if array.dtype.kind == "O" or array.dtype.kind not in "biufUS":
        values = array.tolist()
        texts = [value if type(value) is str else label_text(value, name) for value in values]
        return _coded(texts, any(isinstance(value, str) for value in values))
    if array.dtype.kind == "f":
        if not (odd := array[~(np.equal(array, np.floor(array)) & (np.abs(array) < _LARGEST))]).size:
            array = array.astype(np.int64)
        elif np.isnan(odd).any():
            raise InputError(f"{name} has a missing label")
        else:
            raise InputError(f"{name} has {odd[0]:g}, which is no label; scores are given as y_score")
    if array.dtype.kind == "S":
        array = array.astype(np.str_)
    found, codes = np.unique(array, return_inverse=True)
    names = tuple(str(value) for value in found.tolist())
    return Labels(names, codes.astype(code_type(len(names))), textual=array.dtype.kind == "U")


def _coded(texts: list[str], textual: bool) -> Labels:
    names = _in_order(set(texts), textual)
    position = {label: index for index, label in enumerate(names)}
    return Labels(
        names, np.array([position[text] for text in texts], dtype=code_type(len(names))), textual=textual
    )  # fmt: skip


def _in_order(names: Iterable[str], textual: bool) -> tuple[str, ...]:
    return tuple(sorted(names)) if textual else sorted_labels(names)


def code_type(size: int) -> np.dtype[np.signedinteger[Any]]:
    """The smallest type that holds codes of so many names."""
    return np.min_scalar_type(-max(size, 1))


def joined_names(parts: Sequence[Labels]) -> tuple[str, ...]:
    """The names of several columns of labels, in the order in which scikit-learn has its classes."""
    first = parts[0].names
    if all(part.names == first for part in parts):
        return first
    return _in_order({name for part in parts for name in part.names}, any(part.textual for part in parts))


def read_scores(values: Any) -> Floats:
    """Read a score per row, or per row and class, in the precision in which it comes."""
    try:
        score = np.asarray(values)
        if score.dtype.kind != "f" or score.dtype.itemsize not in (4, 8):
            score = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"y_score must be numbers: {error}") from None
    if score.ndim == 3 and score.shape[2] == 2:
        # One matrix of probabilities per label, as scikit-learn gives them for many outputs.
        score = score[:, :, 1].T
    if score.ndim not in (1, 2):
        raise InputError(f"y_score must have a row per instance; it has shape {score.shape}")
    return score[:, 0] if score.ndim == 2 and score.shape[1] == 1 else score


def read_marks(values: Any, name: str) -> Marks:
    """Read the ids of instances: whole numbers, texts, or a mask over all instances."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must have one id per instance; it has shape {array.shape}")
    if array.dtype.kind == "b":
        return np.flatnonzero(array).astype(np.int64)
    if array.dtype.kind in "iu" and (not array.size or int(array.max()) <= np.iinfo(np.int64).max):
        return array.astype(np.int64)
    return np.array([label_text(value, name) for value in array.tolist()], dtype=object)
