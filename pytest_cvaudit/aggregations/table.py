"""The front of the aggregations: every metric of an experiment, each computed once, from the richest evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_cvaudit.aggregations.labels import LabelSets, label_average_table
from pytest_cvaudit.aggregations.logged import logged_table, with_printed
from pytest_cvaudit.aggregations.point import TABLE_MEASURES, label_table, table_table
from pytest_cvaudit.aggregations.ranking import over_labels_table, ranking_table
from pytest_cvaudit.model.metrics import COUNTS, LABELS, RANKING, find_metric, metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.aggregations.values import MetricTable
    from pytest_cvaudit.model import Claim, Experiment, Metric, Protocol
    from pytest_cvaudit.tallies.tally import Tallies

_SHOWN_POINT = ("accuracy", "precision", "recall", "specificity", "balanced_accuracy", "f1", "mcc", "kappa")
_SHOWN_RANKING = ("auc", "ap", "max_f1", "max_mcc", "auk", "brier", "log_loss")
_SHOWN_LABELS = tuple(f"{a}_{b}" for a in ("macro", "micro", "lfb", "weighted") for b in ("f1", "precision", "recall"))


class NotComputable(Exception):
    """The evidence cannot give this metric; the message says what would."""


@dataclass
class Aggregates:
    """The tables of an experiment's metrics, built when asked for and kept."""

    experiment: Experiment
    tallies: Tallies | None
    _tables: dict[tuple[Metric, str | None], MetricTable] = field(default_factory=dict)

    @property
    def label_sets(self) -> LabelSets | None:
        """The label sets that averages over labels can be taken over."""
        return LabelSets(self.tallies, self.experiment.protocol) if self.tallies is not None else None

    def of_claim(self, claim: Claim) -> MetricTable:
        """The table of the metric that a claim is about."""
        return self.of(claim.metric, claim.label)

    def of(self, wanted: Metric, label: str | None = None) -> MetricTable:
        """The table of a metric; raises NotComputable with the reason where the evidence cannot give it."""
        key = (wanted, label)
        if key not in self._tables:
            self._tables[key] = self._build(wanted, label)
        return self._tables[key]

    def shown(self) -> Iterator[tuple[str, MetricTable]]:
        """The metrics that a report shows: those the evidence gives, and those that are claimed."""
        names = [*_SHOWN_POINT, *_SHOWN_RANKING]
        if self.tallies is None or len(self.tallies.labels) > 2 or not self.tallies.single_label:
            names += _SHOWN_LABELS
        if self.experiment.scores is not None:
            names += self.experiment.scores.values
        claimed = {claim.name: (claim.metric, claim.label) for claim in self.experiment.claims}
        wanted: dict[str, tuple[Metric, str | None]] = {name: (metric(name), None) for name in names}
        for name, (one, label) in {**wanted, **claimed}.items():
            try:
                yield name, self.of(one, label)
            except NotComputable:
                continue

    def _build(self, wanted: Metric, label: str | None) -> MetricTable:
        if not wanted.computed:
            raise NotComputable(f"{wanted.name} is not computed by this version")
        logged = self.experiment.scores is not None and wanted.name in self.experiment.scores.values and label is None
        try:
            table = self._from_tallies(wanted, label)
        except NotComputable:
            if not logged:
                raise
            return logged_table(replace(wanted), self.experiment)
        return with_printed(table, self.experiment) if logged else table

    def _from_tallies(self, wanted: Metric, label: str | None) -> MetricTable:
        tallies = self.tallies
        if tallies is None:
            raise NotComputable(f"no predictions or counts are logged, and no {wanted.name} per fold")
        if wanted.family == LABELS:
            if len(tallies.labels) == 1:
                raise NotComputable("only the positive label's counts are logged; log tn, or all labels")
            return label_average_table(wanted, *self._need_counts(wanted))
        if wanted.name in TABLE_MEASURES and label is None:
            self._need_counts(wanted)
            return table_table(wanted, self._need_single_label(wanted))
        if wanted.family == RANKING and wanted.base is not None:
            return self._over_labels(wanted, tallies, metric(wanted.base), label)
        index = self._label_index(wanted, label)
        if wanted.family == COUNTS and wanted.name not in TABLE_MEASURES:
            self._need_counts(wanted)
            if wanted.name in ("specificity", "npv") and not tallies.knows_negatives:
                raise NotComputable("tn is not logged; log tn, or negatives per fold")
            return label_table(wanted, tallies, index)
        if wanted.family == COUNTS:
            raise NotComputable(f"{wanted.name} is a measure of the whole table; leave `label:` out")
        if wanted.name == "precision_at_k" and wanted.k is None:
            raise NotComputable("precision_at_k needs its `k:`")
        if index not in tallies.curves:
            raise NotComputable(f"no score for label '{tallies.labels[index]}' is logged; log a score per instance")
        return ranking_table(wanted, tallies, index)

    def _over_labels(self, wanted: Metric, tallies: Tallies, base: Metric, label: str | None) -> MetricTable:
        if label is not None:
            raise NotComputable(f"{wanted.name} averages over the labels; claim {base.name} of label '{label}'")
        if len(tallies.labels) == 2 and tallies.single_label and len(tallies.curves) == 1:
            # Turning the scores round for the other label leaves the area as it is.
            return replace(ranking_table(base, tallies, next(iter(tallies.curves))), metric=wanted, label=None)
        without = [
            name for i, name in enumerate(tallies.labels) if i not in tallies.curves and tallies.gold[:, i].any()
        ]
        if without:
            raise NotComputable(f"{wanted.name} needs a score per label, and none for '{without[0]}' is logged")
        return over_labels_table(wanted, base, tallies)

    def _need_counts(self, wanted: Metric) -> tuple[Tallies, Protocol]:
        tallies = self.tallies
        if tallies is None or tallies.counts is None:
            raise NotComputable(
                f"no predicted labels are logged, which {wanted.name} needs; log them or set `threshold:`"
            )
        return tallies, self.experiment.protocol

    def _need_single_label(self, wanted: Metric) -> Tallies:
        tallies = self.tallies
        assert tallies is not None and tallies.counts is not None
        if tallies.counts.correct is None or not tallies.knows_negatives:
            raise NotComputable("tn is not logged, so the whole table is not known; log tn, or all labels")
        if not tallies.single_label and wanted.name not in ("accuracy", "error"):
            raise NotComputable(f"{wanted.name} is a single-label measure and the log is multi-label")
        return tallies

    def _label_index(self, wanted: Metric, label: str | None) -> int:
        tallies = self.tallies
        assert tallies is not None
        index = tallies.index(label)
        if index is not None:
            return index
        shown = ", ".join(f"'{name}'" for name in tallies.labels[:6]) + (" …" if len(tallies.labels) > 6 else "")
        if label is not None:
            raise NotComputable(f"label '{label}' is not in the log; labels are {shown}")
        several = find_metric(f"macro_{wanted.name}") is not None
        how = f"set `positive:` or name a `label:`{f', or claim macro_{wanted.name}' if several else ''}"
        raise NotComputable(f"which label is positive? labels are {shown}; {how}")
