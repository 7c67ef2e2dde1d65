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
    from pytest_cvaudit.forensics import Design, contradiction, possible_values, solve

    protocol = experiment.protocol
    if protocol.instances is None or protocol.positives is None or protocol.folds is None:
        return tuple(Attribution(claim, UNCHECKABLE, reason=_NEEDED) for claim in experiment.claims)
    if protocol.repeats is not None and protocol.repeats > 1:
        return tuple(Attribution(claim, UNCHECKABLE, reason="repeats need a log") for claim in experiment.claims)
    try:
        design = Design(protocol.instances, protocol.positives, protocol.folds, bool(protocol.stratified))
    except InputError as error:
        return tuple(Attribution(claim, UNCHECKABLE, reason=error.message) for claim in experiment.claims)
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
        return Attribution(fit.claim, UNCHECKABLE, reason=f"not decided in {found.seconds:.1f} s; log the folds")
    verdict = UNIQUE if len(fit.fitting) == 1 else AMBIGUOUS
    return Attribution(fit.claim, verdict, fit.fitting, truncated=fit.truncated)
