"""The rules' pages, made from their cards: ``python -m pytest_cvaudit.reporters.rule_pages FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit.reporters.cards import example
from pytest_cvaudit.rulebook import load_rules

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from pytest_cvaudit.rulebook import Rule

_MADE = "<!-- made from the card by `make docs`; change the card -->\n"


def page(rule: Rule) -> str:
    """The page of one rule."""
    advisory = " · advisory" if rule.advisory else ""
    parts = [
        _MADE,
        f"# {rule.code} {rule.name}\n",
        f"*{rule.severity} · {rule.confidence} confidence · needs {rule.evidence} evidence{advisory}*\n",
        f"{rule.summary}\n",
        f"## Why it matters\n{rule.why}\n",
        f"## What to do\n{rule.tip}\n",
    ]
    if rule.parameters:
        rows = [f"| `{name}` | {value} | {rule.parameter_help[name]} |" for name, value in rule.parameters.items()]
        parts.append("## Parameters\n| name | default | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    parts.append("## Examples\n" + "\n".join(_case(case) for case in rule.cases))
    parts.append("## References\n" + "\n".join(f"- {reference}" for reference in rule.references) + "\n")
    return "\n".join(parts)


def _case(case: Mapping[str, Any]) -> str:
    says = f"\n> {case['says']}\n" if "says" in case else ""
    shown = example(case)
    return f"**{case['outcome'].replace('_', ' ')}**: {case['name']}\n\n```yaml\n{shown}\n```\n{says}"


def index() -> str:
    """The page that lists the rules."""
    rows = [
        f"| [{rule.code}]({rule.title}.md) | {rule.name} | {rule.severity} | {rule.summary} |"
        for rule in load_rules().values()
    ]
    return f"{_MADE}\n# Rules\n\n| code | name | severity | what |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"


def pages() -> dict[str, str]:
    """Every page by its file name."""
    return {"README.md": index(), **{f"{rule.title}.md": page(rule) for rule in load_rules().values()}}


def main(folder: Path) -> None:
    """Write the pages and remove those of rules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for old in folder.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
