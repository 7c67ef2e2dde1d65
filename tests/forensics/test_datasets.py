"""Numbers averaged over data sets, against all tables of small designs."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics import Datasets, Design, solve
from pytest_cvaudit.model.claim import Claim
from tests.forensics import brute
from tests.forensics.studies import Oracle, printed
from tests.forensics.test_experiments import experiment

STUDIES = (
    (Design(4, 2, 2, True), Design(5, 2, 1, True)), (Design(5, 2, 2, True), Design(6, 3, 1, True)),
    (Design(4, 1, 2, False), Design(4, 2, 2, True)), (Design(4, 2, 2, True),) * 2,
    (Design(3, 1, 1, True), Design(4, 2, 2, True), Design(3, 1, 1, True)),
)  # fmt: skip
NAMES = ("f1", "f0.5", "precision", "recall", "npv", "accuracy", "error", "specificity", "balanced_accuracy", "kappa")


def value(designs):
    def of(name, way, table):
        each, start = [], 0
        for design in designs:
            each.append(brute.value(name, way, table[start : start + design.folds]))
            start += design.folds
        return None if None in each else brute.mean(each)

    return of


def oracle(designs):
    tables = [sum(several, ()) for several in product(*(brute.tables(design) for design in designs))]
    return Oracle(Datasets(designs), tables, value(designs), brute.ways)


@pytest.mark.parametrize("designs", STUDIES, ids=str)
@pytest.mark.parametrize("count", [1, 2])
def test_claims_equal_brute_force(designs, count):
    against, rng = oracle(designs), random.Random(f"{designs}{count}")
    for _ in range(6):
        claims, true = against.random_claims(rng, NAMES, count)
        if claims:
            against.check(claims, true)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 5), st.booleans())
def test_true_claims_are_never_impossible(seed, count, decimals, truncate):
    rng = random.Random(seed)
    drawn = [experiment(rng) for _ in range(count)]
    designs, table = [design for design, _ in drawn], sum((part for _, part in drawn), ())
    name = rng.choice(brute.METRICS)
    way = rng.choice(brute.ways(name))
    number = value(designs)(name, way, table)
    if number is None:
        return
    solution = solve([Claim.parse(f"{name} = {printed(number, decimals, truncate)}")], Datasets(designs), seconds=0.2)
    assert solution.verdict != "impossible"
    assert truncate or solution.claims[0].aggregations[way] != "cannot"


def test_a_witness_for_every_data_set_in_the_order_given():
    designs = (Design(100, 20, 5, True), Design(50, 10, 2, False), Design(100, 20, 5, True))
    solution = solve([Claim.parse("f1 = 0.7123"), Claim.parse("accuracy = 0.88")], Datasets(designs), seconds=10)
    assert solution.verdict == "ambiguous"
    assert [key["dataset"] for key in solution.witness.keys] == [1] * 5 + [2] * 2 + [3] * 5
    start = 0
    for design in designs:
        folds = solution.witness.folds[start : start + design.folds]
        assert sum(map(sum, folds)) == design.instances
        assert sum(tp + fn for tp, _, fn, _ in folds) == design.positives
        start += design.folds


def test_accuracies_are_a_lattice():
    designs = (Design(100, 20, 5, True), Design(50, 20, 5, True))
    assert solve([Claim.parse("accuracy = 0.9033")], Datasets(designs)).verdict == "impossible"
    assert solve([Claim.parse("accuracy = 0.905")], Datasets(designs)).verdict != "impossible"


def test_no_data_set_is_refused():
    with pytest.raises(InputError):
        Datasets([])
