"""CV405 and CV406: multi-label predictions that are empty or list a label twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import Aggregates
from pytest_cvaudit.checks.claims import ways_of
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.model import Severity
from pytest_cvaudit.tallies.tally import tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Claim, Experiment
    from pytest_cvaudit.tallies.tally import Tallies

    Sets = NDArray[np.uint8]


@check("CV405")
def empty_prediction_undeclared(
    experiment: Experiment, tallies: Tallies | None, attributions: tuple[Attribution, ...]
) -> Iterator[Result]:
    """Empty label sets without a declared policy."""
    sets, protocol = _sets(experiment, tallies), experiment.protocol
    if not isinstance(sets, tuple):
        yield sets
        return
    labels, (no_gold, no_prediction) = sets[0], (int((~each.any(axis=1)).sum()) for each in sets[1:])
    if protocol.none is not None or not (no_gold or no_prediction):
        return
    known = protocol.labels or tuple(labels[index] for index in np.flatnonzero(sets[1].sum(axis=0)))
    ignored = replace(experiment, protocol=replace(protocol, none="ignore", labels=known))
    counted = replace(experiment, protocol=replace(protocol, none="label", labels=(*known, "NONE")))
    effects = list(_effects(ignored, counted, attributions))
    if attributions and not effects:
        return
    shown = "; ".join(f"'{claim}' is {without} without it and {with_} with it" for claim, without, with_ in effects)
    message = (
        f"{no_prediction} predicted and {no_gold} true label sets are empty, and whether NONE counts as a label is not "
        f"declared{shown and '; '}{shown}"
    )
    evidence = {"no_prediction": no_prediction, "no_gold": no_gold, "effects": _evidence(effects)}
    yield Hit(message, evidence=evidence, severity=None if effects else Severity.INFO)


@check("CV406")
def double_predictions(
    experiment: Experiment, tallies: Tallies | None, attributions: tuple[Attribution, ...]
) -> Iterator[Result]:
    """A label predicted more than once for an instance."""
    sets = _sets(experiment, tallies)
    if not isinstance(sets, tuple):
        yield sets
        return
    labels, _, predicted = sets
    once = np.minimum(predicted, 1)
    extra = (predicted - once).astype(np.int64)
    if not extra.any():
        return
    assert experiment.predictions is not None
    merged = replace(experiment, predictions=replace(experiment.predictions, predicted_sets=once))
    effects = list(_effects(experiment, merged, attributions))
    concerned, label = int(extra.any(axis=1).sum()), labels[int(extra.sum(axis=0).argmax())]
    shown = "; ".join(f"without them '{claim}' would print {after}" for claim, _, after in effects)
    message = (
        f"{concerned} of {len(extra)} predictions list a label more than once ('{label}' most often): {extra.sum()} "
        f"repeats count as false positives{shown and '; '}{shown}"
    )
    evidence = {"predictions": concerned, "repeats": int(extra.sum()), "effects": _evidence(effects)}
    yield Hit(message, label=label, evidence=evidence, severity=None if effects else Severity.INFO)


def _sets(experiment: Experiment, tallies: Tallies | None) -> tuple[tuple[str, ...], Sets, Sets] | Irrelevant | Unsure:
    """The labels of a multi-label log with its true and its predicted sets, or why there are none."""
    rows = experiment.predictions
    if tallies is not None and tallies.single_label:
        return Irrelevant("the log is not multi-label")
    if rows is None or rows.gold is None or rows.predicted_sets is None:
        return Unsure("the predicted label sets are not logged")
    return rows.labels, rows.gold, rows.predicted_sets


def _effects(
    one: Experiment, two: Experiment, attributions: tuple[Attribution, ...]
) -> Iterator[tuple[Claim, str, str]]:
    """The claims that print otherwise when the rows are counted otherwise, with what they print either way."""
    aggregates = [Aggregates(each, tally(each)) for each in (one, two)]
    for attribution in (each for each in attributions if each.table is not None):
        claim, ways = attribution.claim, ways_of(attribution)
        tables = [each.of_claim(claim) for each in aggregates]
        values = [table.values[ways[0] if ways else table.recommended].value for table in tables]
        before, after = (claim.printed.show(value) if value is not None else "nothing" for value in values)
        if before != after:
            yield claim, before, after


def _evidence(effects: list[tuple[Claim, str, str]]) -> dict[str, list[str]]:
    return {str(claim): [before, after] for claim, before, after in effects}
