"""On designs small enough to enumerate, every answer equals brute force."""

from __future__ import annotations

import math
import random
import sys

import pytest

from pytest_cvaudit.forensics import Design, solve
from pytest_cvaudit.model.claim import Claim
from tests.forensics import brute

DESIGNS = (
    Design(12, 4, 3, True), Design(12, 4, 3, False), Design(13, 5, 3, True), Design(11, 2, 3, True),
    Design(10, 3, 2, False), Design(11, 4, 2, False), Design(9, 2, 3, False), Design(6, 3, 1, True),
    Design(12, 5, 3, False, (1, 0, 4), (3, 2, 2)), Design(9, 6, 2, True), Design(8, 3, 4, True), Design(7, 2, 3, False),
)  # fmt: skip


def printed(number, decimals, truncate):
    scaled = float(number) * 10**decimals
    whole = math.trunc(scaled + math.copysign(1e-9, scaled)) if truncate else round(scaled)
    text = f"{whole / 10**decimals:.{decimals}f}"
    return text.replace("-0.", "0.") if float(text) == 0 else text


def corrupted(text, rng):
    at = rng.randrange(2 if text[0] != "-" else 3, len(text)) if "." in text else 0
    return text[:at] + rng.choice("0123456789") + text[at + 1 :]


def random_claims(design, rng, count):
    table = rng.choice(brute.tables(design))
    decimals, truncate = rng.randint(1, 4), rng.random() < 0.25
    claims, true = [], True
    for metric in rng.sample(brute.METRICS, count):
        way = rng.choice(brute.ways(metric))
        number = brute.value(metric, way, table)
        if number is None:
            continue
        text = printed(number, decimals, truncate)
        if rng.random() < 0.3:
            changed = corrupted(text, rng)
            low = -1 if metric in ("mcc", "kappa") else 0
            if changed != text and low <= float(changed) <= 1:
                text, true = changed, False
        declared = rng.random() < 0.15
        claims.append((metric, text, (way,) if declared else brute.ways(metric)))
    return claims, true


def check(design, claims, true, seconds=60):
    asked = []
    for metric, text, allowed in claims:
        claim = Claim.parse(f"{metric} = {text}")
        asked.append(Claim(claim.metric, claim.printed, aggregation=allowed[0]) if len(allowed) == 1 else claim)
    solution = solve(asked, design, seconds=seconds)
    expected = brute.answer(design, claims)
    for fit, fitting, (_, _, allowed) in zip(solution.claims, expected, claims, strict=True):
        wanted = {way: "fits" if way in fitting else "cannot" for way in allowed}
        assert fit.aggregations == wanted, (design, claims, solution)
    impossible = not all(expected)
    assert (solution.verdict == "impossible") == impossible, (design, claims, solution)
    assert not (true and impossible)
    assert (solution.witness is None) == impossible
    if solution.witness is not None:
        cut = [at for at, fit in enumerate(solution.claims) if fit.truncated]
        assert tuple(sorted(solution.witness.folds)) in set(brute.tables(design))
        for at, ((metric, text, _), way) in enumerate(zip(claims, solution.witness.aggregations, strict=True)):
            number = brute.value(metric, way, solution.witness.folds)
            assert brute.inside(number, brute.interval(text, False)) or (
                at in cut and brute.inside(number, brute.interval(text, True))
            )
    if not impossible:
        several = any(len(fit.fitting) > 1 for fit in solution.claims)
        assert solution.verdict == ("ambiguous" if several else "unique")


@pytest.mark.parametrize("design", DESIGNS, ids=str)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_random_claims_equal_brute_force(design, count):
    rng = random.Random(f"{design}{count}")
    for _ in range(8):
        claims, true = random_claims(design, rng, count)
        if claims:
            check(design, claims, true)


@pytest.mark.parametrize("design", DESIGNS[:6], ids=str)
def test_four_claims_are_decided_by_looking_at_all_tables(design):
    rng = random.Random(f"four{design}")
    for _ in range(2):
        claims, true = random_claims(design, rng, 4)
        check(design, claims, true, seconds=8)


def test_all_tables_of_a_small_design_leave_nothing_undecided():
    texts = (("f1", "0.71"), ("f2", "0.69"), ("balanced_accuracy", "0.55"), ("npv", "0.33"))
    solution = solve([Claim.parse(f"{metric} = {text}") for metric, text in texts], Design(16, 11, 3, False), seconds=8)
    assert [fit.fitting for fit in solution.claims] == [
        ("avg_weighted_positives",), ("avg_weighted",), ("avg_present",), ("avg", "avg_skip", "avg_one"),
    ]  # fmt: skip
    assert not any("undecided" in fit.aggregations.values() for fit in solution.claims)
    assert [fit.truncated for fit in solution.claims] == [False, False, True, False]
    for (metric, text), way, fit in zip(texts, solution.witness.aggregations, solution.claims, strict=True):
        number = brute.value(metric, way, solution.witness.folds)
        assert brute.inside(number, brute.interval(text, fit.truncated))


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_many_random_claims_equal_brute_force(design):
    rng = random.Random(f"many{design}")
    for _ in range(150):
        claims, true = random_claims(design, rng, rng.randint(1, 4))
        if claims:
            check(design, claims, true)


def _without_shortcuts(monkeypatch):
    """Leave everything to the relaxation, the random searches and the large exhaustion."""
    monkeypatch.setattr("pytest_cvaudit.forensics.case.small", lambda _: False)
    monkeypatch.setattr(sys.modules[solve.__module__], "all_tables", lambda _: None)


@pytest.mark.parametrize("design", DESIGNS[:6], ids=str)
def test_the_methods_for_large_designs_equal_brute_force_on_small_ones(design, monkeypatch):
    _without_shortcuts(monkeypatch)
    rng = random.Random(f"large{design}")
    for _ in range(4):
        claims, true = random_claims(design, rng, 2)
        if claims:
            check(design, claims, true)


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_methods_for_large_designs_equal_brute_force_on_many(design, monkeypatch):
    _without_shortcuts(monkeypatch)
    rng = random.Random(f"many large{design}")
    for _ in range(25):
        claims, true = random_claims(design, rng, rng.randint(1, 3))
        if claims:
            check(design, claims, true)
