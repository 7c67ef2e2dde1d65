"""Attribution without a log: what the declared design alone leaves possible for the claims, taken together."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pytest_cvaudit.attribution import AMBIGUOUS, UNCHECKABLE, UNEXPLAINED, UNIQUE, Attribution
from pytest_cvaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_cvaudit.forensics import ClaimFit, Design, Solution
    from pytest_cvaudit.forensics.studies.study import Study
    from pytest_cvaudit.model import Claim, Experiment

#: Seconds that the claims may take which are left when others contradict each other.
_SECONDS = 5.0
_NEEDED = "nothing is logged; declare `instances:`, `positives:` and `folds:` to see what is possible at all"


def attribute_by_design(experiment: Experiment) -> tuple[Attribution, ...]:
    """Attribute the claims of an experiment that has no log."""
    from pytest_cvaudit.forensics import declared_design, solve

    try:
        design = declared_design(experiment.protocol)
    except InputError as error:
        return tuple(Attribution(claim, UNCHECKABLE, reason=error.message) for claim in experiment.claims)
    if design is None:
        return tuple(Attribution(claim, UNCHECKABLE, reason=_NEEDED) for claim in experiment.claims)
    by_claim = dict(_attributions(experiment.claims, solve(experiment.claims, design), design))
    return tuple(by_claim[claim] for claim in experiment.claims)


def _attributions(
    claims: Sequence[Claim], found: Solution, design: Design | Study
) -> Iterator[tuple[Claim, Attribution]]:
    """Judge the claims together; what contradicts each other is left out until the rest is possible."""
    from pytest_cvaudit.forensics import contradiction, possible_values, solve

    deadline = None
    while found.verdict == "impossible":
        against = contradiction(claims, design) or tuple(claims)
        possible = tuple(possible_values(against[0], against[1:], design))
        for claim in against:
            yield claim, Attribution(claim, UNEXPLAINED, contradicts=against, possible=possible)
        claims = [claim for claim in claims if claim not in against]
        deadline = deadline or time.monotonic() + _SECONDS
        left = deadline - time.monotonic()
        if left <= 0:
            reason = f"not decided in {_SECONDS:g} s beside the claims that contradict the design; log the folds"
            yield from ((claim, Attribution(claim, UNCHECKABLE, reason=reason)) for claim in claims)
            return
        found = solve(claims, design, seconds=left)
    yield from ((fit.claim, _attribution(fit, found)) for fit in found.claims)


def _attribution(fit: ClaimFit, found: Solution) -> Attribution:
    if "unknown" in fit.aggregations:
        reason = f"{fit.claim.name} cannot be judged by the design; log the folds"
        return Attribution(fit.claim, UNCHECKABLE, reason=reason)
    if "undecided" in fit.aggregations.values() or not fit.fitting:
        reason = fit.reason or f"not decided in {found.seconds:.1f} s; log the folds"
        return Attribution(fit.claim, UNCHECKABLE, reason=reason)
    verdict = UNIQUE if len(fit.fitting) == 1 else AMBIGUOUS
    return Attribution(fit.claim, verdict, fit.fitting, truncated=fit.truncated)
