"""Which rules are on, how severe they are and with which parameters: the standard, then what the user selects."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Severity
from pytest_cvaudit.rulebook import Rule, codes_matching, load_rules
from pytest_cvaudit.standards import load_standard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_cvaudit.model import Protocol
    from pytest_cvaudit.standards import Change


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
    """The rules in force, by code, and what the standard declares for every experiment."""

    standard: str
    rules: Mapping[str, RuleSetting] = field(default_factory=dict)
    policies: Mapping[str, Any] = field(default_factory=dict)

    @property
    def enabled(self) -> list[RuleSetting]:
        """The rules that are on."""
        return [setting for setting in self.rules.values() if setting.enabled]

    def declare(self, protocol: Protocol) -> Protocol:
        """Add the standard's policies where the experiment itself says nothing."""
        return replace(
            protocol, **{key: value for key, value in self.policies.items() if getattr(protocol, key) is None}
        )


def load_settings(
    standard: str | None = None,
    *,
    base: Path | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    pedantic: bool = False,
) -> Settings:
    """Load a standard by name or path and apply the user's selection; the longest prefix wins."""
    loaded = load_standard(standard, base or Path())
    rules = {
        code: RuleSetting(rule, rule.severity, rule.parameters, "its card", pedantic or not rule.advisory)
        for code, rule in load_rules().items()
    }
    for change in loaded.changes:
        rules[change.code] = _changed(rules[change.code], change)
    chosen = _matching("select", select) if select else None
    extended, ignored = _matching("extend-select", extend_select), _matching("ignore", ignore)
    for code, setting in rules.items():
        strength = max(chosen.get(code, -1) if chosen is not None else -1, extended.get(code, -1))
        enabled = setting.enabled if chosen is None and strength < 0 else strength >= 0
        if enabled and code in ignored and ignored[code] >= strength:
            enabled = False
        if enabled != setting.enabled:
            rules[code] = replace(setting, enabled=enabled, decided_by="the selection")
    return Settings(loaded.name, rules, loaded.policies)


def _matching(option: str, words: Sequence[str]) -> dict[str, int]:
    try:
        return codes_matching(words)
    except InputError as error:
        raise error.at(option) from None


def _changed(setting: RuleSetting, change: Change) -> RuleSetting:
    severity = setting.severity if change.severity is None else Severity.of(change.severity)
    parameters = {**setting.parameters, **change.parameters}
    return replace(setting, severity=severity, parameters=parameters, decided_by=change.source, enabled=change.enabled)
