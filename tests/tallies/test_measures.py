import itertools
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics

from pytest_cvaudit.tallies import Curve

CLOSE = 1e-12
LEVELS = [0.0, -0.0, 0.25, 0.5, 1.0, 5e-324]
PROBABILITY = st.one_of(st.sampled_from(LEVELS), st.floats(0, 1))
ANY = st.one_of(
    st.sampled_from([*LEVELS, -1.0, -0.25, 1e300, -1e300, -5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def rows(draw, scores=ANY, most=40, both=False):
    size = draw(st.integers(2 if both else 0, most))
    values = draw(hnp.arrays(np.float64, size, elements=scores))
    truth = draw(hnp.arrays(np.bool_, size))
    if both:
        truth[:2] = True, False
    return values, truth


def thresholds(scores, truth):
    return [(scores >= level) for level in np.unique(scores)[::-1]]


@given(rows(both=True))
def test_auc_and_average_precision_are_those_of_scikit_learn(case):
    scores, truth = case
    found = Curve.from_scores(*case).measures()
    # Ranks keep the order and the ties, and spare scikit-learn the differences of huge scores.
    ranks = np.unique(scores, return_inverse=True)[1]
    assert abs(found.auc - metrics.roc_auc_score(truth, ranks)) <= CLOSE
    assert abs(found.ap - metrics.average_precision_score(truth, ranks)) <= CLOSE


@given(rows(both=True))
def test_the_best_thresholds_are_found(case):
    scores, truth = case
    found = Curve.from_scores(*case).measures()
    f1 = [metrics.f1_score(truth, chosen) for chosen in thresholds(scores, truth)]
    mcc = [metrics.matthews_corrcoef(truth, chosen) for chosen in thresholds(scores, truth)]
    assert abs(found.max_f1 - max(f1)) <= CLOSE
    assert abs(found.max_mcc - max(mcc)) <= CLOSE


@given(rows(both=True))
def test_the_area_under_kappa_is_the_trapezoid_over_the_roc_points(case):
    scores, truth = case
    points = [np.zeros(len(truth), bool), *thresholds(scores, truth)]
    kappa = []
    for chosen in points:
        agreement, predicted, share = np.mean(chosen == truth), chosen.mean(), truth.mean()
        chance = share * predicted + (1 - share) * (1 - predicted)
        kappa.append((agreement - chance) / (1 - chance))
    false = [chosen[~truth].mean() for chosen in points]
    assert abs(Curve.from_scores(*case).measures().auk - np.trapezoid(kappa, false)) <= CLOSE


@given(rows(PROBABILITY, both=True))
def test_the_probability_scores_are_those_of_scikit_learn(case):
    scores, truth = case
    found = Curve.from_scores(*case).measures()
    assert abs(found.brier - metrics.brier_score_loss(truth, np.abs(scores))) <= CLOSE
    assert abs(found.log_loss - metrics.log_loss(truth, np.abs(scores))) <= 1e-12 * max(1, found.log_loss)


def own_thresholds(truth):
    """Average precision and won pairs of an order in which every row has its own threshold."""
    tp = np.cumsum(truth)
    precision = (tp / np.arange(1, len(truth) + 1))[truth].sum() / truth.sum()
    return precision, tp[~truth].sum() / (truth.sum() * (~truth).sum())


@given(rows(st.sampled_from([0.0, 0.5, 1.0]), most=6, both=True), st.integers(1, 6))
def test_the_tie_bounds_are_the_worst_and_the_best_order(case, k):
    scores, truth = case
    curve = Curve.from_scores(*case)
    found = curve.measures()
    orders = [
        truth[list(order)]
        for order in itertools.permutations(range(len(truth)))
        if (np.diff(scores[list(order)]) <= 0).all()
    ]
    ap, auc = zip(*map(own_thresholds, orders), strict=True)
    assert found.ap_low == pytest.approx(min(ap), abs=CLOSE)
    assert found.ap_high == pytest.approx(max(ap), abs=CLOSE)
    assert found.auc_low == pytest.approx(min(auc), abs=CLOSE)
    assert found.auc_high == pytest.approx(max(auc), abs=CLOSE)
    assert found.auc == pytest.approx(np.mean(auc), abs=CLOSE)
    if k > len(truth):
        assert curve.precision_at(k) is None
    else:
        precision = [order[:k].mean() for order in orders]
        expected = (np.mean(precision), min(precision), max(precision))
        assert curve.precision_at(k) == pytest.approx(expected, abs=CLOSE)


@given(rows())
def test_bounds_enclose_the_auc_and_levels_give_the_same_measures(case):
    curve = Curve.from_scores(*case)
    found = curve.measures()
    if found.auc is not None:
        assert 0 <= found.auc_low <= found.auc <= found.auc_high <= 1
    other = Curve.from_levels(*curve.levels()).measures()
    for value, wanted in zip(astuple(other), astuple(found), strict=True):
        assert (value is None) == (wanted is None)
        assert value is None or abs(value - wanted) <= CLOSE * max(1, abs(wanted))


@pytest.mark.parametrize(
    ("truth", "defined"),
    [
        ([], set()),
        ([1, 1], {"ap", "ap_low", "ap_high", "max_f1", "brier", "log_loss"}),
        ([0, 0], {"brier", "log_loss"}),
    ],
)
def test_measures_without_one_class_are_undefined(truth, defined):
    found = Curve.from_scores(np.linspace(0.1, 0.9, len(truth)), np.array(truth, bool)).measures()
    values = {name: value for name, value in vars(found).items() if name not in ("positives", "negatives")}
    assert {name for name, value in values.items() if value is not None} == defined


@pytest.mark.parametrize("outside", [-0.1, 1.1, np.nextafter(1.0, 2.0), -5e-324])
def test_scores_outside_the_unit_interval_are_no_probabilities(outside):
    found = Curve.from_scores(np.array([0.5, outside]), np.array([True, False])).measures()
    assert found.brier is None
    assert found.log_loss is None
    assert found.auc is not None


def test_only_the_measures_asked_for_are_given():
    found = Curve.from_scores(np.array([0.5, 0.2]), np.array([True, False])).measures(["auc", "brier"])
    assert (found.auc, found.auc_low, found.auc_high) == (1, 1, 1)
    assert found.brier == pytest.approx(0.145)
    assert found.ap is found.max_f1 is found.max_mcc is found.auk is found.log_loss is None
    with pytest.raises(ValueError, match="unknown ranking measures: gini"):
        Curve.from_scores(np.array([0.5]), np.array([True])).measures(["gini"])


def test_precision_at_needs_a_positive_number_of_rows():
    curve = Curve.from_scores(np.array([0.5, 0.2]), np.array([True, False]))
    assert curve.precision_at(0) is None
    assert curve.precision_at(1) == (1, 1, 1)
    assert curve.precision_at(3) is None


def test_pairs_beyond_64_bits_are_counted():
    many = 4_000_000_000
    found = Curve.from_levels(np.array([2.0, 1.0]), np.array([many, 0]), np.array([0, many])).measures()
    assert (found.auc, found.auc_low, found.auc_high, found.ap) == (1, 1, 1, 1)
