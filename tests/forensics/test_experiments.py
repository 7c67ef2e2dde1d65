"""Random experiments of ordinary size: a number that was really printed is never judged impossible."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics import Design, solve
from pytest_cvaudit.model.claim import Claim
from tests.forensics import brute
from tests.forensics.test_small import printed


def experiment(rng):
    """A design and one result of it: sizes, split, and a classifier of random quality."""
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    k, n = rng.randint(2, 10), rng.randint(40, 1500)
    p = max(2, round(n * rng.choice([0.02, 0.05, 0.2, 0.5])))
    stratified = rng.random() < 0.6
    truth = np.zeros(n, bool)
    truth[numbers.permutation(n)[:p]] = True
    if stratified:
        fold = np.empty(n, int)
        fold[truth], fold[~truth] = np.arange(p) % k, (np.arange(n - p) + (p if rng.random() < 0.5 else 0)) % k
    else:
        fold = np.arange(n) % k
    predicted = np.where(truth, numbers.random(n) < rng.uniform(0.2, 1), numbers.random(n) < rng.uniform(0, 0.3))
    table = tuple(
        tuple(int((a & b & (fold == f)).sum()) for a, b in (
            (truth, predicted), (~truth, predicted), (truth, ~predicted), (~truth, ~predicted)))
        for f in range(k)
    )  # fmt: skip
    return Design(n, p, k, stratified), table


def judged(seed, seconds):
    rng = random.Random(seed)
    design, table = experiment(rng)
    decimals, truncate = rng.randint(1, 4), rng.random() < 0.3
    claims, ways = [], []
    for metric in rng.sample(brute.METRICS, rng.randint(1, 3)):
        way = rng.choice(brute.ways(metric))
        number = brute.value(metric, way, table)
        if number is not None:
            claims.append(Claim.parse(f"{metric} = {printed(number, decimals, truncate)}"))
            ways.append(way)
    if not claims:
        return "none"
    solution = solve(claims, design, seconds=seconds)
    assert solution.verdict != "impossible", (seed, design, table, claims, ways)
    if not truncate:
        for fit, way in zip(solution.claims, ways, strict=True):
            assert fit.aggregations[way] != "cannot", (seed, design, table, claims, ways)
    if solution.witness is not None:
        for fit, way in zip(solution.claims, solution.witness.aggregations, strict=True):
            number = brute.value(fit.claim.metric.name, way, solution.witness.folds)
            assert any(brute.inside(number, brute.interval(str(fit.claim.printed), cut)) for cut in (False, True))
    return solution.verdict


@pytest.mark.parametrize("seed", [*range(24), 1666])
def test_true_claims_are_never_impossible(seed):
    judged(seed, seconds=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 2000, 100))
def test_a_thousand_true_claims_are_never_impossible(start):
    verdicts = [judged(seed, seconds=1.0) for seed in range(start, start + 100)]
    assert verdicts.count("undecided") <= 40


@pytest.mark.parametrize("folds", [5, 10])
def test_unknown_folds_are_decided(folds):
    design = Design(400, 50, folds, False)
    possible = [Claim.parse(text) for text in ("accuracy = 0.9525", "f1 = 0.8012", "recall = 0.7871")]
    assert solve(possible, design, seconds=10).verdict == "ambiguous"
    beyond = [Claim.parse(text) for text in ("accuracy = 0.9525", "precision = 0.0510", "recall = 0.9971")]
    assert solve(beyond, design, seconds=20).verdict == "impossible"
    no_count = [Claim.parse(text) for text in ("accuracy = 0.9526", "f1 = 0.8012")]
    assert solve(no_count, design, seconds=20).verdict == "impossible"


def test_pooled_claims_of_large_data_take_no_time():
    solution = solve([Claim(*_f1("0.8123"), aggregation="tp_fp")], Design(10**6, 10**5, 10, True))
    assert solution.verdict == "unique"
    assert solution.seconds < 1


def _f1(text):
    claim = Claim.parse(f"f1 = {text}")
    return claim.metric, claim.printed


def test_an_unsupported_claim_is_undecided_and_hides_no_contradiction():
    design = Design(100, 20, 5, True)
    auc, impossible = Claim.parse("auc = 0.9"), Claim.parse("accuracy = 0.905")
    assert solve([auc, Claim.parse("accuracy = 0.90")], design).verdict == "undecided"
    assert solve([auc, impossible], design).verdict == "impossible"


@pytest.mark.parametrize(
    "wrong",
    [
        {"instances": 10, "positives": 0, "folds": 2}, {"instances": 10, "positives": 2, "folds": 11},
        {"instances": 10, "positives": 2, "folds": 2, "fold_positives": (1, 1)},
        {"instances": 10, "positives": 2, "folds": 2, "fold_positives": (1, 2), "fold_negatives": (4, 4)},
    ],
)  # fmt: skip
def test_a_design_that_cannot_be_is_refused(wrong):
    with pytest.raises(InputError):
        Design(stratified=True, **wrong)
