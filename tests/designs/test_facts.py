"""The published table of bias and spread, and the published risks of an empty fold."""

from __future__ import annotations

from itertools import combinations
from math import comb, sqrt

import numpy as np
import pytest

from pytest_cvaudit.designs import (
    ALL,
    Classifier,
    Design,
    Fold,
    Simulation,
    design_risk,
    empty_fold_risk,
    expectations,
    fold_sizes,
    risk_in,
    sentence,
)
from pytest_cvaudit.designs import risk as risk_module
from pytest_cvaudit.designs.simulation import simulate

NAMES = ("tp_fp", "avg", "pr_re", "avg_skip", "pr_re_skip")
#: stratified, positives, F, and the relative biases in % as printed (200,000 repeats).
TABLE = [
    (True, 10, 0.60, ("-0.48", "-12.1", "-10.0", "+20.1", "+22.9")),
    (True, 10, 0.80, ("-0.13", "-6.3", "-5.0", "+12.0", "+13.5")),
    (True, 20, 0.80, ("-0.07", "-1.8", "+1.3", "+0.9", "+4.1")),
    (True, 50, 0.80, ("-0.03", "-0.41", "+1.26", "-0.40", "+1.27")),
    (True, 250, 0.80, ("-0.01", "-0.06", "+0.25", "-0.06", "+0.25")),
    (False, 10, 0.80, ("-0.17", "-36.3", "-35.0", "+9.1", "+11.4")),
    (False, 20, 0.80, ("-0.06", "-14.7", "-12.2", "+2.0", "+5.0")),
    (False, 50, 0.80, ("-0.02", "-2.7", "-0.5", "-1.9", "+0.3")),
    (False, 250, 0.80, ("0.00", "-0.38", "0.00", "-0.38", "0.00")),
]
#: Relative standard deviations in %, stratified, F = .80.
SPREAD = {10: ("12.0", "15.6", "15.5", "10.2", "9.7"), 50: ("5.30", "5.49", "5.24", "5.48", "5.23")}
RISKS = {10: 0.99962, 20: 0.777216, 30: 0.355851, 40: 0.130363, 50: 0.044292, 60: 0.014591, 80: 0.001506, 100: 0.000147}


def paper(stratified, positives, f):
    return Design(1000, positives, 10, stratified), Classifier(f, f, positives, 1000 - positives)


def half_digit(text):
    return 0.5 * 10 ** -len(text.partition(".")[2])


@pytest.mark.parametrize(("stratified", "positives", "f", "printed"), TABLE)
def test_bias_is_as_printed(stratified, positives, f, printed):
    design, classifier = paper(stratified, positives, f)
    found = expectations(design, classifier, NAMES, Simulation(50_000, 1))
    for name, text in zip(NAMES, printed, strict=True):
        one = found[name]
        assert one.method == ("simulation" if name.startswith("pr_re") else "exact")
        error = 100 * one.sd / f / sqrt(200_000)  # of the printed number
        mine = 100 * (one.mc_error or 0) / f
        assert abs(100 * one.relative_bias - float(text)) <= half_digit(text) + 4 * sqrt(error**2 + mine**2), name


@pytest.mark.parametrize("positives", SPREAD)
def test_spread_is_as_printed(positives):
    design, classifier = paper(True, positives, 0.8)
    found = expectations(design, classifier, NAMES, Simulation(50_000, 1))
    for name, text in zip(NAMES, SPREAD[positives], strict=True):
        simulated = 0.02 if name.startswith("pr_re") else 0.004
        assert 100 * found[name].sd / 0.8 == pytest.approx(float(text), abs=half_digit(text), rel=simulated), name


def compare(repeats, stratified, positives, f):
    """Exact against simulated: mean within 4 standard errors, and the controlled simulation against the plain one."""
    design, classifier = paper(stratified, positives, f)
    controlled = expectations(design, classifier, ALL, Simulation(20_000, 2))
    plain = simulate(design, classifier, ALL, repeats, 7)
    for name in ALL:
        ours, theirs = controlled[name], plain[name]
        error = sqrt(theirs.mc_error**2 + (ours.mc_error or 0) ** 2)
        assert abs(ours.expectation - theirs.expectation) < 4 * error, name
        assert ours.sd == pytest.approx(theirs.sd, rel=0.03), name


@pytest.mark.parametrize(("stratified", "positives", "f", "printed"), TABLE)
def test_exact_equals_a_simulation(stratified, positives, f, printed):
    compare(60_000, stratified, positives, f)


@pytest.mark.slow
@pytest.mark.parametrize(("stratified", "positives", "f", "printed"), TABLE)
def test_exact_equals_a_million_simulations(stratified, positives, f, printed):
    compare(1_000_000, stratified, positives, f)


def test_a_control_makes_the_error_smaller():
    design, classifier = paper(True, 10, 0.8)
    one, other = (
        expectations(design, classifier, NAMES, Simulation(20_000, 1, controlled=controlled))["pr_re"]
        for controlled in (True, False)
    )
    assert one.mc_error < other.mc_error / 5


def test_simulation_is_repeatable_and_depends_on_the_seed():
    design, classifier = paper(False, 20, 0.8)
    runs = [simulate(design, classifier, ["pr_re"], 25_000, seed)["pr_re"] for seed in (4, 4, 5)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("positives", RISKS)
def test_risk_is_as_printed(positives):
    found = empty_fold_risk(fold_sizes(1000, 10), positives)
    digits = 5 if positives == 10 else 6
    assert round(found, digits) == RISKS[positives]


def test_risk_in_many_trials_is_as_printed():
    sizes = fold_sizes(1000, 10)
    assert round(risk_in(1000, empty_fold_risk(sizes, 80)), 4) == 0.7784
    assert round(risk_in(1000, empty_fold_risk(sizes, 100)), 4) == 0.1367


@pytest.mark.parametrize("shape", [(8, 4, 3), (9, 5, 3), (10, 3, 3), (7, 2, 3), (8, 8, 4), (11, 6, 4)], ids=str)
def test_risk_equals_all_placements(shape):
    instances, positives, folds = shape
    sizes = fold_sizes(instances, folds)
    owner = [fold for fold, size in enumerate(sizes) for _ in range(size)]
    empty = sum(len({owner[i] for i in one}) < folds for one in combinations(range(instances), positives))
    assert empty_fold_risk(sizes, positives) == pytest.approx(empty / comb(instances, positives), abs=1e-15)


@pytest.mark.parametrize("sizes", [(100,) * 10, (7, 5, 9, 30, 12), (50,) * 20], ids=len)
@pytest.mark.parametrize("positives", [20, 35, 60])
def test_the_filter_equals_inclusion_exclusion(sizes, positives, monkeypatch):
    exactly = empty_fold_risk(sizes, positives)
    monkeypatch.setattr(risk_module, "_MOST_TERMS", 0)
    assert empty_fold_risk(sizes, positives) == pytest.approx(exactly, abs=1e-13)


def test_the_risk_of_large_designs():
    sizes = fold_sizes(1_000_000, 10)
    assert empty_fold_risk(sizes, 100) == pytest.approx(10 * 0.9**100, rel=0.02)
    assert empty_fold_risk(sizes, 100_000) == pytest.approx(0, abs=1e-300)
    tiny = empty_fold_risk(sizes, 300)
    assert tiny == pytest.approx(10 * float(np.prod(1 - 300 / (1_000_000 - np.arange(100_000)))), rel=1e-6)


@pytest.mark.parametrize(("stratified", "positives", "risk"), [(True, 10, 0.0), (True, 9, 1.0), (False, 9, 1.0)])
def test_stratified_folds_are_empty_only_if_they_must(stratified, positives, risk):
    assert design_risk(Design(1000, positives, 10, stratified)) == risk


def test_the_sentence():
    folds = [Fold(1, 99)] * 10
    assert sentence(folds, 0.8, 0.8) == "for your design F_avg is expected 6.3 % below the truth"
    assert sentence(folds, 0.8, 0.8, "avg_skip", design="these folds") == (
        "for these folds F_avg_skip is expected 12.0 % above the truth"
    )
    assert sentence(folds, 1.0, 1.0) == "for your design F_avg is expected to be right (within 0.05 %)"
    assert sentence(folds, 0.0, 0.0) is None
    assert sentence([Fold(2, 0)] * 3, 1.0, 0.5) is None
    assert sentence(folds, 0.8, 0.8, "median") is None
