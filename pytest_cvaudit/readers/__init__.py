"""Readers: from the files that an experiment logged to the evidence that an audit needs."""

from pytest_cvaudit.readers.log import completed, read_log
from pytest_cvaudit.readers.paths import is_log
from pytest_cvaudit.readers.spec import Log, LogSpec
from pytest_cvaudit.readers.write import write_log

__all__ = ["Log", "LogSpec", "completed", "is_log", "read_log", "write_log"]
