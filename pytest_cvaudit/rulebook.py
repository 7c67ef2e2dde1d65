"""The rule cards: loaded from ``rules/``, and chosen by code, prefix or name."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.model import Evidence, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Which claims a rule is about, by the word that its card uses.
ABOUT = ("f", "auc", "precision-ranking", "ranking", "macro", "labels", "accuracy", "comparison", "suppression", "any")


@dataclass(frozen=True)
class Rule:
    """One rule as its card tells it."""

    code: str
    name: str
    summary: str
    severity: Severity
    confidence: str
    evidence: Evidence
    why: str
    tip: str
    references: tuple[str, ...]
    about: str | None = None
    advisory: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    parameter_help: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[Mapping[str, Any], ...] = ()
    path: Path = Path()

    @property
    def title(self) -> str:
        """The code and the name together, as ids show them."""
        return f"{self.code}-{self.name}"


def rules_directory() -> Path:
    """The folder of cards: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "rules"
    return installed if installed.is_dir() else package.parent / "rules"


@cache
def load_rules() -> dict[str, Rule]:
    """Load every card, by code."""
    cards = sorted(rules_directory().glob("*/CV*.yaml"), key=lambda path: path.name)
    return {rule.code: rule for rule in map(load_card, cards)}


def load_card(path: Path) -> Rule:
    """Load one card."""
    card = yaml.safe_load(path.read_text(encoding="utf-8"))
    parameters = card.get("parameters") or {}
    return Rule(
        code=card["code"],
        name=card["name"],
        summary=card["summary"].strip(),
        severity=Severity.of(card["severity"]),
        confidence=card["confidence"],
        evidence=Evidence[card["evidence"].upper()],
        why=card["why"].strip(),
        tip=card["tip"].strip(),
        references=tuple(card["references"]),
        about=card.get("about"),
        advisory=card.get("advisory", False),
        parameters={name: parameter["default"] for name, parameter in parameters.items()},
        parameter_help={name: parameter["help"] for name, parameter in parameters.items()},
        cases=tuple(card["cases"]),
        path=path,
    )


def find_rule(name: str) -> Rule:
    """Return the rule of that code or name."""
    rules = load_rules()
    for rule in rules.values():
        if name.lower() in (rule.code.lower(), rule.name, rule.title.lower()):
            return rule
    known = [*rules, *(rule.name for rule in rules.values())]
    raise InputError(f"unknown rule '{name}'{suggestion(name, known)}")


def codes_matching(words: Iterable[str]) -> dict[str, int]:
    """Map each code that the words choose (code, prefix or name) to the length of the longest word that chose it."""
    rules = load_rules()
    chosen: dict[str, int] = {}
    for word in words:
        prefix = word.strip().upper()
        codes = [code for code in rules if code.startswith(prefix)] if prefix.startswith("CV") else []
        if not codes:
            codes = list(rules) if prefix == "ALL" else [find_rule(word.strip()).code]
        strength = 0 if prefix == "ALL" else len(prefix) if prefix.startswith("CV") else 5
        for code in codes:
            chosen[code] = max(chosen.get(code, -1), strength)
    return chosen
