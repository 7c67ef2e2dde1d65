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


def as_json(found: Solution, against: Sequence[Claim], notes: Sequence[str] = ()) -> str:
    """The contract's document; the witness names one aggregation per claim, in their order; notes are about a log."""
    document: dict[str, Any] = {
        "verdict": found.verdict,
        "claims": [
            {
                "metric": fit.claim.metric.name,
                **({} if fit.claim.label is None else {"label": fit.claim.label}),
                "printed": fit.claim.printed.text,
                "aggregations": fit.aggregations,
                "truncated": fit.truncated,
                **({} if fit.reason is None else {"reason": fit.reason}),
            }
            for fit in found.claims
        ],
        "witness": None,
        "seconds": found.seconds,
        "contradiction": [str(claim) for claim in against],
        "notes": list(notes),
    }
    if found.witness is not None:
        ways = found.witness.aggregations
        parts = ("tp", "fp", "fn", "tn")
        places = found.witness.keys or ({},) * len(found.witness.folds)
        folds = [
            {**place, **dict(zip(parts, map(int, fold), strict=True))}
            for place, fold in zip(places, found.witness.folds, strict=True)
        ]
        document["witness"] = {"aggregation": ways[0] if len(ways) == 1 else list(ways), "folds": folds}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_text(found: Solution, against: Sequence[Claim], notes: Sequence[str] = (), *, colour: bool | None = None) -> str:
    """The verdict, what must be known of a log, a table of aggregations, a witness, and the time."""
    return terminal.rendered(lambda console: _draw(console, found, against, notes), colour=colour)


def _draw(console: Console, found: Solution, against: Sequence[Claim], notes: Sequence[str]) -> None:
    terminal.line(console, f"{found.verdict}: {_MEANS[found.verdict]}", "bold")
    if against:
        terminal.line(console, f"already impossible: {', '.join(map(str, against))}")
    for note in (*notes, *dict.fromkeys(f"{fit.claim}: {fit.reason}" for fit in found.claims if fit.reason)):
        terminal.line(console, note)
    if cut := [str(fit.claim) for fit in found.claims if fit.truncated]:
        terminal.line(console, f"printed by cutting digits off, not by rounding: {', '.join(cut)}")
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
        places = found.witness.keys or tuple({"fold": at} for at in range(1, len(found.witness.folds) + 1))
        folds = [
            [*map(str, place.values()), *(str(int(part)) for part in fold)]
            for place, fold in zip(places, found.witness.folds, strict=True)
        ]
        console.print(terminal.table(None, [*places[0], "tp", "fp", "fn", "tn"], folds))
        terminal.line(console)
    terminal.line(console, f"{found.seconds:.2f} s")
