"""CV108–CV111: how classes and instances are spread over the folds, and what that risks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_cvaudit.aggregations.values import repeats_of
from pytest_cvaudit.checks.folds import leave_one_out
from pytest_cvaudit.checks.missing import lost_folds
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.designs import empty_fold_risk, fold_sizes, risk_in
from pytest_cvaudit.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Experiment, Protocol
    from pytest_cvaudit.tallies.tally import Tallies

_NO_POSITIVE = "no label is declared positive"


class _Spread(NamedTuple):
    """The least and the greatest count of a label over the folds of a repeat, and the counts of an even spread."""

    label: str
    least: int
    most: int
    even: tuple[int, ...]
    where: str
    tested: int

    @property
    def nearly(self) -> bool:
        """Tell whether an even spread is missed by one only, as OpenML's stratified splits of several classes can."""
        return self.most - self.least == 2


def _uneven(tallies: Tallies) -> _Spread | None:
    """The label whose counts differ most between the folds of a repeat, if by more than one."""
    groups = repeats_of(tallies.cells)
    spans = [np.ptp(tallies.gold[cells], axis=0) for cells in groups]
    worst = int(np.argmax([span.max() for span in spans]))
    label, cells = int(spans[worst].argmax()), groups[worst]
    counts = tallies.gold[cells, label]
    if spans[worst][label] <= 1:
        return None
    where = f"in repeat {tallies.cells[cells[0]].repeat} " if len(groups) > 1 else ""
    even = tuple(sorted(set(fold_sizes(int(counts.sum()), len(cells)))))
    return _Spread(
        tallies.labels[label], int(counts.min()), int(counts.max()), even, where, int(tallies.n[cells].sum())
    )


def _doubt(found: _Spread, tallies: Tallies, protocol: Protocol) -> str | None:
    """Say what else than a missing stratification may make the folds uneven."""
    spans = [np.ptp(tallies.n[cells]) for cells in repeats_of(tallies.cells)]
    if protocol.stratified is None and max(spans) > 1:
        return "the folds differ in size, so they may be groups; declare `group:` or `stratified:`"
    # Folds that were even before some instances were lost.
    untested = (protocol.instances or 0) - found.tested
    if found.most - found.least - 1 <= untested:
        return (
            f"{untested} of {protocol.instances} instances are not tested (see CV106); that may be why they are uneven"
        )
    return None


def _cannot_stratify(tallies: Tallies, protocol: Protocol) -> str | None:
    if not tallies.single_label:
        return "multi-label data cannot be stratified"
    if protocol.group is not None:
        return "the folds are groups"
    return "there are no folds to compare" if max(map(len, repeats_of(tallies.cells))) < 2 else None


@check("CV108")
def unstratified_folds(tallies: Tallies | None, protocol: Protocol) -> Iterator[Result]:
    """Classes that are spread unevenly although stratification was possible."""
    if tallies is None or not tallies.knows_negatives:
        yield Unsure("class counts per fold are not logged; log the counts or the predictions")
    elif reason := _cannot_stratify(tallies, protocol):
        yield Irrelevant(reason)
    elif (found := _uneven(tallies)) is not None:
        if doubt := _doubt(found, tallies, protocol):
            yield Unsure(doubt)
            return
        message = (
            f"{found.where}label '{found.label}' has {found.least} to {found.most} instances per fold; stratified "
            f"folds would have {' or '.join(map(str, found.even))} each"
        )
        if protocol.stratified:
            message = f"the folds are declared stratified, but {message}"
        lowered = {True: 0, None: 1, False: 2}[protocol.stratified] + found.nearly
        severity = (None, Severity.WARNING, Severity.INFO, Severity.INFO)[lowered]
        evidence = {"least": found.least, "most": found.most, "stratified": found.even}
        yield Hit(message, label=found.label, evidence=evidence, severity=severity)


@check("CV109")
def more_folds_than_positives(experiment: Experiment, tallies: Tallies | None, protocol: Protocol) -> Iterator[Result]:
    """More folds than positives: some fold has none, however one splits."""
    logged = _positives(tallies)
    folds = max([protocol.folds or 0, *map(len, logged)])
    # The folds that are missing may hold positives too.
    whole = not lost_folds(experiment) and any(len(counts) == folds for counts in logged)
    if leave_one_out(tallies) or protocol.instances == folds:
        yield Irrelevant("leave-one-out: see CV113")
    elif tallies is not None and tallies.positive is None:
        yield Irrelevant(_NO_POSITIVE)
    elif not folds or (protocol.positives is None and not whole):
        yield Unsure("the number of positives or of folds is unknown; declare `positives:` and `folds:`")
    else:
        positives = max([protocol.positives or 0, *map(sum, logged)])
        if positives < folds:
            message = f"{folds} folds for {positives} positives: at least {folds - positives} folds have none"
            yield Hit(message, evidence={"folds": folds, "positives": positives})


def _positives(tallies: Tallies | None) -> list[list[int]]:
    """The positives of each fold, by repeat."""
    if tallies is None or tallies.positive is None:
        return []
    return [tallies.gold[cells, tallies.positive].tolist() for cells in repeats_of(tallies.cells)]


@check("CV110")
def empty_fold_risk_of_design(
    tallies: Tallies | None, protocol: Protocol, runs: int, *, max_risk: float
) -> Iterator[Result]:
    """An unstratified design that is likely to leave a fold without positives."""
    sizes, positives, stratified = *_design(tallies, protocol), _stratified(tallies, protocol)
    if protocol.group is not None:
        yield Irrelevant("the folds are groups")
    elif tallies is not None and tallies.positive is None:
        yield Irrelevant(_NO_POSITIVE)
    elif sizes is not None and len(sizes) < 2:
        yield Irrelevant("there is one fold only")
    elif stratified:
        yield Irrelevant("the folds are stratified")
    elif sizes is None or positives is None or stratified is None:
        yield Unsure("declare `instances:`, `positives:`, `folds:` and `stratified:`, or log the counts")
    elif positives < len(sizes):
        yield Irrelevant("there are more folds than positives: see CV109")
    elif (risk := empty_fold_risk(sizes, positives)) > max_risk:
        message = (
            f"a random split of {sum(sizes)} instances with {positives} positives into {len(sizes)} folds leaves a "
            f"fold without positives with probability {risk:.3g}"
        )
        if runs > 1:
            message += f", and in {runs} such runs, as many as are audited here, {risk_in(runs, risk):.3g}"
        lucky = tallies is not None and all(map(all, _positives(tallies)))
        message += "; here it did not happen" if lucky else ""
        severity = Severity.INFO if lucky else None
        yield Hit(
            message, evidence={"risk": risk, "runs": runs, "risk_in_runs": risk_in(runs, risk)}, severity=severity
        )


def _stratified(tallies: Tallies | None, protocol: Protocol) -> bool | None:
    """Whether the folds are stratified: as logged, else as declared."""
    if tallies is None or not tallies.knows_negatives or _cannot_stratify(tallies, protocol):
        return protocol.stratified
    found = _uneven(tallies)
    if found is None or (found.nearly and protocol.stratified):
        return protocol.stratified is not False
    return protocol.stratified if _doubt(found, tallies, protocol) else False


def _design(tallies: Tallies | None, protocol: Protocol) -> tuple[tuple[int, ...] | None, int | None]:
    """The sizes of the folds and the number of positives: as logged, else as declared."""
    if tallies is not None and tallies.positive is not None and tallies.knows_negatives:
        cells = max(repeats_of(tallies.cells), key=len)
        return tuple(tallies.n[cells].tolist()), int(tallies.gold[cells, tallies.positive].sum())
    if protocol.instances is None or protocol.folds is None:
        return None, protocol.positives
    return fold_sizes(protocol.instances, protocol.folds), protocol.positives


@check("CV111")
def unequal_folds(attributions: tuple[Attribution, ...], tallies: Tallies | None) -> Iterator[Result]:
    """A claimed accuracy that is the mean over folds of different sizes."""
    for attribution in attributions:
        claim, best, table = attribution.claim, attribution.recommended, attribution.table
        mine = [name for name in attribution.matches if name in ("avg", "avg_all")]
        if claim.metric.name not in ("accuracy", "error") or not mine or len(mine) < len(attribution.matches):
            continue
        assert table is not None and best is not None
        if best.value is None:
            yield Unsure(f"'{claim}' is {mine[0]}, and whether pooled prints the same is unknown: {best.reason}")
            continue
        value = table.values[mine[0]].value or 0.0
        sizes = f" of {int(np.min(tallies.n))} to {int(np.max(tallies.n))} instances" if tallies is not None else ""
        message = (
            f"'{claim}' is the mean over folds{sizes}, {value:.6f}; over all instances it is {best.value:.6f} and "
            f"would print {claim.printed.show(best.value)}: a difference of {value - best.value:+.4f}"
        )
        severity = Severity.INFO if claim.aggregation in mine else None
        evidence = {"avg": value, "pooled": best.value, "difference": value - best.value}
        yield Hit(message, claim, evidence=evidence, severity=severity)
