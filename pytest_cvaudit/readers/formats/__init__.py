"""One small module per format; a format knows its files, or its addresses, and opens them as a `Source`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.arff import read_arff
from pytest_cvaudit.readers.formats.delimited import inline_table, read_delimited
from pytest_cvaudit.readers.formats.markdown import is_markdown_log, read_markdown
from pytest_cvaudit.readers.formats.mlflow.store import read_mlflow
from pytest_cvaudit.readers.formats.openml import is_openml, read_openml
from pytest_cvaudit.readers.formats.parquet import read_parquet
from pytest_cvaudit.readers.formats.records import read_json, read_json_lines
from pytest_cvaudit.readers.formats.source import FileFormat, Found, Kind, Source, Store, bare_suffix
from pytest_cvaudit.readers.formats.weka_experiment import is_weka_experiment, read_weka_experiment
from pytest_cvaudit.readers.formats.weka_predictions import is_weka_predictions, read_weka_predictions

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
    FileFormat("WEKA Experimenter", (".csv", ".arff"), read_weka_experiment, is_weka_experiment),
    FileFormat("WEKA predictions", (".csv", ".txt", ".out", ".log"), read_weka_predictions, is_weka_predictions),
    FileFormat("CSV", (".csv", ".tsv"), read_delimited),
    FileFormat("JSON", (".json",), read_json),
    FileFormat("JSON Lines", (".jsonl", ".ndjson"), read_json_lines),
    FileFormat("Parquet", (".parquet",), read_parquet),
    FileFormat("OpenML", (".arff",), read_openml, is_openml),
    FileFormat("ARFF", (".arff",), read_arff),
    FileFormat("Markdown", (".md", ".markdown"), read_markdown, is_markdown_log),
    Store("MLflow", "mlflow", read_mlflow),
)


_PICKLE = ", which would have to be unpickled, and that runs code; save the folds as CSV or Parquet"
_ARRAYS = ", whose arrays have no names; save them as columns of a CSV or Parquet file"
_SHEET = "; save the sheet as CSV"
#: What to do with kinds of file that are often met and not read.
_INSTEAD = {
    ".pkl": _PICKLE, ".pickle": _PICKLE, ".joblib": _PICKLE, ".pt": _PICKLE, ".pth": _PICKLE, ".npy": _ARRAYS,
    ".npz": _ARRAYS, ".xlsx": _SHEET, ".xls": _SHEET, ".ods": _SHEET,
    ".rds": "; write it with write.csv in R", ".rdata": "; write it with write.csv in R",
    ".feather": "; save it as Parquet", ".h5": "; save the table as Parquet or CSV",
}  # fmt: skip


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
    # A file that is not recognised is still read by its suffix: that tells what is wrong with it.
    found = _format_of(path) or next(iter(_of_suffix(path)), None)
    if found is None:
        seen = f"'{bare_suffix(path)}'" if bare_suffix(path) else "a name without a suffix"
        hint = _INSTEAD.get(bare_suffix(path), "")
        raise InputError(f"unknown kind of file: {seen}{hint}; known are {known_suffixes()}", shown)
    return found.read(path, shown)


def open_address(address: str, base: Path) -> Source | None:
    """Open what is no file but an address, such as ``mlflow:experiment``; None if no store has its scheme."""
    scheme, colon, rest = address.partition(":")
    for one in _formats():
        if colon and isinstance(one, Store) and one.scheme == scheme:
            return one.read(rest, base, address)
    return None


def _format_of(path: Path) -> FileFormat | None:
    return next((one for one in _of_suffix(path) if one.recognises is None or one.recognises(path)), None)


def _of_suffix(path: Path) -> list[FileFormat]:
    suffix = bare_suffix(path)
    return [one for one in _formats() if isinstance(one, FileFormat) and suffix in one.suffixes]
