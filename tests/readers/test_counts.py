"""Logs with confusion counts."""

from __future__ import annotations

import pytest

from pytest_cvaudit.model import Cell


@pytest.mark.parametrize(
    "text",
    [
        "fold,tp,fp,fn,tn\n1,4,1,0,371\n0,3,0,0,373\n",
        "Fold,TP,FP,n_pos,n_neg\n1,4,1,4,372\n0,3,0,3,373\n",
        "fold,true_positives,false_positives,false_negatives,n\n1,4,1,0,376\n0,3,0,0,376\n",
        "fold,negatives,positives,tp,fp,n\n1,372,4,4,1,376\n0,373,3,3,0,376\n",
        "fold,tp,fp,fn,tn\n0.0,3.0,0.0,0.0,373.0\n1.0,4.0,1.0,0.0,371.0\nmean,3.5,0.5,0,372\n",
    ],
)
def test_two_labels(read, text):
    log = read(text)
    c = log.counts
    assert (c.cells, c.labels, c.single_label) == ((Cell("0"), Cell("1")), ("positive", "negative"), True)
    assert c.tp.tolist() == [[3, 373], [4, 371]]
    assert c.fp.tolist() == [[0, 0], [1, 0]]
    assert c.fn.tolist() == [[0, 0], [0, 1]]
    assert c.tn.tolist() == [[373, 3], [371, 4]]
    assert log.predictions is None
    assert log.scores is None


def test_labels_take_declared_names(read):
    text = "fold,tp,fp,fn,tn\n0,1,2,3,4\n"
    assert read(text, positive="spam", labels=("ham", "spam")).counts.labels == ("spam", "ham")
    assert read(text, positive="spam").counts.labels == ("spam", "negative")


def test_without_true_negatives_only_the_positive_label_is_known(read):
    c = read("fold,tp,fp,positives\n0,1,2,4\n").counts
    assert (c.labels, c.tp.tolist(), c.fp.tolist(), c.fn.tolist(), c.tn) == (("positive",), [[1]], [[2]], [[3]], None)
    assert not c.single_label


def test_labels_in_rows(read):
    c = read("fold,label,tp,fp,fn,tn\n0,b,1,0,1,2\n0,a,2,1,0,1\n1,a,1,1,1,1\n1,b,1,1,1,1\n").counts
    assert (c.labels, c.tp.tolist(), c.single_label) == (("a", "b"), [[2, 1], [1, 1]], True)


def test_single_label_tables_tell_their_true_negatives(read):
    c = read("fold,class,tp,fp,fn\n0,a,2,1,0\n0,b,1,0,1\n").counts
    assert (c.single_label, c.tn.tolist()) == (True, [[1, 2]])


def test_multi_label_tables_are_seen_as_such(read):
    c = read("fold,class,tp,fp,fn\n0,a,2,1,0\n0,b,1,0,0\n").counts
    assert (c.single_label, c.tn) == (False, None)
    assert not read("fold,class,tp,fp,fn,tn\n0,a,2,1,0,1\n0,b,1,0,0,3\n").counts.single_label


def test_metrics_beside_counts(read):
    log = read("fold,tp,fp,fn,tn,auc\n0,1,2,3,4,0.50\n1,1,2,3,4,\n")
    assert log.counts is not None
    assert [value and str(value) for value in log.scores.values["auc"]] == ["0.50"]
    assert [(fold.cell, fold.what, fold.line) for fold in log.missing] == [(Cell("1"), "every metric is blank", 3)]


def test_failed_folds(read):
    log = read("fold,tp,fp,fn,tn,auc,info\n0,1,2,3,4,.5,\n1,,,,,,timeout\n")
    assert log.counts.cells == log.scores.cells == (Cell("0"),)
    assert [(fold.cell, fold.what, fold.reason, fold.line) for fold in log.missing] == [
        (Cell("1"), "every count is blank", "timeout", 3)
    ]
    assert read("fold,tp,fp,fn\n0,,,\n").counts is None
