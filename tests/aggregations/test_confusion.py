"""Confusion matrices against scikit-learn, and the split counts of multi-label data against the worked example."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from pytest_cvaudit.aggregations import confusion
from pytest_cvaudit.model import Cell, Predictions


def multi(gold, predicted):
    labels = ("A", "B", "C")

    def counted(sets):
        return np.array([[row.count(label) for label in labels] for row in sets], dtype=np.uint8)

    rows = np.zeros(len(gold), dtype=np.int64)
    return confusion(Predictions((Cell("0"),), rows, labels, gold=counted(gold), predicted_sets=counted(predicted)))


def test_the_worked_example_of_split_counts():
    found = multi(["A", "A"], ["BC", "A"])
    assert found.labels == ("A", "B", "C")
    assert found.by_row.tolist() == [[1, 0.5, 0.5], [0, 0, 0], [0, 0, 0]]
    assert found.by_column.tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert found.split


def test_what_has_no_counterpart_meets_none():
    found = multi(["A", "", "AB"], ["", "C", "A"])
    assert found.labels[-1] == "NONE"
    assert found.by_row[0].tolist() == [1, 0, 0, 1]
    assert found.by_row[1].tolist() == [0, 0, 0, 1]
    assert found.by_row[3].tolist() == [0, 0, 1, 0]


label_sets = st.lists(st.text("ABC", max_size=4), min_size=1, max_size=12)


@given(label_sets, st.randoms(use_true_random=False))
def test_rows_add_up_to_gold_and_columns_to_predictions(gold, random):
    gold = ["".join(sorted(set(row))) for row in gold]
    predicted = ["".join(random.choices("ABC", k=random.randrange(4))) for _ in gold]
    found = multi(gold, predicted)
    for index, label in enumerate("ABC"):
        assert np.isclose(found.by_row[index].sum(), sum(row.count(label) for row in gold))
        assert np.isclose(found.by_column[:, index].sum(), sum(row.count(label) for row in predicted))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_single_label_as_scikit_learn(pairs):
    truth, predicted = (np.array(column) for column in zip(*pairs, strict=True))
    rows = Predictions((Cell("0"),), np.zeros(len(truth), dtype=np.int64), tuple("0123"), truth, predicted)
    found = confusion(rows)
    assert found.by_row.tolist() == confusion_matrix(truth, predicted, labels=range(4)).tolist()
    assert not found.split
