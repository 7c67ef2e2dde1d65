"""Which rules are on, how severe they are and with which parameters: the standard, then what the user selects."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.model import Severity
from pytest_cvaudit.rulebook import Rule, codes_matching, find_rule, load_rules, rules_directory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_STANDARD = "forman-scholz"
_KEYS = ("name", "extends", "description", "rules")


@dataclass(frozen=True)
class RuleSetting:
    """One rule as a standard sets it."""

    rule: Rule
    severity: Severity
    parameters: Mapping[str, Any]
    decided_by: str
    enabled: bool = True


@dataclass(frozen=True)
class Settings:
    """The rules in force, by code."""

    standard: str
    rules: Mapping[str, RuleSetting] = field(default_factory=dict)

    @property
    def enabled(self) -> list[RuleSetting]:
        """The rules that are on."""
        return [setting for setting in self.rules.values() if setting.enabled]


def load_settings(
    standard: str | None = None,
    *,
    base: Path | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
) -> Settings:
    """Load a standard by name or path and apply the user's selection; the longest prefix wins."""
    name = standard or DEFAULT_STANDARD
    rules = _standard(name, base or Path(), ())
    chosen = _matching("select", select) if select else None
    extended, ignored = _matching("extend-select", extend_select), _matching("ignore", ignore)
    for code, setting in rules.items():
        strength = max(chosen.get(code, -1) if chosen is not None else -1, extended.get(code, -1))
        enabled = setting.enabled if chosen is None and strength < 0 else strength >= 0
        if enabled and code in ignored and ignored[code] >= strength:
            enabled = False
        if enabled != setting.enabled:
            rules[code] = replace(setting, enabled=enabled, decided_by="the selection")
    return Settings(name, rules)


def _matching(option: str, words: Sequence[str]) -> dict[str, int]:
    try:
        return codes_matching(words)
    except InputError as error:
        raise error.at(option) from None


def _standard(name: str, base: Path, seen: tuple[Path, ...]) -> dict[str, RuleSetting]:
    path = _find(name, base)
    if path in seen:
        raise InputError(f"standard '{name}' extends itself", str(path))
    document = _load(path)
    parent = document.get("extends")
    if parent is not None:
        settings = _standard(str(parent), path.parent, (*seen, path))
    else:
        settings = {
            code: RuleSetting(rule, rule.severity, rule.parameters, "its card") for code, rule in load_rules().items()
        }
    changes = document.get("rules") or {}
    if not isinstance(changes, dict):
        raise InputError("'rules' of a standard is a mapping, such as 'CV201: warning'", str(path))
    for word, change in changes.items():
        try:
            code = find_rule(str(word)).code
            settings[code] = _changed(settings[code], change, path.name)
        except InputError as error:
            raise error.at(str(path)) from None
    return settings


def _find(name: str, base: Path) -> Path:
    shipped = rules_directory() / "standards" / f"{name}.yaml"
    if shipped.is_file():
        return shipped
    path = base / name
    if path.is_file():
        return path.resolve()
    known = sorted(path.stem for path in shipped.parent.glob("*.yaml"))
    where = f": no such file in {base.absolute()}" if path.suffix else ""
    hint = suggestion(name, known)
    raise InputError(f"unknown standard '{name}'{where}{hint} (shipped: {', '.join(known)}; or a path)")


def _load(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        message = getattr(error, "problem", None) or str(error)
        raise InputError(f"not a readable standard: {message}", str(path), None if line is None else line + 1) from None
    if not isinstance(document, dict):
        raise InputError("a standard is a mapping with name, extends and rules", str(path))
    for key in document:
        if key not in _KEYS:
            raise InputError(f"unknown key '{key}' in a standard{suggestion(str(key), _KEYS)}", str(path))
    return document


def _changed(setting: RuleSetting, change: Any, source: str) -> RuleSetting:
    """Apply one entry of a standard: ``off``, ``on``, a severity, or a mapping of severity and parameters."""
    if isinstance(change, bool) or change in ("off", "on"):
        return replace(setting, enabled=change in (True, "on"), decided_by=source)
    if isinstance(change, str):
        change = {"severity": change}
    if not isinstance(change, dict):
        raise InputError(f"{setting.rule.code}: expected off, on, a severity or a mapping, not '{change}'")
    parameters = dict(setting.parameters)
    severity = setting.severity
    for key, value in change.items():
        if key == "severity":
            if value not in ("error", "warning", "info"):
                raise InputError(f"{setting.rule.code}: severity '{value}' is not error, warning or info")
            severity = Severity.of(value)
        elif key in parameters:
            if isinstance(parameters[key], int | float) and not isinstance(value, int | float):
                raise InputError(f"{setting.rule.code}: '{key}' must be a number, not '{value}'")
            parameters[key] = value
        else:
            known = ["severity", *parameters]
            raise InputError(
                f"{setting.rule.code}: unknown key '{key}'{suggestion(str(key), known)} (known: {', '.join(known)})"
            )
    return replace(setting, severity=severity, parameters=parameters, decided_by=source, enabled=True)
