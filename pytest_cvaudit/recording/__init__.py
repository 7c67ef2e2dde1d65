"""Recordings on disk: how folds become bytes, where the bytes lie, and what a whole recording tells."""

from pytest_cvaudit.recording.journal import Journal, Recording, check_columns, read_recording
from pytest_cvaudit.recording.single_file import SUFFIX
from pytest_cvaudit.recording.storage import find_recordings, is_recording, open_storage

__all__ = [
    "SUFFIX",
    "Journal",
    "Recording",
    "check_columns",
    "find_recordings",
    "is_recording",
    "open_storage",
    "read_recording",
]
