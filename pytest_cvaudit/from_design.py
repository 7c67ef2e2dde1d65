"""Attribution without a log: what the declared design alone leaves possible for the claims, taken together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.attribution import AMBIGUOUS, UNCHECKABLE, UNEXPLAINED, UNIQUE, Attribution
from pytest_cvaudit.errors import InputError

if TYPE_CHECKING:
    from pytest_cvaudit.forensics import ClaimFit, Solution
    from pytest_cvaudit.model import Experiment

_NEEDED = "nothing is logged; declare `instances:`, `positives:` and `folds:` to see what is possible at all"


def attribute_by_design(experiment: Experiment) -> tuple[Attribution, ...]:
    """Attribute the claims of an experiment that has no log."""
    from pytest_cvaudit.forensics import contradiction, declared_design, possible_values, solve

    try:
        design = declared_design(experiment.protocol)
    except InputError as error:
        return tuple(Attribution(claim, UNCHECKABLE, reason=error.message) for claim in experiment.claims)
    if design is None:
        return tuple(Attribution(claim, UNCHECKABLE, reason=_NEEDED) for claim in experiment.claims)
    found = solve(experiment.claims, design)
    if found.verdict != "impossible":
        return tuple(_attribution(fit, found) for fit in found.claims)
    against = contradiction(experiment.claims, design) or tuple(experiment.claims)
    possible = tuple(possible_values(against[0], against[1:], design))
    return tuple(Attribution(fit.claim, UNEXPLAINED, contradicts=against, possible=possible) for fit in found.claims)


def _attribution(fit: ClaimFit, found: Solution) -> Attribution:
    if "unknown" in fit.aggregations:
        reason = f"{fit.claim.name} cannot be judged by the design; log the folds"
        return Attribution(fit.claim, UNCHECKABLE, reason=reason)
    if "undecided" in fit.aggregations.values() or not fit.fitting:
        reason = fit.reason or f"not decided in {found.seconds:.1f} s; log the folds"
        return Attribution(fit.claim, UNCHECKABLE, reason=reason)
    verdict = UNIQUE if len(fit.fitting) == 1 else AMBIGUOUS
    return Attribution(fit.claim, verdict, fit.fitting, truncated=fit.truncated)
