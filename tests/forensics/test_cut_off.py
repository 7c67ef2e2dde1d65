"""Digits that were cut off, folds without instances, and totals that single folds cannot know."""

from __future__ import annotations

import random

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics import Datasets, Design, declared_design, solve
from pytest_cvaudit.forensics.combine import Found
from pytest_cvaudit.forensics.folds.solve import solve_folds
from pytest_cvaudit.model import Protocol
from pytest_cvaudit.model.claim import Claim
from tests.forensics import brute
from tests.forensics.test_scores import evidence
from tests.forensics.test_small import printed


@pytest.mark.parametrize("claim", ["accuracy=0.99", "accuracy=99%", "recall=0.9", "f1=0.99", "kappa=0.99", "mcc=-0.99"])
def test_what_is_perfect_is_never_cut_to_less(claim):
    assert solve([Claim.parse(claim)], Design(10, 3, 1, stratified=True)).verdict == "impossible"


def test_other_round_numbers_may_be_a_little_less_to_a_program():
    found = solve([Claim.parse("accuracy=0.59")], Design(10, 3, 1, stratified=True))
    assert found.claims[0].truncated
    assert found.witness.aggregations == ("pooled",)


def test_without_a_table_only_what_is_refuted_in_either_way_cannot_be():
    rounded = Found([{"avg": "cannot", "tp_fp": "undecided", "pr_re": "cannot"}])
    either = Found([{"avg": "undecided", "tp_fp": "cannot", "pr_re": "cannot"}])
    assert rounded.unless_printed_otherwise(either).answers == [
        {"avg": "undecided", "tp_fp": "cannot", "pr_re": "cannot"}
    ]
    known = Found([{"avg": "cannot", "tp_fp": "fits"}], table=((1, 0, 0, 1),), ways=("tp_fp",))
    assert known.unless_printed_otherwise(Found([{"avg": "undecided", "tp_fp": "undecided"}])) is known


@pytest.mark.parametrize("seed", range(12))
def test_a_claim_that_was_cut_off_is_not_refuted_while_rounding_is_undecided(seed):
    rng = random.Random(seed)
    table = []
    for positives in (20, 5, 10, 15):
        tp, fp = rng.randint(1, positives), rng.randint(0, 20)
        table.append((tp, fp, positives - tp, 100 - positives - fp))
    way = rng.choice(["avg", "pr_re", "tp_fp", "avg_skip"])
    claim = Claim.parse(f"f1={printed(brute.value('f1', way, table), 5, truncate=True)}")
    found = solve([claim], Design(400, 50, 4, stratified=False), seconds=0.15)
    assert found.witness is not None or found.claims[0].aggregations[way] != "cannot"


def test_no_fold_is_without_instances():
    design = Design(4, 2, 3, stratified=True)
    for study in (design, Datasets([design, Design(2, 1, 1, stratified=True)])):
        for text in ("specificity=0.5", "f1=0.3", "accuracy=0.5", "npv=0.4"):
            found = solve([Claim.parse(text)], study)
            assert found.witness is None or all(map(sum, found.witness.folds))


def test_an_empty_fold_that_is_known_leaves_the_weighted_accuracy_undefined():
    found = solve([Claim.parse("accuracy=0.5")], Design(4, 2, 2, False, (2, 0), (2, 0)))
    assert found.claims[0].aggregations["pooled"] == "fits"
    assert found.claims[0].aggregations["avg_weighted"] == "cannot"


def test_counts_that_contradict_the_totals_are_not_rebuilt():
    values = [{"recall": "1.00", "f2": "0.76", "kappa": "0.00"}]
    assert evidence(values, instances=3, positives=1, folds=1, stratified=True).counts is None
    assert evidence(values, [5], [2]).counts == ((2, 3, 0, 0),)


@pytest.mark.parametrize(
    "protocol",
    [
        Protocol(instances=10**12, positives=10**6, folds=5), Protocol(instances=10**6, positives=10, folds=10**5),
        Protocol(instances=100, positives=10, folds=5, repeats=10**6), Protocol(supports={"a": 10**9, "b": 5}, folds=5),
    ],
)  # fmt: skip
def test_a_design_that_is_too_large_is_refused_at_once(protocol):
    with pytest.raises(InputError, match="too many to be judged"):
        declared_design(protocol)


@pytest.mark.parametrize("digits", ["0.9", "0." + "9" * 40, "0.7" + "1" * 40])
def test_many_digits_overflow_nothing(digits):
    claims = [Claim.parse(f"f1={digits}"), Claim.parse("accuracy=0.7")]
    found = solve_folds(claims, evidence([{"precision": "0.5"}], [4], [2]))
    assert found.verdict == "impossible"
    assert solve(claims, Design(4, 2, 1, stratified=True)).verdict == "impossible"
