"""Arrow tables gathered into columns batch by batch: few distinct values as codes, numbers as such."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from pytest_cvaudit.readers.formats.source import Kind
#: Rows per batch: the columns of one stay in the cache while they are looked at.
BATCH = 1 << 16
_MOST_NAMES = 1 << 12


class Unsuitable(Exception):
    """A column that cannot be gathered after all: blanks, large or many distinct values."""


class _ManyNames(Exception):
    """More names than a byte can number."""


class _Numbers:
    """A column of numbers without gaps."""

    def __init__(self, rows: int, dtype: type[np.number[Any]]) -> None:
        self._values = np.empty(rows, dtype)

    def add(self, batch: Any, start: int) -> None:
        if batch.null_count:
            raise Unsuitable
        self._values[start : start + len(batch)] = batch.to_numpy(zero_copy_only=False)

    def column(self) -> pd.Series:
        return pd.Series(self._values, copy=False)


class _Names:
    """A column of few distinct values, each kept as a code for the text it is written with."""

    def __init__(self, rows: int, dtype: type[np.signedinteger[Any]]) -> None:
        self._codes = np.empty(rows, dtype)
        self._names: dict[str, int] = {}
        self._lock = Lock()

    def add(self, batch: Any, start: int) -> None:
        if batch.null_count:
            raise Unsuitable
        if not len(batch):
            return
        letters = _letters(batch)
        if letters is not None:
            places, low, high = letters, int(letters.min()), int(letters.max())
            texts = [chr(code) for code in range(low, high + 1)]
        elif hasattr(batch, "dictionary") or is_text(batch.type):
            batch = batch if hasattr(batch, "dictionary") else batch.dictionary_encode()
            if len(batch.dictionary) > _MOST_NAMES:
                raise Unsuitable
            texts, places, low = batch.dictionary.to_pylist(), batch.indices.to_numpy(), 0
        else:
            places = batch.to_numpy()
            # The distance of two bytes may not fit into one.
            places = places.astype(np.int32) if places.dtype.itemsize < 4 else places
            low, high = _range(places)
            if high - low >= _MOST_NAMES:
                raise Unsuitable
            texts = [str(value) for value in range(low, high + 1)]
        self._add(texts, places, low, slice(start, start + len(batch)))

    def _add(self, texts: list[str], places: NDArray[Any], low: int, rows: slice) -> None:
        """Write the codes of a batch, whose places tell which of the texts each row has, the first being ``low``."""
        if any(text not in self._names for text in texts):
            # Only while a name may be new: to look for those that do not occur costs more than all else.
            used = np.flatnonzero(np.bincount(places - low, minlength=len(texts)))
            with self._lock:
                for at in used.tolist():
                    self._names.setdefault(texts[at], len(self._names))
            if len(self._names) > _MOST_NAMES or None in self._names:
                raise Unsuitable
            if len(self._names) > np.iinfo(self._codes.dtype).max:
                raise _ManyNames
        codes = np.array([self._names.get(text, 0) for text in texts], dtype=self._codes.dtype)
        if np.array_equal(codes, np.arange(len(texts)) + int(codes[0])):
            shift = low - int(codes[0])
            self._codes[rows] = places - shift if shift else places
        else:
            np.take(codes, places - low if low else places, out=self._codes[rows], mode="clip")

    def column(self) -> pd.Series:
        names = pd.Index(list(self._names), dtype="str")
        if not names.size and len(self._codes):
            raise Unsuitable
        dtype = pd.CategoricalDtype(names)
        return pd.Series(pd.Categorical.from_codes(self._codes, dtype=dtype, validate=False), copy=False)


def _letters(batch: Any) -> NDArray[np.uint8] | None:
    """Return texts that are one letter or digit each, as most labels and folds are, just as they lie in memory."""
    import pyarrow as pa

    if not pa.types.is_string(batch.type):
        return None
    _, ends, data = batch.buffers()
    at = np.frombuffer(ends, np.int32)[batch.offset : batch.offset + len(batch) + 1]
    if int(at[-1]) - int(at[0]) != len(batch) or not (np.diff(at) == 1).all():
        return None
    return np.frombuffer(data, np.uint8, len(batch), int(at[0]))


def _range(values: NDArray[Any]) -> tuple[int, int]:
    """Return bounds of signed whole numbers; seen as unsigned, small ones without a sign need one pass only."""
    most = int(values.view(values.dtype.str.replace("i", "u")).max())
    return (0, most) if most < _MOST_NAMES else (int(values.min()), int(values.max()))


def suits(kind: Kind, arrow_type: Any) -> bool:
    """Tell whether a column of this type, for this use, can be gathered."""
    import pyarrow as pa

    types = pa.types
    if kind == "float64":
        return bool(types.is_float32(arrow_type) or types.is_float64(arrow_type) or types.is_integer(arrow_type))
    if kind == "str":
        return bool(types.is_signed_integer(arrow_type))
    text = types.is_dictionary(arrow_type) and is_text(arrow_type.value_type)
    return bool(text or types.is_signed_integer(arrow_type))


def is_text(arrow_type: Any) -> bool:
    """Tell whether a column holds texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type))


def gathered(kinds: Mapping[str, Kind], table: Any) -> dict[str, pd.Series]:
    """Gather the columns of a table; raises `Unsuitable` where one turns out not to be what it seemed."""
    try:
        return _gathered(kinds, table, np.int8)
    except _ManyNames:
        return _gathered(kinds, table, np.int16)


def _gathered(kinds: Mapping[str, Kind], table: Any, codes: type[np.signedinteger[Any]]) -> dict[str, pd.Series]:
    makers: dict[Kind, Callable[[int], _Numbers | _Names]] = {
        "float64": partial(_Numbers, dtype=np.float64),
        "str": partial(_Numbers, dtype=np.int64),
        "category": partial(_Names, dtype=codes),
    }
    columns = {name: makers[kind](len(table)) for name, kind in kinds.items()}

    def gather(start: int) -> None:
        for batch in table.slice(start, share).to_batches(BATCH):
            for name, column in columns.items():
                column.add(batch.column(name), start)
            start += batch.num_rows

    # numpy leaves the interpreter to others, so that two threads take half the time.
    threads = os.cpu_count() or 1
    share = max(BATCH, -(-len(table) // threads))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(gather, range(0, len(table), share)))
    return {name: column.column() for name, column in columns.items()}
