"""The rows of one or several files with the same columns, loaded by column and cut into parts."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from pytest_cvaudit.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.errors import Remedy
    from pytest_cvaudit.model.experiment import Floats
    from pytest_cvaudit.readers.formats import Kind, Source

    Rows = NDArray[np.intp]
    Marks = NDArray[Any]
    Column: TypeAlias = pd.Categorical | Floats | Marks

_INTEGRAL = re.compile(r"[+-]?\d+(?:\.0*)?")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})*|0)")
_BLANK = frozenset({"", "nan"})
_SHOWN_COLUMNS = 30
_EARLY = 1 << 16


def is_blank(text: str) -> bool:
    """Tell whether a cell holds nothing."""
    return text.lower() in _BLANK


def listing(names: Iterable[str], limit: int = 10) -> str:
    """Write names in quotes for a message, cutting a long list."""
    every = [f"'{name}'" for name in names]
    return ", ".join(every[:limit]) + (f" and {len(every) - limit} more" if len(every) > limit else "")


def with_points(texts: Sequence[str]) -> Sequence[str]:
    """Write the decimal commas of a column as points, where they can be nothing else; ``1,234`` alone may be 1234."""
    filled = [text.removesuffix("%").strip() for text in texts if not is_blank(text)]
    if not any("," in text for text in filled) or not all(map(_DECIMAL_COMMA.fullmatch, filled)):
        return texts
    return texts if all(map(_THOUSANDS.fullmatch, filled)) else [text.replace(",", ".") for text in texts]


def is_fractional(column: pd.Categorical) -> bool:
    """Tell whether a column holds numbers, and not only integers."""
    texts = [str(text) for text in column.categories if not is_blank(str(text))]
    return all(map(_NUMBER.fullmatch, texts)) and not all(map(_INTEGRAL.fullmatch, texts))


def recoded(column: pd.Categorical, texts: Iterable[str]) -> pd.Categorical:
    """Give each category a new text, merging those that become equal; what has no category becomes blank."""
    codes, names = pd.factorize(np.array([*texts, ""], dtype=object))
    categories = pd.Index(names, dtype="str")
    return compact(pd.Categorical.from_codes(codes[column.codes], categories=categories))


def compact(column: pd.Categorical) -> pd.Categorical:
    """Drop the texts that do not occur; by counting, as pandas would sort."""
    # Mostly all occur early or here and there, and then the rest need not be counted.
    used = np.zeros(len(column.categories), dtype=bool)
    for codes in (column.codes[:_EARLY], column.codes[:: max(1, len(column) // _EARLY)], column.codes):
        used |= np.bincount(codes, minlength=len(used)) > 0
        if used.all():
            return column
    return pd.Categorical.from_codes((np.cumsum(used) - 1)[column.codes], categories=column.categories[used])


def as_text(values: pd.Series) -> pd.Categorical:
    """Turn a column of any type into few distinct texts without surrounding space."""
    column = values.array if isinstance(values.array, pd.Categorical) else pd.Categorical(values)
    texts = column.categories.tolist()
    if (
        len(column)
        and column.codes.min() >= 0
        and all(isinstance(text, str) and text == text.strip() for text in texts)
    ):
        return compact(column)
    return recoded(column, (str(value).strip() for value in column.categories))


def without_point_zero(column: pd.Categorical) -> pd.Categorical:
    """Write ``1.0`` as ``1`` where all are such numbers: pandas makes them of integers in a column with gaps."""
    texts = [str(text) for text in column.categories]
    filled = [text for text in texts if not is_blank(text)]
    if any("." in text for text in filled) and all(_INTEGRAL.fullmatch(text) for text in filled):
        return recoded(column, (text.partition(".")[0] for text in texts))
    return column


@dataclass
class _Store:
    """The loaded columns of all sources, shared by every part of a table."""

    sources: Sequence[Source]
    of_paths: Mapping[str, Sequence[str]]
    columns: dict[str, Column] = field(default_factory=dict)
    names: dict[str, pd.Categorical] = field(default_factory=dict)

    def load(self, kinds: Mapping[str, Kind]) -> None:
        for name in kinds:
            if name in self.of_paths and name not in self.columns:
                self.columns[name] = _repeated(self.of_paths[name], self.lengths)
        wanted = {name: kind for name, kind in kinds.items() if name not in self.columns}
        if not wanted:
            return
        frames = [_load(source, wanted) for source in self.sources]
        self.lengths = [len(frame) for frame in frames]
        for name, kind in wanted.items():
            self.columns[name] = _joined([frame[name] for frame in frames], kind)

    @cached_property
    def lengths(self) -> list[int]:
        return [len(source.load({source.columns[0]: "category"})) for source in self.sources]


def _load(source: Source, kinds: Mapping[str, Kind]) -> pd.DataFrame:
    here = {name: kind for name, kind in kinds.items() if name in source.columns}
    # A column that the file leaves out still needs one that it has, for the number of rows.
    return source.load(here or {source.columns[0]: "category"}).reindex(columns=list(kinds))


def _repeated(names: Sequence[str], lengths: Sequence[int]) -> pd.Categorical:
    codes, distinct = pd.factorize(np.array(names, dtype=object))
    return pd.Categorical.from_codes(np.repeat(codes, lengths), categories=pd.Index(distinct, dtype="str"))


def _joined(parts: list[pd.Series], kind: Kind) -> Column:
    if kind == "str":
        return _strings(parts[0]) if len(parts) == 1 else np.concatenate([_strings(part) for part in parts])
    if kind == "float64" and all(pd.api.types.is_numeric_dtype(part) and part.dtype != bool for part in parts):
        numbers = [part.to_numpy(dtype=np.float64, na_value=np.nan) for part in parts]
        return numbers[0] if len(numbers) == 1 else np.concatenate(numbers)
    texts = [as_text(part) for part in parts]
    return texts[0] if len(texts) == 1 else union_categoricals(texts)


def _strings(values: pd.Series) -> Marks:
    if values.dtype.kind in "iu" and isinstance(values.dtype, np.dtype):
        return values.to_numpy()  # written in one way only, so that the numbers themselves serve
    if pd.api.types.is_string_dtype(values) and not values.hasnans:
        return values.to_numpy(dtype=object)
    missing = values.isna()
    return np.array(["" if gone else str(value) for value, gone in zip(values, missing, strict=True)], dtype=object)


class Table:
    """Rows of a log: all of them, or a part."""

    def __init__(self, sources: Sequence[Source], of_paths: Mapping[str, Sequence[str]] | None = None) -> None:
        """Take the sources, whose columns must agree, and columns made of what their paths tell."""
        self.columns = tuple(dict.fromkeys(name for source in sources for name in source.columns))
        self.path = sources[0].path
        self.paths = tuple(source.path for source in sources)
        self.found = sources[0].found
        self.of_paths = {name: values for name, values in (of_paths or {}).items() if name not in self.columns}
        #: Columns of paths whose files nobody said to be one log.
        self.together: tuple[str, ...] = ()
        self._sources = sources
        self._store = _Store(sources, self.of_paths)
        self._rows: Rows | None = None
        for source in sources[1:]:
            odd = set(source.columns) ^ set(sources[0].columns)
            if odd and not source.ragged:
                raise InputError(f"its columns differ from those of {self.path} in {listing(sorted(odd))}", source.path)

    def __len__(self) -> int:
        """Count the rows of the part."""
        if self._rows is not None:
            return len(self._rows)
        return sum(self._store.lengths)

    def take(self, rows: Rows) -> Table:
        """Return the part with these rows."""
        part = Table.__new__(Table)
        part.__dict__.update(self.__dict__)
        part._rows = rows if self._rows is None else self._rows[rows]
        return part

    def prefetch(self, kinds: Mapping[str, Kind]) -> None:
        """Load columns together, which saves going through a text file once for each."""
        self._store.load(kinds)

    def text(self, name: str) -> pd.Categorical:
        """Return a column as texts."""
        column = self._column(name, "category")
        if isinstance(column, pd.Categorical):
            return column if self._rows is None else compact(column)
        return as_text(pd.Series(column))

    def names(self, name: str) -> pd.Categorical:
        """Return a column of labels, the same for every part of the table: as texts, with integers written as such."""
        if name not in self._store.names:
            self._store.load({name: "category"})
            column = self._store.columns[name]
            text = column if isinstance(column, pd.Categorical) else as_text(pd.Series(column))
            self._store.names[name] = without_point_zero(text)
        column = self._store.names[name]
        return column if self._rows is None else compact(column[self._rows])

    def texts(self, name: str) -> list[str]:
        """Return the text of a column in each row."""
        column = self.text(name)
        names = [str(text) for text in column.categories]
        return [names[code] for code in column.codes.tolist()]

    def numbers(self, name: str) -> Floats:
        """Return a column as numbers, with NaN where it is blank."""
        column = self._column(name, "float64")
        if not isinstance(column, pd.Categorical):
            return column.astype(np.float64, copy=False)
        column = compact(column)
        texts = with_points([str(text) for text in column.categories])
        values = np.array([_number(text) for text in texts], dtype=object)
        bad = next((i for i, value in enumerate(values) if value is None), None)
        if bad is not None:
            row = int(np.flatnonzero(column.codes == bad)[0])
            raise self.error(f"'{column.categories[bad]}' in column '{name}' is not a number", row)
        return values.astype(np.float64)[column.codes] if len(values) else np.empty(0)

    def strings(self, name: str) -> Marks:
        """Return a column of mostly distinct texts, or the numbers themselves where the file has whole numbers."""
        column = self._column(name, "str")
        return np.asarray(column, dtype=object) if isinstance(column, pd.Categorical) else column

    def _column(self, name: str, kind: Kind) -> Column:
        self._store.load({name: kind})
        column = self._store.columns[name]
        return column if self._rows is None else column[self._rows]

    def place(self, row: int) -> tuple[str, int | None]:
        """Return the file and line of a row."""
        at = row if self._rows is None else int(self._rows[row])
        for source, length in zip(self._sources, self._store.lengths, strict=True):
            if at < length:
                return source.path, source.line(at)
            at -= length
        return self.path, None

    def error(self, message: str, row: int | None = None, remedy: Remedy | None = None) -> InputError:
        """Make an error that stands at a row, or at the file."""
        return InputError(message, *(self.place(row) if row is not None else (self.path, None)), remedy or {})

    def seen(self) -> str:
        """Say which columns there are, for messages."""
        return f"columns: {listing(self.columns, _SHOWN_COLUMNS)}"

    def require(self, name: str, why: str) -> None:
        """Refuse a column name that the user wrote and the files do not have."""
        if name not in self.columns and name not in self.of_paths:
            hint = suggestion(name, self.columns)
            raise self.error(f"{why} names column '{name}', which is not there{hint} ({self.seen()})")

    def selected(self, values: Mapping[str, str]) -> Table:
        """Keep the rows that have these values, if any."""
        if not len(self):
            raise self.error("the log has columns but no rows")
        if not values:
            return self
        keep = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            self.require(name, "select:")
            column = self.names(name)
            wanted = {value.strip(), value.strip().removesuffix(".0")}
            matching = [i for i, text in enumerate(column.categories) if text in wanted]
            keep &= np.isin(column.codes, matching)
            if not keep.any():
                raise self.error(f"select: leaves no row; column '{name}' has {listing(column.categories)}")
        return self.take(np.flatnonzero(keep))

    def split(self, by: Sequence[str]) -> dict[tuple[str, ...], Table]:
        """Cut the rows into parts with equal values in the columns ``by``."""
        if not by:
            return {(): self}
        for name in by:
            self.require(name, "by:")
        columns = [self.names(name) for name in by]
        key = np.zeros(len(self), dtype=np.int64)
        for column in columns:
            key = key * len(column.categories) + column.codes
        codes, keys = pd.factorize(key)
        order = np.argsort(codes, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(codes, minlength=len(keys)))[:-1])
        return {tuple(str(column[rows[0]]) for column in columns): self.take(rows) for rows in parts}


def _number(text: str) -> float | None:
    if is_blank(text):
        return math.nan
    if "_" in text:
        return None  # a number to Python alone
    try:
        return float(text)
    except ValueError:
        return None
