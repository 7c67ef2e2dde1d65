"""A recording as a folder with a file per entry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from pytest_cvaudit.recording.disk import write_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Underscores hide the files that are no folds from those who read the folder as one Parquet data set.
MARKER = "_recording"
_TEXT = "The folds of a cross-validation, recorded by pytest-cvaudit; read it with: cvaudit check FOLDER\n"
_OWN = re.compile(r"_\w+-[-\w]+\.json|repeat=.*,fold=.*\.\w+|\.[0-9a-f]{32}\.tmp")


@dataclass
class Folder:
    """A file per entry: its name is reserved with an empty file, which the written one then replaces as a whole."""

    path: Path
    durable: bool = True

    def exists(self) -> bool:
        """Tell whether a recording lies there."""
        return (self.path / MARKER).is_file()

    def create(self) -> None:
        """Begin a recording; a folder that appears at once is never half begun."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.is_dir():
            if any(self.path.iterdir()):
                raise FileExistsError(self.path)
            with (self.path / MARKER).open("x", encoding="utf-8") as marker:
                marker.write(_TEXT)
            return
        new = self.path.parent / f".{self.path.name}-{uuid4().hex}"
        new.mkdir()
        try:
            (new / MARKER).write_text(_TEXT, encoding="utf-8")
            new.rename(self.path)
        except OSError as error:
            (new / MARKER).unlink(missing_ok=True)
            new.rmdir()
            if self.path.exists():
                raise FileExistsError(self.path) from error
            raise

    def clear(self) -> None:
        """Remove the files of a recording, and only those; without its end marks it never looks complete."""
        for path in sorted(self.path.iterdir(), key=lambda path: not path.name.startswith("_end")):
            if _OWN.fullmatch(path.name):
                path.unlink()

    def put(self, name: str, data: bytes, *, take_over: bool = False) -> bool:
        """Write an entry."""
        path = self.path / name
        try:
            path.open("xb").close()
        except FileExistsError:
            if not take_over or path.stat().st_size:
                return False
        temporary = self.path / f".{uuid4().hex}.tmp"
        try:
            with temporary.open("xb", buffering=0) as stream:
                write_all(stream.fileno(), data, flush=self.durable)
            temporary.replace(path)
        except OSError:
            # A full disk is not a kill: nothing is left, so that the entry can be written later.
            temporary.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            raise
        return True

    def has(self, name: str) -> bool:
        """Tell whether a whole entry is there."""
        path = self.path / name
        return path.is_file() and path.stat().st_size > 0

    def names(self) -> set[str]:
        """The names of the whole entries."""
        return {path.name for path in self._files() if path.stat().st_size}

    def entries(self) -> Iterator[tuple[str, bytes | None]]:
        """Read the entries."""
        for path in self._files():
            yield path.name, path.read_bytes() or None

    def _files(self) -> list[Path]:
        every = sorted(self.path.iterdir())
        return [path for path in every if _OWN.fullmatch(path.name) and path.name[0] != "."]
