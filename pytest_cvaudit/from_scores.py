"""Attribution from printed fold values: the counts behind them where they can be told, else what they allow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import MetricTable, PerFold, Value, cell_name
from pytest_cvaudit.attribution import AMBIGUOUS, UNCHECKABLE, UNEXPLAINED, UNIQUE, Attribution
from pytest_cvaudit.model import Evidence, FoldCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.forensics.folds.solve import FoldEvidence
    from pytest_cvaudit.forensics.solve import ClaimFit
    from pytest_cvaudit.model import Cell, Claim, Experiment

#: Seconds that an audit may search in one experiment.
_SECONDS = 3.0
REBUILT = "counts rebuilt from the printed fold values"
_NOT_TOLD = "the printed fold values leave several tables of counts; log tp, fp, fn and tn per fold"
_OTHERS = "no tables of counts that print the logged fold values make the claim so"


def fold_evidence(experiment: Experiment) -> FoldEvidence | None:
    """Take the fold values of an experiment that logs nothing richer for those of one positive label."""
    from pytest_cvaudit.forensics.folds.log import Totals, fold_log
    from pytest_cvaudit.forensics.folds.solve import FoldEvidence

    scores, protocol = experiment.scores, experiment.protocol
    blank = {missing.cell for missing in experiment.missing}
    if experiment.evidence is not Evidence.SCORES or scores is None or blank - set(scores.cells):
        return None
    if len(protocol.labels or ()) > 2:
        return None
    totals = Totals(protocol.instances, protocol.positives, protocol.folds, bool(protocol.stratified))
    log = fold_log(scores, totals, lambda cell: cell_name(cell, scores.cells))
    return FoldEvidence(log, scores)


def rebuilt_counts(experiment: Experiment, evidence: FoldEvidence | None) -> FoldCounts | None:
    """The counts of every fold, where the printed values leave one table each, however they were printed."""
    counts = None if evidence is None else evidence.counts
    if counts is None or experiment.scores is None:
        return None
    tp, fp, fn, tn = (np.array(column, np.int64) for column in zip(*counts, strict=True))
    hits, misses = np.stack([tp, tn], axis=1), np.stack([fp, fn], axis=1)
    protocol = experiment.protocol
    positive = protocol.positive or "positive"
    others = [label for label in protocol.labels or () if label != positive]
    labels = (positive, others[0] if len(others) == 1 else "negative")
    return FoldCounts(experiment.scores.cells, labels, hits, misses, misses[:, ::-1], hits[:, ::-1], single_label=True)


def attribute_by_folds(evidence: FoldEvidence, plain: Sequence[Attribution]) -> tuple[Attribution, ...]:
    """Sharpen what the printed values alone say of the claims by the tables of counts that print them."""
    from pytest_cvaudit.forensics.exact import ways_of
    from pytest_cvaudit.forensics.folds.solve import fold_contradiction, fold_possible, solve_folds

    log = evidence.log
    chosen = [at for at, one in enumerate(plain) if ways_of(one.claim.metric) and one.claim.label is None]
    if log.contradiction:
        return tuple(_unsized(one, log.reason) if at in chosen else one for at, one in enumerate(plain))
    if log.design is None or log.repeated or not chosen:
        return tuple(plain)
    if evidence.broken:
        return tuple(_doubted(one, evidence.broken) if at in chosen else one for at, one in enumerate(plain))
    claims = [replace(plain[at].claim, aggregation=None) for at in chosen]
    found = solve_folds(claims, evidence, seconds=_SECONDS)
    sharper = list(plain)
    if found.verdict == "impossible":
        against = fold_contradiction(claims, evidence, _SECONDS)
        refuted = [claims.index(claim) for claim in against]
        named = tuple(plain[chosen[at]].claim for at in refuted)
        possible = fold_possible(against[0], against[1:], evidence) if against else ()
        for at in refuted:
            sharper[chosen[at]] = _refuted(plain[chosen[at]], named, possible)
        return tuple(sharper)
    for at, fit in zip(chosen, found.claims, strict=True):
        sharper[at] = _attribution(plain[at], fit, evidence.scores.cells)
    return tuple(sharper)


def _doubted(plain: Attribution, broken: Sequence[str]) -> Attribution:
    """Values that no binary table prints may be averages over labels: a reason to check them, no accusation."""
    if plain.verdict != UNCHECKABLE:
        return plain
    reason = f"no table of counts prints the values of {broken[0]}; correct them, or say if they average over labels"
    return replace(plain, reason=reason)


def _unsized(plain: Attribution, contradiction: str | None) -> Attribution:
    """Sizes that contradict the declared ones speak for or against no claim: one of the two must be corrected."""
    return replace(plain, reason=contradiction) if plain.verdict == UNCHECKABLE else plain


def _refuted(plain: Attribution, against: tuple[Claim, ...], possible: tuple[str, ...]) -> Attribution:
    """A claim that the folds contradict; one that printed values explain stands, as they may average over labels."""
    if plain.verdict != UNCHECKABLE:
        return plain
    return Attribution(plain.claim, UNEXPLAINED, contradicts=against, possible=possible)


def _attribution(plain: Attribution, fit: ClaimFit, cells: tuple[Cell, ...]) -> Attribution:
    if "undecided" in fit.aggregations.values() or not fit.fitting:
        if plain.verdict != UNEXPLAINED:
            return plain
        return replace(
            plain, verdict=UNCHECKABLE, reason=f"not decided in {_SECONDS:g} s; log tp, fp, fn and tn per fold"
        )
    table = _table(plain, fit, cells)
    verdict = UNIQUE if len(fit.fitting) == 1 else AMBIGUOUS
    matches = tuple(dict.fromkeys(table.canonical(way) for way in fit.fitting))
    return Attribution(
        plain.claim, verdict, matches, truncated=fit.truncated, spread=plain.spread, by_tables=True, table=table
    )


def _table(plain: Attribution, fit: ClaimFit, cells: tuple[Cell, ...]) -> MetricTable:
    """The values that are printed; of another way that fits the claim's digits are known, of the right one none."""
    printed, metric = plain.claim.printed, plain.claim.metric
    recommended = "tp_fp" if metric.is_f else "pooled"
    values = {} if plain.table is None else dict(plain.table.values)
    within = printed.truncated if fit.truncated else printed.rounded
    for way, answer in fit.aggregations.items():
        if way in values and values[way].value is not None:
            continue
        if way == recommended or answer != "fits":
            values[way] = Value(None, reason=_NOT_TOLD if answer == "fits" else _OTHERS, unknown=True)
        else:
            values[way] = Value(printed.value, within.low, within.high, alias_of=fit.aliases.get(way))
    if plain.table is not None:
        return replace(plain.table, values=values)
    return MetricTable(metric, recommended, values, PerFold.exact(np.full(len(cells), np.nan), _NOT_TOLD), cells)
