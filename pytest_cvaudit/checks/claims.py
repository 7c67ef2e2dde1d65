"""CV5xx and CV0xx: what explains a claim, and what could not be read or checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.attribution import UNCHECKABLE, UNEXPLAINED
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Experiment


@check("CV002")
def unreadable_log(experiment: Experiment) -> Iterator[Result]:
    """A log that cannot be read."""
    if experiment.problem is not None:
        yield Hit(str(experiment.problem))


@check("CV003")
def uncheckable_claim(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claim that the evidence can neither confirm nor refute."""
    if not attributions:
        yield Irrelevant("nothing is claimed")
    for attribution in attributions:
        claim, table = attribution.claim, attribution.table
        if table is not None and claim.aggregation is not None and claim.aggregation not in table.values:
            known = ", ".join(table.values)
            hint = suggestion(claim.aggregation, table.values)
            declared = f"declares aggregation '{claim.aggregation}', which {claim.name} does not have"
            message = f"'{claim}' {declared}{hint} ({known})"
            yield Hit(message, claim)
        elif attribution.verdict == UNCHECKABLE:
            yield Hit(
                f"'{claim}' cannot be checked: {attribution.reason}", claim, evidence={"reason": attribution.reason}
            )


@check("CV501")
def undeclared_aggregation(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claim that does not say how it was aggregated although that changes what is printed."""
    for attribution in attributions:
        claim, table = attribution.claim, attribution.table
        if claim.aggregation is not None or attribution.verdict == UNCHECKABLE or table is None:
            continue
        values = {name: value.value for name, value in table.distinct().items() if value.value is not None}
        prints = sorted(
            {claim.printed.show(value) for value in values.values()}, key=lambda text: float(text.rstrip("%"))
        )
        if len(prints) > 1:
            message = f"'{claim}' does not say how it was aggregated; the ways in use print {prints[0]} to {prints[-1]}"
            if attribution.matches:
                message += f"; it looks like {' or '.join(attribution.matches)}"
            yield Hit(message, claim, evidence={"values": values, "matches": list(attribution.matches)})
        elif any(value.unknown for value in table.values.values()):
            yield Unsure(f"'{claim}' does not say how it was aggregated, and whether that matters is unknown")


@check("CV502")
def unexplained_claim(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claim that no aggregation of the logged folds prints, or not the one it declares."""
    for attribution in attributions:
        claim, table = attribution.claim, attribution.table
        near = ", ".join(f"{name} {value:.6f}" for name, value in attribution.nearest)
        evidence = {"nearest": dict(attribution.nearest), "matches": list(attribution.matches)}
        if attribution.verdict == UNEXPLAINED and not attribution.single_folds:
            yield Hit(
                f"'{claim}' is not what any aggregation of the logged folds prints; nearest: {near}",
                claim,
                evidence=evidence,
            )
            continue
        if table is None or claim.aggregation is None or not attribution.matches:
            continue
        if claim.aggregation not in table.values:
            continue
        declared = table.values[claim.aggregation]
        if table.canonical(claim.aggregation) in attribution.matches:
            continue
        if declared.value is None:
            yield Unsure(f"'{claim}' declares {claim.aggregation}, which is not known: {declared.reason}")
            continue
        message = (
            f"'{claim}' declares {claim.aggregation}, which is {declared.value:.6f} and prints "
            f"{claim.printed.show(declared.value)}; what it prints is {' or '.join(attribution.matches)}"
        )
        yield Hit(message, claim, evidence={**evidence, "declared": declared.value})


@check("CV503")
def single_fold_claim(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claim that one fold alone explains."""
    for attribution in attributions:
        claim, table = attribution.claim, attribution.table
        if not attribution.single_folds or table is None:
            continue
        folds = " or ".join(attribution.single_folds)
        if attribution.verdict == UNCHECKABLE:
            yield Unsure(
                f"'{claim}' is what {folds} alone prints, but an aggregation is not ruled out: {attribution.reason}"
            )
            continue
        values = table.per_fold.value[~(table.per_fold.value != table.per_fold.value)]
        best = "the best fold" if claim.printed.rounded.meets(float(values.max())) else "not the best fold"
        right, shown = table.best, ""
        if right.value is not None:
            printed = claim.printed.show(right.value)
            shown = f"; {table.recommended} over all folds is {right.value:.6f} and would print {printed}"
        message = (
            f"'{claim}' is what {folds} alone prints ({best} of {len(table.cells)}) and no aggregation does{shown}"
        )
        fold = attribution.single_folds[0] if len(attribution.single_folds) == 1 else None
        evidence = {"folds": list(attribution.single_folds), "recommended": right.value}
        yield Hit(message, claim, fold=fold, evidence=evidence)
