"""Every aggregation once more, in plain Python and by brute force; it shares no code with the package.

An undefined value is None. ``number`` is the type that counts are turned into: floats, or fractions for exact results.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

Number = Any
Way = Callable[[Sequence["Fold"]], Number | None]
SETS = ("train", "test", "test_union", "fold", "fold_union")
TABLE = ("accuracy", "error", "balanced_accuracy", "mcc", "kappa")
FLOAT_EPSILON = 2.0**-52


class Row(NamedTuple):
    """One tested instance: its cell, its true and predicted labels (as often as they were listed), its score."""

    repeat: str
    fold: str
    gold: tuple[str, ...]
    predicted: tuple[str, ...]
    score: float = 0.0


class Confusion(NamedTuple):
    """The counts of one label in one fold, or totals of them."""

    tp: Number
    fp: Number
    fn: Number
    tn: Number


@dataclass
class Fold:
    """What is known of one fold of one repeat."""

    repeat: str
    fold: str
    counts: Mapping[str, Confusion]
    n: Number
    correct: Number
    scored: Sequence[tuple[float, bool]] = ()
    training: Mapping[str, Number] = field(default_factory=dict)

    @property
    def name(self) -> tuple[str, str]:
        return self.repeat, self.fold

    def gold(self, label: str) -> Number:
        return self.counts[label].tp + self.counts[label].fn

    def predicted(self, label: str) -> Number:
        return self.counts[label].tp + self.counts[label].fp

    def listed(self, *, with_predicted: bool) -> set[str]:
        """The labels that occur in the fold, or that occur or are predicted there."""
        return {one for one in self.counts if self.gold(one) > 0 or (with_predicted and self.predicted(one) > 0)}


def ratio(top: Number, bottom: Number) -> Number | None:
    return None if bottom == 0 else top / bottom


def precision_of(c: Confusion) -> Number | None:
    return ratio(c.tp, c.tp + c.fp)


def recall_of(c: Confusion) -> Number | None:
    return ratio(c.tp, c.tp + c.fn)


def specificity_of(c: Confusion) -> Number | None:
    return ratio(c.tn, c.tn + c.fp)


LABEL_RATES = {"precision": precision_of, "recall": recall_of, "specificity": specificity_of}


def f_of_counts(c: Confusion, beta: Number) -> Number | None:
    return ratio((1 + beta**2) * c.tp, (1 + beta**2) * c.tp + beta**2 * c.fn + c.fp)


def f_of_rates(precision: Number, recall: Number, beta: Number) -> Number:
    return ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall) or 0


def mean(values: Iterable[Number | None]) -> Number | None:
    """The mean; undefined where nothing is there or something is undefined."""
    listed = list(values)
    return None if not listed or None in listed else sum(listed) / len(listed)


def filled(values: Iterable[Number | None], fill: Number) -> list[Number]:
    return [fill if value is None else value for value in values]


def defined(values: Iterable[Number | None]) -> list[Number]:
    return [value for value in values if value is not None]


def weighted(values: Sequence[Number | None], weights: Sequence[Number]) -> Number | None:
    if None in values:
        return None
    return ratio(sum(v * w for v, w in zip(values, weights, strict=True)), sum(weights))


def add(counts: Iterable[Confusion]) -> Confusion:
    return Confusion(*map(sum, zip(*counts, strict=True)))


@dataclass
class Ranking:
    """The rows of a fold, or of several, sorted by score: what each threshold catches."""

    scored: Sequence[tuple[float, bool]]

    @cached_property
    def positives(self) -> int:
        return sum(positive for _, positive in self.scored)

    @cached_property
    def negatives(self) -> int:
        return len(self.scored) - self.positives

    @cached_property
    def thresholds(self) -> list[tuple[int, int]]:
        """True and false positives when everything from a score on upwards is called positive, highest score first."""
        caught = []
        for threshold in sorted({score for score, _ in self.scored}, reverse=True):
            above = [positive for score, positive in self.scored if score >= threshold]
            caught.append((sum(above), len(above) - sum(above)))
        return caught

    def wins(self, tie: float) -> float | None:
        """The share of pairs in which the positive has the higher score, a tie counting ``tie``."""
        ups, downs = ([s for s, positive in self.scored if positive is kind] for kind in (True, False))
        total = sum(1.0 if up > down else tie if up == down else 0.0 for up in ups for down in downs)
        return ratio(total, len(ups) * len(downs))

    @property
    def auc(self) -> float | None:
        return self.wins(0.5)

    @property
    def ap(self) -> float | None:
        """The mean of precision over the steps of recall, in its step form."""
        if not self.positives:
            return None
        total, before = 0.0, 0
        for tp, fp in self.thresholds:
            total += (tp - before) / self.positives * tp / (tp + fp)
            before = tp
        return total

    @property
    def max_f1(self) -> float | None:
        if not self.positives:
            return None
        return max(2 * tp / (tp + fp + self.positives) for tp, fp in self.thresholds)

    @property
    def max_mcc(self) -> float | None:
        if not self.positives * self.negatives:
            return None
        return max(self._phi(tp, fp) for tp, fp in [(0, 0), *self.thresholds])

    def _phi(self, tp: int, fp: int) -> float:
        fn, tn = self.positives - tp, self.negatives - fp
        spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        return (tp * tn - fp * fn) / math.sqrt(spread) if spread else 0.0

    @property
    def auk(self) -> float | None:
        """The area under kappa against the false positive rate, by trapezoids."""
        if not self.positives * self.negatives:
            return None
        area, (last_rate, last_kappa) = 0.0, (0.0, 0.0)
        for tp, fp in self.thresholds:
            rate, kappa = fp / self.negatives, self._kappa(tp, fp)
            area += (rate - last_rate) * (kappa + last_kappa) / 2
            last_rate, last_kappa = rate, kappa
        return area

    def _kappa(self, tp: int, fp: int) -> float:
        n = len(self.scored)
        share, called = self.positives / n, (tp + fp) / n
        accuracy = (tp + self.negatives - fp) / n
        chance = share * called + (1 - share) * (1 - called)
        return (accuracy - chance) / (1 - chance)

    @property
    def brier(self) -> float | None:
        return mean((score - positive) ** 2 for score, positive in self.scored) if self._are_chances else None

    @property
    def log_loss(self) -> float | None:
        if not self._are_chances:
            return None
        clipped = [(min(max(score, FLOAT_EPSILON), 1 - FLOAT_EPSILON), positive) for score, positive in self.scored]
        return mean(-math.log(score if positive else 1 - score) for score, positive in clipped)

    @property
    def _are_chances(self) -> bool:
        return all(0 <= score <= 1 for score, _ in self.scored)

    @property
    def r_precision(self) -> float | None:
        return self.precision_at(self.positives)

    def precision_at(self, k: int) -> float | None:
        """Precision among the k highest scores, tied rows being taken in random order."""
        if not 1 <= k <= len(self.scored):
            return None
        last = sorted((score for score, _ in self.scored), reverse=True)[k - 1]
        above = [positive for score, positive in self.scored if score > last]
        tied = [positive for score, positive in self.scored if score == last]
        return (sum(above) + (k - len(above)) * sum(tied) / len(tied)) / k


class Oracle:
    """The folds of an experiment, and every aggregation of every metric over them."""

    def __init__(
        self,
        folds: Sequence[Fold],
        labels: Iterable[str],
        positive: str | None = None,
        declared: Iterable[str] | None = None,
        frequencies: Mapping[str, Number] | None = None,
        number: type = float,
    ) -> None:
        self.folds, self.number, self.positive = list(folds), number, positive
        self.labels = list(dict.fromkeys([*labels, *(declared or ()), *(frequencies or ())]))
        self.declared, self.frequencies = declared, frequencies
        nothing = Confusion(*(number(0),) * 3, number(0))
        for fold in self.folds:
            absent = nothing._replace(tn=fold.n)
            fold.counts = {label: fold.counts.get(label, absent) for label in self.labels}
        for fold in self.folds:
            fold.training = self._training(fold)

    @classmethod
    def from_rows(cls, rows: Iterable[Row], labels: Sequence[str], number: type = float, **kwargs: Any) -> Oracle:
        """Count rows one by one."""
        cells: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            cells.setdefault((row.repeat, row.fold), []).append(row)
        positive = kwargs.get("positive")
        folds = []
        for (repeat, name), members in cells.items():
            counts = {one: Confusion(*map(number, count_label(members, one))) for one in labels}
            correct = sum(len(set(r.gold)) == len(r.gold) and Counter(r.gold) == Counter(r.predicted) for r in members)
            scored = [(row.score, positive in row.gold) for row in members]
            folds.append(Fold(repeat, name, counts, number(len(members)), number(correct), scored))
        return cls(folds, labels, number=number, **kwargs)

    @classmethod
    def from_counts(cls, table: Sequence[Mapping[str, Sequence[int]]], number: type = float, **kwargs: Any) -> Oracle:
        """Take folds of single-label data, each a mapping of labels to tp, fp, fn and tn."""
        folds = []
        for index, counts in enumerate(table):
            held = {label: Confusion(*map(number, four)) for label, four in counts.items()}
            correct = sum(c.tp for c in held.values())
            folds.append(Fold("0", str(index), held, sum(next(iter(held.values()))), correct))
        return cls(folds, list(table[0]), number=number, **kwargs)

    def _training(self, fold: Fold) -> dict[str, Number]:
        if self.frequencies is not None:
            return {label: self.number(self.frequencies.get(label, 0)) for label in self.labels}
        others = [other for other in self.folds if other.repeat == fold.repeat and other is not fold]
        return {label: sum((other.gold(label) for other in others), self.number(0)) for label in self.labels}

    def repeats(self) -> list[list[Fold]]:
        groups: dict[str, list[Fold]] = {}
        for fold in self.folds:
            groups.setdefault(fold.repeat, []).append(fold)
        return list(groups.values())

    def evaluate(self, ways: Mapping[str, Way]) -> dict[str, Number | None]:
        """Every way within each repeat and then their mean; where there are repeats, also on all folds at once."""
        groups = self.repeats()
        values = {name: mean([way(group) for group in groups]) for name, way in ways.items()}
        if len(groups) > 1:
            for name, way in ways.items():
                base, at, labels = name.partition("@")
                values[f"{base}_all{at}{labels}"] = way(self.folds)
        return values

    def undefined(self, name: str, way: str) -> set[tuple[str, str]]:
        """The folds in which that which a way averages is undefined."""
        kind, _, labels = way.partition("@")
        average, _, base = name.partition("_")
        if labels:
            groups = [self.folds] if "_all" in kind else self.repeats()
            values = {}
            for folds in groups:
                each = self.average_per_fold(average, base, labels, "of_means" in kind, folds)
                values.update(zip((fold.name for fold in folds), each, strict=True))
            return {fold for fold, value in values.items() if value is None}
        if "_skip" in kind and name[0] == "f":
            valid = [fold.gold(self.positive) > 0 and fold.predicted(self.positive) > 0 for fold in self.folds]
            return {fold.name for fold, fine in zip(self.folds, valid, strict=True) if not fine}
        return {fold for fold, value in self.per_fold(name).items() if value is None}

    def per_fold(self, name: str) -> dict[tuple[str, str], Number | None]:
        """A metric of the positive label or of the whole table in each fold."""
        if name in TABLE:
            values = [self.whole(name, [fold]) for fold in self.folds]
        elif name in LABEL_RATES or name[0] == "f":
            values = [self.label_measure(name)(fold.counts[self.positive]) for fold in self.folds]
        else:
            values = [self.ranked(name, [fold]) for fold in self.folds]
        return dict(zip((fold.name for fold in self.folds), values, strict=True))

    # One label

    def label_measure(self, metric: str) -> Callable[[Confusion], Number | None]:
        if metric in LABEL_RATES:
            return LABEL_RATES[metric]
        beta = self.number(metric[1:])
        return lambda counts: f_of_counts(counts, beta)

    def rate(self, metric: str, label: str) -> dict[str, Number | None]:
        """Precision, recall or specificity of a label."""
        measure = self.label_measure(metric)

        def each(folds: Sequence[Fold]) -> list[Number | None]:
            return [measure(fold.counts[label]) for fold in folds]

        return self.evaluate({
            "pooled": lambda folds: measure(add(fold.counts[label] for fold in folds)),
            "avg": lambda folds: mean(filled(each(folds), 0)),
            "avg_skip": lambda folds: mean(defined(each(folds))),
            "avg_one": lambda folds: mean(filled(each(folds), 1)),
            "avg_weighted": lambda folds: weighted(filled(each(folds), 0), [fold.n for fold in folds]),
        })  # fmt: skip

    def f(self, metric: str, label: str) -> dict[str, Number | None]:
        """F-beta of a label."""
        measure, beta = self.label_measure(metric), self.number(metric[1:])

        def each(folds: Sequence[Fold]) -> list[Number | None]:
            return [measure(fold.counts[label]) for fold in folds]

        def of_means(folds: Sequence[Fold]) -> Number | None:
            if not folds:
                return None
            rates = (
                mean(filled((rate(fold.counts[label]) for fold in folds), 0)) for rate in (precision_of, recall_of)
            )
            return f_of_rates(*rates, beta)

        def valid(folds: Sequence[Fold]) -> list[Fold]:
            return [fold for fold in folds if fold.gold(label) > 0 and fold.predicted(label) > 0]

        return self.evaluate({
            "tp_fp": lambda folds: measure(add(fold.counts[label] for fold in folds)),
            "avg": lambda folds: mean(filled(each(folds), 0)),
            "pr_re": of_means,
            "avg_skip": lambda folds: mean(each(valid(folds))),
            "pr_re_skip": lambda folds: of_means(valid(folds)),
            "avg_one": lambda folds: mean(filled(each(folds), 1)),
            "avg_nan": lambda folds: mean(defined(each(folds))),
            "avg_weighted": lambda folds: weighted(filled(each(folds), 0), [fold.n for fold in folds]),
            "avg_weighted_positives": lambda folds: weighted(
                filled(each(folds), 0), [fold.gold(label) for fold in folds]
            ),
        })  # fmt: skip

    # The whole table

    def whole(self, metric: str, folds: Sequence[Fold]) -> Number | None:
        """Accuracy, error, balanced accuracy, MCC or kappa of the totals of some folds."""
        n, correct = sum(fold.n for fold in folds), sum(fold.correct for fold in folds)
        if metric in ("accuracy", "error"):
            accuracy = ratio(correct, n)
            return accuracy if metric == "accuracy" or accuracy is None else 1 - accuracy
        counts = {label: add(fold.counts[label] for fold in folds) for label in self.labels}
        if metric == "balanced_accuracy":
            classes = set().union(*(fold.listed(with_predicted=False) for fold in self.folds))
            return mean(recall_of(counts[label]) for label in sorted(classes))
        if metric == "present":
            return mean(defined(recall_of(one) for one in counts.values()))
        gold, said = [c.tp + c.fn for c in counts.values()], [c.tp + c.fp for c in counts.values()]
        both = sum(g * s for g, s in zip(gold, said, strict=True))
        if metric == "kappa":
            chance = ratio(both, n * n)
            return None if chance is None else ratio(ratio(correct, n) - chance, 1 - chance)
        spread = (n * n - sum(g * g for g in gold)) * (n * n - sum(s * s for s in said))
        return None if spread == 0 else (correct * n - both) / math.sqrt(spread)

    def table(self, metric: str) -> dict[str, Number | None]:
        """A measure of the whole table."""

        def each(folds: Sequence[Fold]) -> list[Number | None]:
            return [self.whole(metric, [fold]) for fold in folds]

        ways: dict[str, Way] = {
            "pooled": lambda folds: self.whole(metric, folds),
            "avg": lambda folds: mean(each(folds)),
            "avg_skip": lambda folds: mean(defined(each(folds))),
            "avg_zero": lambda folds: mean(filled(each(folds), 0)),
            "avg_weighted": lambda folds: weighted(each(folds), [fold.n for fold in folds]),
        }
        if metric == "balanced_accuracy":
            ways["avg_present"] = lambda folds: mean(self.whole("present", [fold]) for fold in folds)
        return self.evaluate(ways)

    # Rankings

    @staticmethod
    def ranked(metric: str, folds: Sequence[Fold]) -> float | None:
        """A ranking measure of the rows of some folds sorted together."""
        ranking = Ranking([row for fold in folds for row in fold.scored])
        if metric.startswith("precision_at_"):
            return ranking.precision_at(int(metric.removeprefix("precision_at_")))
        return getattr(ranking, metric)

    def ranking(self, metric: str) -> dict[str, float | None]:
        """A ranking measure of the positive label."""
        known = {id(fold): self.ranked(metric, [fold]) for fold in self.folds}

        def each(folds: Sequence[Fold]) -> list[float | None]:
            return [known[id(fold)] for fold in folds]

        ways: dict[str, Way] = {
            "avg": lambda folds: mean(each(folds)),
            "avg_skip": lambda folds: mean(defined(each(folds))),
            "avg_weighted": lambda folds: weighted(each(folds), [fold.n for fold in folds]),
        }
        # Zero is the best value of a loss, so nobody fills it in for an undefined one.
        loss = metric in ("brier", "log_loss")
        ways["pooled" if loss else "merge"] = lambda folds: self.ranked(metric, folds)
        if not loss:
            ways["avg_zero"] = lambda folds: mean(filled(each(folds), 0.0))
        if metric == "auc":
            ways["avg_half"] = lambda folds: mean(filled(each(folds), 0.5))
        return self.evaluate(ways)

    # Averages over labels

    def weights(self, average: str, labels: str, fold: Fold, among: Sequence[Fold]) -> dict[str, Number]:
        """What each label counts in a fold of a group of folds: 1 or 0 for membership, or its frequency."""
        if average == "lfb" and labels == "train":
            return dict(fold.training)
        if average in ("lfb", "weighted"):
            source = [fold] if labels == "fold" else among
            return {one: sum(other.gold(one) for other in source) for one in self.labels}
        if labels == "train":
            known = {one for one in self.labels if fold.training[one] > 0}
            members = set(self.declared) if self.declared is not None else known
        else:
            source = [fold] if labels.startswith("fold") else among
            members = set().union(*(other.listed(with_predicted=labels.endswith("union")) for other in source))
        return {one: self.number(one in members) for one in self.labels}

    def over_labels(
        self, average: str, base: str, of_means: bool, counts: Mapping[str, Confusion], weights: Mapping[str, Number]
    ) -> Number | None:
        """One number from the counts per label and their weights; an undefined measure of a label is 0."""
        if average == "micro":
            chosen = [counts[one] for one in self.labels if weights[one]]
            return self.label_measure(base)(add(chosen)) if chosen else None
        shares = list(weights.values())

        def averaged(measure: Callable[[Confusion], Number | None]) -> Number | None:
            return weighted(filled((measure(counts[one]) for one in weights), 0), shares)

        if not of_means:
            return averaged(self.label_measure(base))
        precision, recall = averaged(precision_of), averaged(recall_of)
        return None if precision is None else f_of_rates(precision, recall, self.number(base[1:]))

    def average_per_fold(
        self, average: str, base: str, labels: str, of_means: bool, folds: Sequence[Fold]
    ) -> list[Number | None]:
        """The average over labels in each of some folds."""
        return [
            self.over_labels(average, base, of_means, fold.counts, self.weights(average, labels, fold, folds))
            for fold in folds
        ]

    def _pooled(self, average: str, base: str, labels: str, of_means: bool, folds: Sequence[Fold]) -> Number | None:
        counts = {one: add(fold.counts[one] for fold in folds) for one in self.labels}
        each = [self.weights(average, labels, fold, folds) for fold in folds]
        join = sum if average in ("lfb", "weighted") else max
        return self.over_labels(average, base, of_means, counts, {one: join(w[one] for w in each) for one in counts})

    def label_average(self, average: str, base: str) -> dict[str, Number | None]:
        """A macro, micro, lfb or weighted measure over every label set."""
        names = {"lfb": ("train", "test", "fold"), "weighted": ("test", "fold")}.get(average, SETS)
        kinds = (False, True) if base.startswith("f") and average != "micro" else (False,)
        ways: dict[str, Way] = {}
        for of_means in kinds:
            for labels in names:
                setting = (average, base, labels, of_means)
                if not labels.startswith("fold"):
                    ways[f"{'of_means' if of_means else 'tp_fp'}@{labels}"] = _partial(self._pooled, setting)
                if labels != "test_union":
                    name = f"{'avg_of_means' if of_means else 'avg'}@{labels}"
                    ways[name] = _partial(self.average_per_fold, setting, mean)
        return self.evaluate(ways)


def _partial(way: Callable[..., Any], setting: tuple[Any, ...], after: Callable[[Any], Any] | None = None) -> Way:
    return lambda folds: after(way(*setting, folds)) if after else way(*setting, folds)


def count_label(rows: Iterable[Row], label: str) -> tuple[int, int, int, int]:
    """Count tp, fp, fn and tn of a label; every prediction after the first of a label in a row is one more fp."""
    tp = fp = fn = tn = 0
    for row in rows:
        real, said = label in row.gold, row.predicted.count(label)
        tp += real and said > 0
        fp += said - 1 if real and said else said
        fn += real and not said
        tn += not real and not said
    return tp, fp, fn, tn
