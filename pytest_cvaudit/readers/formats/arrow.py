"""Arrow tables gathered into columns batch by batch: few distinct values as codes, numbers as such."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.readers.formats.source import Kind

    #: Tables, each with the row that it begins at; one may have some of the columns only.
    Share = Iterable[tuple[int, Any]]
#: Rows per batch: the columns of one stay in the cache while they are looked at.
BATCH = 1 << 16
_MOST_NAMES = 1 << 12
#: Short texts to compare with one by one: more are found quicker by their hash.
_MOST_WORDS = 16
#: The bits that a text of so many bytes fills in a word.
_OWN = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)


class Unsuitable(Exception):
    """A column that cannot be gathered after all: blanks, large or many distinct values."""


class _ManyNames(Exception):
    """More names than a byte can number."""


class _Numbers:
    """A column of numbers without gaps."""

    def __init__(self, rows: int, dtype: type[np.number[Any]]) -> None:
        self._values = np.empty(rows, dtype)

    def add(self, chunk: Any, start: int) -> None:
        if chunk.null_count:
            raise Unsuitable
        values = chunk.to_numpy(zero_copy_only=False)
        if len(values) == len(self._values) and values.dtype == self._values.dtype:
            self._values = values
        else:
            self._values[start : start + len(values)] = values

    def column(self) -> pd.Series:
        return pd.Series(self._values, copy=False)


class _Names:
    """A column of few distinct values, each kept as a code for the text it is written with."""

    def __init__(self, rows: int, dtype: type[np.signedinteger[Any]], expected: Sequence[str]) -> None:
        self._codes = np.empty(rows, dtype)
        self._names: dict[str, int] = {}
        self._words: dict[int, str] = {}
        self._lock = Lock()
        self._learn(expected)

    def add(self, chunk: Any, start: int) -> None:
        if chunk.null_count:
            raise Unsuitable
        if (raw := _bytes(chunk)) is not None and self._add_short(*raw, start):
            return
        if hasattr(chunk, "dictionary") or is_text(chunk.type):
            chunk = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
            if len(chunk.dictionary) > _MOST_NAMES:
                raise Unsuitable
            texts, places = chunk.dictionary.to_pylist(), chunk.indices.to_numpy()
            if not self._knows(texts):
                self._learn(texts[at] for at in np.flatnonzero(np.bincount(places, minlength=len(texts))).tolist())
            self._write(texts, places, 0, start)
        else:
            values = chunk.to_numpy()
            # The distance of two bytes may not fit into one.
            self._add_numbers(values.astype(np.int32) if values.dtype.itemsize < 4 else values, start, str)

    def _add_numbers(self, values: NDArray[Any], start: int, name: Callable[[int], str]) -> None:
        """Write the codes of whole numbers, each standing for the text that `name` gives it."""
        for begin in range(0, len(values), BATCH):
            batch = values[begin : begin + BATCH]
            # Seen without a sign, negative numbers are large: mostly one pass tells that all are small and known.
            low, high = 0, int(batch.view(batch.dtype.str.replace("i", "u")).max())
            if high >= _MOST_NAMES or not self._knows(texts := [name(value) for value in range(high + 1)]):
                low, high = int(batch.min()), int(batch.max())
                if high - low >= _MOST_NAMES:
                    raise Unsuitable
                texts = [name(value) for value in range(low, high + 1)]
                # Lowest and highest do occur. Only while one in between may be new is it worth to count all.
                ends = texts[0], texts[-1]
                inner = self._knows(texts[1:-1])
                self._learn(ends if inner else (texts[at] for at in np.flatnonzero(np.bincount(batch - low)).tolist()))
            self._write(texts, batch, low, start + begin)

    def _add_short(self, at: NDArray[np.int32], data: NDArray[np.uint8], start: int) -> bool:
        """Write the codes of short texts; False where they are too long, or too many."""
        if (letters := _letters(at, data)) is not None:
            self._add_numbers(letters, start, chr)
            return True
        return (words := _words(at, data)) is not None and self._add_words(words, start)

    def _add_words(self, words: NDArray[np.uint64], start: int) -> bool:
        """Write the codes of texts by comparing with each that occurs; False where these are too many."""
        codes = self._codes[start : start + len(words)]
        codes[:] = 0
        found = 0
        for word, text in [*self._words.items()]:
            hit = words == word
            found += int(np.count_nonzero(hit))
            codes += hit.view(np.int8) * codes.dtype.type(self._code(text))
        if found == len(words):
            return True
        new = np.setdiff1d(words, np.fromiter(self._words, np.uint64)).tolist()
        if len(self._words) + len(new) > _MOST_WORDS:
            return False
        texts = {word: word.to_bytes(8, "little").rstrip(b"\0").decode() for word in new}
        self._learn(texts.values())
        self._words |= texts
        return self._add_words(words, start)

    def _knows(self, texts: Iterable[str]) -> bool:
        return all(text in self._names for text in texts)

    def _learn(self, texts: Iterable[str]) -> None:
        """Give every new name the next code."""
        with self._lock:
            for text in texts:
                self._names.setdefault(text, len(self._names))
        if len(self._names) > _MOST_NAMES or None in self._names:
            raise Unsuitable

    def _code(self, text: str) -> int:
        """Return the code of a name, or 0 for one that does not occur; names are learnt by all threads."""
        code = self._names.get(text, 0)
        if code > np.iinfo(self._codes.dtype).max:
            raise _ManyNames
        return code

    def _write(self, texts: list[str], places: NDArray[Any], low: int, start: int) -> None:
        """Write the code of every row, whose place, counted from `low`, tells which of the texts it has."""
        codes = [self._code(text) for text in texts]
        rows = slice(start, start + len(places))
        if codes == list(range(codes[0], codes[0] + len(codes))):
            shift = low - codes[0]
            # A byte cannot hold what is shifted up.
            wide = places.astype(np.int32) if shift and places.dtype.itemsize < 4 else places
            self._codes[rows] = wide - shift if shift else wide
        else:
            table = np.array(codes, dtype=self._codes.dtype)
            np.take(table, places - low if low else places, out=self._codes[rows], mode="clip")

    def column(self) -> pd.Series:
        names = pd.Index(list(self._names), dtype="str")
        if not names.size and len(self._codes):
            raise Unsuitable
        dtype = pd.CategoricalDtype(names)
        return pd.Series(pd.Categorical.from_codes(self._codes, dtype=dtype, validate=False), copy=False)


def _bytes(chunk: Any) -> tuple[NDArray[np.int32], NDArray[np.uint8]] | None:
    """Return texts as they lie in memory: where each begins and the last ends, and all their bytes."""
    import pyarrow as pa

    if not pa.types.is_string(chunk.type):
        return None
    _, places, data = chunk.buffers()
    at = np.frombuffer(places, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    return at, np.frombuffer(data or b"", np.uint8)[: at[-1]]


def _letters(at: NDArray[np.int32], data: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """Return texts that are one letter or digit each, as most labels and folds are, just as they lie in memory."""
    if int(at[-1]) - int(at[0]) != len(at) - 1 or not (np.diff(at) == 1).all():
        return None
    return data[at[0] :]


def _words(at: NDArray[np.int32], data: NDArray[np.uint8]) -> NDArray[np.uint64] | None:
    """Return texts of at most eight bytes as numbers, their bytes being the digits."""
    lengths = np.diff(at)
    if lengths.max() > 8 or not data.all():
        return None
    # Eight bytes from every place on, whether or not they belong to the text that begins there.
    every = np.ndarray(len(data) + 1, "<u8", np.append(data, np.zeros(8, np.uint8)), strides=(1,))
    words: NDArray[np.uint64] = every.take(at[:-1])
    words &= _OWN.take(lengths)
    return words


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


def gathered(
    kinds: Mapping[str, Kind],
    rows: int,
    shares: Callable[[int], Sequence[Share]],
    expected: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, pd.Series]:
    """Gather columns from tables, which `shares` hands out for so many threads.

    Names that are expected get the first codes, whichever thread meets them first. Raises `Unsuitable` where a column
    turns out not to be what it seemed.
    """
    # pyarrow and numpy leave the interpreter to others, so that two threads take half the time.
    threads = os.cpu_count() or 1
    try:
        return _gathered(kinds, rows, shares(threads), np.int8, expected or {})
    except _ManyNames:
        return _gathered(kinds, rows, shares(threads), np.int16, expected or {})


def shares_of(table: Any, threads: int) -> list[Share]:
    """Share out a table that is already there."""
    size = max(BATCH, -(-len(table) // threads))
    return [[(start, table.slice(start, size))] for start in range(0, len(table), size)]


def _gathered(
    kinds: Mapping[str, Kind],
    rows: int,
    shares: Sequence[Share],
    codes: type[np.signedinteger[Any]],
    expected: Mapping[str, Sequence[str]],
) -> dict[str, pd.Series]:
    numbers: dict[Kind, type[np.number[Any]]] = {"float64": np.float64, "str": np.int64}
    columns = {
        name: _Names(rows, codes, expected.get(name, ())) if kind == "category" else _Numbers(rows, numbers[kind])
        for name, kind in kinds.items()
    }

    def gather(share: Share) -> None:
        for start, table in share:
            for name, values in zip(table.column_names, table.itercolumns(), strict=True):
                at = start
                for chunk in filter(len, values.iterchunks()):
                    columns[name].add(chunk, at)
                    at += len(chunk)

    with ThreadPoolExecutor(max(len(shares), 1)) as pool:
        list(pool.map(gather, shares))
    return {name: column.column() for name, column in columns.items()}
