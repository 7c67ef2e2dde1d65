"""Negative predictive value, and the aggregations that weigh folds or leave out undefined ones."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, precision_score

from pytest_cvaudit.aggregations import Aggregates
from pytest_cvaudit.forensics import Design, solve
from pytest_cvaudit.forensics.aliases import canonical
from pytest_cvaudit.forensics.studies.many import many
from pytest_cvaudit.model import Cell, Experiment, FoldCounts, metric
from pytest_cvaudit.model.claim import Claim
from pytest_cvaudit.tallies.tally import tally
from tests.forensics import brute
from tests.forensics.test_small import DESIGNS, printed

NEW = {
    "f1": ("avg_nan", "avg_weighted", "avg_weighted_positives"),
    "npv": ("pooled", "avg", "avg_skip", "avg_one", "avg_weighted"),
    "precision": ("avg_weighted",), "mcc": ("avg_weighted",), "kappa": ("avg_weighted",),
    "balanced_accuracy": ("avg_weighted", "avg_present"),
}  # fmt: skip


def labels(fold):
    tp, fp, fn, tn = fold
    return [1] * tp + [0] * fp + [1] * fn + [0] * tn, [1] * (tp + fp) + [0] * (fn + tn)


def counted(table):
    columns = np.array(table)
    parts = [np.stack([columns[:, at]], axis=1) for at in range(4)]
    cells = tuple(Cell(str(at)) for at in range(len(table)))
    return Experiment("e", counts=FoldCounts(cells, ("1",), *parts))


@pytest.mark.parametrize("seed", range(4))
def test_npv_of_a_log_equals_scikit_learn_s_precision_of_the_negatives(seed):
    rng = random.Random(seed)
    table = [tuple(rng.randint(0, 6) for _ in range(4)) for _ in range(3)]
    experiment = counted(table)
    found = Aggregates(experiment, tally(experiment)).of(metric("negative predictive value"), "1")
    each = [precision_score(*labels(fold), pos_label=0, zero_division=0) for fold in table]
    truth, guess = ([one for part in parts for one in part] for parts in zip(*map(labels, table), strict=True))
    assert found.values["pooled"].value == pytest.approx(precision_score(truth, guess, pos_label=0))
    assert found.values["avg"].value == pytest.approx(np.mean(each))
    assert found.values["avg_weighted"].value == pytest.approx(np.average(each, weights=[sum(f) for f in table]))


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_new_ways_of_a_true_table_fit_and_reprint(design):
    rng = random.Random(f"{design}")
    for name, ways in NEW.items():
        table, way = rng.choice(brute.tables(design)), rng.choice(ways)
        number = brute.value(name, way, table)
        if number is None:
            continue
        claim = Claim.parse(f"{name} = {printed(number, 4, truncate=False)}")
        solution = solve([Claim(claim.metric, claim.printed, aggregation=way)], design, seconds=20)
        assert solution.verdict == "unique"
        again = brute.value(name, way, solution.witness.folds)
        assert brute.inside(again, brute.interval(str(claim.printed), False))


@pytest.mark.parametrize("design", [Design(6, 3, 2, True), Design(5, 2, 2, False), Design(6, 2, 3, True)], ids=str)
@pytest.mark.parametrize("name", brute.METRICS)
def test_names_for_one_number_are_equal_in_every_table_and_floats_agree(design, name):
    tables = brute.tables(design)
    for way, first in canonical(metric(name), design).items():
        values = brute.values_of(design, name, way)
        if way != first:
            assert all(same(one, two) for one, two in zip(values, brute.values_of(design, name, first), strict=True))
        fast = many(metric(name), way, np.array(tables, np.int64))
        assert all(np.isnan(b) if a is None else abs(float(a) - b) < 1e-12 for a, b in zip(values, fast, strict=True))


def same(one, two):
    if isinstance(one, Fraction) and isinstance(two, Fraction):
        return one == two
    return one is two or (one is not None and two is not None and abs(one - two) < 1e-12)


def test_the_fold_policies_are_scikit_learn_s():
    table = ((0, 0, 0, 5), (2, 1, 1, 3), (0, 0, 2, 3))
    each = [f1_score(*labels(fold), zero_division=np.nan) for fold in table]
    assert float(brute.value("f1", "avg_nan", table)) == pytest.approx(np.nanmean(each))
    with pytest.warns(UserWarning):
        present = [balanced_accuracy_score(*labels(fold)) for fold in table]
    assert float(brute.value("balanced_accuracy", "avg_present", table)) == pytest.approx(np.mean(present))


def test_npv_beside_other_claims():
    design = Design(1504, 15, 4, True)
    possible = [Claim.parse(text) for text in ("npv = 0.9993", "recall = 0.933", "specificity = 0.987")]
    assert solve(possible, design, seconds=10).verdict == "ambiguous"
    # All negatives but one predicted rightly leave no room for so low a value.
    beyond = [Claim.parse(text) for text in ("npv = 0.950", "recall = 0.933", "specificity = 0.999")]
    assert solve(beyond, design, seconds=10).verdict == "impossible"
