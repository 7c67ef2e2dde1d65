"""CV001, CV004 and CV005: suppressions that do nothing or are out of date, and what a standard requires."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.model import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.checks.registry import SuppressionUse
    from pytest_cvaudit.model import Claim, Experiment


@check("CV001")
def unused_suppression(suppressions: tuple[SuppressionUse, ...]) -> Iterator[Result]:
    """A suppression that suppresses nothing."""
    for one in suppressions:
        if one.findings == 0:
            message = f"the suppression of {one.rule} for {one.where} suppresses nothing; remove it"
            yield Hit(message, evidence={"rule": one.rule}, manifest_line=one.line)


@check("CV004")
def expired_suppression(suppressions: tuple[SuppressionUse, ...]) -> Iterator[Result]:
    """A suppression whose last day is over and that findings still need."""
    for one in suppressions:
        if one.expired and one.findings:
            message = (
                f"the suppression of {one.rule} for {one.where} ended on {one.until}; {one.findings} findings count "
                f"again (its reason was: {one.reason})"
            )
            yield Hit(message, evidence={"rule": one.rule, "until": str(one.until)}, manifest_line=one.line)


@check("CV005")
def unmet_requirement(
    experiment: Experiment, *, aggregation: bool, spread: bool, where: bool, ids: bool, repeats: float, evidence: str
) -> Iterator[Result]:
    """Something that the standard requires of every experiment."""
    if not any((aggregation, spread, where, ids, repeats, evidence)):
        yield Irrelevant("the standard requires nothing")
        return
    for claim in experiment.claims:
        yield from _of_claim(claim, aggregation, spread, where)
    if evidence and experiment.evidence < Evidence[evidence.upper()]:
        yield Hit(f"the standard requires {evidence} evidence; the log has {experiment.evidence} only")
    if ids and experiment.predictions is None:
        yield Unsure("the standard requires instance ids, which only predictions have")
    elif ids and experiment.predictions is not None and experiment.predictions.ids is None:
        yield Hit("the standard requires instance ids in the log, and no column has them")
    logged = len({cell.repeat for cell in experiment.cells})
    if logged < repeats:
        yield Hit(f"the standard requires at least {repeats:g} repeats, and {logged} are logged")


def _of_claim(claim: Claim, aggregation: bool, spread: bool, where: bool) -> Iterator[Hit]:
    if aggregation and claim.aggregation is None:
        yield Hit(f"the standard requires claims to declare their aggregation, and '{claim}' does not", claim)
    if spread and claim.printed.spread is None:
        yield Hit(f"the standard requires claims to have a spread (±), and '{claim}' has none", claim)
    if where and claim.where is None:
        yield Hit(f"the standard requires claims to say where they stand, and '{claim}' does not", claim)
