"""Random experiments as plain rows, and the bridge from plain rows to the package's objects and to the oracle."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from pytest_cvaudit.aggregations import Aggregates, MetricTable
from pytest_cvaudit.model import Cell, Claim, Experiment, FoldCounts, Predictions, Protocol, metric, sorted_cells
from pytest_cvaudit.model.labels import sorted_labels
from pytest_cvaudit.tallies.tally import Tallies, tally

from .oracle import Oracle, Row

F_METRICS = ("f1", "f0.5", "f2")
RATES = ("precision", "recall", "specificity")
TABLE_METRICS = ("accuracy", "error", "balanced_accuracy", "mcc", "kappa")
RANKINGS = ("auc", "ap", "auk", "max_f1", "max_mcc", "r_precision", "brier", "log_loss", "precision_at_3")
AVERAGES = ("macro", "micro", "lfb", "weighted")
BASES = ("f1", "f2", "precision", "recall")
STYLES = ("wide", "chances", "rounded", "tied")
#: Two computations of one number may differ by this much.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Log:
    """What an experiment logged, as plain rows."""

    rows: tuple[Row, ...]
    labels: tuple[str, ...]
    positive: str
    multi: bool = False
    scored: bool = False

    def experiment(self, *claims: Claim | str, **protocol: Any) -> Experiment:
        """The experiment as a reader would build it."""
        cells = sorted_cells(Cell(row.fold, row.repeat) for row in self.rows)
        labels = sorted_labels(self.labels)
        at_cell, at_label = ({item: index for index, item in enumerate(items)} for items in (cells, labels))
        columns: dict[str, Any] = {}
        if self.multi:
            columns["gold"] = _indicators([row.gold for row in self.rows], at_label)
            columns["predicted_sets"] = _indicators([row.predicted for row in self.rows], at_label)
        else:
            columns["truth"] = np.array([at_label[row.gold[0]] for row in self.rows])
            columns["predicted"] = np.array([at_label[row.predicted[0]] for row in self.rows])
        if self.scored:
            columns["scores"] = {self.positive: np.array([row.score for row in self.rows], dtype=np.float64)}
        cell = np.array([at_cell[Cell(row.fold, row.repeat)] for row in self.rows])
        read = tuple(Claim.parse(claim) if isinstance(claim, str) else claim for claim in claims)
        declared = Protocol(**{"positive": self.positive, **protocol})
        return Experiment("random", declared, read, predictions=Predictions(cells, cell, labels, **columns))

    def oracle(self, **kwargs: Any) -> Oracle:
        return Oracle.from_rows(self.rows, self.labels, positive=self.positive, **kwargs)

    def metrics(self) -> list[str]:
        """The metrics that this log gives."""
        whole = ("accuracy", "error") if self.multi else TABLE_METRICS
        averages = [f"{average}_{base}" for average in AVERAGES for base in BASES]
        return [*F_METRICS, *RATES, *whole, *averages, *(RANKINGS if self.scored else ())]


def expected(oracle: Oracle, name: str) -> dict[str, Any]:
    """Every aggregation of a metric, by the oracle."""
    average, _, base = name.partition("_")
    if average in AVERAGES:
        return oracle.label_average(average, base)
    if name in RANKINGS:
        return oracle.ranking(name)
    if name in TABLE_METRICS:
        return oracle.table(name)
    return oracle.f(name, oracle.positive) if name in F_METRICS else oracle.rate(name, oracle.positive)


def _indicators(sets: list[tuple[str, ...]], at_label: dict[str, int]) -> np.ndarray:
    counts = np.zeros((len(sets), len(at_label)), dtype=np.uint8)
    for row, labels in enumerate(sets):
        for label in labels:
            counts[row, at_label[label]] += 1
    return counts


def aggregates(experiment: Experiment, tallies: Tallies | None = None) -> Aggregates:
    return Aggregates(experiment, tallies or tally(experiment))


def table_of(experiment: Experiment, name: str, label: str | None = None) -> MetricTable:
    return aggregates(experiment).of(metric(name), label)


def all_values(log: Log, experiment: Experiment, tallies: Tallies | None = None) -> dict[tuple[str, str], float | None]:
    """Every aggregation of every metric that a log gives."""
    known = aggregates(experiment, tallies)
    return {(name, way): v.value for name in log.metrics() for way, v in known.of(metric(name)).values.items()}


def same(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is two
    return abs(one - two) <= TOLERANCE * max(1.0, abs(two))


def differences(found: dict[Any, float | None], wanted: dict[Any, float | None]) -> dict[Any, tuple[Any, Any]]:
    """Where two dictionaries of numbers differ."""
    nothing = "not there"
    keys = dict.fromkeys([*found, *wanted])
    pairs = {key: (found.get(key, nothing), wanted.get(key, nothing)) for key in keys}
    return {key: pair for key, pair in pairs.items() if nothing in pair or not same(*pair)}


def counts_experiment(
    folds: list[dict[str, tuple[int, int, int, int]]], *claims: Claim | str, single_label: bool = True, **protocol: Any
) -> Experiment:
    """An experiment that logged tp, fp, fn and tn per fold and label."""
    labels = tuple(folds[0])
    parts = (np.array([[fold[one][part] for one in labels] for fold in folds], dtype=np.int64) for part in range(4))
    cells = tuple(Cell(str(index + 1)) for index in range(len(folds)))
    read = tuple(Claim.parse(claim) if isinstance(claim, str) else claim for claim in claims)
    counts = FoldCounts(cells, labels, *parts, single_label=single_label)
    return Experiment("counts", Protocol(**protocol), read, counts=counts)


def binary_fold(negatives: int, positives: int, tp: int, fp: int) -> dict[str, tuple[int, int, int, int]]:
    """A fold of two labels as Forman & Scholz print it."""
    fn, tn = positives - tp, negatives - fp
    return {"positive": (tp, fp, fn, tn), "negative": (tn, fn, fp, tp)}


FORMAN_SCHOLZ = {
    1: [binary_fold(*row) for row in ((373, 3, 3, 0), (372, 4, 4, 1), (372, 4, 4, 13), (372, 4, 3, 5))],
    2: [binary_fold(*row) for row in ((372, 4, 2, 0), (372, 4, 0, 0), (372, 4, 4, 0), (372, 4, 4, 0))],
}

# Random logs


def examples(count: int) -> settings:
    """Settings for so many examples, the same ones in every run."""
    return settings(max_examples=count, deadline=None, derandomize=True)


@dataclass(frozen=True)
class Shape:
    """What a random log looks like; the seed settles the rest."""

    seed: int
    folds: int
    labels: int = 2
    repeats: int = 1
    rows: int = 4
    pure: bool = False
    style: str = "wide"


def shapes(**limits: Any) -> st.SearchStrategy[Shape]:
    """Shapes of small logs, from two folds of one row each to twenty folds."""
    ranges: dict[str, Any] = {
        "seed": st.integers(0, 2**32 - 1),
        "folds": st.integers(2, 6) | st.integers(2, 20),
        "repeats": st.sampled_from([1, 1, 2, 3]),
        "rows": st.integers(1, 8),
        "pure": st.booleans(),
        "style": st.sampled_from(STYLES),
    }
    return st.builds(Shape, **{**ranges, **limits})


def label_shapes() -> st.SearchStrategy[Shape]:
    return shapes(labels=st.integers(2, 6) | st.integers(2, 30))


def random_log(shape: Shape, *, multi: bool = False, scored: bool = False) -> Log:
    """Draw a log: every repeat splits the same instances anew into folds of unequal sizes and predicts them anew."""
    rng = random.Random(shape.seed)
    labels = ["0", "1"] if scored else [f"c{index}" for index in range(1, shape.labels + 1)]
    positive = "1" if scored else rng.choice(labels)
    instances = _gold_sets(rng, shape, labels, multi)
    rows: list[Row] = []
    for repeat in range(shape.repeats):
        for fold, members in enumerate(_split(rng, shape, instances)):
            silent, offset = rng.random() < 0.2, rng.choice([0.0, 0.0, rng.gauss(0, 1)])
            for gold in members:
                predicted = _predict(rng, labels, gold, multi)
                if silent:
                    predicted = tuple(one for one in predicted if one != positive)
                    predicted = predicted if predicted or multi else (next(one for one in labels if one != positive),)
                score = _score(rng, shape.style, positive in gold, offset) if scored else 0.0
                rows.append(Row(str(repeat), str(fold), gold, predicted, score))
    return Log(tuple(rows), tuple(labels), positive, multi, scored)


def _gold_sets(rng: random.Random, shape: Shape, labels: list[str], multi: bool) -> list[tuple[str, ...]]:
    """Draw the true labels: some labels are rare, and some never occur."""
    weights = [0.0 if rng.random() < 0.15 else rng.random() ** 3 + 0.01 for _ in labels]
    if not any(weights):
        weights[0] = 1.0
    count = shape.folds + rng.randrange(shape.folds * shape.rows)
    sizes = [rng.choice([0, 1, 1, 2, 3]) if multi else 1 for _ in range(count)]
    return [tuple(dict.fromkeys(rng.choices(labels, weights, k=size))) for size in sizes]


def _split(rng: random.Random, shape: Shape, instances: list[Any]) -> list[list[Any]]:
    """Cut the instances into folds of at least one row; sorted by label first, folds lack whole classes."""
    order = sorted(instances) if shape.pure else rng.sample(instances, len(instances))
    cuts = sorted(rng.sample(range(1, len(order)), shape.folds - 1))
    return [order[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(order)], strict=True)]


def _predict(rng: random.Random, labels: list[str], gold: tuple[str, ...], multi: bool) -> tuple[str, ...]:
    if not multi:
        return gold if rng.random() < 0.6 else (rng.choice(labels),)
    if rng.random() < 0.15:
        return ()
    kept = [label for label in gold if rng.random() < 0.7]
    return (*kept, *rng.choices([*labels, *kept], k=rng.choice([0, 0, 1, 2])))


def _score(rng: random.Random, style: str, positive: bool, offset: float) -> float:
    wide = rng.gauss(1.0 if positive else 0.0, 1.0) + offset
    if style == "wide":
        return wide
    if style == "tied":
        return rng.choice([0.0, 1.0, 0.5, -0.0 if positive else 0.5])
    chance = 1 / (1 + math.exp(-wide))
    return chance if style == "chances" else round(chance, rng.choice([1, 2]))


def rounded_scores(log: Log, decimals: int) -> Log:
    """The same log with its scores written with fewer decimals."""
    return replace(log, rows=tuple(row._replace(score=float(np.round(row.score, decimals))) for row in log.rows))
