"""``cvaudit attribute --log``: the same question about a log, whatever it holds: fold values, counts or predictions."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Evidence, FoldScores, Protocol
from pytest_cvaudit.model.metrics import COUNTS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.forensics import ClaimFit, Solution, Witness
    from pytest_cvaudit.model import Claim, Experiment
    from pytest_cvaudit.tallies.tally import Tallies


@dataclass(frozen=True)
class Answer:
    """What was found, the claims that contradict each other or the log, and what else a reader must know."""

    found: Solution
    against: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()


def run(
    options: argparse.Namespace,
    claims: Sequence[Claim],
    totals: Mapping[str, int],
    seconds: float,
    emit: Callable[[str], None],
) -> int:
    """Solve, and write the document to where it was asked for; exit 1 if the claims are impossible."""
    from pytest_cvaudit.forensics import Design
    from pytest_cvaudit.reporters import attribute, write

    for name in ("repeats", "supports", "dataset"):
        if getattr(options, name, None):
            raise InputError("a log tells this by itself; leave it out", f"--{name}")
    instances, positives, folds = (totals.get(name) for name in ("instances", "positives", "folds"))
    protocol = Protocol(
        instances=instances, positives=positives, folds=folds, stratified=True if options.stratified else None
    )
    if instances is not None and positives is not None:
        Design(instances, positives, folds or 1, options.stratified)  # refuses what no data can have
    reading = {
        "columns": _pairs(options.column, "--column"), "select": _pairs(options.select, "--select"), "by": options.by,
    }  # fmt: skip
    answer = solve_log(options.log, claims, protocol, seconds, reading)
    if options.format == "json":
        document = attribute.as_json(answer.found, answer.against, answer.notes)
    else:
        colour = False if options.output else None
        document = attribute.as_text(answer.found, answer.against, answer.notes, colour=colour)
    if options.output:
        write(options.output, document)
    else:
        emit(document)
    return 1 if answer.found.verdict == "impossible" else 0


def _pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = (piece.strip() for piece in text.partition("="))
        if not name or not sign or not value or name in found:
            raise InputError(f"'{text}' is not understood; write NAME=VALUE, each name once", option)
        found[name] = value
    return found


def solve_log(
    path: str, claims: Sequence[Claim], protocol: Protocol, seconds: float, reading: Mapping[str, Any] | None = None
) -> Answer:
    """Decide for every aggregation whether the log's folds make the claims; ``reading`` says how to read the log."""
    experiment = _experiment(path, protocol, reading or {})
    if experiment.evidence > Evidence.SCORES:
        return _by_counts(experiment, claims)
    return _by_scores(path, experiment, claims, seconds)


def _experiment(path: str, protocol: Protocol, reading: Mapping[str, Any]) -> Experiment:
    from pytest_cvaudit.manifest.build import experiment_from_log

    found = experiment_from_log(Path(path), protocol=protocol, **reading)
    if len(found) != 1:
        names = ", ".join(one.name for one in found[:4]) + (", …" if len(found) > 4 else "")
        raise InputError(f"it holds {len(found)} experiments ({names}); choose one with --select COLUMN=VALUE", path)
    (experiment,) = found
    if experiment.problem is not None:
        raise experiment.problem
    if experiment.evidence is Evidence.SUMMARY:
        raise InputError("no fold has a value", path)
    return experiment


def _by_scores(path: str, experiment: Experiment, claims: Sequence[Claim], seconds: float) -> Answer:
    """Search the tables behind the printed values; where there is only one, compute."""
    from pytest_cvaudit.forensics.folds.solve import fold_contradiction, solve_folds
    from pytest_cvaudit.from_scores import REBUILT, fold_evidence, rebuilt_counts

    evidence = fold_evidence(experiment)
    notes: tuple[str, ...] = ()
    if evidence is None:
        experiment, blank = _with_blanks(experiment)
        notes = (f"no value at all: {', '.join(blank)}; counts are not told from the other folds",)
        evidence = fold_evidence(replace(experiment, protocol=Protocol()))
        assert evidence is not None
    if evidence.log.contradiction and evidence.log.reason is not None:
        raise InputError(evidence.log.reason, path)
    counts = rebuilt_counts(experiment, evidence)
    if counts is not None:
        answer = _by_counts(replace(experiment, counts=counts), claims)
        return replace(answer, notes=(REBUILT, *notes))
    found = solve_folds(claims, evidence, seconds=seconds)
    against: tuple[Claim, ...] = ()
    if found.verdict == "impossible":
        against = fold_contradiction(claims, evidence, seconds)
    notes += tuple(
        f"no table of counts prints the values of {fold}; do they average over labels?" for fold in found.broken
    )
    if found.reason is not None:
        notes += (f"counts cannot be told: {found.reason}",)
    if found.reading != "rounded" and not found.broken and not against:
        notes += (f"the log's values taken as {found.reading}",)
    return Answer(found, against, notes)


def _with_blanks(experiment: Experiment) -> tuple[Experiment, list[str]]:
    """Add the folds without any value to the printed ones, so that means over all folds are not taken for granted."""
    from pytest_cvaudit.aggregations import cell_name

    scores = experiment.scores
    assert scores is not None
    blank = [one.cell for one in experiment.missing if one.cell not in scores.cells]
    cells = (*scores.cells, *dict.fromkeys(blank))
    none = (None,) * (len(cells) - len(scores.cells))
    values = {name: (*printed, *none) for name, printed in scores.values.items()}
    names = [cell_name(cell, cells) for cell in dict.fromkeys(blank)]
    return replace(experiment, scores=FoldScores(cells, values), missing=()), names


def _by_counts(experiment: Experiment, claims: Sequence[Claim]) -> Answer:
    """Compute every aggregation: a way fits if and only if it prints."""
    from pytest_cvaudit.aggregations import Aggregates
    from pytest_cvaudit.attribution import attribute
    from pytest_cvaudit.forensics.solve import Solution, verdict_of
    from pytest_cvaudit.tallies.tally import tally

    start = time.monotonic()
    tallies = tally(experiment)
    aggregates = Aggregates(experiment, tallies)
    made = [attribute(claim, aggregates) for claim in claims]
    fits = tuple(_fit(one) for one in made)
    against = tuple(fit.claim for fit in fits if set(fit.aggregations.values()) == {"cannot"})
    notes = [f"'{one.claim}' cannot be checked: {one.reason}" for one in made if one.table is None]
    found = Solution(verdict_of(fits), fits, _witness(made, tallies), time.monotonic() - start)
    return Answer(found, against[:1], tuple(notes))


def _fit(one: Attribution) -> ClaimFit:
    from pytest_cvaudit.forensics import ClaimFit

    if one.table is None:
        return ClaimFit(one.claim, {"unknown": "undecided"})
    values = one.table.values
    answers = {
        way: "fits" if (value.alias_of or way) in one.matches else "undecided" if value.unknown else "cannot"
        for way, value in values.items()
    }
    return ClaimFit(one.claim, answers, one.truncated, {way: v.alias_of for way, v in values.items() if v.alias_of})


def _witness(made: Sequence[Attribution], tallies: Tallies | None) -> Witness | None:
    """The counts of the positive label, where they print every claim."""
    from pytest_cvaudit.forensics import Witness

    if not all(one.matches and one.claim.metric.family == COUNTS for one in made):
        return None
    if tallies is None or tallies.counts is None or tallies.positive is None or not tallies.knows_negatives:
        return None
    counts, label = tallies.counts, tallies.positive
    tp, fp, fn, tn = (part[:, label].tolist() for part in (counts.tp, counts.fp, counts.fn, counts.tn))
    return Witness(tuple(one.matches[0] for one in made), tuple(zip(tp, fp, fn, tn, strict=True)))
