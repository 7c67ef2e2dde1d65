"""Training rows and feature hashes beside the tested rows."""

from __future__ import annotations

LOG = """fold,set,row_id,hash,y_true,y_pred
0,test,a,x1,1,1
0,test,b,x2,0,0
0,train,c,x3,1,
0,train,a,x1,1,
1,test,c,x3,1,0
1,train,b,x2,0,
"""


def test_training_rows_are_kept_apart_from_tested_ones(read):
    rows = read(LOG).predictions
    assert rows.ids.tolist() == ["a", "b", "c"]
    assert rows.cell.tolist() == [0, 0, 1]
    assert list(zip(rows.training.cell.tolist(), rows.training.marks.tolist(), strict=True)) == [
        (0, "c"),
        (0, "a"),
        (1, "b"),
    ]


def test_hashes_are_read_as_text(read):
    assert read(LOG).predictions.hashes.tolist() == ["x1", "x2", "x3"]


def test_without_ids_the_hash_marks_the_training_rows(read):
    rows = read(LOG.replace("row_id", "remark")).predictions
    assert rows.ids is None
    assert rows.training.marks.tolist() == ["x3", "x1", "x2"]


def test_training_rows_of_a_fold_that_is_not_tested_are_left_out(read):
    rows = read(LOG.replace("1,test,c,x3,1,0\n", "")).predictions
    assert [cell.fold for cell in rows.cells] == ["0"]
    assert rows.training.marks.tolist() == ["c", "a"]


def test_a_set_column_with_other_values_means_nothing(read):
    rows = read("fold,set,y_true,y_pred\n0,blue,1,1\n0,red,0,0\n1,red,1,1\n").predictions
    assert len(rows.cell) == 3
    assert rows.training is None


def test_the_declared_group_is_read(read):
    log = "fold,patient,y_true,y_pred\n0,p1,1,1\n0,p2,0,0\n1,p3,1,1\n"
    assert read(log, group="patient").predictions.groups.tolist() == ["p1", "p2", "p3"]
    assert read(log).predictions.groups is None
    assert read(log, group="fold").predictions.groups is None
