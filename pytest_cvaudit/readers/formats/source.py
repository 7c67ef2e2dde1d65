"""What a format hands over: columns that load on demand, and the line that each row came from."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Literal, cast

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import pandas as pd

    from pytest_cvaudit.model import Claim, MissingFold

#: How a column is going to be used, as a pandas dtype: few distinct texts, numbers, or mostly distinct texts.
Kind = Literal["category", "float64", "str"]

COMPRESSED: dict[str, Callable[[Path, Literal["rb"]], IO[bytes]]] = {
    ".gz": cast("Any", gzip.open),
    ".bz2": cast("Any", bz2.open),
    ".xz": cast("Any", lzma.open),
}


@dataclass(frozen=True)
class Found:
    """What a format finds beside the rows.

    ``columns`` (role → column) and ``by`` are what the format knows of its own columns; what the user says comes first.
    ``claims`` are the numbers that stand with the log, by the part (values of ``by``) that they are about; ``protocol``
    is the design that the log itself tells, ``missing`` the folds that it mentions without a result.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    claims: Mapping[tuple[str, ...], tuple[Claim, ...]] = field(default_factory=dict)
    protocol: Protocol = field(default_factory=Protocol)
    missing: tuple[MissingFold, ...] = ()


@dataclass(frozen=True)
class Source:
    """One file as a table.

    ``load`` returns the asked columns in file order; the kinds are hints for fast parsing, any dtype may come back.
    ``line`` gives the 1-based line (or record, in a binary file) of a row, and may be slow: it is called for errors.
    ``ragged`` files leave out columns that they have no values for.
    """

    path: str
    columns: tuple[str, ...]
    load: Callable[[Mapping[str, Kind]], pd.DataFrame]
    line: Callable[[int], int | None]
    ragged: bool = False
    found: Found = field(default_factory=Found)


@dataclass(frozen=True)
class FileFormat:
    """A kind of file: its name, its suffixes, how to open one, and how to tell it from others of the same suffix."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, str], Source]
    recognises: Callable[[Path], bool] | None = None


@dataclass(frozen=True)
class Store:
    """A place of logs that are no files; ``read`` gets what follows ``scheme:``, the base folder, and the address."""

    name: str
    scheme: str
    read: Callable[[str, Path, str], Source]


def bare_suffix(path: Path) -> str:
    """Return the suffix that tells the format, below that of a compression."""
    name = path.name.lower()
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return "." + name.rpartition(".")[2] if "." in name else ""


def _open(path: Path) -> IO[bytes]:
    opener = COMPRESSED.get(path.suffix.lower())
    return path.open("rb") if opener is None else opener(path, "rb")


def open_text(path: Path) -> io.TextIOWrapper:
    """Open a text file, compressed or not, with or without a byte order mark."""
    return io.TextIOWrapper(_open(path), encoding="utf-8-sig", newline="")


@contextmanager
def reading(path: Path, shown: str) -> Iterator[None]:
    """Turn everything that can go wrong with bytes into one line for the user."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8 text; save the file as UTF-8", shown, _undecodable_line(path)) from error
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", shown) from error


def _undecodable_line(path: Path) -> int | None:
    with _open(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None
