"""The shapes in which folds lie in JSON files, and the numbers beside them."""

from __future__ import annotations

import json

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell


@pytest.fixture
def read_json(read):
    def run(value, **options):
        text = value if isinstance(value, str) else json.dumps(value)
        return read({"log.json": text}, **options)

    return run


def f1(log):
    return [str(value) for value in log.scores.values["f1"]]


FOLDS = [{"fold": 0, "f1": 0.5}, {"fold": 1, "f1": 0.6}]


@pytest.mark.parametrize(
    "value",
    [
        {"folds": FOLDS},
        {"folds": [{"f1": 0.5}, {"f1": 0.6}]},
        {"per_fold": [{"f1": 0.5}, {"f1": 0.6}], "n": 90},
        {"model": "svm", "results": {"config": {"C": 1}, "cv": {"folds": FOLDS}}},
        {"folds": [{"fold": 0, "metrics": {"f1": 0.5}}, {"fold": 1, "metrics": {"f1": 0.6}}]},
        {"folds": [{"fold": 0, "test": {"f1": 0.5}, "train": {"f1": 1}}, {"fold": 1, "test": {"f1": 0.6}}]},
        {"folds": FOLDS, "history": [{"epoch": 1, "f1": 0.1}]},
        {"folds": FOLDS, "summary": [{"metric": "f1", "mean": 0.55}]},
        {"per_fold": {"f1": [0.5, 0.6]}, "config": "x"},
        {"f1_per_fold": [0.5, 0.6]},
        {"fold_f1s": [0.5, 0.6], "features": ["a", "b", "c"]},
        {"results": {"fold_0": {"fold": 0, "f1": 0.5}, "fold_1": {"fold": 1, "f1": 0.6}, "mean": {"f1": 0.55}}},
        {"fold": {"0": 0, "1": 1}, "f1": {"0": 0.5, "1": 0.6}},
        {"columns": ["fold", "f1"], "index": [0, 1], "data": [[0, 0.5], [1, 0.6]]},
        {"schema": {"fields": [{"name": "fold"}]}, "data": FOLDS},
        {"folds": {"0": {"f1": 0.5}, "1": {"f1": 0.6}}},
        {"0": {"fold": 0, "f1": 0.5}, "1": {"fold": 1, "f1": 0.6}},
        {"fit_time": [1, 2], "score_time": [1, 2], "test_f1": [0.5, 0.6], "train_f1": [1, 1]},
        {"fit_time": [1, 2], "score_time": [1, 2], "test_f1": [0.5, 0.6], "indices": {"train": [[1], [2]]}},
    ],
)
def test_the_same_two_folds(read_json, value):
    log = read_json(value)
    assert (log.scores.cells, f1(log)) == ((Cell("0"), Cell("1")), ["0.5", "0.6"])


def test_folds_as_keys(read_json):
    log = read_json({"fold_0": {"f1": 0.50}, "fold_1": {"status": "single_class"}, "fold_2": {"f1": 0.7}})
    assert [cell.fold for cell in log.scores.cells] == ["fold_0", "fold_2"]
    assert [(m.cell.fold, m.reason) for m in log.missing] == [("fold_1", "single_class")]


def test_lines_are_those_of_the_records(read_json):
    text = (
        '{\n "folds": [\n  {"fold": 0, "f1": 0.5},\n  {"fold": 1, "metrics":\n   {"f1": null}, "error": "boom"}\n ]\n}'
    )
    (missing,) = read_json(text).missing
    assert (missing.line, missing.reason) == (4, "boom")
    with pytest.raises(InputError) as caught:
        read_json('{"fold_0": {"f1": 0.5},\n\n "fold_1": {"f1": "good"}}')
    assert caught.value.line == 3


def test_repeats_around_folds(read_json):
    log = read_json({"repeats": [{"repeat": r, "folds": [{"f1": 0.1}, {"f1": 0.2}]} for r in (1, 2)]})
    assert log.scores.cells == (Cell("0", "1"), Cell("1", "1"), Cell("0", "2"), Cell("1", "2"))


@pytest.mark.parametrize(
    "beside",
    [
        {"mean_f1": 0.550, "std_f1": 0.07},
        {"f1_mean": 0.550, "f1_std": 0.07},
        {"mean_test_f1": 0.550, "sd_test_f1": 0.07},
        {"mean": {"f1": 0.550}, "std": {"f1": 0.07}},
        {"summary": {"f1": {"mean": 0.550, "std": 0.07}}},
        {"aggregate": {"mean_f1": 0.550, "std_f1": 0.07}},
        {"f1": {"mean": 0.550, "std": 0.07}},
        {"average_fold_f1": 0.550, "stdev_fold_f1": 0.07},
        {"averages": {"mean_f1": 0.550}, "summary": {"f1_sd": 0.07}},
    ],
)
def test_means_beside_the_folds_are_claims(read_json, beside):
    text = json.dumps({**beside, "folds": FOLDS, "n": 9, "mean_age": 61}).replace("0.55", "0.550")
    (claim,) = read_json(text).claims
    assert (str(claim), claim.aggregation) == ("f1 = 0.550 ± 0.07", "avg")


def test_what_is_not_called_a_mean_is_no_claim(read_json):
    assert read_json({"folds": FOLDS, "f1": 0.9, "best_f1": 0.9, "pooled_f1": 0.8, "test_f1": 0.7}).claims == ()
    assert read_json({"folds": FOLDS, "average_precision": 0.9, "avg_precision": 0.9, "f1_macro_avg": 0.8}).claims == ()
    (claim,) = read_json({"folds": FOLDS, "mean_average_precision": 0.9}).claims
    assert claim.metric.name == "ap"


def test_a_mean_over_labels_does_not_say_over_which(read_json):
    (claim,) = read_json({"folds": [{"fold": 0, "macro_f1": 0.5}], "mean_macro_f1": 0.5}).claims
    assert claim.aggregation is None


def test_percentages_beside_the_folds(read_json):
    (claim,) = read_json({"folds": FOLDS, "mean_f1": 55.0, "std_f1": 7}).claims
    assert (claim.printed.value, claim.printed.spread.value) == (0.55, 0.07)


@pytest.mark.parametrize(
    "value",
    [
        {name: {"folds": FOLDS, "mean_f1": 0.55} for name in ("svm", "rf")},
        [{"experiment": name, "folds": FOLDS, "mean_f1": 0.55} for name in ("svm", "rf")],
        {"results": {name: {"folds": FOLDS, "mean_f1": 0.55} for name in ("svm", "rf")}},
    ],
)
def test_several_experiments(read_json, value, tmp_path):
    logs = read_json(value, by=("experiment",))
    assert list(logs) == [("svm",), ("rf",)]
    assert [str(log.claims[0]) for log in logs.values()] == ["f1 = 0.55"] * 2
    one = read_json(value, select={"experiment": "rf"})
    assert (f1(one), len(one.claims)) == (["0.5", "0.6"], 1)


def test_arrays_per_fold(read_json):
    folds = [
        {"y_true": [0, 1, 1], "y_pred": [0, 1, 0], "y_score": [0.1, 0.90, 0.4]},
        {"y_true": [0, 1], "y_pred": [1, 1], "y_score": [0.2, 0.3]},
        {"status": "single_class"},
    ]
    log = read_json({"folds": folds})
    p = log.predictions
    assert (p.cells, p.cell.tolist()) == ((Cell("0"), Cell("1")), [0, 0, 0, 1, 1])
    assert (p.truth.tolist(), p.predicted.tolist()) == ([0, 1, 1, 0, 1], [0, 1, 0, 1, 1])
    assert p.scores["1"].tolist() == [0.1, 0.9, 0.4, 0.2, 0.3]
    assert [(m.cell.fold, m.what, m.reason) for m in log.missing] == [("2", "no predictions", "single_class")]


def test_arrays_per_line(read):
    lines = [json.dumps({"fold": k, "y_true": ["a", "b", "a"], "y_pred": ["a", "a", "b"]}) for k in (3, 4)]
    p = read({"log.jsonl": "\n".join(lines)}).predictions
    assert (p.cell.tolist(), p.truth.tolist()) == ([0, 0, 0, 1, 1, 1], [0, 1, 0, 0, 1, 0])


def test_scores_per_class(read_json):
    fold = {"y_true": ["a", "b"], "y_prob": [[0.9, 0.1], [0.3, 0.7]], "classes": ["a", "b"]}
    p = read_json({"folds": [fold, fold]}).predictions
    assert {label: scores.tolist() for label, scores in p.scores.items()} == {"a": [0.9, 0.3] * 2, "b": [0.1, 0.7] * 2}
    numbered = {"y_true": [0, 1], "y_prob": [[0.9, 0.1], [0.3, 0.7]]}
    assert read_json({"folds": [numbered]}).predictions.scores["1"].tolist() == [0.1, 0.7]


def test_a_row_per_instance_inside_the_folds(read_json):
    rows = [{"y_true": 1, "y_pred": 0}, {"y_true": 0, "y_pred": 0}]
    p = read_json({"folds": [{"fold": 7, "predictions": rows}, {"fold": 8, "predictions": rows}]}).predictions
    assert (p.cells, p.cell.tolist()) == ((Cell("7"), Cell("8")), [0, 0, 1, 1])


ROWS = [{"y_true": 1, "y_pred": 0}, {"y_true": 0, "y_pred": 0}]


@pytest.mark.parametrize(
    "value",
    [
        [{"fold": 7, "predictions": ROWS}, {"fold": 8, "predictions": ROWS}],
        {"fold 7": {"predictions": ROWS}, "fold 8": {"predictions": ROWS}},
        {"split": "random", "note": "x", "cv": 2, "folds": [{"fold": 7, "rows": ROWS}, {"fold": 8, "rows": ROWS}]},
        [{"fold": k, "labels": [1, 0], "preds": [0, 0]} for k in (7, 8)],
        {"folds": [{"fold": k, "labels": [1, 0], "preds": [0, 0]} for k in (7, 8)]},
    ],
)
def test_instances_of_folds(read_json, value):
    p = read_json(value).predictions
    assert [cell.fold[-1] for cell in p.cells] == ["7", "8"]
    assert (p.cell.tolist(), p.truth.tolist(), p.predicted.tolist()) == ([0, 0, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0])


def test_arrays_of_several_models(read_json):
    fold = {"y_true": [1, 0, 1], "y_pred": [0, 0, 1]}
    logs = read_json([{"model": m, "fold": k, **fold} for m in "ab" for k in (0, 1)], by=("model",))
    assert [log.predictions.cell.tolist() for log in logs.values()] == [[0, 0, 0, 1, 1, 1]] * 2


def test_a_matrix_with_its_labels(read_json):
    matrix = {"labels": ["ham", "spam"], "matrix": [[5, 3], [4, 6]]}
    counts = read_json({"folds": [{"confusion_matrix": matrix}, {"confusion_matrix": matrix}]}).counts
    assert (counts.labels, counts.tp.tolist()) == (("ham", "spam"), [[5, 6]] * 2)


def test_sets_of_labels_are_no_arrays(read_json):
    rows = [{"fold": 0, "gold": ["A"], "pred": ["B", "C"]}, {"fold": 1, "gold": ["A", "B"], "pred": ["A"]}]
    assert read_json(rows).predictions.gold.tolist() == [[1, 0, 0], [1, 1, 0]]


def test_a_scaffold_is_no_fold(read_json):
    for name in ("scaffolds", "scaffold_results"):
        with pytest.raises(InputError, match="no fold column"):
            read_json({name: [{"f1": 0.5}, {"f1": 0.6}]})
    for name in ("perFold", "foldResults", "cv-folds", "per_fold_metrics", "kfold"):
        assert f1(read_json({name: [{"f1": 0.5}, {"f1": 0.6}]})) == ["0.5", "0.6"]


def test_a_row_number_is_no_fold(read_json):
    with pytest.raises(InputError, match="no fold column"):
        read_json({"0": {"y_true": 1, "y_pred": 0}, "1": {"y_true": 1, "y_pred": 1}})
    with pytest.raises(InputError, match="no fold column"):
        read_json({"f1": [0.5, 0.6], "accuracy": [0.5, 0.6]})


def test_a_lost_fold_is_never_lost_twice(read_json):
    fold = {"y_true": [1, 0, 1], "y_pred": [0, 0, 1]}
    models = {m: {"folds": [fold, fold if m == "a" else {"status": "failed: memory"}]} for m in "ab"}
    with pytest.raises(InputError, match="fold '1' has no predictions, and of which experiment is not clear"):
        read_json(models, by=("experiment",))
    assert read_json({"model": "m", **models["b"]}, select={"model": "m"}).missing[0].reason == "failed: memory"


def test_claims_of_one_file_are_not_about_several(read):
    files = {f"{m}.json": json.dumps({"model": m, "folds": FOLDS, "mean_f1": 0.55}) for m in "ab"}
    logs = read(files, by=("model",))
    assert [log.claims for log in logs.values()] == [(), ()]


def test_means_among_the_folds(read_json):
    folds = {"fold_0": {"f1": 0.5}, "fold_1": {"f1": 0.6}, "mean": {"f1": 0.55}, "std": {"f1": 0.07}}
    assert [str(claim) for claim in read_json({"results": folds}).claims] == ["f1 = 0.55 ± 0.07"]
    assert [str(claim) for claim in read_json(folds).claims] == ["f1 = 0.55 ± 0.07"]


def test_curves_beside_the_results_of_a_fold(read):
    fold = {"auc": 0.5, "n": 9, "fpr": [0, 0.5, 1], "tpr": [0, 0.4, 1], "features": ["a"]}
    assert read({"0/m.json": json.dumps(fold), "1/m.json": json.dumps(fold)}).scores.n == (9, 9)
    assert read({"log.json": json.dumps({"folds": [fold, fold]})}, paths=("log.json",)).scores.n == (9, 9)


def test_arrays_in_a_file_per_fold(read):
    fold = {"y_true": [1, 0], "y_pred": [1, 1], "model": "m"}
    assert read({"0/m.json": json.dumps(fold), "1/m.json": json.dumps(fold)}).predictions.cell.tolist() == [0, 0, 1, 1]


def test_two_values_of_a_metric(read_json):
    with pytest.raises(InputError, match="two values of 'f1', one of them under 'metrics'") as caught:
        read_json({"folds": [{"fold": 0, "f1": 0.5, "metrics": {"f1": 0.6}}]})
    assert caught.value.path.endswith("log.json")
    assert f1(read_json({"folds": [{"fold": 0, "f1": 0.5, "metrics": {"f1": 0.5}}]})) == ["0.5"]


def test_lines_of_records_under_the_name_of_json(read_json):
    assert f1(read_json('{"fold": 0, "f1": 0.5}\n{"fold": 1, "f1": 0.6}\n')) == ["0.5", "0.6"]
    with pytest.raises(InputError) as caught:
        read_json('{"fold": 0, "f1": 0.5}\n{"fold": 1, "f1": 0.6}\n{"fold"\n')
    assert caught.value.line == 3


@pytest.mark.parametrize("name", ["accuracy_scores", "test_accuracy_scores", "accuracy_scores_per_fold"])
def test_scores_beside_their_mean_are_those_of_folds(read_json, name):
    value = {"model": "svm", name: [0.7, 0.80, 0.75], "features": ["a", "b"], "mean_accuracy": 0.75}
    for document in (value, {"results": value}):
        log = read_json(document)
        assert [cell.fold for cell in log.scores.cells] == ["0", "1", "2"]
        assert [value.value for value in log.scores.values["accuracy"]] == [0.7, 0.8, 0.75]
        assert [str(claim) for claim in log.claims] == ["accuracy = 0.75"]
    logs = read_json({"svm": value, "nb": value}, by=("experiment",))
    assert [len(log.scores.cells) for log in logs.values()] == [3, 3]


def test_scores_of_something_else_are_no_folds(read_json):
    value = {"accuracy_scores": [0.7, 0.8, 0.75], "mean_accuracy": 0.75}
    for beside in ({"seeds": [1, 2, 3]}, {"classes": ["a", "b", "c"]}, {"accuracy_scores": [0.75]}):
        assert read_json(value | beside).scores is None
    with pytest.raises(InputError, match="no fold column"):
        read_json({"accuracy_scores": [0.7, 0.8, 0.75], "accuracy": 0.75})
    with pytest.raises(InputError, match="no records in the file"):
        read_json({"accuracy_scores": [0.7, 0.8, 0.75]})


def test_means_of_the_other_data_are_no_claims(read_json):
    tested = {"fold": 0, "n_val": 9, "test_f1": 0.5}
    means = {"mean_test_f1": 0.5, "mean_val_f1": 0.9}
    assert [str(claim) for claim in read_json({"folds": [tested], **means}).claims] == ["f1 = 0.5"]
    assert [str(claim) for claim in read_json({"val_f1_per_fold": [0.9, 0.9], **means}).claims] == ["f1 = 0.9"]


def test_averages_over_labels_in_brackets(read_json):
    folds = [{"F1 (macro)": 0.5}, {"F1 (macro)": 0.6}]
    log = read_json({"folds": folds, "mean": {"F1 (macro)": 0.55}, "std": {"F1 (macro)": 0.05}})
    assert [str(value) for value in log.scores.values["macro_f1"]] == ["0.5", "0.6"]
    assert [str(claim) for claim in log.claims] == ["macro_f1 = 0.55 ± 0.05"]
