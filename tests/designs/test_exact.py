"""Exact expectations against enumerating every split and every outcome of tiny designs, and against simulations."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import comb, sqrt

import numpy as np
import pytest

from pytest_cvaudit.designs import ALL, Classifier, Design, Fold, Simulation, expectations, expected
from pytest_cvaudit.designs.exact import rule

#: instances, positives, folds: equal and unequal folds, more folds than positives, hardly any negatives.
TINY = [(6, 2, 2), (6, 3, 3), (7, 2, 3), (8, 3, 3), (7, 4, 2), (8, 1, 4), (7, 5, 3), (9, 4, 2)]
RATES = [(0.75, 0.25), (0.5, 0.6), (1.0, 0.125), (0.3, 0.0)]


def all_splits(design):
    """How often each tuple of positives per fold occurs among all ways to place the positives."""
    owner = [fold for fold, size in enumerate(design.sizes) for _ in range(size)]
    places = combinations(range(design.instances), design.positives)
    counts = Counter(tuple(Counter(owner[i] for i in one)[f] for f in range(design.folds)) for one in places)
    total = comb(design.instances, design.positives)
    return {split: number / total for split, number in counts.items()}


def f_of(p, r):
    return 2 * p * r / (p + r) if p + r else 0.0


def aggregated(folds):
    """Every aggregation of folds (tp, fp, positives, size), in plain Python; None is undefined."""
    k = len(folds)
    f = [2 * tp / (tp + fp + pos) if tp + fp + pos else None for tp, fp, pos, _ in folds]
    precision = [tp / (tp + fp) if tp + fp else None for tp, fp, _, _ in folds]
    recall = [tp / pos if pos else None for tp, _, pos, _ in folds]
    kept = [i for i in range(k) if precision[i] is not None and recall[i] is not None]
    known = [one for one in f if one is not None]
    tp, fp, pos, n = (sum(column) for column in zip(*folds, strict=True))
    zero = [one or 0.0 for one in f]
    return {
        "tp_fp": 2 * tp / (tp + fp + pos),
        "avg": sum(zero) / k,
        "pr_re": f_of(sum(p or 0 for p in precision) / k, sum(r or 0 for r in recall) / k),
        "avg_skip": sum(f[i] for i in kept) / len(kept) if kept else None,
        "pr_re_skip": f_of(*(sum(x[i] for i in kept) / len(kept) for x in (precision, recall))) if kept else None,
        "avg_one": sum(1.0 if one is None else one for one in f) / k,
        "avg_nan": sum(known) / len(known) if known else None,
        "avg_weighted": sum(one * fold[3] for one, fold in zip(zero, folds, strict=True)) / n,
        "avg_weighted_positives": sum(one * fold[2] for one, fold in zip(zero, folds, strict=True)) / pos,
    }


def chances(n, p):
    return [comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)]


def brute_force(splits, sizes, recall, fpr):
    """Mean and standard deviation of every aggregation over every split and outcome, given that it is defined."""
    sums = {name: [0.0, 0.0, 0.0] for name in ALL}
    for split, weight in splits.items():
        laws = []
        for pos, size in zip(split, sizes, strict=True):
            tps, fps = chances(pos, recall), chances(size - pos, fpr)
            laws.append([((tp, fp, pos, size), a * b) for tp, a in enumerate(tps) for fp, b in enumerate(fps) if a * b])
        for outcome in product(*laws):
            chance = weight * float(np.prod([one[1] for one in outcome]))
            for name, value in aggregated([one[0] for one in outcome]).items():
                if value is not None:
                    sums[name][0] += chance
                    sums[name][1] += chance * value
                    sums[name][2] += chance * value * value
    means = {name: (one[1] / one[0], one[2] / one[0]) for name, one in sums.items()}
    return {name: (mean, sqrt(max(0.0, second - mean * mean))) for name, (mean, second) in means.items()}


def agree(found, reference):
    for name, (mean, sd) in reference.items():
        one = found[name]
        if one.method == "exact":
            assert one.mc_error is None
            assert one.expectation == pytest.approx(mean, abs=1e-12), name
            assert one.sd == pytest.approx(sd, abs=1e-7 if sd < 1e-6 else 1e-11), name
        else:
            assert name.startswith("pr_re")
            assert abs(one.expectation - mean) <= 4.5 * one.mc_error + 1e-12, name


@pytest.mark.parametrize("shape", TINY, ids=str)
@pytest.mark.parametrize("rates", RATES[:2], ids=str)
def test_unstratified_equals_all_splits_and_outcomes(shape, rates):
    design = Design(*shape, stratified=False)
    classifier = Classifier.of_rates(*rates, design.positives, design.negatives)
    found = expectations(design, classifier, ALL, Simulation(40_000, 3))
    agree(found, brute_force(all_splits(design), design.sizes, *rates))


@pytest.mark.parametrize("rates", RATES, ids=str)
@pytest.mark.parametrize(
    "folds", [((2, 3), (2, 3)), ((1, 3), (2, 2)), ((0, 3), (1, 3), (1, 2)), ((3, 1), (0, 2), (2, 0))], ids=str
)
def test_known_folds_equal_all_outcomes(folds, rates):
    positives, negatives = (sum(column) for column in zip(*folds, strict=True))
    classifier = Classifier.of_rates(*rates, positives, negatives)
    known = [Fold(*fold) for fold in folds]
    reference = brute_force({tuple(p for p, _ in folds): 1.0}, [sum(fold) for fold in folds], *rates)
    agree(expectations(known, classifier, ALL, Simulation(20_000, 5)), reference)
    one = expected(known, classifier, "avg_skip")
    assert one.expectation == pytest.approx(reference["avg_skip"][0], abs=1e-12)


def test_stratified_folds_are_dealt_evenly():
    for instances, positives, folds in [(1000, 10, 10), (1504, 15, 4), (103, 17, 5), (11, 3, 4)]:
        dealt = Design(instances, positives, folds).stratified_folds()
        assert sum(fold.positives for fold in dealt) == positives
        assert sum(map(sum, dealt)) == instances
        for column in (*zip(*dealt, strict=True), tuple(map(sum, dealt))):
            assert max(column) - min(column) <= 1


def plain_simulation(design, classifier, repeats, seed):
    """An independent simulation: instances are shuffled, every prediction is drawn on its own."""
    rng = np.random.default_rng(seed)
    bounds = np.cumsum([0, *design.sizes])[:-1]
    values = {name: [] for name in ("tp_fp", "avg", "avg_skip", "avg_one")}
    truth = rng.permuted(
        np.broadcast_to(np.arange(design.instances) < design.positives, (repeats, design.instances)), axis=1
    )
    called = rng.random(truth.shape) < np.where(truth, classifier.recall, classifier.false_positive_rate)
    tp, positives, predicted = (
        np.add.reduceat(one.astype(int), bounds, axis=1) for one in (truth & called, truth, called)
    )
    with np.errstate(invalid="ignore"):
        f = 2 * tp / (positives + predicted)
        values["tp_fp"] = 2 * tp.sum(1) / (positives + predicted).sum(1)
        values["avg"] = np.nan_to_num(f).mean(1)
        values["avg_one"] = np.nan_to_num(f, nan=1.0).mean(1)
        values["avg_skip"] = np.nanmean(np.where((positives > 0) & (predicted > 0), f, np.nan), axis=1)
    return values


@pytest.mark.parametrize("shape", [(200, 8, 5, 0.7), (203, 20, 6, 0.5), (100, 30, 4, 0.9)], ids=str)
def test_unstratified_equals_an_independent_simulation(shape):
    *numbers, f = shape
    design = Design(*numbers, stratified=False)
    classifier = Classifier(f, f, design.positives, design.negatives)
    exact = expectations(design, classifier, ("tp_fp", "avg", "avg_skip", "avg_one"))
    for name, values in plain_simulation(design, classifier, 20_000, 11).items():
        values = values[~np.isnan(values)]
        error = values.std(ddof=1) / sqrt(len(values))
        assert abs(values.mean() - exact[name].expectation) < 4 * error, name
        assert values.std(ddof=1) == pytest.approx(exact[name].sd, rel=0.03), name


@pytest.mark.parametrize("folds", [1, 2, 10, 59, 100, 2000])
def test_rule_gives_one_over_d_and_its_square(folds):
    nodes, once, twice = rule(folds)
    d = np.arange(1, folds + 1)
    powers = nodes ** (d[:, None] - 1)
    assert np.abs(powers @ once * d - 1).max() < 1e-11
    assert np.abs(powers @ twice * d**2 - 1).max() < 1e-11


def test_a_perfect_classifier_has_no_bias():
    found = expectations(Design(100, 20, 5), Classifier(1.0, 1.0, 20, 80), ALL, Simulation(1000))
    assert {(one.expectation, one.sd) for one in found.values()} == {(1.0, 0.0)}


def test_large_designs_answer():
    design = Design(1_000_000, 200_000, 5, stratified=False)
    found = expectations(design, Classifier(0.8, 0.7, 200_000, 800_000), ALL, Simulation(2_000))
    assert all(abs(one.relative_bias) < 1e-3 for one in found.values())
    assert found["tp_fp"].method == "exact"
    assert found["avg"].method == "simulation"  # too many outcomes to enumerate, and it says so
