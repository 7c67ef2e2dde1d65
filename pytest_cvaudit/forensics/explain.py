"""For messages: the fewest claims that contradict each other, and the values that would have been possible."""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics.exact import lies
from pytest_cvaudit.forensics.solve import IMPOSSIBLE, solve, value_between
from pytest_cvaudit.model.printed import Printed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_cvaudit.forensics.design import Design
    from pytest_cvaudit.forensics.exact import Bounds, Surd
    from pytest_cvaudit.forensics.studies.study import Study
    from pytest_cvaudit.model import Claim

#: How many units of the last digit are searched on each side, and how many values are named.
_OUTWARD, _NAMED = 12, 4
#: The parts of the time until which the nearest value below and then above is looked for.
_UNTIL = {-1: 0.4, 1: 0.8}
#: How many tries like the next one there is to be time for.
_TRIES = 3


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
    """List printed values that have a table, by rounding, together with the other claims: those near the claim.

    Where none is near, these are the nearest below and above that were found.
    """
    start = time.monotonic()
    declared = replace(claim, aggregation=aggregation or claim.aggregation)
    sides = {
        side: _nearest_on_side(declared, others, design, side, start + share * seconds)
        for side, share in _UNTIL.items()
    }
    steps = sorted((side * distance for side, distance in sides.items() if distance is not None), key=abs)
    known = [str(moved.printed) for moved in (_moved(declared, each, None) for each in steps) if moved is not None]
    if not steps or abs(steps[0]) > _OUTWARD:
        return known

    def has_table(moved: Claim, left: float) -> bool:
        return value_between(moved, _window(moved, 0, 0), others, design, left) is not None

    return nearest(declared, has_table, seconds=start + seconds - time.monotonic()) or known


def _nearest_on_side(
    claim: Claim, others: Sequence[Claim], design: Design | Study, side: int, deadline: float
) -> int | None:
    """How many units of the last digit the nearest possible value known is away; halves what is open until the end."""
    start, end = 0 if side < 0 else 1, _farthest(claim, side)
    best = None
    while start <= end and (left := deadline - time.monotonic()) > 0:
        # The first try says whether there is any value; then the nearer half of what is open is tried.
        last = end if best is None else (start + end) // 2
        value = value_between(
            claim, _window(claim, *sorted((side * start, side * last))), others, design, left / _TRIES
        )
        if value is None:
            start = last + 1
        else:
            best = _distance(claim, value, side, start, last)
            end = best - 1
    return best


def _farthest(claim: Claim, side: int) -> int:
    """How many units of the last digit the end of the metric's range is away."""
    end = claim.metric.low if side < 0 else claim.metric.high
    return int(abs(Decimal(str(end)) - claim.printed.digits * claim.printed.scale) / claim.printed.unit)


def _window(claim: Claim, first: int, last: int) -> Bounds:
    """The numbers that print as the claim moved by some steps."""
    value, unit = Fraction(claim.printed.digits * claim.printed.scale), Fraction(claim.printed.unit)
    return value + (first - Fraction(1, 2)) * unit, value + (last + Fraction(1, 2)) * unit


def _distance(claim: Claim, value: Surd, side: int, least: int, most: int) -> int:
    """How many steps of the last digit away a value prints, the fewest where it is a half."""
    while least < most:
        middle = (least + most) // 2
        if lies(value, _window(claim, *sorted((side * least, side * middle)))):
            most = middle
        else:
            least = middle + 1
    return least


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
