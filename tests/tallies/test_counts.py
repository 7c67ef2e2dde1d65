import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import multilabel_confusion_matrix

from pytest_cvaudit.tallies import Counts, count_label_sets, count_labels
from pytest_cvaudit.tallies import counts as module

PARTS = ("tp", "fp", "fn", "tn", "n", "correct")


def same(first: Counts, second: Counts) -> bool:
    return all(np.array_equal(getattr(first, part), getattr(second, part)) for part in PARTS)


@st.composite
def single(draw, most_labels=6):
    cells, labels = draw(st.integers(1, 5)), draw(st.integers(1, most_labels))
    rows = draw(st.integers(0, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lowest = draw(st.sampled_from([0, -1]))
    kind = draw(st.sampled_from([np.int8, np.int16, np.int32, np.int64][labels > 127 :]))
    columns = (rng.integers(low, high, rows) for low, high in ((0, cells), (0, labels), (lowest, labels)))
    return (*(column.astype(kind) for column in columns), cells, labels)


@st.composite
def sets(draw):
    cells, labels, rows = draw(st.integers(1, 4)), draw(st.integers(1, 5)), draw(st.integers(0, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    most = draw(st.sampled_from([2, 4]))
    gold = rng.integers(0, 2, (rows, labels)).astype(np.uint8)
    return rng.integers(0, cells, rows), gold, rng.integers(0, most, (rows, labels)).astype(np.uint8), cells


def brute_labels(cell, truth, predicted, cells, labels):
    table = np.zeros((4, cells, labels), np.int64)
    for c, t, p in zip(cell, truth, predicted, strict=True):
        for label in range(labels):
            table[{(1, 1): 0, (0, 1): 1, (1, 0): 2, (0, 0): 3}[int(t == label), int(p == label)], c, label] += 1
    return table


@given(single())
def test_every_label_is_counted_against_the_rest(case):
    cell, _truth, _predicted, cells, _labels = case
    found = count_labels(*case)
    tp, fp, fn, tn = brute_labels(*case)
    for part, expected in zip((found.tp, found.fp, found.fn, found.tn), (tp, fp, fn, tn), strict=True):
        assert part.dtype == np.int64
        assert np.array_equal(part, expected)
    assert np.array_equal(found.n, np.bincount(cell, minlength=cells))
    assert np.array_equal(found.correct, tp.sum(axis=1))
    assert np.array_equal(found.positives, tp + fn)
    assert np.array_equal(found.predicted, tp + fp)


@given(single(most_labels=200))
def test_the_joint_and_the_marginal_histograms_agree(case):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "JOINT_BINS", 1 << 30)
        joint = count_labels(*case)
        patch.setattr(module, "JOINT_BINS", 0)
        assert same(joint, count_labels(*case))


@given(single())
def test_counts_are_those_of_scikit_learn(case):
    cell, truth, predicted, _cells, labels = case
    found = count_labels(*case)
    for index in np.unique(cell):
        chosen = cell == index
        matrices = multilabel_confusion_matrix(truth[chosen], predicted[chosen], labels=range(labels))
        assert np.array_equal(found.tn[index], matrices[:, 0, 0])
        assert np.array_equal(found.fp[index], matrices[:, 0, 1])
        assert np.array_equal(found.fn[index], matrices[:, 1, 0])
        assert np.array_equal(found.tp[index], matrices[:, 1, 1])


@pytest.mark.parametrize("block", [module.COUNT_BLOCK, 6_000], ids=["one block", "many blocks"])
@pytest.mark.parametrize("kind", [np.int8, np.int16])
@pytest.mark.parametrize(
    ("cells", "labels"), [(10, 2), (4, 3), (3, 2), (8, 4), (1, 256), (256, 1), (2, 128), (64, 2), (300, 2)]
)
def test_many_rows_are_counted_whatever_the_number_of_codes(cells, labels, kind, block, monkeypatch):
    monkeypatch.setattr(module, "COUNT_BLOCK", block)
    rng = np.random.default_rng(cells)
    rows = 200_003
    cell, truth, predicted = (
        rng.integers(0, size, rows).astype(kind if size <= 128 else np.int16) for size in (cells, labels, labels)
    )
    found = count_labels(cell, truth, predicted, cells, labels)
    joint = np.zeros((cells, labels, labels), np.int64)
    np.add.at(joint, (cell, truth, predicted), 1)
    assert np.array_equal(found.tp, np.diagonal(joint, axis1=1, axis2=2))
    assert np.array_equal(found.positives, joint.sum(axis=2))
    assert np.array_equal(found.predicted, joint.sum(axis=1))


@given(single(), st.integers(0, 60), st.randoms(use_true_random=False))
def test_halves_add_up_to_the_whole_in_any_order(case, cut, random):
    *columns, cells, labels = case
    order = np.array(random.sample(range(len(columns[0])), len(columns[0])), np.int64)
    columns = [column[order] for column in columns]
    halves = [
        count_labels(*(column[part] for column in columns), cells, labels) for part in (slice(cut), slice(cut, None))
    ]
    assert same(halves[0] + halves[1], count_labels(*case))


@given(sets())
def test_label_sets_are_counted_label_by_label(case):
    cell, gold, predicted, cells = case
    found = count_label_sets(*case)
    table = np.zeros((4, cells, gold.shape[1]), np.int64)
    correct = np.zeros(cells, np.int64)
    for c, real, said in zip(cell, gold, predicted, strict=True):
        for label in range(len(real)):
            hit = min(1, int(real[label] > 0 and said[label] > 0))
            table[0, c, label] += hit
            table[1, c, label] += int(said[label]) - hit
            table[2, c, label] += int(real[label] > 0 and said[label] == 0)
            table[3, c, label] += int(real[label] == 0 and said[label] == 0)
        correct[c] += bool((real == said).all())
    for part, expected in zip((found.tp, found.fp, found.fn, found.tn), table, strict=True):
        assert np.array_equal(part, expected)
    assert np.array_equal(found.correct, correct)
    assert np.array_equal(found.n, np.bincount(cell, minlength=cells))


def test_a_label_predicted_three_times_is_one_hit_and_two_false_alarms():
    found = count_label_sets(np.array([0]), np.array([[1]], np.uint8), np.array([[3]], np.uint8), 1)
    assert (found.tp[0, 0], found.fp[0, 0], found.fn[0, 0], found.correct[0]) == (1, 2, 0, 0)


def test_the_example_of_two_rows_with_three_labels():
    gold = np.array([[1, 0, 0], [1, 0, 0]], np.uint8)
    predicted = np.array([[0, 1, 1], [1, 0, 0]], np.uint8)
    found = count_label_sets(np.array([0, 0]), gold, predicted, 1)
    assert [part[0].tolist() for part in (found.tp, found.fp, found.fn, found.tn)] == [
        [1, 0, 0],
        [0, 1, 1],
        [1, 0, 0],
        [0, 1, 1],
    ]
    assert found.correct.tolist() == [1]


@given(sets(), st.integers(0, 30))
def test_halves_of_label_sets_add_up(case, cut):
    cell, gold, predicted, cells = case
    halves = [count_label_sets(cell[p], gold[p], predicted[p], cells) for p in (slice(cut), slice(cut, None))]
    assert same(halves[0] + halves[1], count_label_sets(*case))


def test_more_than_255_rows_of_a_cell_do_not_overflow():
    rows = 1000
    gold = np.ones((rows, 2), np.uint8)
    found = count_label_sets(np.zeros(rows, np.int16), gold, gold, 1)
    assert found.tp.tolist() == [[rows, rows]]


def test_unknown_correct_rows_stay_unknown_in_a_sum():
    known = count_labels(np.array([0]), np.array([0]), np.array([0]), 1, 1)
    unknown = Counts(known.tp, known.fp, known.fn, known.tn, known.n)
    assert (known + unknown).correct is None
    assert (known + known).correct.tolist() == [2]


def test_counts_of_other_shapes_are_not_added():
    one = count_labels(np.array([0]), np.array([0]), np.array([0]), 1, 1)
    two = count_labels(np.array([0]), np.array([0]), np.array([0]), 1, 2)
    with pytest.raises(ValueError, match="cannot be added"):
        one + two


def test_inputs_are_left_alone():
    cell, truth, predicted = np.zeros(3, np.uint8), np.array([0, 1, 1], np.uint8), np.array([0, 1, 0], np.uint8)
    count_labels(cell, truth, predicted, 1, 2)
    assert (cell.tolist(), truth.tolist(), predicted.tolist()) == ([0, 0, 0], [0, 1, 1], [0, 1, 0])
