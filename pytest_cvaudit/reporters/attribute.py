"""What forensics found, as text and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_cvaudit.reporters import terminal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from rich.console import Console

    from pytest_cvaudit.forensics import Solution
    from pytest_cvaudit.model import Claim

_MEANS = {
    "unique": "there is one way to make these numbers",
    "ambiguous": "several ways print these digits",
    "impossible": "no table of folds prints these numbers",
    "undecided": "not decided in the time given; this is not a yes",
}


def as_json(found: Solution, against: Sequence[Claim]) -> str:
    """The contract's document; the witness names one aggregation per claim, in their order."""
    document: dict[str, Any] = {
        "verdict": found.verdict,
        "claims": [
            {
                "metric": fit.claim.metric.name,
                "printed": fit.claim.printed.text,
                "aggregations": fit.aggregations,
                "truncated": fit.truncated,
            }
            for fit in found.claims
        ],
        "witness": None,
        "seconds": found.seconds,
        "contradiction": [str(claim) for claim in against],
    }
    if found.witness is not None:
        ways = found.witness.aggregations
        parts = ("tp", "fp", "fn", "tn")
        folds = [dict(zip(parts, map(int, fold), strict=True)) for fold in found.witness.folds]
        document["witness"] = {"aggregation": ways[0] if len(ways) == 1 else list(ways), "folds": folds}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_text(found: Solution, against: Sequence[Claim], *, colour: bool | None = None) -> str:
    """The verdict, a table of aggregations, a witness, and the time."""
    return terminal.rendered(lambda console: _draw(console, found, against), colour=colour)


def _draw(console: Console, found: Solution, against: Sequence[Claim]) -> None:
    terminal.line(console, f"{found.verdict}: {_MEANS[found.verdict]}", "bold")
    if against:
        terminal.line(console, f"already impossible: {', '.join(map(str, against))}")
    terminal.line(console)
    rows = [
        [str(fit.claim), way, answer, f"as {fit.aliases[way]}" if way in fit.aliases else ""]
        for fit in found.claims
        for way, answer in fit.aggregations.items()
    ]
    console.print(terminal.table(None, ["claim", "aggregation", "answer", ""], rows, numeric_from=9))
    terminal.line(console)
    if found.witness is not None:
        ways = zip(found.claims, found.witness.aggregations, strict=True)
        made = ", ".join(f"{fit.claim} by {way}" for fit, way in ways)
        terminal.line(console, f"a table that prints {made}:")
        folds = [
            [str(number), *(str(int(part)) for part in fold)] for number, fold in enumerate(found.witness.folds, 1)
        ]
        console.print(terminal.table(None, ["fold", "tp", "fp", "fn", "tn"], folds))
        terminal.line(console)
    terminal.line(console, f"{found.seconds:.2f} s")
