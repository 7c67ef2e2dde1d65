"""CV3xx: ranking measures: scores of different models sorted together, folds without a value, cuts without a reason."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_cvaudit.aggregations import NotComputable
from pytest_cvaudit.aggregations.logged import NO_VALUE
from pytest_cvaudit.aggregations.values import repeats_of
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.model import Severity
from pytest_cvaudit.model.metrics import RANKING
from pytest_cvaudit.tallies import cross_fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.aggregations import Aggregates, MetricTable
    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Claim, Protocol
    from pytest_cvaudit.tallies.tally import Tallies

#: With fewer positives or negatives in the usual fold, the standard error of the shift is too small to be trusted.
_FEWEST = 2
_AREAS = ("auc", "ap", "auk")
_PRECISION_METRICS = ("ap", "precision_at_k", "r_precision")


@dataclass(frozen=True)
class Shift:
    """How much better a positive ranks above the negatives of its own fold than above those of other folds."""

    within: float
    between: float
    effect: float
    standard_error: float

    @property
    def at_most(self) -> float:
        """The largest shift, either way, that the data leave room for at 95 %."""
        return abs(self.effect) + 1.96 * self.standard_error

    @property
    def z(self) -> float:
        """The effect in standard errors."""
        if self.standard_error > 0:
            return self.effect / self.standard_error
        return math.copysign(math.inf, self.effect) if self.effect else 0.0


def shift_between_folds(tallies: Tallies, label: int) -> Shift | None:
    """Compare ranking within and between folds, averaged over repeats; None where it is undefined."""
    parts = []
    for cells in repeats_of(tallies.cells):
        crossed = cross_fold([tallies.curves[label][cell] for cell in cells])
        if (
            min(np.median(crossed.positives), np.median(crossed.negatives)) < _FEWEST
            or crossed.effect is None
            or crossed.standard_error is None
            or crossed.within is None
            or crossed.between is None
        ):
            return None
        parts.append((crossed.within, crossed.between, crossed.effect, crossed.standard_error))
    # Repeats test the same instances, so averaging them does not make the error smaller.
    return Shift(*(float(np.mean(column)) for column in zip(*parts, strict=True))) if parts else None


def _shift_of(claim: Claim, tallies: Tallies) -> Shift | None:
    """The shift of the label that a claim is about, or the mean over the labels that it averages."""
    if claim.metric.base is None:
        label = tallies.index(claim.label)
        return None if label is None else shift_between_folds(tallies, label)
    weighted, totals = claim.metric.name.startswith("weighted"), tallies.gold.sum(axis=0).tolist()
    shares = {label: totals[label] if weighted else 1 for label in tallies.curves if totals[label]}
    shifts = {label: shift_between_folds(tallies, label) for label in shares}
    known = [(shift, shares[label] / sum(shares.values())) for label, shift in shifts.items() if shift is not None]
    if not known or len(known) < len(shifts):
        return None
    # The labels share their instances, so their errors are added up as if they always went together.
    mean = (sum(getattr(shift, part) * share for shift, share in known) for part in Shift.__dataclass_fields__)
    return Shift(*mean)


class Limits(NamedTuple):
    """From where on a merged ranking is a finding."""

    min_difference: float
    z: float
    tolerance: float


def _merged(
    metrics: tuple[str, ...],
    attributions: tuple[Attribution, ...],
    tallies: Tallies | None,
    protocol: Protocol,
    limits: Limits,
) -> Iterator[Result]:
    """Findings for the claims of these metrics that only the merged ranking prints, where the folds are shifted."""
    for attribution in attributions:
        claim, table = attribution.claim, attribution.table
        merges = [name for name in attribution.matches if name.startswith("merge")]
        if claim.metric.name not in metrics or table is None or not merges or len(merges) < len(attribution.matches):
            continue
        merged = table.values[merges[0]].value
        average = table.values["avg"].value if table.values["avg"].value is not None else table.values["avg_skip"].value
        if merged is None or average is None or tallies is None:
            yield Unsure(f"'{claim}' is {merges[0]}, and no fold has both classes to compare it with")
        elif abs(average - merged) >= limits.min_difference:
            shift = _shift_of(claim, tallies)
            if shift is not None and abs(shift.z) >= limits.z:
                yield _hit(attribution, merges[0], merged, average, shift, protocol)
            elif shift is None or shift.at_most > limits.tolerance:
                size = "cannot be measured" if shift is None else f"is {shift.effect:+.3f} ± {shift.standard_error:.3f}"
                which = "avg" if table.values["avg"].value is not None else "avg_skip"
                yield Unsure(
                    f"'{claim}' is {merges[0]} ({merged:.4f}) and {which} is {average:.4f}, but the shift between "
                    f"folds {size}: too uncertain; larger test folds, or scores calibrated on held-out data, would "
                    f"settle it"
                )


def _hit(attribution: Attribution, name: str, merged: float, average: float, shift: Shift, protocol: Protocol) -> Hit:
    claim, table = attribution.claim, attribution.table
    assert table is not None
    declared = "the folds are declared calibrated, but " if protocol.calibrated else ""
    undefined = table.values["avg"].reason
    note = f" over the folds that have both classes ({undefined})" if undefined else ""
    message = (
        f"'{claim}' is {name}, {merged:.6f}: the scores of {len(table.cells)} models sorted into one ranking; "
        f"avg{note} is {average:.6f} and would print {claim.printed.show(average)}: a difference of "
        f"{merged - average:+.4f}; {declared}a positive outranks negatives of its own fold {shift.within:.3f} of the "
        f"time and those of other folds {shift.between:.3f} (effect {shift.effect:+.3f} ± {shift.standard_error:.3f})"
    )
    evidence = {
        "aggregation": name, "value": merged, "avg": average, "difference": merged - average, "within": shift.within,
        "between": shift.between, "effect": shift.effect, "standard_error": shift.standard_error,
    }  # fmt: skip
    return Hit(message, claim, label=claim.label, evidence=evidence)


@check("CV301")
def auc_merge_uncalibrated(
    attributions: tuple[Attribution, ...],
    tallies: Tallies | None,
    protocol: Protocol,
    *,
    min_difference: float,
    z: float,
    tolerance: float,
) -> Iterator[Result]:
    """A claimed AUC that sorts the scores of different folds together although they are not calibrated."""
    yield from _merged(
        ("auc", "macro_auc", "weighted_auc"), attributions, tallies, protocol, Limits(min_difference, z, tolerance)
    )


@check("CV302")
def precision_merge_uncalibrated(
    attributions: tuple[Attribution, ...],
    tallies: Tallies | None,
    protocol: Protocol,
    *,
    min_difference: float,
    z: float,
    tolerance: float,
) -> Iterator[Result]:
    """A claimed average precision or precision at k that sorts the scores of different folds together."""
    yield from _merged(_PRECISION_METRICS, attributions, tallies, protocol, Limits(min_difference, z, tolerance))


@check("CV303")
def undefined_auc_filled(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claimed ranking measure in which undefined folds were filled with a number or left out."""
    for attribution in attributions:
        claim, table = attribution.claim, attribution.table
        mine = [name for name in attribution.matches if name.removesuffix("_all") in _FILLED]
        if claim.metric.family != RANKING or table is None or not mine or _without_result(table):
            continue
        if len(mine) < len(attribution.matches):
            yield Unsure(f"'{claim}' is {' or '.join(attribution.matches)}; declare its aggregation")
            continue
        how = " or ".join(dict.fromkeys(_FILLED[name.removesuffix("_all")] for name in mine))
        skipped = table.values["avg_skip"].value
        message = f"'{claim}' is a mean with undefined folds {how} ({table.values['avg'].reason})"
        if skipped is not None and "avg_skip" not in mine:
            message += f"; over the folds where it is defined it is {skipped:.6f}"
        severity = Severity.WARNING if claim.aggregation in mine or _covers(claim, table) else None
        yield Hit(message, claim, label=claim.label, evidence={"matches": mine, "avg_skip": skipped}, severity=severity)


def _without_result(table: MetricTable) -> bool:
    """Tell whether the folds that count differently have no result in the log at all, of which CV103 speaks."""
    folds = zip(table.per_fold.value.tolist(), table.per_fold.why, strict=True)
    return all(why == NO_VALUE for value, why in folds if math.isnan(value))


_FILLED = {"avg_zero": "counted as 0", "avg_half": "counted as 0.5", "avg_skip": "left out"}


def _covers(claim: Claim, table: MetricTable) -> bool:
    """Tell whether the claim says over how many folds it is, and that is where the measure is defined."""
    return claim.folds == int((~np.isnan(table.per_fold.value)).sum())


@check("CV304")
def uncalibrated_folds(tallies: Tallies | None, *, z: float, min_effect: float, tolerance: float) -> Iterator[Result]:
    """Folds whose scores are shifted against each other, before anything is claimed."""
    if tallies is None or not tallies.curves:
        yield Unsure("no scores of the positive label are logged; log a score per instance")
        return
    for label in tallies.curves:
        name, shift = tallies.labels[label], shift_between_folds(tallies, label)
        if shift is None:
            yield Unsure(f"there are not two folds with several instances of '{name}' and of the rest to compare")
        elif abs(shift.z) >= z and abs(shift.effect) >= min_effect:
            message = (
                f"an instance of '{name}' outranks others of its own fold {shift.within:.3f} of the time and those of "
                f"other folds {shift.between:.3f} (effect {shift.effect:+.3f} ± {shift.standard_error:.3f}): these "
                f"scores are not to be merged"
            )
            evidence = {"effect": shift.effect, "standard_error": shift.standard_error}
            yield Hit(message, label=name, evidence=evidence)
        elif shift.at_most > tolerance:
            yield Unsure(
                f"the shift of the scores of '{name}' between folds, {shift.effect:+.3f} ± "
                f"{shift.standard_error:.3f}, is too uncertain; larger test folds would settle it"
            )


@check("CV305")
def auc_from_hard_labels(attributions: tuple[Attribution, ...], tallies: Tallies | None) -> Iterator[Result]:
    """An area under a curve of scores that take two values only."""
    areas = [one for one in attributions if one.claim.metric.name in _AREAS]
    if not areas:
        yield Irrelevant("no area under a curve is claimed")
    for attribution in areas:
        claim = attribution.claim
        label = tallies.index(claim.label) if tallies is not None else None
        if tallies is None or label is None or label not in tallies.curves:
            continue
        values = len(np.unique(np.concatenate([curve.levels()[0] for curve in tallies.curves[label]])))
        if values > 2:
            continue
        if not attribution.matches:
            yield Unsure(f"the logged scores take two values at most, and '{claim}' is not theirs; log the scores")
            continue
        area = ", and the area is (recall + specificity) / 2" if claim.metric.name == "auc" else ""
        message = (
            f"'{claim}' ranks by scores that take two values at most, as labels do: the curve has one corner{area}"
        )
        yield Hit(message, claim, label=claim.label, evidence={"values": values})


@check("CV306")
def arbitrary_k(attributions: tuple[Attribution, ...], aggregates: Aggregates, protocol: Protocol) -> Iterator[Result]:
    """A precision at k whose k the domain does not impose."""
    concerned = [one.claim for one in attributions if one.claim.metric.name in ("precision_at_k", "r_precision")]
    if not concerned:
        yield Irrelevant("no precision at k is claimed")
    for claim in concerned:
        k = claim.metric.k
        if claim.metric.name == "r_precision":
            yield Hit(f"'{claim}' cuts at the number of positives, which nobody knows when the list is used", claim)
        elif k is None:
            yield Hit(f"'{claim}' does not say its k", claim)
        elif k != protocol.k:
            declared = "no k is declared" if protocol.k is None else f"the domain's k is declared as {protocol.k}"
            others = {other: _at(aggregates, claim, other) for other in (k // 2, 2 * k)}
            shown = [f"{value:.3f} at {other}" for other, value in others.items() if value is not None]
            effect = f": it is {' and '.join(shown)}" if shown else ""
            yield Hit(f"'{claim}' depends on its k, and {declared} for this experiment{effect}", claim)


def _at(aggregates: Aggregates, claim: Claim, k: int) -> float | None:
    """The precision at another k, where the log gives it."""
    try:
        return aggregates.of(replace(claim.metric, k=k), claim.label).best.value if k > 0 else None
    except NotComputable:
        return None
