"""A confusion matrix per fold."""

from __future__ import annotations

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell

MATRICES = [
    '"[[50, 3], [4, 43]]"',
    '"[[50 3]\n [ 4 43]]"',
    '"array([[50, 3],\n       [4, 43]])"',
    '"[[50.0, 3.], [4, 43]]"',
]


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("name", ["confusion_matrix", "cm", "conf_mat"])
def test_as_text(read, name, matrix):
    c = read(f"fold,{name}\n1,{matrix}\n0,{matrix}\n").counts
    assert (c.cells, c.labels, c.single_label) == ((Cell("0"), Cell("1")), ("0", "1"), True)
    assert [x.tolist()[0] for x in (c.tp, c.fp, c.fn, c.tn)] == [[50, 43], [4, 3], [3, 4], [43, 50]]


def test_in_json_beside_scores(read):
    log = read({"log.json": '{"folds": [{"cm": [[5, 3], [4, 6]], "auc": 0.70}, {"cm": null, "status": "boom"}]}'})
    assert (log.counts.tp.tolist(), str(log.scores.values["auc"][0])) == ([[5, 6]], "0.70")
    assert [(m.cell.fold, m.what, m.reason) for m in log.missing] == [("1", "the confusion matrix is blank", "boom")]


def test_many_labels(read):
    text = 'fold,cm\n0,"[[1, 2, 3], [4, 5, 6], [7, 8, 9]]"\n'
    c = read(text).counts
    assert (c.labels, c.tp.tolist(), c.fp.tolist(), c.fn.tolist()) == (
        ("0", "1", "2"), [[1, 5, 9]], [[11, 10, 9]], [[5, 10, 15]],
    )  # fmt: skip
    assert read(text, labels=("a", "b", "c")).counts.labels == ("a", "b", "c")


def test_the_order_of_labels_is_never_guessed(read):
    text = 'fold,cm\n0,"[[50, 3], [4, 43]]"\n'
    assert read(text, labels=("ham", "spam"), positive="ham").counts.tp.tolist() == [[50, 43]]
    with pytest.raises(InputError, match=r"or sorted; if as declared, say so with columns: \{matrix: cm\}"):
        read(text, labels=("spam", "ham"))
    assert read(text, labels=("spam", "ham"), columns={"matrix": "cm"}).counts.labels == ("spam", "ham")
    with pytest.raises(InputError, match="which is 'spam' is not known; declare labels:"):
        read(text, positive="spam")


def test_a_turned_matrix_is_noticed(read):
    with pytest.raises(InputError, match="only if its rows are the predicted labels"):
        read('fold,cm,recall\n0,"[[50, 3], [4, 43]]",0.9348\n')
    assert read('fold,cm,recall\n0,"[[50, 3], [4, 43]]",0.9149\n').counts is not None
