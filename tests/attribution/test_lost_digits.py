"""Digits that a log lost: rounded scores and printed folds stand for every number that prints so."""

from __future__ import annotations

import numpy as np
import pytest
from aggregations.experiments import Shape, aggregates, examples, random_log, rounded_scores
from aggregations.oracle import f_of_rates
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss

from pytest_cvaudit.attribution import UNCHECKABLE, UNEXPLAINED, attribute
from pytest_cvaudit.model import Cell, Claim, Experiment, FoldScores, MissingFold, Predictions, Printed, metric

SHAPES = st.builds(
    Shape, st.integers(0, 2**32 - 1), st.integers(2, 10), repeats=st.sampled_from([1, 1, 2]), rows=st.integers(20, 60),
    style=st.sampled_from(["wide", "chances"]),
)  # fmt: skip


@examples(80)
@given(SHAPES, st.integers(2, 6), st.sampled_from(["avg", "merge", "avg_skip", "merge_all"]))
def test_auc_of_unrounded_scores_is_explained_by_rounded_ones(shape, decimals, way):
    log = random_log(shape, scored=True)
    value = log.oracle().ranking("auc").get(way)
    if value is None:
        return
    known = aggregates(rounded_scores(log, decimals).experiment())
    for digits in (3, 4, 5):
        found = attribute(Claim.parse(f"auc = {value:.{digits}f}"), known)
        assert known.of(metric("auc")).canonical(way) in found.matches, (digits, found.matches, found.nearest)


@examples(40)
@given(SHAPES, st.integers(2, 3))
def test_rounded_scores_bound_the_auc_by_breaking_ties(shape, decimals):
    log = rounded_scores(random_log(shape, scored=True), decimals)
    merged = aggregates(log.experiment()).of(metric("auc")).values["merge"]
    rankings = [[row for fold in folds for row in fold.scored] for folds in log.oracle().repeats()]
    if merged.value is None:
        return
    for bound, tie in ((merged.low, 0.0), (merged.value, 0.5), (merged.high, 1.0)):
        assert bound == pytest.approx(np.mean([_wins(rows, tie) for rows in rankings]), abs=1e-12)


def _wins(rows: list[tuple[float, bool]], tie: float) -> float:
    pairs = [(up, down) for up, positive in rows if positive for down, other in rows if not other]
    return sum(1.0 if up > down else tie * (up == down) for up, down in pairs) / len(pairs)


def printed(values: list[float | None], decimals: int) -> tuple[Printed | None, ...]:
    return tuple(None if value is None else Printed.parse(f"{value:.{decimals}f}") for value in values)


def logged(decimals: int, n: tuple[int, ...] = (), **columns: list[float | None]) -> Experiment:
    """An experiment that printed its folds with so many decimals."""
    cells = tuple(Cell(str(index + 1)) for index in range(len(next(iter(columns.values())))))
    scores = FoldScores(cells, {name: printed(values, decimals) for name, values in columns.items()}, n)
    return Experiment("printed", scores=scores)


FOLDS = st.lists(st.floats(0, 1), min_size=2, max_size=12)
METRICS = st.sampled_from(["auc", "f1", "accuracy", "mcc", "precision", "macro_f1", "ap"])


@examples(120)
@given(FOLDS, METRICS, st.integers(2, 4), st.integers(2, 6))
def test_mean_of_full_precision_folds_is_explained_by_printed_ones(values, name, decimals, digits):
    experiment = logged(decimals, **{name: values})
    found = attribute(Claim.parse(f"{name} = {np.mean(values):.{digits}f}"), aggregates(experiment))
    assert "avg" in found.matches


@examples(60)
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 500)), min_size=2, max_size=12), st.integers(2, 4))
def test_accuracy_weighted_by_fold_size_is_the_pooled_one(folds, decimals):
    values, sizes = (list(column) for column in zip(*folds, strict=True))
    experiment = logged(decimals, n=tuple(sizes), accuracy=values)
    found = attribute(Claim.parse(f"accuracy = {np.average(values, weights=sizes):.4f}"), aggregates(experiment))
    assert "pooled" in found.matches


@examples(60)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12), st.integers(2, 4))
def test_f_of_mean_precision_and_recall(folds, decimals):
    precision, recall = (list(column) for column in zip(*folds, strict=True))
    value = f_of_rates(float(np.mean(precision)), float(np.mean(recall)), 1.0)
    each = [f_of_rates(p, r, 1.0) for p, r in folds]
    experiment = logged(decimals, f1=each, precision=precision, recall=recall)
    assert "pr_re" in attribute(Claim.parse(f"f1 = {value:.4f}"), aggregates(experiment)).matches


def test_printed_folds_cannot_exceed_what_the_metric_allows():
    """Folds 1.00 and 0.50 leave room for 0.7525 at most, since no accuracy is above 1."""
    known = aggregates(logged(2, n=(10, 10), accuracy=[1.0, 0.5]))
    assert attribute(Claim.parse("accuracy = 0.752"), known).matches == ("pooled",)
    assert attribute(Claim.parse("accuracy = 0.754"), known).verdict == UNEXPLAINED


def test_printed_zeros_do_not_make_the_f_of_means_negative_or_arbitrary():
    """A mean precision that prints 0.000 may be 0.0005, but not below zero, where the harmonic mean runs away."""
    experiment = logged(3, f1=[0.0] * 10, precision=[0.0] * 10, recall=[0.001] * 9 + [0.002])
    value = aggregates(experiment).of(metric("f1")).values["pr_re"]
    assert 0 <= value.low <= value.value <= value.high <= 0.002


@pytest.mark.parametrize("name", ["f1", "auc", "precision"])
def test_printed_folds_cannot_refute_what_needs_more(name):
    found = attribute(Claim.parse(f"{name} = 0.57"), aggregates(logged(2, **{name: [0.5, 0.6]})))
    assert found.verdict == UNCHECKABLE
    assert "log" in found.reason


def test_blank_folds_leave_only_what_skips_or_fills_them():
    experiment = logged(3, auc=[0.9, 0.8, None])
    table = aggregates(experiment).of(metric("auc"))
    assert table.values["avg"].value is None and table.values["avg"].folds == ("fold 3",)
    assert attribute(Claim.parse("auc = 0.85"), aggregates(experiment)).matches == ("avg_skip",)
    assert attribute(Claim.parse("auc = 0.567"), aggregates(experiment)).matches == ("avg_zero",)


def test_folds_that_the_log_mentions_without_result_are_blank():
    scores = FoldScores((Cell("1"), Cell("3")), {"auc": printed([0.9, 0.8], 3)})
    experiment = Experiment("printed", scores=scores, missing=(MissingFold(Cell("2"), "crashed"),))
    assert attribute(Claim.parse("auc = 0.85"), aggregates(experiment)).matches == ("avg_skip",)


@pytest.mark.parametrize("name", ["f1", "accuracy", "precision", "recall", "specificity"])
def test_totals_lie_between_the_folds(name):
    found = attribute(Claim.parse(f"{name} = 0.9"), aggregates(logged(2, **{name: [0.5, 0.6]})))
    assert found.verdict == "unexplained"


@pytest.mark.parametrize("places", [2, 3])
@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_losses_of_rounded_scores_still_match(name, places):
    generator = np.random.default_rng(places)
    truth = (generator.random(400) < 0.4).astype(int)
    score = np.clip(0.5 * truth + 0.5 * generator.random(400), 0.02, 0.98)
    measure = {"brier": brier_score_loss, "log_loss": log_loss}[name]
    rows = Predictions(
        (Cell("0"), Cell("1")), np.arange(400) % 2, ("0", "1"), truth, scores={"1": np.round(score, places)}
    )
    claim = Claim.parse(f"{name} = {measure(truth, score):.5f}")
    found = attribute(claim, aggregates(Experiment("one", predictions=rows)))
    assert "pooled" in found.matches
    value = found.table.values["pooled"]
    assert value.low < value.value < value.high
