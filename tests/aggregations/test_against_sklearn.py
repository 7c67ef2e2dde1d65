"""Values per fold and of pooled rows equal scikit-learn's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import sklearn
from hypothesis import given
from sklearn import metrics

from pytest_cvaudit.model import metric

from .experiments import TOLERANCE, Aggregates, Log, aggregates, examples, label_shapes, random_log, shapes
from .oracle import Row, mean

if TYPE_CHECKING:
    from pytest_cvaudit.aggregations import MetricTable

LABEL_METRICS = {
    "f1": metrics.f1_score,
    "f0.5": lambda *args, **kwargs: metrics.fbeta_score(*args, beta=0.5, **kwargs),
    "f2": lambda *args, **kwargs: metrics.fbeta_score(*args, beta=2, **kwargs),
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
}
TABLE_METRICS = {
    "accuracy": metrics.accuracy_score,
    "error": metrics.zero_one_loss,
    "mcc": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
}
RANKINGS = {
    "auc": metrics.roc_auc_score,
    "ap": metrics.average_precision_score,
    "brier": metrics.brier_score_loss,
    "log_loss": lambda truth, scores: metrics.log_loss(truth, scores, labels=[False, True]),
}
Group = Sequence[Row]


@pytest.fixture(autouse=True)
def _quiet():
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def groups(log: Log, *, by_fold: bool) -> dict[tuple[str, str | None], list[Row]]:
    found: dict[tuple[str, str | None], list[Row]] = {}
    for row in log.rows:
        found.setdefault((row.repeat, row.fold if by_fold else None), []).append(row)
    return found


def listed(rows: Group, *, predicted: bool = False) -> set[str]:
    return {label for row in rows for label in (*row.gold, *(row.predicted if predicted else ()))}


def is_close(found: float, wanted: float) -> bool:
    return bool(np.isclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))


def check_folds(log: Log, table: MetricTable, score: Callable[[Group], float]) -> None:
    """Compare the values per fold, where the package says that they are defined."""
    by_cell = groups(log, by_fold=True)
    for cell, value in zip(table.cells, table.per_fold.value, strict=True):
        if not np.isnan(value):
            assert is_close(value, score(by_cell[cell.repeat, cell.fold])), (table.metric.name, cell)


def check_pooled(log: Log, table: MetricTable, way: str, score: Callable[[Group], float]) -> None:
    """Compare a value of pooled rows: per repeat and then averaged."""
    value = table.values[way].value
    if value is not None:
        wanted = mean([score(rows) for rows in groups(log, by_fold=False).values()])
        assert is_close(value, wanted), (table.metric.name, way)


def check_averaged(log: Log, table: MetricTable, way: str, score: Callable[[Group, Group], float]) -> None:
    """Compare a mean over folds, each scored with the rows of its repeat at hand; then the mean over repeats."""
    by_repeat: dict[str, list[float]] = {}
    whole = groups(log, by_fold=False)
    for (repeat, _), rows in groups(log, by_fold=True).items():
        by_repeat.setdefault(repeat, []).append(score(rows, whole[repeat, None]))
    value = table.values[way].value
    assert value is None or is_close(value, mean([mean(scores) for scores in by_repeat.values()])), way


def single(score: Callable[..., float], **kwargs) -> Callable[[Group], float]:
    return lambda rows: score([row.gold[0] for row in rows], [row.predicted[0] for row in rows], **kwargs)


@examples(30)
@given(label_shapes())
def test_measures_of_one_label(shape):
    log = random_log(shape)
    known = aggregates(log.experiment())
    for name, score in LABEL_METRICS.items():
        one = {"labels": [log.positive], "average": None}
        table, undefined = known.of(metric(name)), single(score, zero_division=np.nan, **one)
        values = {cell: undefined(rows)[0] for cell, rows in groups(log, by_fold=True).items()}
        for cell, value in zip(table.cells, table.per_fold.value, strict=True):
            assert is_close(value, values[cell.repeat, cell.fold]), (name, cell)
        check_pooled(log, table, table.recommended, lambda rows: undefined(rows)[0])  # noqa: B023
        for fill, way in ((0, "avg"), (1, "avg_one")):
            filled = single(score, zero_division=fill, **one)
            check_averaged(log, table, way, lambda rows, _: filled(rows)[0])  # noqa: B023


@examples(30)
@given(label_shapes())
def test_measures_of_the_whole_table(shape):
    log = random_log(shape)
    known = aggregates(log.experiment())
    for name, score in TABLE_METRICS.items():
        table = known.of(metric(name))
        check_folds(log, table, single(score))
        check_pooled(log, table, "pooled", single(score))
    table = known.of(metric("balanced_accuracy"))
    check_folds(log, table, single(metrics.balanced_accuracy_score))
    check_pooled(log, table, "pooled", single(metrics.balanced_accuracy_score))
    check_averaged(log, table, "avg_present", lambda rows, _: single(metrics.balanced_accuracy_score)(rows))


def check_label_averages(log: Log, known: Aggregates, score_of: Callable[..., Callable[[Group], float]]) -> None:
    """Compare macro, micro and weighted averages over the label sets that scikit-learn can be asked for."""

    def over(rows: Group, labels: set[str]) -> float:
        return score_of(sorted(labels), average, name)(rows) if labels else float("nan")

    for name in LABEL_METRICS:
        for average in ("macro", "micro", "weighted"):
            table = known.of(metric(f"{average}_{name}"))
            check_pooled(log, table, "tp_fp@test", lambda rows: over(rows, listed(rows)))
            check_averaged(log, table, "avg@fold", lambda rows, _: over(rows, listed(rows)))
            if average == "weighted":
                continue
            check_pooled(log, table, "tp_fp@test_union", lambda rows: over(rows, listed(rows, predicted=True)))
            check_averaged(log, table, "avg@test", lambda rows, whole: over(rows, listed(whole)))
            check_averaged(log, table, "avg@fold_union", lambda rows, _: over(rows, listed(rows, predicted=True)))


@examples(20)
@given(label_shapes())
def test_averages_over_labels_of_single_label_data(shape):
    log = random_log(shape)

    def score_of(labels: list[str], average: str, name: str) -> Callable[[Group], float]:
        return single(LABEL_METRICS[name], labels=labels, average=average, zero_division=0)

    check_label_averages(log, aggregates(log.experiment()), score_of)


@examples(20)
@given(label_shapes())
def test_averages_over_labels_of_label_sets(shape):
    log = random_log(shape, multi=True)
    # scikit-learn has no doubled predictions.
    log = replace(log, rows=tuple(row._replace(predicted=tuple(dict.fromkeys(row.predicted))) for row in log.rows))

    def matrix(sets: list[tuple[str, ...]]) -> np.ndarray:
        return np.array([[label in labels for label in log.labels] for labels in sets], dtype=int)

    def multi(score: Callable[..., float], **kwargs) -> Callable[[Group], float]:
        return lambda rows: score(matrix([r.gold for r in rows]), matrix([r.predicted for r in rows]), **kwargs)

    def score_of(labels: list[str], average: str, name: str) -> Callable[[Group], float]:
        places = [log.labels.index(label) for label in labels]
        return multi(LABEL_METRICS[name], labels=places, average=average, zero_division=0)

    known = aggregates(log.experiment())
    check_label_averages(log, known, score_of)
    accuracy = known.of(metric("accuracy"))
    check_folds(log, accuracy, multi(metrics.accuracy_score))
    check_pooled(log, accuracy, "pooled", multi(metrics.accuracy_score))


@examples(40)
@given(shapes())
def test_rankings(shape):
    log = random_log(shape, scored=True)
    known = aggregates(log.experiment())
    for name, score in RANKINGS.items():
        table = known.of(metric(name))

        def scored(rows: Group, score=score) -> float:
            return score(np.array([row.gold == ("1",) for row in rows]), np.array([row.score for row in rows]))

        check_folds(log, table, scored)
        check_pooled(log, table, "pooled" if "pooled" in table.values else "merge", scored)
