"""CV103 and CV106: folds and instances that were declared or begun but have no result."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_cvaudit.aggregations import cell_name
from pytest_cvaudit.aggregations.values import repeats_of
from pytest_cvaudit.checks.instances import misnamed, overlapping, shared_in_fold
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.model import Severity, metric
from pytest_cvaudit.model.metrics import RANKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Claim, Experiment, MissingFold, Predictions, Protocol
    from pytest_cvaudit.tallies.tally import Tallies


@check("CV103")
def skipped_fold(
    experiment: Experiment, protocol: Protocol, tallies: Tallies | None, attributions: tuple[Attribution, ...]
) -> Iterator[Result]:
    """Folds or instances that were declared or begun but have no result, and claims that left folds out."""
    yield from _fewer_folds(experiment, protocol)
    yield from _fewer_instances(experiment, protocol, tallies)
    yield from _contradicted(experiment, protocol, tallies)
    yield from (_missing(fold, experiment) for fold in lost_folds(experiment))
    yield from (_lacking(gap, experiment) for gap in _gaps_beside_results(experiment))
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


def _sizes(experiment: Experiment, tallies: Tallies | None) -> dict[str, int]:
    """The number of instances tested in each repeat, where it is known."""
    sizes: dict[str, int] = {}
    if tallies is not None and tallies.knows_negatives:
        for cell, size in zip(tallies.cells, tallies.n.tolist(), strict=True):
            sizes[cell.repeat] = sizes.get(cell.repeat, 0) + size
    elif experiment.scores is not None and experiment.scores.n and None not in experiment.scores.n:
        for cell, known in zip(experiment.scores.cells, experiment.scores.n, strict=True):
            sizes[cell.repeat] = sizes.get(cell.repeat, 0) + (known or 0)
    return sizes


def _fewer_instances(experiment: Experiment, protocol: Protocol, tallies: Tallies | None) -> Iterator[Hit]:
    if protocol.instances is None:
        return
    sizes = _sizes(experiment, tallies)
    for repeat, size in sizes.items():
        if size < protocol.instances:
            where = f" in repeat {repeat}" if len(sizes) > 1 else ""
            folds = sum(cell.repeat == repeat for cell in experiment.cells)
            message = f"{size} of {protocol.instances} declared instances are logged{where}, in {folds} folds"
            # Less than half a fold is missing: some instances were not tested (CV106), but no fold was skipped.
            severity = Severity.WARNING if (protocol.instances - size) * 2 * folds < size else None
            yield Hit(message, evidence={"logged": size, "declared": protocol.instances}, severity=severity)


def _contradicted(experiment: Experiment, protocol: Protocol, tallies: Tallies | None) -> Iterator[Hit]:
    """Declarations that the log exceeds: not a skipped fold, but one of the two is wrong."""
    repeats = {cell.repeat for cell in experiment.cells}
    folds = max((sum(cell.repeat == repeat for cell in experiment.cells) for repeat in repeats), default=0)
    logged = {
        "folds": folds,
        "instances": max(_sizes(experiment, tallies).values(), default=0),
        "repeats": len(repeats),
    }
    if tallies is not None and tallies.positive is not None:
        totals = [int(tallies.gold[cells, tallies.positive].sum()) for cells in repeats_of(tallies.cells)]
        logged["positives"] = max(totals)
    for what, number in logged.items():
        declared = getattr(protocol, what)
        if declared is not None and number > declared:
            message = f"{number} {what} are logged, and {declared} are declared; correct one of the two"
            yield Hit(message, evidence={"logged": number, "declared": declared}, severity=Severity.WARNING)


def lost_folds(experiment: Experiment) -> tuple[MissingFold, ...]:
    """The folds that have no result at all: one with counts, or with another metric, has one."""
    return tuple(fold for fold in experiment.missing if not _has_result(fold, experiment))


def _has_result(fold: MissingFold, experiment: Experiment) -> bool:
    # Rows are no proof of a result: the recording of a fold may have been cut off.
    return experiment.predictions is None and fold.cell in experiment.cells


def _missing(fold: MissingFold, experiment: Experiment) -> Hit:
    name, reason = _name(fold, experiment), _reason(fold)
    # A failure that the log explains is disclosed; one that it hides may have been chosen.
    severity = Severity.WARNING if fold.reason else None
    return Hit(f"{name} has no result: {fold.what}{reason}", fold=name, severity=severity, line=fold.line)


def _name(fold: MissingFold, experiment: Experiment) -> str:
    return cell_name(fold.cell, (*experiment.cells, *(other.cell for other in experiment.missing)))


def _reason(fold: MissingFold) -> str:
    return f" (logged reason: {fold.reason})" if fold.reason else ""


class _Gap(NamedTuple):
    """A metric that a fold with a result lacks, and the claimed means that would need it there."""

    fold: MissingFold
    metric: str
    means: tuple[Claim, ...]


def _gaps_beside_results(experiment: Experiment) -> Iterator[_Gap]:
    """The metrics that folds with a result lack; beside counts, those that counts cannot give and someone speaks of."""
    printed = {} if experiment.scores is None else experiment.scores.values
    for fold in experiment.missing:
        if not _has_result(fold, experiment):
            continue
        first = fold.what.partition(" ")[0]
        for name in [first] if first in printed else printed:
            means = tuple(claim for claim in experiment.claims if _is_mean_of(claim, name))
            if experiment.counts is None or (metric(name).family == RANKING and (means or fold.reason)):
                yield _Gap(fold, name, means)


def _is_mean_of(claim: Claim, name: str) -> bool:
    """Tell whether a claim can be a mean of this metric's values per fold, as far as it says how it was made."""
    of_totals = claim.aggregation is not None and claim.aggregation.startswith(("tp_fp", "pooled", "merge"))
    return claim.metric == metric(name) and not of_totals


def _lacking(gap: _Gap, experiment: Experiment) -> Hit:
    fold, name = gap.fold, _name(gap.fold, experiment)
    what = f": {fold.what}" if fold.what.startswith(gap.metric) else ""
    message = f"{name} has no {gap.metric}{what}{_reason(fold)}"
    if experiment.claims and not gap.means:
        return Hit(f"{message}; no claimed mean needs it", fold=name, severity=Severity.INFO, line=fold.line)
    severity = Severity.WARNING if fold.reason or _disclosed(gap, experiment) else None
    return Hit(message, fold=name, severity=severity, line=fold.line)


def _disclosed(gap: _Gap, experiment: Experiment) -> bool:
    """Tell whether every claimed mean says that it leaves out the folds without a value."""
    values = () if experiment.scores is None else experiment.scores.values[gap.metric]
    kept = sum(value is not None for value in values)
    return bool(gap.means) and all(claim.folds == kept or _skips(claim.aggregation or "") for claim in gap.means)


def _skips(aggregation: str) -> bool:
    return "_skip" in aggregation or "_nan" in aggregation


def _skipping(attribution: Attribution) -> Iterator[Hit]:
    matches, table, claim = attribution.matches, attribution.table, attribution.claim
    if table is None or not matches or not all(map(_skips, matches)):
        return
    undefined = int(np.isnan(table.per_fold.value).sum())
    kept = len(table.cells) - undefined
    disclosed = claim.folds is not None and claim.folds == kept
    # For F and AUC, CV203 and CV303 say the same with the right number beside it.
    elsewhere = claim.metric.is_f or claim.metric.family == RANKING
    severity = Severity.WARNING if disclosed or elsewhere or claim.aggregation in matches else None
    full = table.values.get("avg")
    why = f": {full.reason}" if full is not None and full.reason else ""
    message = f"'{claim}' is the mean over some of the {len(table.cells)} folds only ({', '.join(matches)}){why}"
    yield Hit(message, claim, evidence={"matches": list(matches), "folds": len(table.cells)}, severity=severity)


@check("CV106")
def untested_instance(experiment: Experiment, protocol: Protocol, tallies: Tallies | None) -> Iterator[Result]:
    """Declared instances that no fold of a repeat tests."""
    declared = protocol.instances
    if declared is None:
        yield Irrelevant("the number of instances is not declared")
        return
    rows, sizes = experiment.predictions, _sizes(experiment, tallies)
    if not sizes:
        yield Unsure("how many instances each fold has is not logged; log the counts or the predictions")
    named = {} if rows is None or rows.ids is None else _named(rows, rows.ids)
    doubt = None
    if rows is not None and rows.ids is not None:
        doubt = misnamed(rows, rows.ids) or overlapping(rows, rows.ids, protocol) or shared_in_fold(rows, rows.ids)
    for repeat, size in sizes.items():
        tested = size if doubt else named.get(repeat, size)
        if tested < declared:
            where = f" in repeat {repeat}" if len(sizes) > 1 else ""
            folds = sum(cell.repeat == repeat for cell in experiment.cells)
            # CV103 speaks of whole folds, and weighs whether the log explains them.
            skipped = bool(lost_folds(experiment)) or folds < (protocol.folds or 0)
            note, severity = (" (folds are missing: see CV103)", Severity.WARNING) if skipped else ("", None)
            message = f"{declared - tested} of {declared} declared instances are never tested{where}{note}"
            yield Hit(message, evidence={"untested": declared - tested, "declared": declared}, severity=severity)
        elif doubt and named[repeat] < declared:
            yield Unsure(doubt)


def _named(rows: Predictions, ids: NDArray[np.object_]) -> dict[str, int]:
    """How many different ids are tested in each repeat."""
    repeats = np.array([cell.repeat for cell in rows.cells])[rows.cell]
    return {str(repeat): len(set(ids[repeats == repeat].tolist())) for repeat in np.unique(repeats)}
