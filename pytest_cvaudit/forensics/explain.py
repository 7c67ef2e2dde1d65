"""For messages: the fewest claims that contradict each other, and the values that would have been possible."""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics.solve import IMPOSSIBLE, solve
from pytest_cvaudit.model.printed import Printed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_cvaudit.forensics.design import Design
    from pytest_cvaudit.forensics.studies.study import Study
    from pytest_cvaudit.model import Claim

#: How many units of the last digit are searched on each side, and how many values are named.
_OUTWARD, _NAMED = 12, 4


def contradiction(claims: Sequence[Claim], design: Design | Study, seconds: float = 5.0) -> tuple[Claim, ...]:
    """Find the smallest set of claims that is impossible already; empty if none was proven so in time."""
    deadline = time.monotonic() + seconds
    for size in range(1, len(claims) + 1):
        for chosen in combinations(claims, size):
            left = deadline - time.monotonic()
            if left <= 0:
                return ()
            if solve(chosen, design, seconds=left).verdict == IMPOSSIBLE:
                return chosen
    return ()


def possible_values(
    claim: Claim,
    others: Sequence[Claim],
    design: Design | Study,
    aggregation: str | None = None,
    *,
    seconds: float = 2.0,
) -> list[str]:
    """List the printed values nearest to the claim that have a table, by rounding, together with the other claims."""

    def has_table(moved: Claim, left: float) -> bool:
        return solve([moved, *others], design, seconds=left, truncation=False).witness is not None

    return nearest(claim, has_table, aggregation, seconds=seconds)


def nearest(
    claim: Claim, has_table: Callable[[Claim, float], bool], aggregation: str | None = None, *, seconds: float = 2.0
) -> list[str]:
    """List the printed values nearest to the claim of which something finds a table in the seconds left."""
    deadline = time.monotonic() + seconds
    named: list[str] = []
    for distance in range(_OUTWARD + 1):
        for steps in (-distance, distance) if distance else (0,):
            moved = _moved(claim, steps, aggregation)
            left = deadline - time.monotonic()
            if left <= 0 or len(named) >= _NAMED:
                return named
            if moved is not None and has_table(moved, left):
                named.append(str(moved.printed))
    return named


def _moved(claim: Claim, steps: int, aggregation: str | None) -> Claim | None:
    """The claim with its last digit moved by so many steps; nothing where that leaves the metric's range."""
    printed = claim.printed
    digits = printed.digits + steps * Decimal(1).scaleb(int(printed.digits.as_tuple().exponent))
    text = f"{digits:f}" + ("%" if printed.percent else "")
    try:
        return replace(
            claim, printed=Printed(text, digits, printed.percent), aggregation=aggregation or claim.aggregation
        )
    except InputError:
        return None
