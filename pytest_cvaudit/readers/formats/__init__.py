"""One small module per file format; a reader is a function from a path to a `Source`, registered by suffix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.arff import read_arff
from pytest_cvaudit.readers.formats.delimited import inline_table, read_delimited
from pytest_cvaudit.readers.formats.parquet import read_parquet
from pytest_cvaudit.readers.formats.records import read_json, read_json_lines
from pytest_cvaudit.readers.formats.source import Kind, Source, bare_suffix

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["READERS", "Kind", "Source", "inline_table", "is_known", "open_source"]

#: Suffix → reader; a reader gets the path and the name to show for it.
READERS: dict[str, Callable[[Path, str], Source]] = {
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".json": read_json,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".parquet": read_parquet,
    ".arff": read_arff,
}


def is_known(path: Path) -> bool:
    """Tell whether some reader takes the file."""
    return bare_suffix(path) in READERS


def open_source(path: Path, shown: str) -> Source:
    """Open a file with the reader of its suffix."""
    reader = READERS.get(bare_suffix(path))
    if reader is None:
        raise InputError(f"unknown kind of file; known are {', '.join(READERS)}", shown)
    return reader(path, shown)
