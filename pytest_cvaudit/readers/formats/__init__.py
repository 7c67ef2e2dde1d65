"""One small module per format; a format knows its files, or its addresses, and opens them as a `Source`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.arff import read_arff
from pytest_cvaudit.readers.formats.delimited import inline_table, read_delimited
from pytest_cvaudit.readers.formats.parquet import read_parquet
from pytest_cvaudit.readers.formats.records import read_json, read_json_lines
from pytest_cvaudit.readers.formats.source import FileFormat, Found, Kind, Source, Store, bare_suffix

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "FileFormat", "Found", "Kind", "Source", "Store", "inline_table", "is_known", "known_suffixes", "open_address",
    "open_source",
]  # fmt: skip

#: Entry points of this group add formats: each names a `FileFormat` or a `Store`.
GROUP = "pytest_cvaudit.readers"

#: In the order of asking: those that look into a file before those that take all files of a suffix.
_OWN: tuple[FileFormat | Store, ...] = (
    FileFormat("CSV", (".csv", ".tsv"), read_delimited),
    FileFormat("JSON", (".json",), read_json),
    FileFormat("JSON Lines", (".jsonl", ".ndjson"), read_json_lines),
    FileFormat("Parquet", (".parquet",), read_parquet),
    FileFormat("ARFF", (".arff",), read_arff),
)


@cache
def _formats() -> tuple[FileFormat | Store, ...]:
    return (*(point.load() for point in entry_points(group=GROUP)), *_OWN)


def known_suffixes() -> str:
    """List the suffixes that some format takes, for messages."""
    return ", ".join(dict.fromkeys(s for one in _formats() if isinstance(one, FileFormat) for s in one.suffixes))


def is_known(path: Path) -> bool:
    """Tell whether some format takes the file."""
    return _format_of(path) is not None


def open_source(path: Path, shown: str) -> Source:
    """Open a file with the first format that takes it."""
    found = _format_of(path)
    if found is None:
        raise InputError(f"unknown kind of file; known are {known_suffixes()}", shown)
    return found.read(path, shown)


def open_address(address: str, base: Path) -> Source | None:
    """Open what is no file but an address, such as ``mlflow:experiment``; None if no store has its scheme."""
    scheme, colon, rest = address.partition(":")
    for one in _formats():
        if colon and isinstance(one, Store) and one.scheme == scheme:
            return one.read(rest, base, address)
    return None


def _format_of(path: Path) -> FileFormat | None:
    suffix = bare_suffix(path)
    for one in _formats():
        if isinstance(one, FileFormat) and suffix in one.suffixes and (one.recognises is None or one.recognises(path)):
            return one
    return None
