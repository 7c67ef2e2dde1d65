import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_cvaudit.tallies import Curve, cross_fold, crossfold, curves


@st.composite
def folds(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(1, 6))
    rows = draw(st.integers(0, 80))
    levels = draw(st.sampled_from([2, 5, 1000]))
    scores = rng.integers(-levels, levels, rows) / levels
    return rng.integers(0, count, rows), scores, rng.random(rows) < draw(st.sampled_from([0.1, 0.5])), count


def brute(cell, scores, truth, count):
    matrix = np.full((count, count), np.nan)
    for i in range(count):
        for j in range(count):
            high, low = scores[(cell == i) & truth][:, None], scores[(cell == j) & ~truth][None, :]
            if high.size and low.size:
                matrix[i, j] = ((high > low) + 0.5 * (high == low)).mean()
    return matrix


def brute_error(cell, scores, truth, count):
    """Standard error from the matrix of all pairs, as the definition has it."""
    up, down = cell[truth], cell[~truth]
    wins = np.sign(scores[truth][:, None] - scores[~truth][None, :]) / 2 + 0.5
    same = up[:, None] == down[None, :]
    weights = np.where(same, 1 / same.sum(), -1 / (~same).sum())
    sums = []
    for owner, values in ((up, (weights * wins).sum(axis=1)), (down, (weights * wins).sum(axis=0))):
        groups = [values[owner == fold] for fold in range(count) if (owner == fold).any()]
        free = sum(len(group) - 1 for group in groups)
        if not free:
            return None
        pooled = sum(((group - group.mean()) ** 2).sum() for group in groups) / free
        sums.append(sum(len(group) * (group.var(ddof=1) if len(group) > 1 else pooled) for group in groups))
    pairs = []
    for i in range(count):
        for j in range(count):
            part = wins[np.ix_(up == i, down == j)]
            if part.size:
                rest = part - part.mean(axis=1, keepdims=True) - part.mean(axis=0, keepdims=True) + part.mean()
                weight = weights[np.ix_(up == i, down == j)][0, 0]
                pairs.append((weight**2 * part.size, (rest**2).sum(), (part.shape[0] - 1) * (part.shape[1] - 1)))
    pooled = sum(square for _, square, _ in pairs) / sum(free for _, _, free in pairs)
    joint = sum(weight * (square / free if free else pooled) for weight, square, free in pairs)
    return np.sqrt(max(sum(sums) - joint, joint))


@given(folds())
def test_the_matrix_is_that_of_all_pairs(case):
    found = cross_fold(curves(*case))
    np.testing.assert_allclose(found.auc, brute(*case), rtol=0, atol=1e-12)
    assert found.positives.tolist() == np.bincount(case[0][case[2]], minlength=case[3]).tolist()
    assert found.negatives.tolist() == np.bincount(case[0][~case[2]], minlength=case[3]).tolist()


@given(folds())
def test_the_weighted_matrix_is_the_merged_auc_and_its_diagonal_the_folds_own(case):
    parts = curves(*case)
    found = cross_fold(parts)
    assert found.merge == pytest.approx(Curve.merge(parts).measures().auc, abs=1e-12)
    for index, part in enumerate(parts):
        own = part.measures().auc
        assert np.isnan(found.auc[index, index]) if own is None else abs(found.auc[index, index] - own) <= 1e-12


@given(folds())
def test_the_effect_and_its_error_follow_their_definition(case):
    cell, _, truth, count = case
    found = cross_fold(curves(*case))
    both = sum(bool((truth & (cell == i)).any() and (~truth & (cell == i)).any()) for i in range(count))
    if both < 2:
        assert found.effect is None
        assert found.standard_error is None
        return
    assert found.effect == pytest.approx(found.within - found.between, abs=1e-15)
    pairs = np.outer(found.positives, found.negatives)
    share = np.trace(pairs) / pairs.sum()
    assert found.merge == pytest.approx(share * found.within + (1 - share) * found.between, abs=1e-12)
    expected = brute_error(*case)
    assert found.standard_error == (None if expected is None else pytest.approx(expected, abs=1e-10))


@pytest.mark.parametrize("width", [16, 64])
def test_blocks_of_levels_do_not_change_the_result(width, monkeypatch):
    rng = np.random.default_rng(1)
    rows = 4000
    table = (rng.integers(0, 5, rows), rng.random(rows).round(3), rng.random(rows) < 0.3, 5)
    whole = cross_fold(curves(*table))
    monkeypatch.setattr(crossfold, "ELEMENTS", width)
    parts = cross_fold(curves(*table))
    np.testing.assert_allclose(parts.auc, whole.auc, rtol=0, atol=1e-12)
    assert parts.standard_error == pytest.approx(whole.standard_error, rel=1e-9)


def simulate(rng, runs, shift, positives=(20,)):
    ratios = []
    for _ in range(runs):
        cell = np.repeat(np.arange(10), 100)
        truth = np.tile(np.arange(100), 10) < np.resize(positives, 10).repeat(100)
        scores = rng.normal(size=1000) + truth + shift * rng.normal(size=10)[cell]
        found = cross_fold(curves(cell, scores, truth, 10))
        ratios.append(found.effect / found.standard_error)
    return np.array(ratios)


@pytest.mark.parametrize("positives", [(20,), (10, 30)], ids=["equal folds", "unequal folds"])
def test_the_standard_error_is_right_when_folds_do_not_differ(positives):
    # So many runs tell the standard deviation to within 0.02.
    ratios = simulate(np.random.default_rng(0), 1500, 0.0, positives)
    assert abs(ratios.mean()) < 0.2
    assert 0.85 < ratios.std() < 1.15


def test_shifted_folds_show_a_large_effect():
    assert simulate(np.random.default_rng(0), 20, shift=1.0).min() > 3


def test_perfect_folds_that_are_shifted_have_no_spread_within():
    scores, truth = np.array([4.0, 3.0, 2.0, 1.0]), np.array([True, False, True, False])
    found = cross_fold(curves(np.array([0, 0, 1, 1]), scores, truth, 2))
    assert (found.within, found.between, found.merge) == (1, 0.5, 0.75)
    assert found.effect == 0.5
    assert found.standard_error is None


def test_no_folds_and_empty_folds_are_undefined():
    assert cross_fold([]).merge is None
    found = cross_fold([Curve(), Curve()])
    assert found.merge is found.within is found.between is found.effect is found.standard_error is None
    assert np.isnan(found.auc).all()
