"""``[tool.cvaudit]`` in the nearest pyproject.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_cvaudit.errors import InputError, suggestion

if TYPE_CHECKING:
    from pathlib import Path

_LISTS = ("select", "ignore", "extend-select")
_WORDS = ("standard", "fail-on")
FAIL_ON = ("error", "warning", "info")


@dataclass(frozen=True)
class Configuration:
    """What a project sets once for all runs."""

    standard: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    fail_on: str = "error"
    path: Path | None = None


def load_configuration(start: Path) -> Configuration:
    """Read ``[tool.cvaudit]`` from the pyproject.toml of this folder or the nearest one above."""
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        if path.is_file():
            return _read(path)
    return Configuration()


def _read(path: Path) -> Configuration:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, OSError, UnicodeDecodeError) as error:
        raise InputError(f"not readable: {error}", str(path)) from None
    section: dict[str, Any] = document.get("tool", {}).get("cvaudit", {})
    for key, value in section.items():
        if key not in (*_LISTS, *_WORDS):
            raise InputError(f"unknown key '{key}' in [tool.cvaudit]{suggestion(key, (*_LISTS, *_WORDS))}", str(path))
        if key in _LISTS and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise InputError(f"[tool.cvaudit] {key} must be a list of rule codes, prefixes or names", str(path))
        if key in _WORDS and not isinstance(value, str):
            raise InputError(f"[tool.cvaudit] {key} must be a string", str(path))
    fail_on = section.get("fail-on", "error")
    if fail_on not in FAIL_ON:
        raise InputError(f"[tool.cvaudit] fail-on must be one of {', '.join(FAIL_ON)}, not '{fail_on}'", str(path))
    lists = {key.replace("-", "_"): tuple(section.get(key, ())) for key in _LISTS}
    standard = standard_below(path.parent, section.get("standard"))
    return Configuration(standard, fail_on=fail_on, path=path if section else None, **lists)


def standard_below(folder: Path, name: str | None) -> str | None:
    """A standard that a file in this folder names: a path is relative to the folder, wherever the audit is started."""
    return str(folder / name) if name and (folder / name).is_file() else name or None
