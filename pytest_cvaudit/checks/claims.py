"""CV5xx and CV0xx: what explains a claim, and what could not be read or checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import cell_name
from pytest_cvaudit.attribution import UNCHECKABLE, UNEXPLAINED
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.errors import suggestion
from pytest_cvaudit.model import Evidence, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Claim, Experiment
    from pytest_cvaudit.tallies.tally import Tallies

    Floats = NDArray[np.float64]

#: A smaller value is better.
LOSSES = ("error", "brier", "log_loss", "ece")


def ways_of(attribution: Attribution) -> tuple[str, ...]:
    """The aggregations that may have made a claim: the declared one where it prints so, else all that do."""
    declared, table = attribution.claim.aggregation, attribution.table
    if declared is None or table is None or declared not in table.values:
        return attribution.matches
    name = table.canonical(declared)
    return (name,) if name in attribution.matches else attribution.matches


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
        if table is None:
            continue
        evidence = {"nearest": dict(attribution.nearest), "matches": list(attribution.matches)}
        yield from _spread(attribution)
        if attribution.other_reading is not None:
            message = (
                f"'{claim}' is no aggregation of {claim.name}, but what {attribution.other_reading} prints: say so"
            )
            yield Hit(
                message, claim, evidence={**evidence, "reading": attribution.other_reading}, severity=Severity.WARNING
            )
            continue
        if attribution.verdict == UNEXPLAINED:
            near = ", ".join(f"{name} {value:.6f}" for name, value in attribution.nearest)
            message = f"'{claim}' is not what any aggregation of the logged folds prints; nearest: {near}"
            if attribution.near_fold is not None:
                fold, value = attribution.near_fold
                message += f"; {fold} alone is nearer with {value:.6f}"
                evidence["near_fold"] = fold
            # A single fold and a measure in disguise have rules of their own.
            if not attribution.single_folds and attribution.disguise is None:
                yield Hit(message, claim, evidence=evidence)
            continue
        declared = table.values.get(claim.aggregation or "")
        if declared is None or table.canonical(claim.aggregation or "") in attribution.matches:
            continue
        if declared.value is None:
            yield Unsure(f"'{claim}' declares {claim.aggregation}, which has no value here: {declared.reason}")
            continue
        found = f"; what it prints is {' or '.join(attribution.matches)}" if attribution.matches else ""
        message = (
            f"'{claim}' declares {claim.aggregation}, which is {declared.value:.6f} and prints "
            f"{claim.printed.show(declared.value)}{found}"
        )
        yield Hit(message, claim, evidence={**evidence, "declared": declared.value})


def _spread(attribution: Attribution) -> Iterator[Hit]:
    """A ± that no spread of the folds prints; there are more kinds of spread than are known here, so a warning."""
    claim, table = attribution.claim, attribution.table
    if attribution.spread != () or not attribution.matches or table is None or claim.printed.spread is None:
        return
    values = table.starting_from(attribution.matches[0])[0].value
    values = values[~np.isnan(values)]
    if len(values) > 1:
        deviation = float(values.std(ddof=1))
        message = f"the ± of '{claim}' is no known spread over folds or repeats; the SD over folds is {deviation:.4f}"
        yield Hit(message, claim, evidence={"sd": deviation}, severity=Severity.WARNING)


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
        find_best = np.nanargmin if claim.metric.name in LOSSES else np.nanargmax
        best = cell_name(table.cells[int(find_best(table.per_fold.value))], table.cells)
        rank = "the best fold" if best in attribution.single_folds else "not the best fold"
        right, shown = table.best, ""
        if right.value is not None:
            printed = claim.printed.show(right.value)
            shown = f"; {table.recommended} over all folds is {right.value:.6f} and would print {printed}"
        message = (
            f"'{claim}' is what {folds} alone prints ({rank} of {len(table.cells)}) and no aggregation does{shown}"
        )
        evidence = {"folds": list(attribution.single_folds), "recommended": right.value}
        yield Hit(message, claim, fold=attribution.single_folds[0], evidence=evidence)


@check("CV506")
def no_spread(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A mean over folds or repeats that is claimed without its spread."""
    for attribution in attributions:
        claim, samples = attribution.claim, [_averaged(attribution, way) for way in ways_of(attribution)]
        if claim.printed.spread is not None or not samples or any(len(values) < 2 for _, values in samples):
            continue
        over, values = samples[0]
        low, high = (claim.printed.show(float(end)) for end in (values.min(), values.max()))
        if low != high:
            deviation = float(values.std(ddof=1))
            message = f"'{claim}' is a mean over {over}: {len(values)} values from {low} to {high}"
            yield Hit(f"{message} (SD {deviation:.4f})", claim, evidence={"sd": deviation, over: len(values)})


def _averaged(attribution: Attribution, way: str) -> tuple[str, Floats]:
    """What a way of explaining a claim is the mean of: folds, or repeats, or nothing."""
    table = attribution.table
    assert table is not None
    if not way.startswith("avg"):
        return "repeats", np.asarray(table.values[way].per_repeat)
    values = table.starting_from(way.replace("_all@", "@"))[0].value
    return "folds", values[~np.isnan(values)]


@check("CV508")
def too_many_digits(
    experiment: Experiment, attributions: tuple[Attribution, ...], tallies: Tallies | None, *, finest: float
) -> Iterator[Result]:
    """More printed digits than the test set can carry."""
    if not attributions:
        yield Irrelevant("nothing is claimed")
    for claim in (attribution.claim for attribution in attributions):
        what = "positives" if claim.metric.is_f else _CARRIERS.get(claim.metric.name, "instances")
        number = _sizes(claim, experiment, tallies).get(what)
        if not number:
            yield Unsure(f"'{claim}': the number of {what} is unknown; log the counts or declare `{what}:`")
        elif float(claim.printed.unit) < finest / number:
            message = (
                f"'{claim}' is printed to {claim.printed.unit.normalize():f}, but one of {number} {what} weighs about "
                f"{1 / number:.1g} in it"
            )
            yield Hit(message, claim, evidence={"unit": float(claim.printed.unit), what: number})


#: What a measure divides by, where that is not all instances.
_CARRIERS = {
    "recall": "positives",
    "r_precision": "positives",
    "precision": "predicted positives",
    "specificity": "negatives",
}


def _sizes(claim: Claim, experiment: Experiment, tallies: Tallies | None) -> dict[str, int]:
    """How many tested instances of each kind there are, over all repeats, as far as the log or the protocol tells."""
    declared, repeats = experiment.protocol, experiment.protocol.repeats or 1
    sizes = {"instances": (declared.instances or 0) * repeats, "positives": (declared.positives or 0) * repeats}
    label = tallies.index(claim.label) if tallies is not None else None
    if tallies is not None and tallies.knows_negatives:
        sizes["instances"] = int(tallies.n.sum())
    if tallies is not None and label is not None:
        sizes["positives"] = int(tallies.gold[:, label].sum())
        if tallies.counts is not None:
            sizes["predicted positives"] = int(tallies.counts.predicted[:, label].sum())
    return {**sizes, "negatives": max(sizes["instances"] - sizes["positives"], 0)}


@check("CV509")
def impossible_claim(experiment: Experiment, attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """Claims that no table of folds of the declared design can print."""
    contradictions = {one.contradicts: one.possible for one in attributions if one.contradicts}
    if experiment.evidence > Evidence.SUMMARY and not contradictions and not any(one.by_tables for one in attributions):
        yield Irrelevant("there is a log, and the claims are judged by it")
    for against, possible in contradictions.items():
        protocol = experiment.protocol
        design = protocol.described
        severity = None
        if experiment.evidence > Evidence.SUMMARY:
            design = f"the {len(experiment.cells)} folds with the logged values"
            severity = None if _about_one_label(experiment) else Severity.WARNING
        named, together = " and ".join(f"'{claim}'" for claim in against), len(against) > 1
        message = f"{named} cannot{' together' if together else ''} come from {design}: no table of folds prints "
        message += "them" if together else "it"
        if possible:
            message += f"; {' or '.join(possible[:2])} could{' for the first' if together else ''}"
        evidence = {"claims": [str(claim) for claim in against], "possible": list(possible)}
        yield Hit(message, against[0], evidence=evidence, severity=severity)


def _about_one_label(experiment: Experiment) -> bool:
    """Tell whether logged values are surely those of a positive label; precision, recall and F may be averages."""
    logged = set() if experiment.scores is None else set(experiment.scores.values)
    return experiment.protocol.positive is not None or not logged.isdisjoint(("specificity", "npv"))
