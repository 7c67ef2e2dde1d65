"""Files that could be taken for something else than they are: read right, or refused."""

from __future__ import annotations

import json

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell


def labels(rows, codes):
    return [rows.labels[code] for code in codes]


@pytest.mark.parametrize("name", ["set", "subset", "phase", "stage", "dataset"])
@pytest.mark.parametrize("tested", ["val", "valid", "Validation", "dev"])
def test_validation_rows_are_tested_where_no_test_rows_are(read, name, tested):
    log = f"fold,{name},id,y_true,y_pred\n0,train,a,1,1\n0,{tested},b,0,1\n1,train,b,1,1\n1,{tested},a,0,0\n"
    rows = read(log).predictions
    assert (rows.ids.tolist(), labels(rows, rows.predicted)) == (["b", "a"], ["1", "0"])
    assert rows.training.marks.tolist() == ["a", "b"]


def test_a_split_column_beside_the_fold(read):
    log = "fold,split,y_true,y_pred\n0,train,1,1\n0,test,0,1\n1,train,1,1\n1,test,0,0\n"
    with pytest.raises(InputError, match=r"columns: {fold: fold}"):
        read(log)
    assert len(read(log, columns={"fold": "fold"}).predictions.cell) == 2


def test_rows_of_no_known_subset(read):
    head = "fold,{},y_true,y_pred\n"
    with pytest.raises(InputError, match=r"'dev', 'val'; say which was tested with select: {set: dev}"):
        read(head.format("set") + "0,train,1,1\n0,val,1,1\n0,dev,0,0\n")
    with pytest.raises(InputError, match=r"'extra' beside 'test', 'train'"):
        read(head.format("set") + "0,train,1,1\n0,test,1,1\n0,extra,0,0\n")
    with pytest.raises(InputError, match="training rows and none that were tested"):
        read(head.format("set") + "0,train,1,1\n0,train,0,1\n")
    assert len(read(head.format("mode") + "0,train,1,1\n0,bus,1,1\n0,car,0,0\n").predictions.cell) == 3


@pytest.mark.parametrize("name", ["is_train", "train", "is_test"])
def test_a_flag_for_training_rows_is_asked_about(read, name):
    log = f"fold,{name},y_true,y_pred\n0,1,1,1\n0,0,0,1\n1,1,1,1\n1,0,0,0\n"
    with pytest.raises(InputError, match=rf"column '{name}' seems to tell .* select: {{{name}: 0}}"):
        read(log)
    assert len(read(log, select={name: "0"}).predictions.cell) == 2


@pytest.mark.parametrize("name", ["epoch", "inner_fold", "trial", "checkpoint", "estimator"])
def test_several_models_in_a_fold(read, name):
    with pytest.raises(InputError, match=rf"column '{name}' has several values in fold '0'"):
        read(f"fold,{name},y_true,y_pred\n0,1,1,1\n0,2,1,0\n1,1,0,0\n1,2,0,0\n")


def test_a_run_for_each_fold_is_no_repeat(read):
    times = ["2024-01-01 10:00", "2024-01-01 10:05", "2024-01-01 10:10"]
    log = "run,fold,f1\n" + "".join(f"{time},{fold},.5\n" for fold, time in enumerate(times))
    assert read(log).scores.cells == (Cell("0"), Cell("1"), Cell("2"))
    assert len({cell.repeat for cell in read(log, columns={"repeat": "run"}).scores.cells}) == 3
    with pytest.raises(InputError, match="no value of column 'run' is in two folds, and some folds have several"):
        read("run,fold,y_true,y_pred\na,0,1,1\nb,0,0,0\nc,1,1,1\n")


@pytest.mark.parametrize(
    ("true", "guessed", "says"),
    [
        (["cat", "dog"], ["0", "0"], "no predicted label is a true one"),
        (["-1", "1"], ["0", "1"], "in another code"),
        (["1", "2"], ["0", "1"], "in another code"),
        (["0", "1", "2"], ["1", "2", "3"], "in another code"),
        (["Cat", "Dog"], ["Cat", "dog"], "'dog' in column 'y_pred' and 'Dog' in column 'y_true' may be one"),
        (["True", "False"], ["TRUE", "False"], "'TRUE' in column 'y_pred' and 'True'"),
        (["1", "2"], ["01", "2"], "'01' in column 'y_pred' and '1'"),
        (["True", "TRUE"], ["True", "True"], "'TRUE' and 'True' in column 'y_true' are one label"),
    ],
)
def test_labels_in_two_codes(read, true, guessed, says):
    log = "fold,y_true,y_pred\n" + "".join(f"0,{one},{other}\n" for one, other in zip(true, guessed, strict=True))
    with pytest.raises(InputError, match=says):
        read(log)
    assert read(log, labels=tuple(sorted({*true, *guessed}))).predictions is not None


def test_labels_that_capitals_tell_apart(read):
    assert read("fold,y_true,y_pred\n0,a,A\n0,A,a\n0,b,b\n").predictions.labels == ("A", "a", "b")


@pytest.mark.parametrize("name", ["prob_0", "class_0_prob", "prob_class0", "prob_class_0", "0_proba"])
def test_the_probability_of_class_zero(read, name):
    scores = read(f"fold,y_true,{name}\n0,1,.1\n0,0,.8\n").predictions.scores
    assert {label: values.tolist() for label, values in scores.items()} == {"0": [0.1, 0.8]}


@pytest.mark.parametrize("name", ["neg_prob", "negative_prob", "error_prob", "train_prob", "non_event_prob"])
def test_a_probability_of_something_else(read, name):
    with pytest.raises(InputError, match="no column holds predicted labels or scores"):
        read(f"fold,y_true,{name}\n0,1,.1\n0,0,.8\n")
    assert not read(f"fold,y_true,y_pred,{name}\n0,1,1,.1\n0,0,1,.8\n").predictions.scores


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas(read, separator):
    log = "fold;y_true;y_score\n0;1;0,75\n0;0;1\n1;1;0,003\n1;0;1e-3\n".replace(";", separator)
    assert read(log).predictions.scores["1"].tolist() == [0.75, 1, 0.003, 0.001]
    scores = read("fold;f1;accuracy\n0;0,70;85,5\n1;0,5;90 %\n".replace(";", separator).replace(" %", "")).scores
    assert [str(value) for value in scores.values["f1"]] == ["0.70", "0.5"]
    assert [value.value for value in scores.values["accuracy"]] == [0.855, 0.9]
    assert [cell.fold for cell in read("fold;f1\n0,0;0,7\n1,0;0,8\n".replace(";", separator)).scores.cells] == [
        "0",
        "1",
    ]


@pytest.mark.parametrize("count", ["1,234", "1.234", "1 234", "1_234"])
def test_thousands(read, count):
    with pytest.raises(InputError, match=rf"log\.csv:2: '{count}' in column 'tp'"):
        read(f"fold;tp;fp;fn;tn\n0;{count};5;6;7\n")


@pytest.mark.parametrize("head", ["fold,y_true,y_pred", "fold,f1,auc"])
def test_files_that_were_appended_to_each_other(read, head):
    with pytest.raises(InputError, match=r"log\.csv:4: the row has 'fold' in column 'fold', as the header does"):
        read(f"{head}\n0,1,1\n1,0,0\n{head}\n2,1,1\n")


@pytest.mark.parametrize(
    "name", ["mean ± std", "CV mean", "Mean (5 folds)", "min", "max", "std dev", "mean_of_folds", "25%", "count"]
)
def test_rows_that_sum_up_numbered_folds(read, name):
    assert [cell.fold for cell in read(f"fold,f1\n0,.5\n1,.6\n{name},.55\n").scores.cells] == ["0", "1"]


def test_a_person_is_no_summary(read):
    log = read("subject,f1\nMax,.5\nAnna,.6\nmean,.55\n", columns={"fold": "subject"})
    assert [cell.fold for cell in log.scores.cells] == ["Anna", "Max"]


def test_a_number_of_folds_is_no_fold(read):
    with pytest.raises(InputError, match="column 'cv' may be the number of folds"):
        read("cv,f1\n5,.5\n")


def test_a_row_of_totals_is_no_label(read):
    log = "fold,class,tp,fp,fn\n0,a,1,2,3\n0,b,3,2,1\n0,all,4,4,4\n"
    with pytest.raises(InputError, match="label 'all' in column 'class' seems to sum up the others"):
        read(log)
    assert read(log, labels=("a", "b", "all")).counts is not None


MATRICES = [[[9, 2], [1, 8]], [[7, 4], [3, 6]]]


@pytest.mark.parametrize(
    "log",
    [
        [{"fold": i, "cm": cm, "labels": ["sick", "fine"]} for i, cm in enumerate(MATRICES)],
        {"classes": ["sick", "fine"], "folds": [{"fold": i, "cm": cm} for i, cm in enumerate(MATRICES)]},
        {"class_names": ["sick", "fine"], "fold_0": {"cm": MATRICES[0]}, "fold_1": {"cm": MATRICES[1]}},
    ],
)
def test_the_labels_beside_a_matrix(read, log):
    counts = read({"log.json": json.dumps(log)}).counts
    assert counts.labels == ("sick", "fine")
    assert counts.fn.tolist() == [[2, 1], [4, 3]]


def test_labels_that_do_not_fit_the_matrix(read):
    with pytest.raises(InputError, match="3 labels stand beside a matrix of 2 rows"):
        read({"log.json": json.dumps({"classes": [2, 1, 0], "folds": [{"fold": 0, "cm": MATRICES[0]}]})})


ROWS = "y_true,y_pred\n0,1\n1,1\n"


@pytest.mark.parametrize(
    "names",
    [
        ("epoch1.csv", "epoch2.csv"),
        ("seed_1.csv", "seed_2.csv"),
        ("m_class0.csv", "m_class1.csv"),
        ("train/p.csv", "test/p.csv"),
        ("svm/p.csv", "rf/p.csv"),
        ("seed-1/p.csv", "seed-2/p.csv"),
    ],
)
def test_paths_that_tell_something_else_than_folds(read, names):
    with pytest.raises(InputError, match=r"no fold column; .* or with 'directory', 'file' if its name tells the fold"):
        read(dict.fromkeys(names, ROWS))
    column = "directory" if "/" in names[0] else "file"
    assert len(read(dict.fromkeys(names, ROWS), columns={"fold": column}).predictions.cells) == 2


def test_directories_of_seeds_with_the_same_folds(read):
    rows = "fold,y_true,y_pred\n0,0,1\n1,1,0\n"
    with pytest.raises(InputError, match=r"several files have fold '0'; .* by: \[directory\]"):
        read({"seed_1/p.csv": rows, "seed_2/p.csv": rows}, paths=("*/p.csv",))


def test_objects_of_models_and_of_repeats(read):
    folds = {"fold_0": {"f1": 0.1}, "fold_1": {"f1": 0.2}, "mean": {"f1": 0.15}}
    logs = read({"log.json": json.dumps({"svm": folds, "rf": folds})}, by=("experiment",))
    assert {key: [str(claim) for claim in log.claims] for key, log in logs.items()} == {
        ("svm",): ["f1 = 0.15"],
        ("rf",): ["f1 = 0.15"],
    }
    models = {"svm": folds, "rf": folds}
    logs = read({"log.json": json.dumps({"iris": models, "wine": models})}, by=("experiment",))
    assert list(logs) == [("iris/svm",), ("iris/rf",), ("wine/svm",), ("wine/rf",)]
    del folds["mean"]
    cells = read({"log.json": json.dumps({"repeat_0": folds, "repeat_1": folds})}).scores.cells
    assert [cell.repeat for cell in cells] == ["repeat_0", "repeat_0", "repeat_1", "repeat_1"]
    with pytest.raises(InputError, match="under 'train' and 'test'"):
        read({"log.json": json.dumps({"train": folds, "test": folds})})


def test_a_mean_that_was_measured_elsewhere_is_no_claim(read):
    folds = [{"fold": 0, "val_f1": 0.5}, {"fold": 1, "val_f1": 0.6}]
    log = read({"log.json": json.dumps({"folds": folds, "mean_val_f1": 0.55, "mean_test_f1": 0.4})})
    assert [str(claim) for claim in log.claims] == ["f1 = 0.55"]
    folds = [{"fold": 0, "test_f1": 0.5}, {"fold": 1, "test_f1": 0.6}]
    log = read({"log.json": json.dumps({"folds": folds, "mean_test_f1": 0.55})})
    assert [str(claim) for claim in log.claims] == ["f1 = 0.55"]


@pytest.mark.parametrize("value", ["1e9999999999999999999", "1e-9999999999999999999", "1e999", "9" * 5000])
def test_absurd_numbers(read, value):
    with pytest.raises(InputError, match=r"log\.csv:2: "):
        read(f"fold,log_loss\n0,{value}\n")


def test_two_columns_of_scores_where_one_names_a_label(read):
    with pytest.raises(InputError, match="columns 'proba_1', 'y_prob' may all be the score"):
        read("fold,y_true,proba_1,y_prob\n0,1,.1,.2\n0,0,.9,.8\n")
    rows = read("fold,y_true,proba_0,proba_1,y_prob\n0,1,.1,.9,.2\n0,0,.8,.2,.8\n").predictions
    assert list(rows.scores) == ["0", "1"]


def test_a_joined_file_that_contradicts_the_log(read):
    files = {"oof.csv": "id,y_true,y_score\nb,1,.4\na,0,.5\n", "folds.csv": "id,fold,y_true\na,0,0\nb,1,0\n"}
    with pytest.raises(InputError, match=r"oof\.csv:2: y_true is '1' here and '0' in .*folds\.csv"):
        read(files, paths=("oof.csv",), join="folds.csv")
