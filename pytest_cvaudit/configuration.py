"""``[tool.cvaudit]`` in the nearest pyproject.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.manifest import Suppression
from pytest_cvaudit.model import Location

if TYPE_CHECKING:
    from pathlib import Path

_LISTS = ("select", "ignore", "extend-select")
_WORDS = ("standard", "fail-on", "baseline")
_KEYS = (*_LISTS, *_WORDS, "pedantic", "suppress")
_SUPPRESSION = ("rule", "experiment", "path", "reason", "until")
FAIL_ON = ("error", "warning", "info")


@dataclass(frozen=True)
class Configuration:
    """What a project sets once for all runs."""

    standard: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    fail_on: str = "error"
    pedantic: bool = False
    baseline: Path | None = None
    suppressions: tuple[Suppression, ...] = ()
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
        if key not in _KEYS:
            raise InputError(f"unknown key '{key}' in [tool.cvaudit]{suggestion(key, _KEYS)}", str(path))
        if key in _LISTS and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise InputError(f"[tool.cvaudit] {key} must be a list of rule codes, prefixes or names", str(path))
        if key in _WORDS and not isinstance(value, str):
            raise InputError(f"[tool.cvaudit] {key} must be a string", str(path))
        if key == "pedantic" and not isinstance(value, bool):
            raise InputError("[tool.cvaudit] pedantic must be true or false", str(path))
    fail_on = section.get("fail-on", "error")
    if fail_on not in FAIL_ON:
        raise InputError(f"[tool.cvaudit] fail-on must be one of {', '.join(FAIL_ON)}, not '{fail_on}'", str(path))
    lists = {key.replace("-", "_"): tuple(section.get(key, ())) for key in _LISTS}
    standard = standard_below(path.parent, section.get("standard"))
    return Configuration(
        standard,
        fail_on=fail_on,
        pedantic=section.get("pedantic", False),
        baseline=path.parent / section["baseline"] if "baseline" in section else None,
        suppressions=tuple(_suppression(entry, path) for entry in _tables(section, path)),
        path=path if section else None,
        **lists,
    )


def _tables(section: dict[str, Any], path: Path) -> list[dict[str, Any]]:
    entries = section.get("suppress", [])
    if not (isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)):
        raise InputError("[tool.cvaudit] suppress must be a list of tables with rule and reason", str(path))
    return entries


def _suppression(entry: dict[str, Any], path: Path) -> Suppression:
    for key in entry:
        if key not in _SUPPRESSION:
            raise InputError(f"unknown key '{key}' in a suppression{suggestion(key, _SUPPRESSION)}", str(path))
    rule, reason, until = entry.get("rule"), entry.get("reason"), entry.get("until")
    if not isinstance(rule, str) or not isinstance(reason, str) or not reason.strip():
        raise InputError("a suppression in [tool.cvaudit] needs a rule and a reason", str(path))
    if isinstance(until, str):
        try:
            until = date.fromisoformat(until)
        except ValueError:
            raise InputError(f"'until' is no day of the calendar: '{until}'", str(path)) from None
    globs = {key: str(entry.get(key, "*")) for key in ("experiment", "path")}
    return Suppression(rule, reason=reason, until=until, location=Location(str(path)), **globs)


def standard_below(folder: Path, name: str | None) -> str | None:
    """A standard that a file in this folder names: a path is relative to the folder, wherever the audit is started."""
    return str(folder / name) if name and (folder / name).is_file() else name or None
