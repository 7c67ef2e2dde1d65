"""From printed fold values to how claims were made: a table for every fold that prints its values, all together."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.combine import CANNOT, ROUNDING_SHARE, UNDECIDED, Found
from pytest_cvaudit.forensics.exact import ways_of
from pytest_cvaudit.forensics.explain import nearest
from pytest_cvaudit.forensics.folds.case import FoldCombiner, fold_tables
from pytest_cvaudit.forensics.folds.converter import EITHER, READINGS, ROUNDED, TRUNCATED, counts_at, within
from pytest_cvaudit.forensics.folds.identities import contradictory
from pytest_cvaudit.forensics.folds.means import fit_means
from pytest_cvaudit.forensics.solve import IMPOSSIBLE, ClaimFit, Solution, Witness, verdict_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_cvaudit.forensics.exact import Counts
    from pytest_cvaudit.forensics.folds.case import FoldTables
    from pytest_cvaudit.forensics.folds.log import FoldLog
    from pytest_cvaudit.model import Claim, FoldScores, Metric


@dataclass(frozen=True)
class FoldSolution(Solution):
    """What can be said of the claims over logged folds; ``reading`` says how the log's digits were taken.

    ``broken`` are the folds whose own values no table prints, and ``reason`` why counts could not be told.
    """

    reading: str = ROUNDED
    broken: tuple[str, ...] = ()
    reason: str | None = None


@dataclass
class FoldEvidence:
    """A log of fold values, with the tables of its folds found once per reading."""

    log: FoldLog
    scores: FoldScores

    @cached_property
    def _tables(self) -> dict[str, FoldTables]:
        return {}

    def tables(self, reading: str) -> FoldTables:
        """The tables of every fold in a reading of the log."""
        assert self.log.design is not None
        if reading not in self._tables:
            self._tables[reading] = fold_tables(self.log.folds, self.log.design, reading, self.log.fixed)
        return self._tables[reading]

    @property
    def broken(self) -> tuple[str, ...]:
        """The folds that no table prints in any reading."""
        if self.log.design is None:
            return tuple(str(fold) for fold in self.log.folds if contradictory(fold))
        return tuple(str(self.log.folds[at]) for at in self.tables(EITHER).empty)

    @property
    def counts(self) -> tuple[Counts, ...] | None:
        """The only table of every fold, where the printed values leave no other, however they were printed."""
        if self.log.design is None or not self.tables(EITHER).unique:
            return None
        found = self.tables(EITHER)
        placed = {
            fold: counts_at(cells, 0) for cells, folds in zip(found.cells, found.members, strict=True) for fold in folds
        }
        counts = tuple(placed[fold] for fold in sorted(placed))
        # Every fold alone may have a shape that the declared totals do not leave to all of them together.
        positives, design = sum(tp + fn for tp, _, fn, _ in counts), self.log.design
        return counts if (sum(map(sum, counts)), positives) == (design.instances, design.positives) else None


def solve_folds(claims: Sequence[Claim], evidence: FoldEvidence, *, seconds: float = 5.0) -> FoldSolution:
    """Decide for every aggregation of every claim whether tables of the logged folds make it, with all other claims."""
    start = time.monotonic()
    log = evidence.log
    countable = log.design is not None and not log.repeated
    counted = [at for at, claim in enumerate(claims) if countable and ways_of(claim.metric) and claim.label is None]
    names = {at: _names(claims[at], evidence.tables(EITHER)) for at in counted}
    counted = [at for at in counted if names[at]]
    broken = evidence.broken
    found, reading, cut = None, ROUNDED, frozenset[int]()
    if counted:
        parts = [(claims[at], tuple(dict.fromkeys(names[at].values()))) for at in counted]
        found, reading, cut = _search(parts, evidence, start + seconds)
    fits = []
    for at, claim in enumerate(claims):
        if found is None or at not in counted:
            fits.append(fit_means(claim, evidence.scores))
            continue
        place = counted.index(at)
        answers = {way: found.answers[place][first] for way, first in names[at].items()}
        aliases = {way: first for way, first in names[at].items() if way != first and first in names[at]}
        fits.append(ClaimFit(claim, answers, place in cut, aliases))
    witness = None
    if found is not None and found.table is not None and len(counted) == len(claims):
        witness = Witness(found.ways, found.table)
    if broken:
        fits = [replace(fit, aggregations=dict.fromkeys(fit.aggregations, CANNOT)) for fit in fits]
    verdict = IMPOSSIBLE if broken else verdict_of(fits)
    return FoldSolution(verdict, tuple(fits), witness, time.monotonic() - start, reading, broken, log.reason)


def fold_contradiction(claims: Sequence[Claim], evidence: FoldEvidence, seconds: float = 5.0) -> tuple[Claim, ...]:
    """Find the smallest set of claims that the logged folds make impossible; empty if none was proven so in time."""
    deadline = time.monotonic() + seconds
    for size in range(1, len(claims) + 1):
        for chosen in combinations(claims, size):
            left = deadline - time.monotonic()
            if left <= 0 or evidence.broken:
                return ()
            if solve_folds(chosen, evidence, seconds=left).verdict == IMPOSSIBLE:
                return chosen
    return ()


def fold_possible(
    claim: Claim, others: Sequence[Claim], evidence: FoldEvidence, seconds: float = 1.0
) -> tuple[str, ...]:
    """List the printed values nearest to the claim that the logged folds can make, by rounding, with other claims."""

    def has_table(moved: Claim, left: float) -> bool:
        found = solve_folds([moved, *others], evidence, seconds=left)
        return found.witness is not None and found.reading == ROUNDED and not any(fit.truncated for fit in found.claims)

    return tuple(nearest(claim, has_table, seconds=seconds))


def _search(
    parts: Sequence[tuple[Claim, tuple[str, ...]]], evidence: FoldEvidence, deadline: float
) -> tuple[Found, str, frozenset[int]]:
    """Try the log and the claims by rounding, then by truncation, as few claims of them as possible."""

    def attempt(reading: str, cut: Collection[int], otherwise: str = ROUNDED) -> Found:
        tables = evidence.tables(reading)
        if tables.empty:
            return Found([dict.fromkeys(ways, CANNOT) for _, ways in parts])
        asked = [
            (claim.metric, ways, within(claim.printed, TRUNCATED if at in cut else otherwise))
            for at, (claim, ways) in enumerate(parts)
        ]
        return FoldCombiner(asked, tables, deadline).run_until(until)

    now = time.monotonic()
    until = now + ROUNDING_SHARE * (deadline - now)
    found = attempt(ROUNDED, ())
    if found.table is not None or not (found.impossible or found.open):
        return found, ROUNDED, frozenset()
    until = deadline
    # Numbers that print so in either way form one interval: if even that is impossible, every mixture is.
    either = attempt(EITHER, (), EITHER)
    if either.impossible:
        return either, EITHER, frozenset()
    if not found.impossible:
        return found.unless_printed_otherwise(either), ROUNDED, frozenset()
    for reading in READINGS:
        for size in range(len(parts) + 1):
            chosen = [frozenset(cut) for cut in combinations(range(len(parts)), size)]
            trials = {cut: attempt(reading, cut) for cut in chosen}
            possible = {cut: trial for cut, trial in trials.items() if not trial.impossible}
            if possible:
                truncated = frozenset().union(*(cut for cut, trial in possible.items() if trial.table is not None))
                return Found.merged(list(possible.values())).unless_printed_otherwise(either), reading, truncated
    return Found([dict.fromkeys(ways, UNDECIDED) for _, ways in parts]), EITHER, frozenset()


def _names(claim: Claim, tables: FoldTables) -> dict[str, str]:
    """Map the aggregations that the claim may come from to the first that every table of the folds makes equal."""
    names = _canonical(claim.metric, tables)
    if claim.aggregation is not None:
        names = {way: way for way in names if way == claim.aggregation}
    return names


def _canonical(metric: Metric, tables: FoldTables) -> dict[str, str]:
    names = {way: way for way in ways_of(metric)}
    cells = [cells for cells in tables.cells if len(cells.tp)]
    if not all(each.complete for each in cells):
        return names
    defined = not any(np.isnan(each.values(metric)).any() for each in cells)
    positives, negatives = ({int(n) for each in cells for n in np.unique(getattr(each, part))} for part in _CLASSES)
    sizes = {int(n) for each in cells for n in np.unique(each.positives + each.negatives)}

    def same(first: str, *ways: str) -> None:
        names.update({way: names[first] for way in ways if way in names})

    # Where the mean is weighted by what the ratio divides by, it is the ratio of the totals.
    weights = {"accuracy": sizes, "error": sizes, "recall": positives, "specificity": negatives}.get(metric.name)
    if metric.name == "balanced_accuracy" and len(negatives) == 1:
        weights = positives
    if defined and weights is not None and len(weights) == 1:
        same("pooled", "avg")
    if metric.name in ("accuracy", "error") and 0 not in sizes:
        same("pooled", "avg_weighted")
    elif len(sizes) == 1:
        same("avg", "avg_weighted")
    if len(positives) == 1 and 0 not in positives:
        same("avg", "avg_weighted_positives")
    if defined:
        same("avg", "avg_one", "avg_nan", "avg_zero", "avg_present", *(() if metric.is_f else ("avg_skip",)))
    if metric.is_f and all(bool(each.judged.all()) for each in cells):
        same("avg", "avg_skip")
        same("pr_re", "pr_re_skip")
    return names


_CLASSES = ("positives", "negatives")
