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

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Claim, Experiment

_SINGLE = Irrelevant("the log is not multi-label")
_UNPREDICTED = Unsure("no predicted labels are logged")


@check("CV405")
def empty_prediction_undeclared(experiment: Experiment, attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """Empty label sets without a declared policy."""
    rows, protocol = experiment.predictions, experiment.protocol
    if rows is None or rows.gold is None or rows.predicted_sets is None:
        yield _SINGLE if rows is None or rows.gold is None else _UNPREDICTED
        return
    no_gold, no_prediction = (int((~sets.any(axis=1)).sum()) for sets in (rows.gold, rows.predicted_sets))
    if protocol.none is not None or not (no_gold or no_prediction):
        return
    labels = None if protocol.labels is None else (*protocol.labels, "NONE")
    effects = list(_effects(replace(experiment, protocol=replace(protocol, none="label", labels=labels)), attributions))
    if attributions and not effects:
        return
    shown = "; ".join(f"with NONE as a label '{claim}' would print {after}" for claim, _, after in effects)
    message = (
        f"{no_prediction} predicted and {no_gold} true label sets are empty, and whether NONE counts as a label is not "
        f"declared{shown and '; '}{shown}"
    )
    evidence = {"no_prediction": no_prediction, "no_gold": no_gold, "effects": _evidence(effects)}
    yield Hit(message, evidence=evidence, severity=None if effects else Severity.INFO)


@check("CV406")
def double_predictions(experiment: Experiment, attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A label predicted more than once for an instance."""
    rows = experiment.predictions
    if rows is None or rows.gold is None or rows.predicted_sets is None:
        yield _SINGLE if rows is None or rows.gold is None else _UNPREDICTED
        return
    extra = np.maximum(rows.predicted_sets.astype(np.int64) - 1, 0)
    if not extra.any():
        return
    once = replace(rows, predicted_sets=np.minimum(rows.predicted_sets, 1))
    effects = list(_effects(replace(experiment, predictions=once), attributions))
    concerned, label = int(extra.any(axis=1).sum()), rows.labels[int(extra.sum(axis=0).argmax())]
    shown = "; ".join(f"without them '{claim}' would print {after}" for claim, _, after in effects)
    message = (
        f"{concerned} of {len(extra)} predictions list a label more than once ('{label}' most often): {extra.sum()} "
        f"repeats count as false positives{shown and '; '}{shown}"
    )
    evidence = {"predictions": concerned, "repeats": int(extra.sum()), "effects": _evidence(effects)}
    yield Hit(message, label=label, evidence=evidence, severity=None if effects else Severity.INFO)


def _effects(changed: Experiment, attributions: tuple[Attribution, ...]) -> Iterator[tuple[Claim, str, str]]:
    """The claims that print otherwise when the rows are counted otherwise, before and after."""
    aggregates = Aggregates(changed, tally(changed))
    for attribution in attributions:
        claim, table = attribution.claim, attribution.table
        for way in () if table is None else (*ways_of(attribution), *table.distinct())[:1]:
            values = [each.values[way].value for each in (table, aggregates.of_claim(claim)) if each is not None]
            before, after = (claim.printed.show(value) if value is not None else "nothing" for value in values)
            if before != after:
                yield claim, before, after


def _evidence(effects: list[tuple[Claim, str, str]]) -> dict[str, list[str]]:
    return {str(claim): [before, after] for claim, before, after in effects}
