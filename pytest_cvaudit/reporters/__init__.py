"""Formats behind one interface: each turns an audit into the text of a ``check`` or of a ``report``."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError, suggestion

if TYPE_CHECKING:
    from pytest_cvaudit.engine import Audit

#: The module of each format; imported when it is used.
FORMATS = {"text": "pytest_cvaudit.reporters.text", "json": "pytest_cvaudit.reporters.json"}


def known_format(name: str) -> str:
    """Return the name if there is such a format."""
    if name not in FORMATS:
        raise InputError(f"unknown format '{name}'{suggestion(name, FORMATS)} (known: {', '.join(FORMATS)})")
    return name


def render(audit: Audit, command: str, fmt: str, **options: bool) -> str:
    """Render an audit as the ``check`` or the ``report`` document in a format."""
    module = import_module(FORMATS[known_format(fmt)])
    text: str = getattr(module, command)(audit, **options)
    return text


def write(path: str, text: str) -> None:
    """Write a whole file or nothing."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        target = Path(path).resolve()  # what a link points at is written, the link stays
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or a pipe must not be replaced by a file
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, data)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path) from None


def _replace(target: Path, data: bytes) -> None:
    draft = target.with_name(f".{os.getpid()}.tmp")
    try:
        draft.write_bytes(data)
        draft.replace(target)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise


def report_target(text: str) -> tuple[str, str]:
    """Read ``FMT:PATH``."""
    fmt, _, path = text.partition(":")
    if not path:
        raise InputError(f"'{text}' is not FMT:PATH, such as json:audit.json")
    return known_format(fmt), path
