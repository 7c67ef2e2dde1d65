"""From printed claims and the design alone: which aggregations can have made them, with a table that prints them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from pytest_cvaudit.forensics.aliases import canonical
from pytest_cvaudit.forensics.combine import CANNOT, FITS, UNDECIDED, Combiner, Found
from pytest_cvaudit.forensics.exact import bounds, ways_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.forensics.design import Design
    from pytest_cvaudit.forensics.exact import Bounds, Counts
    from pytest_cvaudit.model import Claim

UNIQUE, AMBIGUOUS, IMPOSSIBLE = "unique", "ambiguous", "impossible"


@dataclass(frozen=True)
class ClaimFit:
    """One claim: what is known of every aggregation, and whether it prints by truncation only.

    ``aliases`` names the aggregations that every table of the design makes equal to an earlier one.
    """

    claim: Claim
    aggregations: dict[str, str]
    truncated: bool = False
    aliases: dict[str, str] = field(default_factory=dict)

    @property
    def fitting(self) -> tuple[str, ...]:
        """The aggregations that fit, each number under its first name only."""
        return tuple(way for way, answer in self.aggregations.items() if answer == FITS and way not in self.aliases)


@dataclass(frozen=True)
class Witness:
    """A fold table (tp, fp, fn, tn per fold) that prints every claim by the aggregation named for it."""

    aggregations: tuple[str, ...]
    folds: tuple[Counts, ...]


@dataclass(frozen=True)
class Solution:
    """What can be said of the claims together: unique, ambiguous, impossible or undecided."""

    verdict: str
    claims: tuple[ClaimFit, ...]
    witness: Witness | None
    seconds: float


def solve(claims: Sequence[Claim], design: Design, *, seconds: float = 5.0, truncation: bool = True) -> Solution:
    """Decide for every aggregation of every claim whether some table makes it, together with all other claims.

    Claims that no table prints by rounding are tried by ``truncation``, as few of them as possible.
    """
    start = time.monotonic()
    names = [_names(claim, design) for claim in claims]
    judged = [at for at, ways in enumerate(names) if ways]
    parts = [(claims[at], names[at]) for at in judged]
    found, cut = _by_rounding_or_truncation(parts, design, start + seconds, truncation)
    fits: list[ClaimFit] = []
    for at, claim in enumerate(claims):
        if at not in judged:
            fits.append(ClaimFit(claim, {claim.aggregation or "unknown": UNDECIDED}))
            continue
        place = judged.index(at)
        answers = found.answers[place]
        aliases = {way: first for way, first in names[at].items() if way != first and first in names[at]}
        aggregations = {way: answers[first] for way, first in names[at].items()}
        fits.append(ClaimFit(claim, aggregations, place in cut, aliases))
    witness = None
    if found.table is not None and len(judged) == len(claims):
        witness = Witness(found.ways, found.table)
    return Solution(_verdict(fits), tuple(fits), witness, time.monotonic() - start)


def _names(claim: Claim, design: Design) -> dict[str, str]:
    """Map the aggregations that the claim may come from to the first that is always equal."""
    names = canonical(claim.metric, design) if ways_of(claim.metric) else {}
    if claim.aggregation is not None:
        names = {way: first for way, first in names.items() if way == claim.aggregation}
    return names


def _verdict(fits: Sequence[ClaimFit]) -> str:
    answers = [answer for fit in fits for answer in fit.aggregations.values()]
    if any(all(answer == CANNOT for answer in fit.aggregations.values()) for fit in fits):
        return IMPOSSIBLE
    if any(len(fit.fitting) > 1 for fit in fits) and all(FITS in fit.aggregations.values() for fit in fits):
        return AMBIGUOUS
    return UNDECIDED if UNDECIDED in answers or not fits else UNIQUE


def _by_rounding_or_truncation(
    claims: Sequence[tuple[Claim, dict[str, str]]], design: Design, deadline: float, truncation: bool
) -> tuple[Found, frozenset[int]]:
    def attempt(within: Sequence[Bounds]) -> Found:
        parts = [
            (claim.metric, tuple(dict.fromkeys(ways.values())), window)
            for (claim, ways), window in zip(claims, within, strict=True)
        ]
        return Combiner(parts, design, deadline).run()

    rounded = [bounds(claim.printed) for claim, _ in claims]
    cut = [bounds(claim.printed, truncated=True) for claim, _ in claims]
    found = attempt(rounded)
    if not (found.impossible and truncation):
        return found, frozenset()
    # Numbers that print so in either way form one interval: if even that is impossible, every mixture is.
    either = attempt([(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(rounded, cut, strict=True)])
    if either.impossible:
        return either, frozenset()
    for size in range(1, len(claims) + 1):
        trials = {
            chosen: attempt([cut[at] if at in chosen else rounded[at] for at in range(len(claims))])
            for chosen in map(frozenset, combinations(range(len(claims)), size))
        }
        if any(not trial.impossible for trial in trials.values()):
            possible = {chosen: trial for chosen, trial in trials.items() if not trial.impossible}
            truncated = frozenset().union(*(chosen for chosen, trial in possible.items() if trial.table is not None))
            return Found.merged(list(possible.values())), truncated
    return found, frozenset()
