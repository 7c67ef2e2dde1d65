"""Rule cards for people: one explained, or all of them listed."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import TYPE_CHECKING

from pytest_cvaudit.cases import load_case
from pytest_cvaudit.reporters.terminal import STYLES, line, rendered, table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rich.console import Console

    from pytest_cvaudit.rulebook import Rule
    from pytest_cvaudit.settings import Settings


#: What fits into a terminal of 80 columns beside the indent.
_WIDTH = 76


def explain(rule: Rule, *, colour: bool | None = None) -> str:
    """Render a card: what, why, an example that fails, one that passes, what to do, references."""
    return rendered(lambda console: _explain(console, rule), colour=colour)


def _explain(console: Console, rule: Rule) -> None:
    line(console, f"{rule.code} {rule.name}", "bold")
    line(
        console,
        f"{rule.severity} · {rule.confidence} confidence · needs {rule.evidence} evidence",
        STYLES[str(rule.severity)],
    )
    line(console)
    line(console, fill(rule.summary, _WIDTH))
    _section(console, "Why it matters", _wrapped(rule.why))
    _section(console, "What to do", _wrapped(rule.tip))
    for name, default in rule.parameters.items():
        _section(console, f"Parameter {name} (default {default})", rule.parameter_help[name])
    for outcome, title in (("failed", "Example that fails"), ("passed", "Example that passes")):
        case = next((case for case in rule.cases if case["outcome"] == outcome), None)
        if case is not None:
            _section(console, f"{title}: {case['name']}", example(case))
            if outcome == "failed":
                _section(console, "What it says, and how big it is", _wrapped(_findings(rule, case)))
    _section(console, "References", "\n".join(fill(text, _WIDTH) for text in rule.references))


def _findings(rule: Rule, case: Mapping[str, Any]) -> str:
    """What the rule really says of a case."""
    with TemporaryDirectory() as folder:
        return "\n\n".join(finding.message for finding in load_case(rule, case, Path(folder)).outcome().findings)


def _wrapped(text: str) -> str:
    """Set paragraphs anew for a terminal."""
    return "\n\n".join(fill(" ".join(part.split()), _WIDTH) for part in text.split("\n\n"))


def _section(console: Console, title: str, text: str) -> None:
    line(console)
    line(console, title, "bold")
    for row in text.splitlines():
        line(console, f"  {row}")


def example(case: Mapping[str, Any]) -> str:
    """Show a case as the manifest that it is."""
    rows = [f"# with {_flow(case['parameters'])}"] if "parameters" in case else []
    if "experiment" in case:
        return "\n".join([*rows, *_entry(case["experiment"])])
    for key, entries in case["manifest"].items():
        rows.append(f"{key}:")
        for entry in entries:
            first, *rest = _entry(entry) if key == "experiments" else [_flow(entry)]
            rows += [f"  - {first}", *(f"    {row}" for row in rest)]
    return "\n".join(rows)


def _entry(experiment: Mapping[str, Any]) -> list[str]:
    rows: list[str] = []
    for key, value in experiment.items():
        if key == "table":
            rows += ["table: |", *(f"  {row}" for row in str(value).splitlines())]
        elif key == "claims":
            rows += ["claims:", *(f"  - {_flow(claim)}" for claim in value)]
        else:
            rows.append(f"{key}: {_flow(value)}")
    return rows


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def rules(settings: Settings, *, fmt: str = "text") -> str:
    """List the rules with what the standard makes of them."""
    if fmt == "json":
        return json.dumps({"version": 1, "standard": settings.standard, "rules": _rows(settings)}, indent=2) + "\n"
    rows = [
        [
            row["code"],
            row["name"],
            row["severity"] if row["enabled"] else "off",
            row["evidence"],
            row["decided_by"],
            row["summary"],
        ]
        for row in _rows(settings)
    ]
    columns = ["code", "name", "severity", "evidence", "decided by", "what"]
    return rendered(
        lambda console: console.print(table(f"standard {settings.standard}", columns, rows, numeric_from=9))
    )


def _rows(settings: Settings) -> list[dict[str, Any]]:
    return [
        {
            "code": code,
            "name": setting.rule.name,
            "enabled": setting.enabled,
            "severity": str(setting.severity),
            "confidence": setting.rule.confidence,
            "evidence": str(setting.rule.evidence),
            "parameters": dict(setting.parameters),
            "decided_by": setting.decided_by,
            "summary": setting.rule.summary,
        }
        for code, setting in settings.rules.items()
    ]
