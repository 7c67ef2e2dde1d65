"""CV1xx: folds that lack a class, lack predictions, or are not there at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import cell_name, name_folds
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Experiment, MissingFold, Protocol
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


@check("CV101")
def zero_positive_fold(tallies: Tallies | None) -> Iterator[Result]:
    """A fold without positives, or without a label of the label set."""
    if tallies is None:
        yield Unsure("how many positives each fold has is not logged; log the counts or the predictions")
    elif tallies.positive is not None and tallies.single_label and len(tallies.labels) <= 2:
        missing = tallies.gold[:, tallies.positive] == 0
        yield from _per_fold(tallies, missing, "have no positives: recall and AUC are undefined there")
    else:
        yield from _per_label(tallies, tallies.gold == 0, "has no instance in", Severity.WARNING)


@check("CV102")
def no_predicted_positives(tallies: Tallies | None) -> Iterator[Result]:
    """A fold where nothing was predicted positive, so that precision is undefined."""
    if tallies is None or tallies.counts is None:
        yield Unsure("predicted labels are not logged; log them, or the counts per fold")
    elif tallies.positive is not None and tallies.single_label and len(tallies.labels) <= 2:
        none = tallies.counts.predicted[:, tallies.positive] == 0
        yield from _per_fold(tallies, none, "have no predicted positives: precision is undefined there")
    else:
        missed = (tallies.counts.predicted == 0) & (tallies.gold > 0)
        yield from _per_label(tallies, missed, "is never predicted, though present, in", Severity.INFO)


@check("CV104")
def no_negatives_fold(tallies: Tallies | None) -> Iterator[Result]:
    """A fold where every instance is positive."""
    if tallies is None:
        yield Unsure("how many negatives each fold has is not logged; log the counts or the predictions")
    elif tallies.positive is None:
        yield Irrelevant("no label is declared positive")
    elif not tallies.knows_negatives:
        yield Unsure("tn is not logged; log tn, or negatives per fold")
    else:
        all_positive = (tallies.gold[:, tallies.positive] == tallies.n) & (tallies.n > 0)
        yield from _per_fold(tallies, all_positive, "have no negatives: specificity and AUC are undefined there")


@check("CV103")
def skipped_fold(
    experiment: Experiment, protocol: Protocol, tallies: Tallies | None, attributions: tuple[Attribution, ...]
) -> Iterator[Result]:
    """Folds or instances that were declared or begun but have no result, and claims that left folds out."""
    yield from _fewer_folds(experiment, protocol)
    yield from _fewer_instances(experiment, protocol, tallies)
    yield from (_missing(fold, experiment) for fold in experiment.missing)
    yield from (hit for attribution in attributions for hit in _skipping(attribution))
    if not experiment.cells and not experiment.missing:
        yield Unsure("no folds are logged")


def _fewer_folds(experiment: Experiment, protocol: Protocol) -> Iterator[Hit]:
    by_repeat: dict[str, set[str]] = {}
    for cell in (*experiment.cells, *(missing.cell for missing in experiment.missing)):
        by_repeat.setdefault(cell.repeat, set()).add(cell.fold)
    for repeat, folds in by_repeat.items():
        where = f" in repeat {repeat}" if len(by_repeat) > 1 else ""
        gaps = _gaps(folds) if protocol.group is None else []
        absent = f" (fold {', '.join(map(str, gaps))} is not there)" if gaps else ""
        evidence = {"logged": len(folds), "declared": protocol.folds, "gaps": gaps}
        if protocol.folds is not None and len(folds) < protocol.folds:
            message = f"{len(folds)} of {protocol.folds} declared folds are logged{where}{absent}"
            yield Hit(message, evidence=evidence)
        elif gaps and protocol.folds is None:
            yield Hit(f"the fold numbers have gaps{where}{absent}: {len(folds)} folds are logged", evidence=evidence)
    if protocol.repeats is not None and 0 < len(by_repeat) < protocol.repeats:
        message = f"{len(by_repeat)} of {protocol.repeats} declared repeats are logged"
        yield Hit(message, evidence={"logged": len(by_repeat), "declared": protocol.repeats})


def _gaps(folds: set[str]) -> list[int]:
    """Numbers left out of a numbering from 0 or 1; none where the numbers are more likely names of groups."""
    if not all(fold.isdigit() for fold in folds):
        return []
    numbers = {int(fold) for fold in folds}
    gaps = sorted(set(range(min(numbers), max(numbers) + 1)) - numbers)
    return gaps if min(numbers) in (0, 1) and 0 < len(gaps) < len(numbers) else []


def _fewer_instances(experiment: Experiment, protocol: Protocol, tallies: Tallies | None) -> Iterator[Hit]:
    if protocol.instances is None:
        return
    sizes: dict[str, int] = {}
    if tallies is not None and tallies.knows_negatives:
        for cell, size in zip(tallies.cells, tallies.n.tolist(), strict=True):
            sizes[cell.repeat] = sizes.get(cell.repeat, 0) + size
    elif experiment.scores is not None and experiment.scores.n and None not in experiment.scores.n:
        for cell, known in zip(experiment.scores.cells, experiment.scores.n, strict=True):
            sizes[cell.repeat] = sizes.get(cell.repeat, 0) + (known or 0)
    for repeat, size in sizes.items():
        if size < protocol.instances:
            where = f" in repeat {repeat}" if len(sizes) > 1 else ""
            folds = sum(cell.repeat == repeat for cell in experiment.cells)
            message = f"{size} of {protocol.instances} declared instances are logged{where}, in {folds} folds"
            yield Hit(message, evidence={"logged": size, "declared": protocol.instances})


def _missing(fold: MissingFold, experiment: Experiment) -> Hit:
    name = cell_name(fold.cell, (*experiment.cells, *(other.cell for other in experiment.missing)))
    reason = f" (logged reason: {fold.reason})" if fold.reason else ""
    # A failure that the log explains is disclosed; one that it hides may have been chosen.
    severity = Severity.WARNING if fold.reason else None
    return Hit(f"{name} has no result: {fold.what}{reason}", fold=name, severity=severity, line=fold.line)


def _skipping(attribution: Attribution) -> Iterator[Hit]:
    matches, table, claim = attribution.matches, attribution.table, attribution.claim
    if table is None or not matches or not all("_skip" in name or "_nan" in name for name in matches):
        return
    undefined = int(np.isnan(table.per_fold.value).sum())
    kept = len(table.cells) - undefined
    disclosed = claim.folds is not None and claim.folds == kept
    # For F, CV203 says the same with the right number beside it.
    severity = Severity.WARNING if disclosed or claim.metric.is_f or attribution.claim.aggregation in matches else None
    full = table.values.get("avg")
    why = f": {full.reason}" if full is not None and full.reason else ""
    message = f"'{claim}' is the mean over some of the {len(table.cells)} folds only ({', '.join(matches)}){why}"
    yield Hit(message, claim, evidence={"matches": list(matches), "folds": len(table.cells)}, severity=severity)
