from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from pytest_cvaudit.tallies import Curve, blocks, cells, curves, fewlevels, keys, rank, smallcells, sorting, sweep

CLOSE = 1e-12
DRAW = {
    "uniform": lambda rng, n: rng.random(n),
    "lattice": lambda rng, n: rng.integers(0, 20, n) / 19,
    "signed": lambda rng, n: rng.normal(size=n),
    "signed lattice": lambda rng, n: rng.integers(-5, 5, n) * 0.5,
    "float32": lambda rng, n: rng.random(n).astype(np.float32),
    "coarse float32": lambda rng, n: rng.random(n).astype(np.float16).astype(np.float32),
    "signed float32 with zeros": lambda rng, n: (rng.normal(size=n) * (rng.random(n) < 0.5)).astype(np.float32),
    "both zeros": lambda rng, n: rng.choice([0.0, -0.0, 0.3, 0.7], n) * rng.random(n),
    "extremes": lambda rng, n: rng.choice([5e-324, 1e300, -1e300, -5e-324, 0.0, -0.0, 1.0, 2.0], n),
    "all magnitudes": lambda rng, n: 10 ** rng.uniform(-300, 300, n),
    "few odd values": lambda rng, n: rng.choice(rng.normal(size=30), n),
    "rare values": lambda rng, n: np.where(rng.random(n) < 0.01, rng.random(n), 0.25),
    "zero": lambda _, n: np.zeros(n),
    "one value": lambda _, n: np.full(n, -3.5),
}


@st.composite
def tables(draw, most=400):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, count = draw(st.integers(0, most)), draw(st.sampled_from([1, 2, 3, 10, 40]))
    scores = DRAW[draw(st.sampled_from(sorted(DRAW)))](rng, rows)
    cell = rng.integers(0, count, rows).astype(draw(st.sampled_from([np.int16, np.uint16, np.int64])))
    if draw(st.booleans()):
        cell = np.sort(cell)
    truth = rng.random(rows) < draw(st.sampled_from([0.02, 0.3, 0.6, 1.0]))
    return cell, scores, truth, count


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request):
    return request.param


@pytest.fixture(params=["large", "small"], ids=["blocks as they are", "tiny blocks"])
def sizes(request):
    """Shrink the blocks so that a few hundred rows take every path that millions would."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "small":
            for module in (blocks, keys, sorting, smallcells):
                patch.setattr(module, "BLOCK", 32)
            patch.setattr(sweep, "MARK", 4)
            patch.setattr(fewlevels, "SAMPLE", 64)
            patch.setattr(fewlevels, "_BLOCK", 50)
            patch.setattr(cells, "SMALL_CELL", 8)
        yield request.param


def check(found, expected):
    for (name, value), wanted in zip(vars(found).items(), astuple(expected), strict=True):
        assert (value is None) == (wanted is None), name
        assert value is None or abs(value - wanted) <= CLOSE * max(1, abs(wanted)), name


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=tables())
def test_every_cell_has_the_curve_of_its_rows(case, threads, sizes):
    cell, scores, truth, _count = case
    for index, curve in enumerate(curves(*case, threads=threads)):
        expected = np.unique(scores[cell == index].astype(float) + 0.0)[::-1]
        values, positives, negatives = curve.levels()
        assert np.array_equal(values, expected)
        assert (curve.positives, curve.negatives) == (positives.sum(), negatives.sum())
        own = cell == index
        assert positives.tolist() == [int((truth & own & (scores == value)).sum()) for value in values]
        assert curve.distinct == len(values)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=tables())
def test_rank_gives_the_measures_of_every_cell_and_of_all_rows(case, threads, sizes):
    cell, scores, truth, _count = case
    each, merged = rank(*case, threads=threads)
    for index, found in enumerate(each):
        levels = Curve.from_scores(scores[cell == index], truth[cell == index]).levels()
        check(found, Curve.from_levels(*levels).measures())
    check(merged, Curve.from_levels(*Curve.from_scores(scores, truth).levels()).measures())


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=tables())
def test_a_merged_curve_is_measured_as_the_curve_of_all_rows(case, threads, sizes):
    _, scores, truth, _ = case
    merged = Curve.merge(curves(*case, threads=threads))
    whole = Curve.from_scores(scores, truth)
    expected = Curve.from_levels(*whole.levels())
    assert all(map(np.array_equal, merged.levels(), expected.levels()))
    assert merged.distinct == expected.distinct
    check(merged.measures(threads=threads), expected.measures())
    check(whole.measures(threads=threads), expected.measures())
    for k in (1, len(scores) // 2, len(scores)):
        assert merged.precision_at(k) == expected.precision_at(k)


@pytest.mark.parametrize("kind", sorted(DRAW))
def test_many_rows_take_the_quick_paths(kind):
    rng = np.random.default_rng(11)
    rows = 30_000
    case = (
        rng.integers(0, 6, rows).astype(np.int16),
        DRAW[kind](rng, rows),
        (rng.random(rows) < 0.2).view(np.uint8),
        6,
    )
    each, merged = rank(*case, threads=2)
    for index in range(6):
        own = case[0] == index
        check(each[index], Curve.from_levels(*Curve.from_scores(case[1][own], case[2][own]).levels()).measures())
    check(merged, Curve.from_scores(case[1], case[2]).measures())


@pytest.mark.parametrize("odd", [[3.0], [-1.0, 0.5], [2.0**33], [2.0**32 + 1], [1e300], [0.123456789]], ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_scores_beyond_those_that_were_sampled_are_counted_too(odd, threads):
    rng = np.random.default_rng(3)
    rows = 40_000
    scores = rng.integers(0, 101, rows) / 100
    # Row 0 and every fourth row after it are looked at before counting, these are not.
    scores[1 : 1 + len(odd)] = odd
    cell, truth = rng.integers(0, 3, rows).astype(np.int16), (rng.random(rows) < 0.4).view(np.uint8)
    each, merged = rank(cell, scores, truth, 3, threads=threads)
    check(merged, Curve.from_scores(scores, truth).measures())
    for index, found in enumerate(each):
        own = cell == index
        check(found, Curve.from_scores(scores[own], truth[own]).measures())


@pytest.mark.parametrize("base", [5e9, -3e9, 1e300, 2.0**40])
def test_few_scores_far_from_zero(base):
    rng = np.random.default_rng(4)
    rows = 20_000
    scores = base + rng.integers(0, 7, rows)
    cell, truth = rng.integers(0, 3, rows).astype(np.int16), (rng.random(rows) < 0.4).view(np.uint8)
    _, merged = rank(cell, scores, truth, 3)
    assert merged.auc == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)


def test_levels_that_are_all_larger_than_a_block():
    rng = np.random.default_rng(6)
    scores = np.repeat([0.25, 0.75], 600_000)
    truth = rng.random(1_200_000) < scores
    merged = Curve.from_scores(scores[::2], truth[::2]) + Curve.from_scores(scores[1::2], truth[1::2])
    check(merged.measures(), Curve.from_levels(*merged.levels()).measures())
    assert merged.measures().auc == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)


def test_one_level_larger_than_a_block_and_many_small_ones():
    rng = np.random.default_rng(5)
    scores = np.where(rng.random(400_000) < 0.9, 0.5, rng.random(400_000))
    truth = rng.random(400_000) < scores
    parts = [Curve.from_scores(scores[part::3], truth[part::3]) for part in range(3)]
    expected = Curve.from_levels(*Curve.from_scores(scores, truth).levels()).measures()
    for threads in (1, 2):
        check(Curve.merge(parts).measures(threads=threads), expected)


def test_only_some_measures_may_be_asked_for():
    rng = np.random.default_rng(2)
    table = (rng.integers(0, 3, 90), rng.random(90), rng.random(90) < 0.5, 3)
    each, merged = rank(*table, which=["auc"])
    assert all(one.auc is not None and one.ap is None and one.brier is None for one in [*each, merged])
    with pytest.raises(ValueError, match="unknown"):
        rank(*table, which=["nothing"])


def test_inputs_are_left_alone():
    rng = np.random.default_rng(2)
    table = (rng.integers(0, 3, 90), rng.normal(size=90), rng.random(90) < 0.5)
    before = [column.copy() for column in table]
    rank(*table, 3, threads=2)
    assert all(map(np.array_equal, before, table))
