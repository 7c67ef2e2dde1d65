"""Repeated cross-validation from printed numbers alone, against all tables of small designs."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics import Design, Repeats, solve
from pytest_cvaudit.model.claim import Claim
from tests.forensics import brute
from tests.forensics.studies import Oracle, printed
from tests.forensics.test_experiments import experiment

STUDIES = (
    (Design(4, 2, 2, True), 3), (Design(5, 2, 2, True), 2), (Design(4, 2, 2, False), 2), (Design(7, 3, 1, True), 2),
)  # fmt: skip
NAMES = ("f1", "f2", "precision", "recall", "npv", "accuracy", "specificity", "balanced_accuracy")


def ways(name):
    return (*brute.ways(name), *(f"{way}_all" for way in brute.ways(name)))


def value(folds):
    def of(name, way, table):
        if way.endswith("_all"):
            return brute.value(name, way.removesuffix("_all"), table)
        each = [brute.value(name, way, table[at : at + folds]) for at in range(0, len(table), folds)]
        return None if None in each else brute.mean(each)

    return of


def oracle(design, repeats):
    tables = [sum(several, ()) for several in combinations_with_replacement(brute.tables(design), repeats)]
    return Oracle(Repeats(design, repeats), tables, value(design.folds), ways)


@pytest.mark.parametrize(("design", "repeats"), STUDIES, ids=str)
def test_one_claim_equals_brute_force(design, repeats):
    against, rng = oracle(design, repeats), random.Random(f"{design}{repeats}")
    for _ in range(7):
        claims, true = against.random_claims(rng, NAMES, 1)
        if claims:
            against.check(claims, true)


@pytest.mark.parametrize(("design", "repeats"), STUDIES, ids=str)
def test_two_claims_are_never_judged_wrongly(design, repeats):
    against, rng = oracle(design, repeats), random.Random(f"two{design}{repeats}")
    for _ in range(4):
        claims, true = against.random_claims(rng, NAMES, 2)
        if claims:
            against.check(claims, true, exact=False, seconds=0.3)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 5), st.booleans())
def test_true_claims_are_never_impossible(seed, repeats, decimals, truncate):
    rng = random.Random(seed)
    design, _ = experiment(rng)
    table = ()
    for _ in range(repeats):
        table += another(design, rng)
    name = rng.choice(brute.METRICS)
    way = rng.choice(ways(name))
    number = value(design.folds)(name, way, table)
    if number is None:
        return
    claim = Claim.parse(f"{name} = {printed(number, decimals, truncate)}")
    solution = solve([claim], Repeats(design, repeats), seconds=0.2)
    assert solution.verdict != "impossible"
    assert truncate or solution.claims[0].aggregations[way] != "cannot"


def another(design, rng):
    """One more result of the same data and design."""
    hit, alarm = rng.random(), rng.random() / 3
    table = []
    for p, n in split_of(design):
        tp, fp = sum(rng.random() < hit for _ in range(p)), sum(rng.random() < alarm for _ in range(n))
        table.append((tp, fp, p - tp, n - fp))
    return tuple(table)


def split_of(design):
    """A stratified split with sizes that differ by at most one, which every design here allows."""
    k = design.folds
    folds = [[0, 0] for _ in range(k)]
    for at in range(design.instances):
        folds[at % k][at >= design.positives] += 1
    return folds


def test_sums_over_folds_are_one_number_and_totals_are_not():
    study = Repeats(Design(1504, 15, 4, True), 5)
    names = study.names(Claim.parse("f1 = 0.69"))
    assert (names["avg_all"], names["tp_fp_all"], names["avg_skip_all"]) == ("avg", "tp_fp_all", "avg_skip_all")
    assert study.names(Claim.parse("recall = 0.69"))["pooled_all"] == "pooled"


def test_a_repeat_at_least():
    with pytest.raises(InputError):
        Repeats(Design(10, 5, 2, True), 0)
