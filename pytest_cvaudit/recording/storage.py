"""Where a recording lies: a folder with a file per entry, or one file of framed entries; both survive a kill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pytest_cvaudit.recording.folder import MARKER, Folder
from pytest_cvaudit.recording.single_file import SUFFIX, SingleFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Storage(Protocol):
    """Named entries that are written once: either whole, or seen to be cut off."""

    path: Path
    #: Whether each entry is flushed to the disk when it is written.
    durable: bool

    def exists(self) -> bool:
        """Tell whether a recording lies there."""

    def create(self) -> None:
        """Begin an empty recording; raises FileExistsError where there is one, or anything else."""

    def clear(self) -> None:
        """Empty a recording, its end marks first."""

    def put(self, name: str, data: bytes, *, take_over: bool = False) -> bool:
        """Write an entry; False if it is there already (``take_over`` replaces one that was cut off)."""

    def has(self, name: str) -> bool:
        """Tell whether a whole entry is there."""

    def names(self) -> set[str]:
        """The names of the whole entries."""

    def entries(self) -> Iterator[tuple[str, bytes | None]]:
        """Read the entries; None for one that was cut off."""


def open_storage(path: Path, *, durable: bool = True) -> Storage:
    """Return the storage that a path stands for."""
    return SingleFile(path, durable) if path.suffix == SUFFIX else Folder(path, durable)


def is_recording(path: Path) -> bool:
    """Tell whether a recording lies at a path; where one may not look, there is none."""
    try:
        return path.is_file() if path.suffix == SUFFIX and not path.is_dir() else (path / MARKER).is_file()
    except PermissionError:
        return False


def find_recordings(path: Path, depth: int | None = None) -> list[Path]:
    """Return the recordings at or below a path, so deep at most, leaving out hidden and installed folders."""
    if is_recording(path):
        return [path]
    if not path.is_dir() or depth == 0:
        return []
    try:
        if (path / "pyvenv.cfg").exists():
            return []
        below = sorted(each for each in path.iterdir() if each.name[0] != "." and each.name != "node_modules")
    except OSError:
        return []
    deeper = None if depth is None else depth - 1
    inside = (each for each in below if each.suffix == SUFFIX or (each.is_dir() and not each.is_symlink()))
    return [found for each in inside for found in find_recordings(each, deeper)]
