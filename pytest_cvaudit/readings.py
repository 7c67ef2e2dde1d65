"""Other readings of a claim that no aggregation explains: honest numbers under a loose name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import Aggregates, NotComputable
from pytest_cvaudit.matching import matching, spans_of
from pytest_cvaudit.model.metrics import find_metric, metric
from pytest_cvaudit.tallies.tally import tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.aggregations import MetricTable
    from pytest_cvaudit.model import Claim
    from pytest_cvaudit.tallies import Curve

    Spans = dict[str, tuple[float, float]]


def other_reading(claim: Claim, aggregates: Aggregates, table: MetricTable) -> str | None:
    """Say what else prints the claim: a median, an average over labels, another label, a trapezoid, NONE as a label."""
    everything = (
        *_median(table),
        *_of_other_labels(claim, aggregates),
        *_with_none(claim, aggregates),
        *_trapezoids(claim, aggregates),
    )
    for name, spans in everything:
        matches, _ = matching(claim.printed, spans)
        if matches:
            return name if matches == (name,) else f"{name} ({' or '.join(matches)})"
    return None


def _median(table: MetricTable) -> Iterator[tuple[str, Spans]]:
    values = table.per_fold.value[~np.isnan(table.per_fold.value)]
    if len(values) > 2:
        name, median = "the median over folds", float(np.median(values))
        yield name, {name: (median, median)}


def _of_other_labels(claim: Claim, aggregates: Aggregates) -> Iterator[tuple[str, Spans]]:
    """Averages over labels, and the other of two labels, where the claim is about one label."""
    tallies, one = aggregates.tallies, claim.metric
    if tallies is None or claim.label is not None or not (one.is_f or one.name in ("precision", "recall")):
        return
    for average in ("macro", "weighted", "micro"):
        try:
            yield f"{average}_{one.name}", spans_of(aggregates.of(metric(f"{average}_{one.name}")))
        except NotComputable:
            continue
    if len(tallies.labels) == 2 and tallies.positive is not None:
        label = tallies.labels[1 - tallies.positive]
        yield f"{one.name} of label '{label}'", spans_of(aggregates.of(one, label))


def _with_none(claim: Claim, aggregates: Aggregates) -> Iterator[tuple[str, Spans]]:
    """An average over labels with the empty set as one of them, where nothing is declared."""
    experiment = aggregates.experiment
    rows, protocol = experiment.predictions, experiment.protocol
    if claim.metric.average is None or protocol.none is not None or rows is None or rows.gold is None:
        return
    changed = replace(experiment, protocol=replace(protocol, none="label"))
    table = Aggregates(changed, tally(changed)).of(claim.metric)
    yield f"{claim.name} with the empty set as a label", spans_of(table)


def _trapezoids(claim: Claim, aggregates: Aggregates) -> Iterator[tuple[str, Spans]]:
    """The area under the precision–recall curve by trapezoids, which some call average precision."""
    tallies = aggregates.tallies
    label = tallies.index(claim.label) if tallies is not None else None
    if claim.metric != find_metric("ap") or tallies is None or label is None or label not in tallies.curves:
        return
    curves = tallies.curves[label]
    areas = [_trapezoid(curve) for curve in curves]
    merged = _trapezoid(curves[0].merge(list(curves)))
    yield (
        "the area under the precision–recall curve by trapezoids",
        {
            "avg": (float(np.mean(areas)), float(np.mean(areas))),
            "merge": (merged, merged),
        },
    )


def _trapezoid(curve: Curve) -> float:
    if curve.positives == 0:
        return float("nan")
    _, positives, negatives = curve.levels()
    hits, called = np.cumsum(positives), np.cumsum(positives + negatives)
    recall = np.concatenate([[0.0], hits / curve.positives])
    precision = np.concatenate([[1.0], hits / called])
    return float(np.trapezoid(precision, recall))
