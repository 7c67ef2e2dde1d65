"""CSV and its relatives: comma, semicolon or tab between the fields, told apart by the header line."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

import pandas as pd
from pandas.api.types import union_categoricals

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.large_csv import NOT_A_NUMBER, load_large
from pytest_cvaudit.readers.formats.source import COMPRESSED, Kind, Source, open_text, reading

if TYPE_CHECKING:
    from _csv import Reader as _Reader
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_DELIMITERS = ",;\t"
_CHUNK = 1 << 20
_LARGE = 1 << 20
_SURPLUS = "\0surplus"
# Since pandas 3.1 floats are always read exactly, and asking for it warns.
_EXACT = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
_QUOTED = re.compile(r'"[^"]*"')


def read_delimited(path: Path, shown: str) -> Source:
    """Read a CSV or TSV file."""
    with reading(path, shown):
        fields, columns = _from_opener(lambda: open_text(path), shown)
    source = fields.source(columns)

    def load(kinds: Mapping[str, Kind]) -> pd.DataFrame:
        with reading(path, shown):
            if path.suffix.lower() not in COMPRESSED and path.stat().st_size >= _LARGE:
                frame = load_large(path, fields.delimiter, columns, kinds)
                if frame is not None:
                    return frame
            return source.load(kinds)

    return replace(source, load=load)


def inline_table(text: str, shown: str, line: int | None) -> Source:
    """Read a CSV table that is written inside another file, below the given line of it."""
    fields, columns = _from_opener(lambda: io.StringIO(text), shown, (line or 0))
    return fields.source(columns)


def _from_opener(opener: Callable[[], TextIO], shown: str, offset: int = 0) -> tuple[Fields, tuple[str, ...]]:
    with opener() as stream:
        first = next((line for line in stream if line.strip()), "")
    unquoted = _QUOTED.sub("", first)
    delimiter = max(_DELIMITERS, key=unquoted.count)
    fields = Fields(opener, shown, delimiter, offset=offset)
    header = next(fields.records(), (1, []))[1]
    return fields, tuple(name.strip() or f"Unnamed: {i}" for i, name in enumerate(header))


@dataclass(frozen=True)
class Fields:
    """Delimited text that can be opened again: to see the header, for each load, and to count lines."""

    opener: Callable[[], TextIO]
    path: str
    delimiter: str = ","
    quote: str = '"'
    escape: str | None = None
    offset: int = 0
    has_header: bool = True

    def source(self, columns: tuple[str, ...]) -> Source:
        """Make a source of the fields under these names."""
        if not columns:
            raise InputError("the file is empty; a header line and rows are needed", self.path)
        twice = sorted({name for name in columns if columns.count(name) > 1})
        if twice:
            raise InputError(f"the header has column '{twice[0]}' twice; rename one", self.path, self.offset + 1)
        return Source(self.path, columns, lambda kinds: self.load(columns, kinds), self.line)

    def load(self, columns: tuple[str, ...], kinds: Mapping[str, Kind]) -> pd.DataFrame:
        """Parse the asked columns; if those that should be numbers are not, they come back as text."""
        try:
            return self._parse(columns, kinds)
        except ValueError as error:
            if isinstance(error, UnicodeDecodeError):
                raise
            return self._parse(columns, {name: "category" if k == "float64" else k for name, k in kinds.items()})

    def _parse(self, columns: tuple[str, ...], asked: Mapping[str, Kind]) -> pd.DataFrame:
        kinds: dict[str, Kind] = {**asked, _SURPLUS: "category"}
        names = [*columns, _SURPLUS]
        try:
            with self.opener() as stream:
                if self.has_header:
                    next(filter(_is_record, self._reader(stream)), None)
                # Not dtype="category", which turns 007 into 7 and 0.60 into 0.6; in chunks, lest the texts pile up.
                chunks = pd.read_csv(
                    _Headed(stream, self.delimiter.join("x" * len(names)) + "\n"), names=names, usecols=list(kinds),
                    sep=self.delimiter, quotechar=self.quote, escapechar=self.escape, index_col=False, header=0,
                    keep_default_na=False, skipinitialspace=True, chunksize=_CHUNK,
                    dtype={name: "float64" if kind == "float64" else "str" for name, kind in kinds.items()},
                    na_values={name: list(NOT_A_NUMBER) for name, kind in kinds.items() if kind == "float64"}, **_EXACT,
                )  # type: ignore[call-overload]  # fmt: skip
                parts = [_with_categories(chunk, kinds) for chunk in chunks]
        except pd.errors.ParserError as error:
            last = self._lines[-1] if self._lines else None
            raise InputError(f"not a table: {str(error).strip()}", self.path, last) from error
        frame = pd.DataFrame({name: _concatenated([part[name] for part in parts], k) for name, k in kinds.items()})
        extra = frame.pop(_SURPLUS)
        surplus = [text for text in extra.cat.categories if text.strip()]
        if surplus:
            row = int(extra.isin(surplus).to_numpy().argmax())
            raise InputError(f"the row has more fields than the {len(columns)} columns", self.path, self.line(row))
        return frame

    def _reader(self, stream: TextIO) -> _Reader:
        return csv.reader(
            stream, delimiter=self.delimiter, quotechar=self.quote, escapechar=self.escape, skipinitialspace=True
        )

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Give each non-empty record with the line it begins on, the header too."""
        with self.opener() as stream:
            reader = self._reader(stream)
            begin = 1
            try:
                for record in reader:
                    if _is_record(record):
                        yield begin + self.offset, record
                    begin = reader.line_num + 1
            except csv.Error as error:
                raise InputError(f"not a table: {error}", self.path, begin + self.offset) from error

    @cached_property
    def _lines(self) -> list[int]:
        return [line for line, _ in self.records()][self.has_header :]

    def line(self, row: int) -> int | None:
        """Return the line that a data row begins on."""
        return self._lines[row] if row < len(self._lines) else None


def _with_categories(chunk: pd.DataFrame, kinds: Mapping[str, Kind]) -> dict[str, pd.Series]:
    return {name: chunk[name].astype("category") if kind == "category" else chunk[name] for name, kind in kinds.items()}


def _concatenated(parts: list[pd.Series], kind: Kind) -> pd.Series:
    if not parts:
        return pd.Series([], dtype=kind)
    if kind == "category":
        return pd.Series(union_categoricals(parts))
    return pd.concat(parts, ignore_index=True)


def _is_record(record: list[str]) -> bool:
    return len(record) > 1 or any(field.strip() for field in record)


class _Headed:
    """A stream under a header that is one column too wide.

    Given the columns to use, pandas drops the surplus fields of a shifted row in silence; this way they get a column.
    """

    def __init__(self, stream: TextIO, header: str) -> None:
        self._stream, self._header = stream, header

    def read(self, size: int = -1) -> str:
        header, self._header = self._header, ""
        return header or self._stream.read(size)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream)
