"""Readers: from the files that an experiment logged to the evidence that an audit needs."""

from pytest_cvaudit.readers.log import read_log
from pytest_cvaudit.readers.spec import Log, LogSpec

__all__ = ["Log", "LogSpec", "read_log"]
