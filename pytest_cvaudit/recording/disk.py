"""Bytes on the disk: written whole and flushed, under a lock where processes share a file."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def write_all(descriptor: int, data: bytes, *, flush: bool) -> None:
    """Write bytes, and flush them to the disk: without that they survive a kill, but no power failure."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    if flush:
        os.fsync(descriptor)


@contextmanager
def locked(descriptor: int) -> Iterator[None]:
    """Hold the only lock on an open file; the system frees it when the process ends."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        while True:
            with suppress(OSError):
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                break
        try:
            yield
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
