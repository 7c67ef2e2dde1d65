"""Averages over labels: macro, micro, lfb (training weights) and weighted (test weights), for every label set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import folds, measures
from pytest_cvaudit.aggregations.values import (
    UNDEFINED,
    MetricTable,
    PerFold,
    Span,
    Way,
    evaluate,
    mark_aliases,
    point,
    repeats_of,
    stem,
)
from pytest_cvaudit.tallies.tally import NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pytest_cvaudit.model import Metric, Protocol
    from pytest_cvaudit.tallies.tally import Tallies

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    #: From counts and a weight or membership per label (last axis) to one number per row.
    Average = Callable[[Floats, Floats, Floats, Floats], Floats]

_SETS = ("train", "test", "test_union", "fold", "fold_union")
_UNKNOWN_TRAINING = "training labels unknown: a single fold says nothing of its training set; declare `labels:`"


@dataclass(frozen=True)
class LabelSets:
    """Which labels count in each cell, by where the set is taken from, and the label frequencies in training."""

    tallies: Tallies
    protocol: Protocol

    @cached_property
    def declared(self) -> Mask | None:
        """The declared full label set, if there is one."""
        if self.protocol.labels is None:
            return None
        known = {*self.protocol.labels, *([NONE] if self.protocol.none == "label" else [])}
        return np.array([label in known for label in self.tallies.labels])

    @cached_property
    def training(self) -> Floats:
        """Label occurrences in each cell's training set: the other folds of its repeat, or the declared frequencies."""
        gold = self.tallies.gold.astype(np.float64)
        declared = self.protocol.frequencies
        if declared is not None:
            return np.tile([declared.get(label, 0.0) for label in self.tallies.labels], (len(gold), 1))
        others = np.zeros_like(gold)
        for cells in repeats_of(self.tallies.cells):
            others[cells] = gold[cells].sum(axis=0) - gold[cells]
        return others

    def masks(self, name: str) -> Mask:
        """The label set of each cell: one row per cell."""
        counts = self.tallies.counts
        assert counts is not None
        gold, union = self.tallies.gold > 0, (self.tallies.gold > 0) | (counts.predicted > 0)
        if name == "train":
            return self.training > 0 if self.declared is None else np.tile(self.declared, (len(gold), 1))
        if name in ("fold", "fold_union"):
            return gold if name == "fold" else union
        seen = gold if name == "test" else union
        return _within_repeats(self.tallies, seen.astype(np.float64)) > 0


def _within_repeats(tallies: Tallies, values: Floats) -> Floats:
    """For every cell, the sum over the cells of its repeat."""
    totals = np.zeros_like(values)
    for cells in repeats_of(tallies.cells):
        totals[cells] = values[cells].sum(axis=0)
    return totals


def label_average_table(metric: Metric, tallies: Tallies, protocol: Protocol) -> MetricTable:
    """Build the table of a macro, micro, lfb or weighted measure over every label set."""
    sets = LabelSets(tallies, protocol)
    ways: dict[str, Way] = {}
    per_fold_of: dict[str, PerFold] = {}
    for kind, average in _averages(metric).items():
        for name in _sets_of(metric):
            weights = _weights(metric, sets, name)
            if not name.startswith("fold"):
                pooled = "tp_fp" if kind == "mean" else "of_means"
                ways[f"{pooled}@{name}"] = _pooled(tallies, weights, average, metric.average in ("macro", "micro"))
            if name != "test_union":
                each = PerFold.exact(average(*_counts(tallies), weights), "no label of the set")
                averaged = f"{'avg' if kind == 'mean' else 'avg_of_means'}@{name}"
                per_fold_of[averaged] = each
                ways[averaged] = folds.mean(each)
    ways = dict(sorted(ways.items(), key=lambda item: _order(item[0])))
    recommended = "tp_fp@test" if metric.average == "weighted" else "tp_fp@train"
    per_fold = per_fold_of[recommended.replace("tp_fp", "avg")]
    alone = any(len(cells) < 2 for cells in repeats_of(tallies.cells)) and protocol.labels is None
    unknown = {name: _UNKNOWN_TRAINING for name in ways if alone and name.endswith("@train")}
    values = evaluate(ways, per_fold, tallies.cells, unknown, per_fold_of)
    return MetricTable(
        metric, recommended, mark_aliases(values, stem), per_fold, tallies.cells, per_fold_of=per_fold_of
    )


def _order(name: str) -> tuple[int, int]:
    base, labels = name.split("@")
    return ("tp_fp", "avg", "of_means", "avg_of_means").index(base), _SETS.index(labels)


def _sets_of(metric: Metric) -> tuple[str, ...]:
    if metric.average == "lfb":
        return ("train", "test", "fold")
    return ("test", "fold") if metric.average == "weighted" else _SETS


def _weights(metric: Metric, sets: LabelSets, name: str) -> Floats:
    """One weight per cell and label: membership for macro and micro, frequencies for lfb and weighted."""
    if metric.average == "lfb" and name == "train":
        return sets.training
    if metric.average in ("lfb", "weighted"):
        gold = sets.tallies.gold.astype(np.float64)
        return gold if name == "fold" else _within_repeats(sets.tallies, gold)
    return sets.masks(name).astype(np.float64)


def _counts(tallies: Tallies) -> tuple[Floats, Floats, Floats]:
    assert tallies.counts is not None
    tp, fp, fn = (getattr(tallies.counts, part).astype(np.float64) for part in ("tp", "fp", "fn"))
    return tp, fp, fn


def _pooled(tallies: Tallies, weights: Floats, average: Average, membership: bool) -> Way:
    counts = _counts(tallies)

    def way(cells: Ints) -> Span:
        if not len(cells):
            return UNDEFINED
        tp, fp, fn = (part[cells].sum(axis=0, keepdims=True) for part in counts)
        # Membership in any cell's set is membership; frequencies add up.
        pooled = weights[cells].max(axis=0, keepdims=True) if membership else weights[cells].sum(axis=0, keepdims=True)
        return point(float(average(tp, fp, fn, pooled)[0]))

    return way


def _averages(metric: Metric) -> dict[str, Average]:
    """The measure per label averaged over labels; for F also the F of the averaged precision and recall."""
    beta = metric.beta

    def each(tp: Floats, fp: Floats, fn: Floats) -> Floats:
        if beta is not None:
            return measures.f_beta(tp, fp, fn, beta)
        return measures.precision(tp, fp) if metric.base == "precision" else measures.recall(tp, fn)

    def mean(tp: Floats, fp: Floats, fn: Floats, weights: Floats) -> Floats:
        # A label of the set without any count has nothing right: it counts as zero, and the set's name says so.
        return measures.ratio((weights * np.nan_to_num(each(tp, fp, fn))).sum(axis=-1), weights.sum(axis=-1))

    def micro(tp: Floats, fp: Floats, fn: Floats, weights: Floats) -> Floats:
        return each((weights * tp).sum(axis=-1), (weights * fp).sum(axis=-1), (weights * fn).sum(axis=-1))

    def of_means(tp: Floats, fp: Floats, fn: Floats, weights: Floats) -> Floats:
        total = weights.sum(axis=-1)
        precision = measures.ratio((weights * np.nan_to_num(measures.precision(tp, fp))).sum(axis=-1), total)
        recall = measures.ratio((weights * np.nan_to_num(measures.recall(tp, fn))).sum(axis=-1), total)
        return np.where(total > 0, measures.f_of(precision, recall, beta or 1.0), np.nan)

    if metric.average == "micro":
        return {"mean": micro}
    return {"mean": mean, "of_means": of_means} if beta is not None else {"mean": mean}
