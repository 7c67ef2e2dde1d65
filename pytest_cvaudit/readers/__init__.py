"""Readers: from the files that an experiment logged to the evidence that an audit needs."""

from pytest_cvaudit.readers.log import completed, read_log
from pytest_cvaudit.readers.spec import Log, LogSpec

__all__ = ["Log", "LogSpec", "completed", "read_log"]
