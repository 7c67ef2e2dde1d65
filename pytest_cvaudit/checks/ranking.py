"""CV3xx: ranking measures whose scores of different models were sorted together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_cvaudit.aggregations.values import repeats_of
from pytest_cvaudit.checks.registry import Hit, Result, Unsure, check
from pytest_cvaudit.tallies import cross_fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Protocol
    from pytest_cvaudit.tallies.tally import Tallies

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
        return self.effect / self.standard_error if self.standard_error > 0 else float("inf") * np.sign(self.effect)


def shift_between_folds(tallies: Tallies, label: int) -> Shift | None:
    """Compare ranking within and between folds, averaged over repeats; None where it is undefined."""
    parts = []
    for cells in repeats_of(tallies.cells):
        crossed = cross_fold([tallies.curves[label][cell] for cell in cells])
        if (
            crossed.effect is None
            or crossed.standard_error is None
            or crossed.within is None
            or crossed.between is None
        ):
            return None
        parts.append((crossed.within, crossed.between, crossed.effect, crossed.standard_error))
    # Repeats test the same instances, so averaging them does not make the error smaller.
    return Shift(*(float(np.mean(column)) for column in zip(*parts, strict=True))) if parts else None


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
        label = tallies.index(claim.label) if tallies is not None else None
        if merged is None or average is None or tallies is None or label is None:
            yield Unsure(f"'{claim}' is {merges[0]}, and no fold has both classes to compare it with")
        elif abs(average - merged) >= limits.min_difference:
            shift = shift_between_folds(tallies, label)
            if shift is not None and abs(shift.z) >= limits.z:
                yield _hit(attribution, merges[0], merged, average, shift, protocol)
            elif shift is None or shift.at_most > limits.tolerance:
                size = "cannot be measured" if shift is None else f"is {shift.effect:+.3f} ± {shift.standard_error:.3f}"
                yield Unsure(
                    f"'{claim}' is {merges[0]} ({merged:.4f}) and avg is {average:.4f}, but the shift between folds "
                    f"{size}: too uncertain; larger test folds, or scores calibrated on held-out data, would settle it"
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
    yield from _merged(("auc",), attributions, tallies, protocol, Limits(min_difference, z, tolerance))


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
