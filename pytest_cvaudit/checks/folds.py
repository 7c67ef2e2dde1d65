"""CV101, CV102, CV104 and CV113: folds that lack a class, lack predictions, or hold one instance only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import cell_name, name_folds
from pytest_cvaudit.aggregations.values import repeats_of
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.tallies.tally import Tallies

    Mask = NDArray[np.bool_]

#: A longer list of folds or labels is one finding, not many.
_MANY = 10


def _named(tallies: Tallies, mask: Mask) -> list[str]:
    return [cell_name(tallies.cells[index], tallies.cells) for index in np.flatnonzero(mask)]


def _per_fold(tallies: Tallies, mask: Mask, what: str, severity: Severity | None = None) -> Iterator[Hit]:
    """One finding per fold, or a single one where they are many."""
    names = _named(tallies, mask)
    label = None if tallies.positive is None else tallies.labels[tallies.positive]
    share = {"folds": names, "of": len(tallies.cells)}
    if len(names) > _MANY:
        yield Hit(
            f"{len(names)} of {len(tallies.cells)} folds ({name_folds(names)}) {what}",
            None,
            None,
            label,
            share,
            severity,
        )
        return
    for name, index in zip(names, np.flatnonzero(mask), strict=True):
        message = f"{name} ({int(tallies.n[index])} instances) {what.replace('have ', 'has ')}"
        yield Hit(message, None, name, label, {**share, "n": int(tallies.n[index])}, severity)


def _per_label(tallies: Tallies, absent: Mask, what: str, severity: Severity) -> Iterator[Hit]:
    """One finding per label that is absent from some fold, or a single one where they are many."""
    labels = [index for index in range(len(tallies.labels)) if absent[:, index].any()]
    if len(labels) > _MANY:
        names = ", ".join(f"'{tallies.labels[index]}'" for index in labels[:_MANY])
        yield Hit(f"{len(labels)} of {len(tallies.labels)} labels ({names} …) {what} some fold", severity=severity)
        return
    for index in labels:
        folds = _named(tallies, absent[:, index])
        which = (
            f"any of the {len(tallies.cells)} folds"
            if len(folds) == len(tallies.cells)
            else (f"{len(folds)} of {len(tallies.cells)} folds ({name_folds(folds)})")
        )
        name = tallies.labels[index]
        yield Hit(f"label '{name}' {what} {which}", None, None, name, {"folds": folds}, severity)


def leave_one_out(tallies: Tallies | None) -> bool:
    """Tell whether every fold has one instance, as far as the log shows it."""
    return tallies is not None and tallies.knows_negatives and tallies.n.max(initial=0) == 1


_ONE_EACH = "leave-one-out: every fold has one instance (see CV113)"


def _totals_only(attributions: tuple[Attribution, ...]) -> bool:
    """Tell whether totals print everything that is claimed: folds that lack a class do not touch them."""
    ways = [attribution.matches for attribution in attributions]
    return bool(ways) and all(any(name.startswith(("tp_fp", "pooled")) for name in names) for names in ways)


@check("CV101")
def zero_positive_fold(tallies: Tallies | None, attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A fold without positives, or without a label of the label set."""
    if tallies is None:
        yield Unsure("how many positives each fold has is not logged; log the counts or the predictions")
    elif leave_one_out(tallies):
        yield Irrelevant(_ONE_EACH)
    elif tallies.positive is not None and tallies.single_label and len(tallies.labels) <= 2:
        missing = tallies.gold[:, tallies.positive] == 0
        # With fewer positives than folds it could not be otherwise; CV109 says so.
        forced = any(tallies.gold[cells, tallies.positive].sum() < len(cells) for cells in repeats_of(tallies.cells))
        severity = Severity.WARNING if forced or _totals_only(attributions) else None
        yield from _per_fold(tallies, missing, "have no positives: recall and AUC are undefined there", severity)
    else:
        yield from _per_label(tallies, tallies.gold == 0, "has no instance in", Severity.WARNING)


@check("CV102")
def no_predicted_positives(tallies: Tallies | None) -> Iterator[Result]:
    """A fold where nothing was predicted positive, so that precision is undefined."""
    if tallies is None or tallies.counts is None:
        yield Unsure("predicted labels are not logged; log them, or the counts per fold")
    elif leave_one_out(tallies):
        yield Irrelevant(_ONE_EACH)
    elif tallies.positive is not None and tallies.single_label and len(tallies.labels) <= 2:
        none = tallies.counts.predicted[:, tallies.positive] == 0
        yield from _per_fold(tallies, none, "have no predicted positives: precision is undefined there")
    else:
        missed = (tallies.counts.predicted == 0) & (tallies.gold > 0)
        yield from _per_label(tallies, missed, "is never predicted, though present, in", Severity.INFO)


@check("CV104")
def no_negatives_fold(tallies: Tallies | None, attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A fold where every instance is positive."""
    if tallies is None:
        yield Unsure("how many negatives each fold has is not logged; log the counts or the predictions")
    elif leave_one_out(tallies):
        yield Irrelevant(_ONE_EACH)
    elif tallies.positive is None:
        yield Irrelevant("no label is declared positive")
    elif not tallies.knows_negatives:
        yield Unsure("tn is not logged; log tn, or negatives per fold")
    else:
        all_positive = (tallies.gold[:, tallies.positive] == tallies.n) & (tallies.n > 0)
        severity = Severity.WARNING if _totals_only(attributions) else None
        what = "have no negatives: specificity and AUC are undefined there"
        yield from _per_fold(tallies, all_positive, what, severity)


@check("CV113")
def leave_one_out_per_fold(tallies: Tallies | None, attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A mean over folds of one instance each."""
    if tallies is None or not tallies.knows_negatives:
        yield Unsure("fold sizes are not logged; log the counts or the predictions")
    elif not leave_one_out(tallies):
        yield Irrelevant("some fold has more than one instance")
    else:
        for attribution in attributions:
            claim, best, names = attribution.claim, attribution.recommended, attribution.matches
            if names and all(name.startswith(("avg", "pr_re")) for name in names):
                right = "" if best is None or best.value is None else f"; from the totals it is {best.value:.6f}"
                message = (
                    f"'{claim}' is {' or '.join(names)} over {len(tallies.cells)} folds of one instance each, where "
                    f"the measure is 0, 1 or undefined{right}"
                )
                yield Hit(message, claim, label=claim.label, evidence={"matches": list(names)})
