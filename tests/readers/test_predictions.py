"""Logs with a row per instance."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell
from pytest_cvaudit.model.labels import conventional_positive, sorted_labels


def test_labels_folds_and_scores(read):
    p = read("fold,id,y_true,y_pred,y_score\n10,a,0,1,0.75\n2,b,1,1,0.1\n10,c,1,0,0.30000000000000004\n").predictions
    assert p.cells == (Cell("2"), Cell("10"))
    assert p.cell.tolist() == [1, 0, 1]
    assert p.labels == ("0", "1")
    assert p.truth.tolist() == [0, 1, 1]
    assert p.predicted.tolist() == [1, 1, 0]
    assert p.scores["1"].tolist() == [0.75, 0.1, 0.30000000000000004]
    assert p.ids.tolist() == ["a", "b", "c"]
    assert (p.cell.dtype, p.truth.dtype, p.predicted.dtype) == (np.int8, np.int8, np.int8)


@pytest.mark.parametrize(
    "truth", ["true_label", "Truth", "actual", "label", "target", "gold", "y", "ground-truth", "obs"]
)
@pytest.mark.parametrize("predicted", ["prediction", "predictions", "Predicted", "y pred", "pred", "y.hat"])
@pytest.mark.parametrize("fold", ["fold", "Fold_Index", "cv-fold", "Key_Fold", "split", "kfold"])
def test_names_of_columns(read, truth, predicted, fold):
    p = read(f"{fold},{truth},{predicted}\n0,a,b\n1,b,b\n").predictions
    assert (p.labels, p.truth.tolist(), p.predicted.tolist()) == (("a", "b"), [0, 1], [1, 1])


@pytest.mark.parametrize(
    "score",
    [
        "score",
        "y_score",
        "probability",
        "proba",
        "svm_prob",
        "oof_proba",
        "prediction_oof",
        "decision_function",
        "confidence",
        "prediction",
    ],
)
def test_one_score_speaks_for_the_positive_label(read, score):
    p = read(f"fold,y_true,{score}\n0,0,0.25\n0,1,0.75\n").predictions
    assert p.predicted is None
    assert {label: values.tolist() for label, values in p.scores.items()} == {"1": [0.25, 0.75]}


@pytest.mark.parametrize(
    "header",
    [
        "score_a,score_b",
        "confidence.a,confidence.b",
        "proba_a,proba_b",
        "p_a,p_b",
        "a,b",
        "a_prob,b_prob",
        "y_prob_a,y_prob_b",
    ],
)
def test_scores_of_each_label(read, header):
    p = read(f"fold,y_true,{header}\n0,a,0.75,0.25\n0,b,0.5,0.5\n").predictions
    assert {label: values.tolist() for label, values in p.scores.items()} == {"a": [0.75, 0.5], "b": [0.25, 0.5]}


def test_score_column_of_a_label_that_never_occurs_adds_the_label(read):
    p = read("fold,truth,prediction,confidence.-1,confidence.0,confidence.3\n0,3,0,0,0,1\n0,0,3,0,1,0\n").predictions
    assert p.labels == ("-1", "0", "3")
    assert set(p.scores) == {"-1", "0", "3"}


def test_other_columns_named_like_scores_are_left_alone(read):
    p = read("fold,y_true,y_pred,p_value\n0,a,b,0.5\n0,b,b,0.5\n").predictions
    assert (p.labels, p.scores) == (("a", "b"), {})


def test_given_columns_come_first(read):
    text = "subject,label,target,model_out,q\ns1,x,0,1,0.5\ns2,y,1,0,0.25\n"
    p = read(text, columns={"fold": "subject", "truth": "target", "predicted": "model_out", "score_0": "q"}).predictions
    assert p.cells == (Cell("s1"), Cell("s2"))
    assert (p.truth.tolist(), p.predicted.tolist(), p.scores["0"].tolist()) == ([0, 1], [1, 0], [0.5, 0.25])


def test_correct_is_the_truth_where_it_holds_classes(read):
    p = read("fold,prediction,correct\n0,cat,dog\n0,dog,dog\n").predictions
    assert (p.labels, p.truth.tolist()) == (("cat", "dog"), [1, 1])


def test_correct_beside_the_truth_is_not_the_truth(read):
    p = read("fold,y_true,y_pred,correct\n0,1,1,True\n0,0,1,False\n").predictions
    assert p.truth.tolist() == [1, 0]


def test_text_of_labels_is_kept(read):
    p = read("fold,y_true,y_pred\n007,01,NA\n007,NA,None\n").predictions
    assert p.cells == (Cell("007"),)
    assert p.labels == ("01", "NA", "None")


def test_integers_that_became_floats_are_integers(read):
    p = read("fold,run,y_true,y_pred\n0.0,1.0,1.0,1\n1.0,1.0,0.0,1\n").predictions
    assert p.cells == (Cell("0", "1"), Cell("1", "1"))
    assert p.labels == ("0", "1")


def test_repeats(read):
    p = read("repeat,fold,y_true,y_pred\n1,0,a,a\n0,1,a,b\n0,0,b,b\n").predictions
    assert p.cells == (Cell("0", "0"), Cell("1", "0"), Cell("0", "1"))
    assert p.cell.tolist() == [2, 1, 0]


def test_declared_labels_and_positive(read):
    text = "fold,y_true,score\n0,ham,0.1\n0,ham,0.9\n"
    p = read(text, positive="spam", labels=("spam", "ham")).predictions
    assert (p.labels, p.truth.tolist(), list(p.scores)) == (("ham", "spam"), [0, 0], ["spam"])


def test_threshold_makes_labels_only_where_none_are_logged(read):
    text = "fold,y_true,score{}\n0,no,0.4{}\n0,yes,0.5{}\n"
    assert read(text.format("", "", ""), threshold=0.5).predictions.predicted.tolist() == [0, 1]
    assert read(text.format(",y_pred", ",no", ",no"), threshold=0.5).predictions.predicted.tolist() == [0, 0]
    assert read(text.format("", "", "")).predictions.predicted is None


def test_one_score_for_three_labels_is_not_used(read):
    p = read("fold,y_true,y_pred,score\n0,a,b,0.1\n0,b,b,0.2\n0,c,c,0.3\n").predictions
    assert p.scores == {}
    with pytest.raises(InputError, match="cannot speak for 'a', 'b', 'c'"):
        read("fold,y_true,score\n0,a,0.1\n0,b,0.2\n0,c,0.3\n")


def test_parts_agree_on_the_positive_label(read):
    logs = read("task,fold,y_true,score\na,0,0,.1\na,0,1,.2\nb,0,0,.3\nc,0,neg,.1\nc,0,pos,.1\n", by=("task",))
    assert list(logs) == [("a",), ("b",), ("c",)]
    assert [log.predictions.labels for log in logs.values()] == [("0", "1"), ("0", "1"), ("neg", "pos")]
    assert [list(log.predictions.scores) for log in logs.values()] == [["1"], ["1"], ["pos"]]


def test_select_keeps_matching_rows(read):
    text = "split,fold,y_true,y_pred\ntrain,0,1,1\ntest,0,0,1\ntest,1,1,1\n"
    p = read(text, select={"split": "test"}).predictions
    assert (p.cells, p.truth.tolist()) == ((Cell("0"), Cell("1")), [0, 1])


@pytest.mark.parametrize(
    ("rows", "separator"),
    [
        (["A;B", "", "B;B"], ";"),
        (["[A B]", "[]", "[B B]"], None),
        (['"[""A"", ""B""]"', "[]", '"[""B"",""B""]"'], None),
        (["\"['A', 'B']\"", "[]", "\"['B', 'B']\""], None),
        (['"[A, B]"', "[]", '"[B, B]"'], None),
    ],
)
def test_several_labels_in_a_cell(read, rows, separator):
    p = read("fold,y_true,y_pred\n" + "".join(f"0,{row},{row}\n" for row in rows), separator=separator).predictions
    assert (p.truth, p.predicted, p.labels) == (None, None, ("A", "B"))
    assert p.gold.tolist() == p.predicted_sets.tolist() == [[1, 1], [0, 0], [0, 2]]
    assert p.gold.dtype == np.uint8


def test_lists_in_json(read):
    p = read(
        {"log.json": '[{"fold": 0, "gold": ["A"], "pred": ["B", "C"]}, {"fold": 0, "gold": [], "pred": [7]}]'}
    ).predictions
    assert p.labels == ("7", "A", "B", "C")
    assert p.gold.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]
    assert p.predicted_sets.tolist() == [[0, 0, 1, 1], [1, 0, 0, 0]]


def test_many_labels_get_wider_codes(read):
    p = read("fold,y_true,y_pred\n" + "".join(f"{i},c{i},c0\n" for i in range(300))).predictions
    assert p.truth.dtype == p.cell.dtype == np.int16
    assert p.labels[:3] == ("c0", "c1", "c2")
    assert p.truth.tolist() == list(range(300))


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ("01", "1"),
        (["-1", "1"], "1"),
        (["True", "False"], "True"),
        (["Yes", "no"], "Yes"),
        (["NEG", "POS"], "POS"),
        (["negative", "positive"], "positive"),
        ("ab", None),
        ("012", None),
        ("1", None),
        ("", None),
    ],
)
def test_conventional_positive(labels, positive):
    assert conventional_positive(labels) == positive


def test_order_of_labels():
    assert sorted_labels(["b10", "b9", "10", "9", "-3", "a", "a"]) == ("-3", "9", "10", "a", "b9", "b10")
