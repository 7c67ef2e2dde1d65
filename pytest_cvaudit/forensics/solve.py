"""From printed claims and the design alone: which aggregations can have made them, with a table that prints them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from pytest_cvaudit.forensics.aliases import canonical
from pytest_cvaudit.forensics.combine import CANNOT, FITS, ROUNDING_SHARE, UNDECIDED, Combiner, Found
from pytest_cvaudit.forensics.everything import all_tables
from pytest_cvaudit.forensics.exact import aggregate, bounds, ways_of
from pytest_cvaudit.forensics.studies.classes import Classes
from pytest_cvaudit.forensics.studies.one_class import OneClassCombiner, only_class
from pytest_cvaudit.forensics.studies.study import Study, StudyCombiner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.forensics.design import Design
    from pytest_cvaudit.forensics.exact import Bounds, Counts, Surd
    from pytest_cvaudit.model import Claim, Metric

UNIQUE, AMBIGUOUS, IMPOSSIBLE = "unique", "ambiguous", "impossible"
_NEVER_JUDGED = "not judged by the supports: {}"
_NOT_UNDERSTOOD = "this measure or aggregation cannot be judged by the design"


@dataclass(frozen=True)
class ClaimFit:
    """One claim: what is known of every aggregation, and whether it prints by truncation only.

    ``aliases`` names the aggregations that every table of the design makes equal to an earlier one.
    """

    claim: Claim
    aggregations: dict[str, str]
    truncated: bool = False
    aliases: dict[str, str] = field(default_factory=dict)
    reason: str | None = None

    @property
    def fitting(self) -> tuple[str, ...]:
        """The aggregations that fit, each number under its first name only."""
        return tuple(way for way, answer in self.aggregations.items() if answer == FITS and way not in self.aliases)


@dataclass(frozen=True)
class Witness:
    """A fold table (tp, fp, fn, tn per fold) that prints every claim by the aggregation named for it.

    ``keys`` says where each entry belongs (repeat, data set, label) where a study has several parts.
    """

    aggregations: tuple[str, ...]
    folds: tuple[Counts, ...]
    keys: tuple[dict[str, str | int], ...] = ()


@dataclass(frozen=True)
class Solution:
    """What can be said of the claims together: unique, ambiguous, impossible or undecided."""

    verdict: str
    claims: tuple[ClaimFit, ...]
    witness: Witness | None
    seconds: float


def solve(
    claims: Sequence[Claim], design: Design | Study, *, seconds: float = 5.0, truncation: bool = True
) -> Solution:
    """Decide for every aggregation of every claim whether some table makes it, together with all other claims.

    Claims that no table prints by rounding are tried by ``truncation``, as few of them as possible.
    """
    start = time.monotonic()
    names = [_names(claim, design) for claim in claims]
    judged = [at for at, ways in enumerate(names) if ways]
    parts = [(claims[at], names[at]) for at in judged]
    never = [design.unjudged(claim) if isinstance(design, Study) and not claim.aggregation else () for claim in claims]
    closed = [(place, part) for place, part in enumerate(parts) if not never[judged[place]]]
    if len(closed) < len(parts):
        # What is impossible must be so without the claims that may come from an aggregation that is not judged.
        alone, _ = _by_rounding_or_truncation([part for _, part in closed], design, start + seconds / 2, truncation)
        found, cut = _by_rounding_or_truncation(parts, design, start + seconds, truncation)
        found.answers = _softened(found, {place: alone.answers[at] for at, (place, _) in enumerate(closed)})
    else:
        found, cut = _by_rounding_or_truncation(parts, design, start + seconds, truncation)
    fits: list[ClaimFit] = []
    for at, claim in enumerate(claims):
        if at not in judged:
            fits.append(ClaimFit(claim, {claim.aggregation or "unknown": UNDECIDED}, reason=_NOT_UNDERSTOOD))
            continue
        place = judged.index(at)
        answers = found.answers[place]
        aliases = {way: first for way, first in names[at].items() if way != first and first in names[at]}
        aggregations = {way: answers[first] for way, first in names[at].items()} | dict.fromkeys(never[at], UNDECIDED)
        reason = _NEVER_JUDGED.format(", ".join(never[at])) if never[at] else None
        fits.append(ClaimFit(claim, aggregations, place in cut, aliases, reason))
    witness = None
    if found.table is not None and len(judged) == len(claims):
        keys = design.keys(found.table) if isinstance(design, Study) else ()
        witness = Witness(found.ways, found.table, keys)
    return Solution(verdict_of(fits), tuple(fits), witness, time.monotonic() - start)


def _names(claim: Claim, design: Design | Study) -> dict[str, str]:
    """Map the aggregations that the claim may come from to the first that is always equal."""
    if isinstance(design, Study):
        names = design.names(claim)
    else:
        # A claim on one label may be about the negatives.
        names = canonical(claim.metric, design) if ways_of(claim.metric) and claim.label is None else {}
    if claim.aggregation is not None:
        names = {way: first for way, first in names.items() if way == claim.aggregation}
    return names


def _softened(found: Found, alone: dict[int, dict[str, str]]) -> list[dict[str, str]]:
    """Answers where some claims may come from elsewhere: only what the others rule out ``alone`` cannot be."""
    return [
        {
            way: answer if answer == FITS else CANNOT if alone.get(place, {}).get(way) == CANNOT else UNDECIDED
            for way, answer in answers.items()
        }
        for place, answers in enumerate(found.answers)
    ]


def _subject(claim: Claim, design: Design | Study) -> Metric:
    return design.subject(claim) if isinstance(design, Study) else claim.metric


def verdict_of(fits: Sequence[ClaimFit]) -> str:
    """The verdict on all claims together."""
    answers = [answer for fit in fits for answer in fit.aggregations.values()]
    if any(all(answer == CANNOT for answer in fit.aggregations.values()) for fit in fits):
        return IMPOSSIBLE
    if any(len(fit.fitting) > 1 for fit in fits) and all(FITS in fit.aggregations.values() for fit in fits):
        return AMBIGUOUS
    return UNDECIDED if UNDECIDED in answers or not fits else UNIQUE


def _combiner(
    claims: Sequence[tuple[Claim, dict[str, str]]], within: Sequence[Bounds], design: Design | Study, deadline: float
) -> Combiner:
    parts = [
        (_subject(claim, design), tuple(dict.fromkeys(ways.values())), window)
        for (claim, ways), window in zip(claims, within, strict=True)
    ]
    if not isinstance(design, Study):
        return Combiner(parts, design, deadline, all_tables(design))
    label = only_class([metric for metric, _, _ in parts], design) if isinstance(design, Classes) else None
    if label is not None and isinstance(design, Classes):
        return OneClassCombiner(parts, design, label, deadline)
    return StudyCombiner(parts, design, deadline)


def value_between(
    claim: Claim, within: Bounds, others: Sequence[Claim], design: Design | Study, seconds: float
) -> Surd | None:
    """Find some value of the claim within bounds that has a table together with the other claims, by rounding."""
    parts = [(each, _names(each, design)) for each in (claim, *others)]
    if not all(names for _, names in parts):
        return None
    windows = [within, *(bounds(other.printed) for other in others)]
    found = _combiner(parts, windows, design, time.monotonic() + seconds).find()
    if found.table is None:
        return None
    metric, way = _subject(claim, design), found.ways[0]
    return design.value(metric, way, found.table) if isinstance(design, Study) else aggregate(metric, way, found.table)


def _by_rounding_or_truncation(
    claims: Sequence[tuple[Claim, dict[str, str]]], design: Design | Study, deadline: float, truncation: bool
) -> tuple[Found, frozenset[int]]:
    def combiner(within: Sequence[Bounds]) -> Combiner:
        return _combiner(claims, within, design, deadline)

    rounded = [bounds(claim.printed) for claim, _ in claims]
    if not truncation:
        return combiner(rounded).run(), frozenset()
    now = time.monotonic()
    found = combiner(rounded).run_until(now + ROUNDING_SHARE * (deadline - now))
    if found.table is not None or not (found.impossible or found.open):
        return found, frozenset()
    cut = [bounds(claim.printed, truncated=True) for claim, _ in claims]
    # Numbers that print so in either way form one interval: if even that is impossible, every mixture is.
    either = combiner([(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(rounded, cut, strict=True)]).run()
    if either.impossible:
        return either, frozenset()
    if not found.impossible:
        return found.unless_printed_otherwise(either), frozenset()
    for size in range(1, len(claims) + 1):
        trials = {
            chosen: combiner([cut[at] if at in chosen else rounded[at] for at in range(len(claims))]).run()
            for chosen in map(frozenset, combinations(range(len(claims)), size))
        }
        possible = {chosen: trial for chosen, trial in trials.items() if not trial.impossible}
        if possible:
            truncated = frozenset().union(*(chosen for chosen, trial in possible.items() if trial.table is not None))
            return Found.merged(list(possible.values())).unless_printed_otherwise(either), truncated
    return found, frozenset()
