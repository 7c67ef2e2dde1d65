import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pytest_cvaudit.tallies import Curve

SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308]),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def rows(draw, width=np.float64, most=50):
    size = draw(st.integers(0, most))
    elements = SCORES if width is np.float64 else st.floats(allow_nan=False, allow_infinity=False, width=32)
    return draw(hnp.arrays(width, size, elements=elements)), draw(hnp.arrays(np.bool_, size))


def expected_levels(scores, truth):
    values = np.unique(scores.astype(np.float64) + 0.0)[::-1]
    positives = [int((truth & (scores == value)).sum()) for value in values]
    return values.tolist(), positives, [int((~truth & (scores == value)).sum()) for value in values]


def as_lists(curve):
    return tuple(column.tolist() for column in curve.levels())


@given(rows())
def test_levels_are_the_distinct_scores_with_their_counts(case):
    curve = Curve.from_scores(*case)
    assert as_lists(curve) == expected_levels(*case)
    assert curve.distinct == len(curve.levels()[0])
    assert (curve.positives, curve.negatives) == (case[1].sum(), (~case[1]).sum())


@given(rows(np.float32))
def test_float32_scores_keep_their_values(case):
    assert as_lists(Curve.from_scores(*case)) == expected_levels(*case)


@given(rows(), st.integers(0, 50), st.integers(0, 50))
def test_merged_parts_are_the_curve_of_all_rows(case, first, second):
    scores, truth = case
    cuts = sorted((first, second))
    parts = [slice(0, cuts[0]), slice(cuts[0], cuts[1]), slice(cuts[1], None)]
    curves = [Curve.from_scores(scores[part], truth[part]) for part in parts]
    whole = as_lists(Curve.from_scores(*case))
    assert as_lists(Curve.merge(curves)) == whole
    assert as_lists(curves[0] + curves[1] + curves[2]) == whole
    mixed = [curves[0], Curve.from_levels(*curves[1].levels()), curves[2]]
    assert as_lists(Curve.merge(mixed)) == whole


@given(rows(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case, random):
    order = np.array(random.sample(range(len(case[0])), len(case[0])), np.int64)
    shuffled = Curve.from_scores(case[0][order], case[1][order])
    assert as_lists(shuffled) == as_lists(Curve.from_scores(*case))
    assert shuffled.measures() == Curve.from_scores(*case).measures()


@given(rows())
def test_levels_are_taken_in_either_direction(case):
    levels = Curve.from_scores(*case).levels()
    assert as_lists(Curve.from_levels(*(column[::-1] for column in levels))) == as_lists(Curve.from_levels(*levels))


@pytest.mark.parametrize("truth", [bool, np.uint8, np.int8, np.int64, float])
def test_truth_may_have_any_type(truth):
    curve = Curve.from_scores(np.array([0.1, 0.2, 0.2]), np.array([0, 1, 0]).astype(truth))
    assert as_lists(curve) == ([0.2, 0.1], [1, 0], [1, 1])


def test_neighbouring_floats_are_two_scores_and_both_zeros_are_one():
    values = np.array([0.5, np.nextafter(0.5, 1), 0.0, -0.0])
    assert Curve.from_scores(values, np.array([True, False, True, False])).distinct == 3


def test_many_curves_are_merged():
    rng = np.random.default_rng(3)
    scores, truth = rng.normal(size=1000).round(1), rng.random(1000) < 0.3
    curves = [Curve.from_scores(scores[row : row + 5], truth[row : row + 5]) for row in range(0, 1000, 5)]
    assert as_lists(Curve.merge(curves)) == as_lists(Curve.from_scores(scores, truth))


def test_levels_without_rows_are_dropped():
    curve = Curve.from_levels(np.array([0.1, 0.2, 0.3]), np.array([1, 0, 0]), np.array([0, 0, 2]))
    assert as_lists(curve) == ([0.3, 0.1], [0, 1], [2, 0])


def test_an_empty_curve_is_neutral():
    curve = Curve.from_scores(np.array([0.5]), np.array([True]))
    empty = Curve.merge([])
    assert (empty.positives, empty.negatives, empty.distinct) == (0, 0, 0)
    assert as_lists(empty + curve) == as_lists(curve)
    assert empty.precision_at(1) is None


def test_inputs_are_left_alone():
    scores, truth = np.array([0.3, -0.1, 0.2]), np.array([True, False, True])
    Curve.from_scores(scores, truth).measures()
    assert (scores.tolist(), truth.tolist()) == ([0.3, -0.1, 0.2], [True, False, True])
