"""Text for people: findings with the line they are about, and the right numbers as tables."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from pytest_cvaudit.from_scores import REBUILT
from pytest_cvaudit.model import Finding, Location, Severity, Status
from pytest_cvaudit.reporters.documents import bias_note, report_document
from pytest_cvaudit.reporters.terminal import STYLES, line, rendered, table

if TYPE_CHECKING:
    from typing import Any

    from rich.console import Console

    from pytest_cvaudit.engine import Audit

_MOST_FOLDS = 30
_MOST_LABELS = 12
_TIP_WIDTH = 110
_FRAME_WIDTH = 160


def check(audit: Audit, *, colour: bool | None = None) -> str:
    """Render what a check found."""
    return rendered(lambda console: _check(console, audit), colour=colour)


def report(audit: Audit, *, colour: bool | None = None) -> str:
    """Render the right numbers."""
    return rendered(lambda console: _report(console, audit), colour=colour)


def _check(console: Console, audit: Audit) -> None:
    live = [finding for finding in audit.findings if finding.suppressed is None]
    frames = _frames(live)
    for finding in sorted(live, key=lambda one: (-one.severity, one.location.path, one.location.line or 0, one.code)):
        _finding(console, finding, frames.get(finding.location))
    hidden = [finding for finding in audit.findings if finding.suppressed is not None]
    if hidden:
        line(console, f"suppressed ({len(hidden)}):")
        for finding in hidden:
            line(console, f"  {_place(finding)} {finding.code} {finding.experiment}: {finding.suppressed}", "dim")
        line(console)
    unsure = [outcome for outcome in audit.outcomes if outcome.status is Status.INCONCLUSIVE]
    if unsure:
        line(console, f"cannot tell ({len(unsure)}):", STYLES["inconclusive"])
        rules: dict[tuple[str, str], list[str]] = {}
        for outcome in unsure:
            rules.setdefault((outcome.experiment, outcome.reason), []).append(f"{outcome.code} {outcome.name}")
        for (experiment, reason), names in rules.items():
            which = names[0] if len(names) == 1 else ", ".join(name.split()[0] for name in names)
            line(console, f"  {experiment} {which}: {reason}")
        line(console)
    _summary(console, audit, live)


def _finding(console: Console, finding: Finding, source: str | None) -> None:
    header = f"{_place(finding)} {finding.severity} {finding.code} {finding.name} [{finding.experiment}]"
    line(console, header, STYLES[str(finding.severity)])
    line(console, f"  {finding.message}")
    if source is not None:
        line(console, f"  {finding.location.line:>4} | {source}", "dim")
    tip = fill(" ".join(finding.tip.split()), _TIP_WIDTH, initial_indent="  tip: ", subsequent_indent="       ")
    line(console, tip, "italic")
    line(console)


def _place(finding: Finding) -> str:
    number = f":{finding.location.line}" if finding.location.line is not None else ""
    return f"{finding.location.path}{number}:"


def _frames(findings: list[Finding]) -> dict[Location, str]:
    """The lines that the findings are about; each file is read once, and no further than needed."""
    numbers: dict[str, set[int]] = {}
    for finding in findings:
        if finding.location.line is not None:
            numbers.setdefault(finding.location.path, set()).add(finding.location.line)
    frames: dict[Location, str] = {}
    for path, wanted in numbers.items():
        with suppress(OSError, UnicodeDecodeError), Path(path).open(encoding="utf-8") as file:
            for number, row in enumerate(islice(file, max(wanted)), start=1):
                if number in wanted:
                    frames[Location(path, number)] = _shortened(row)
    return frames


def _shortened(row: str) -> str:
    """A line of a file, cut where nobody would read on."""
    row = row.rstrip()
    return row if len(row) <= _FRAME_WIDTH else f"{row[:_FRAME_WIDTH]} …"


def _summary(console: Console, audit: Audit, live: list[Finding]) -> None:
    by_severity = [(severity, sum(one.severity is severity for one in live)) for severity in reversed(Severity)]
    shown = ", ".join(f"{number} {severity}{'s' if number != 1 else ''}" for severity, number in by_severity if number)
    counts = ", ".join(f"{audit.count(status)} {str(status).replace('_', ' ')}" for status in Status)
    hidden = len(audit.findings) - len(live)
    counts += f"; {hidden} suppressed" if hidden else ""
    number = len(audit.audited)
    line(console, f"{number} experiment{'s' if number != 1 else ''}: {shown or 'no findings'} ({counts})")


def _report(console: Console, audit: Audit) -> None:
    document = report_document(audit)
    for one, audited in zip(document["experiments"], audit.audited, strict=True):
        evidence = f"{one['evidence']} evidence" + (f", {REBUILT}" if audited.rebuilt else "")
        line(console, f"{one['name']} ({evidence}, {audited.experiment.location.path})", "bold")
        if audited.experiment.problem is not None:
            line(console, f"  {audited.experiment.problem}", STYLES["error"])
        if one["folds"]:
            _fold_table(console, one["folds"])
        if one["metrics"]:
            _metric_table(console, one["metrics"])
        if (note := bias_note(audited)) is not None:
            line(console, f"  {note}")
            line(console)
        if "confusion" in one and len(one["confusion"]["labels"]) <= _MOST_LABELS:
            _confusion_table(console, one["confusion"])
        if one["claims"]:
            _claim_table(console, one["claims"])
        for finding in audited.findings:
            mark = "suppressed" if finding.suppressed is not None else str(finding.severity)
            line(console, f"  {mark} {finding.code} {finding.name}: {finding.message}", STYLES.get(mark, "dim"))
        line(console)


def _fold_table(console: Console, folds: list[dict[str, Any]]) -> None:
    repeated = len({row["repeat"] for row in folds}) > 1
    columns = [
        name for name in folds[0] if any(row[name] is not None for row in folds) and (name != "repeat" or repeated)
    ]
    rows = [[_number(row[name]) for name in columns] for row in folds[:_MOST_FOLDS]]
    console.print(table(None, columns, rows, numeric_from=1))
    if len(folds) > _MOST_FOLDS:
        line(console, f"… {len(folds) - _MOST_FOLDS} more folds (--format json has them all)")
    line(console)


def _metric_table(console: Console, metrics: dict[str, Any]) -> None:
    rows = []
    for name, entry in metrics.items():
        best = entry["values"][entry["recommended"]]
        value = _number(best, 6) if best is not None else f"undefined: {entry['undefined'][entry['recommended']]}"
        spread = entry["sd_over_repeats"].get(entry["recommended"])
        others = [
            f"{other} {_number(number, 4)}"
            for other, number in entry["values"].items()
            if other != entry["recommended"] and number is not None and other not in entry["same"]
        ]
        rows.append(
            [name, entry["recommended"], f"{value} ± {spread:.4f}" if spread is not None else value, "  ".join(others)]
        )
    console.print(table(None, ["metric", "recommended", "value", "other ways"], rows, numeric_from=9))
    line(console)


def _confusion_table(console: Console, found: dict[str, Any]) -> None:
    """Gold labels down, predicted across; a split cell shows its column value, then its row value."""

    def cell(by_column: float, by_row: float) -> str:
        return f"{by_row:g}" if by_row == by_column else f"{by_column:.3g}\\{by_row:.3g}"

    labels = found["labels"]
    totals = [sum(column) for column in zip(*found["by_column"], strict=True)]
    rows = [
        [label, *map(cell, columns, values), f"{sum(values):g}"]
        for label, columns, values in zip(labels, found["by_column"], found["by_row"], strict=True)
    ]
    rows.append(["total", *(f"{total:g}" for total in totals), ""])
    console.print(table(None, ["gold", *labels, "total"], rows))
    line(console)


def _claim_table(console: Console, claims: list[dict[str, Any]]) -> None:
    rows = []
    for claim in claims:
        explained = ", ".join(claim["matches"]) or ", ".join(claim["single_folds"]) or claim["reason"] or "nothing"
        if claim["spread"] is not None:
            explained += f"; ± is {' or '.join(claim['spread']) or 'unexplained'}"
        right = (
            f"{_number(claim['recommended'], 6)} ({claim['recommended_aggregation']})"
            if claim["recommended"] is not None
            else "-"
        )
        delta = f"{claim['delta']:+.4f}" if claim["delta"] is not None else "-"
        rows.append([claim["name"], claim["printed"], claim["verdict"], explained, right, delta])
    columns = ["claim", "printed", "verdict", "explained by", "right number", "off by"]
    console.print(table(None, columns, rows, numeric_from=9))
    line(console)


def _number(value: Any, digits: int = 4) -> str:
    if value is None:
        return "-"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)
