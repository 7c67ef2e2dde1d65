"""A recording in one file, which only grows."""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.recording.disk import locked, write_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: A recording in one file is called so; every other path is a folder.
SUFFIX = ".cvrec"
_MAGIC = b"\xc7VR1"
_HEAD = struct.Struct("<4sIQI")  # magic, length of the name, length of the data, checksum


@dataclass
class SingleFile:
    """Entries behind each other, each with its length and checksum, written under a lock."""

    path: Path
    durable: bool = True
    _names: set[str] = field(default_factory=set)
    _end: int = 0

    def exists(self) -> bool:
        """Tell whether a recording lies there, or what a kill left of one that was just begun."""
        if not self.path.is_file():
            return False
        with self.path.open("rb") as stream:
            return _MAGIC.startswith(stream.read(len(_MAGIC)))

    def create(self) -> None:
        """Begin a recording: an empty file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.open("xb").close()
        self._names, self._end = set(), 0

    def clear(self) -> None:
        """Cut the file to nothing."""
        with self.path.open("r+b") as stream, locked(stream.fileno()):
            stream.truncate(0)
        self._names, self._end = set(), 0

    def put(self, name: str, data: bytes, *, take_over: bool = False) -> bool:  # noqa: ARG002 (lost entries are no obstacle)
        """Write an entry; what a killed process left behind the last whole one is first replaced by a note of it."""
        with self.path.open("r+b", buffering=0) as stream, locked(stream.fileno()):
            frames = self._catch_up(stream.fileno())
            if name in self._names:
                return False
            if frames.lost is not None and frames.followed():
                raise InputError("damaged: whole entries follow behind one that is not", str(self.path))
            note = b"" if frames.lost is None else _frame(f"{_LOST}{uuid4().hex},{frames.lost}", b"")
            os.lseek(stream.fileno(), frames.end, os.SEEK_SET)
            try:
                write_all(stream.fileno(), note + _frame(name, data), flush=self.durable)
            except OSError:
                if not note:
                    os.ftruncate(stream.fileno(), frames.end)
                raise
            self._names.add(name)
            self._end = os.lseek(stream.fileno(), 0, os.SEEK_CUR)
            if note:
                # Only now: whoever is killed between the two leaves a note too many, never one too few.
                os.ftruncate(stream.fileno(), self._end)
        return True

    def has(self, name: str) -> bool:
        """Tell whether a whole entry is there."""
        self._look()
        return name in self._names

    def names(self) -> set[str]:
        """The names of the whole entries."""
        self._look()
        return {name for name in self._names if not name.startswith(_LOST)}

    def _look(self) -> None:
        with self.path.open("rb", buffering=0) as stream, locked(stream.fileno()):
            self._catch_up(stream.fileno())

    def _catch_up(self, descriptor: int) -> _Frames:
        """Learn the names of the entries that were written since the last look."""
        frames = _Frames(descriptor, self._end)
        self._names.update(name for name, _ in frames)
        self._end = frames.end
        return frames

    def entries(self) -> Iterator[tuple[str, bytes | None]]:
        """Read the entries; the last may be cut off."""
        with self.path.open("rb", buffering=0) as stream:
            frames = _Frames(stream.fileno(), 0)
            for name, data in frames:
                yield (_lost(name), None) if name.startswith(_LOST) else (name, data)
            if frames.lost is not None:
                yield _lost(frames.lost), None


_LOST = "_lost-"


def _lost(name: str) -> str:
    """The entry that was cut off, where it is known."""
    return name.partition(",")[2] if name.startswith(_LOST) else name


@dataclass
class _Frames:
    """The whole frames from an offset on; afterwards ``end`` is where they end, ``lost`` what is cut off there."""

    descriptor: int
    end: int
    lost: str | None = None

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        size = os.fstat(self.descriptor).st_size
        while self.end < size:
            head = self._read(_HEAD.size)
            self.lost = ""
            if len(head) < _HEAD.size:
                return
            magic, named, length, checksum = _HEAD.unpack(head)
            if magic != _MAGIC or named > size or length > size:
                return
            body = self._read(named + length, _HEAD.size)
            name = body[:named].decode("utf-8", errors="replace")
            if len(body) < named + length or zlib.crc32(body) != checksum:
                self.lost = name if len(body) >= named else ""
                return
            self.lost = None
            self.end += _HEAD.size + named + length
            yield name, body[named:]

    def followed(self) -> bool:
        """Tell whether whole frames follow behind what is cut off: then no kill has done that."""
        rest = self._read(os.fstat(self.descriptor).st_size - self.end)
        start = rest.find(_MAGIC, 1)
        while start >= 0:
            frames = _Frames(self.descriptor, self.end + start)
            if next(iter(frames), None) is not None:
                return True
            start = rest.find(_MAGIC, start + 1)
        return False

    def _read(self, size: int, skip: int = 0) -> bytes:
        os.lseek(self.descriptor, self.end + skip, os.SEEK_SET)
        parts = []
        while size and (part := os.read(self.descriptor, size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _frame(name: str, data: bytes) -> bytes:
    body = name.encode() + data
    return _HEAD.pack(_MAGIC, len(name.encode()), len(data), zlib.crc32(body)) + body
