"""Logs with confusion counts."""

from __future__ import annotations

import pytest

from pytest_cvaudit.model import Cell, Protocol, Severity, Status
from pytest_cvaudit.run import Options, audit_log


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


COUNTS = '{{"fold":{},"tp":{},"fp":2,"fn":{},"tn":88,"auc":{}}}'
MATRIX = "# Fold {}\n{}\n\n| | no | yes |\n|---|---|---|\n| no | 90 | {} |\n| yes | 2 | {} |\n\n"
BESIDE_COUNTS = {
    "blank.csv": "fold,tp,fp,fn,tn,precision\n0,8,2,2,88,0.8\n1,0,0,3,97,\n2,7,1,3,89,0.875\n",
    "one_of_two.csv": "fold,tp,fp,fn,tn,precision,recall\n0,8,2,2,88,0.8,0.8\n1,0,0,3,97,,0\n2,7,1,3,89,0.875,0.7\n",
    "null.json": f"[{COUNTS.format(0, 8, 2, 0.9)},{COUNTS.format(1, 0, 0, 'null')},{COUNTS.format(2, 7, 3, 0.92)}]",
    "left_out.md": MATRIX.format(1, "Precision: 0.75", 1, 3) + MATRIX.format(2, "", 0, 0)
    + MATRIX.format(3, "Precision: 0.80", 1, 4),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE_COUNTS)
def test_a_fold_with_counts_has_a_result_whatever_is_blank_beside_them(tmp_path, name):
    path = tmp_path / name
    path.write_text(BESIDE_COUNTS[name])
    (found,) = audit_log(path, Options()).audited
    assert len(found.experiment.counts.cells) == 3
    outcomes = {outcome.code: outcome for outcome in found.outcomes}
    assert outcomes["CV103"].status is Status.PASSED
    # No fold is missing that could hold more positives.
    assert outcomes["CV109"].status is Status.PASSED


def test_a_fold_with_counts_is_not_to_blame_for_untested_instances(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(BESIDE_COUNTS["blank.csv"])
    (found,) = audit_log(path, Options(protocol=Protocol(instances=301))).audited
    (finding,) = (finding for finding in found.findings if finding.code == "CV106")
    assert (finding.severity, "see CV103" in finding.message) == (Severity.ERROR, False)


def test_failed_folds(read):
    log = read("fold,tp,fp,fn,tn,auc,info\n0,1,2,3,4,.5,\n1,,,,,,timeout\n")
    assert log.counts.cells == log.scores.cells == (Cell("0"),)
    assert [(fold.cell, fold.what, fold.reason, fold.line) for fold in log.missing] == [
        (Cell("1"), "every count is blank", "timeout", 3)
    ]
    assert read("fold,tp,fp,fn\n0,,,\n").counts is None
