"""Tables of well-known tools: scikit-learn's own dumps, caret, mlr3, indicator columns."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Cell


@pytest.fixture(scope="module")
def validated():
    datasets = pytest.importorskip("sklearn.datasets")
    from sklearn.linear_model import RidgeClassifier
    from sklearn.model_selection import cross_validate

    x, y = datasets.load_breast_cancer(return_X_y=True)
    return cross_validate(RidgeClassifier(), x, y, cv=4, scoring=["f1", "roc_auc"], return_train_score=True)


@pytest.fixture(scope="module")
def searched():
    datasets = pytest.importorskip("sklearn.datasets")
    from sklearn.linear_model import RidgeClassifier
    from sklearn.model_selection import GridSearchCV

    x, y = datasets.load_breast_cancer(return_X_y=True)
    search = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 1.0, 10.0]}, cv=4, scoring=["f1", "roc_auc"], refit=False)
    return search.fit(x, y).cv_results_


def listed(results):
    return {name: np.asarray(values).tolist() for name, values in results.items()}


CROSS_VALIDATE = {
    "dict.json": lambda result: json.dumps(listed(result)),
    "frame.csv": lambda result: pd.DataFrame(result).to_csv(),
    "plain.csv": lambda result: pd.DataFrame(result).to_csv(index=False),
    "columns.json": lambda result: pd.DataFrame(result).to_json(double_precision=15),
    "split.json": lambda result: pd.DataFrame(result).to_json(orient="split", double_precision=15),
    "table.json": lambda result: pd.DataFrame(result).to_json(orient="table", double_precision=15),
    "index.json": lambda result: pd.DataFrame(result).to_json(orient="index", double_precision=15),
    "records.json": lambda result: pd.DataFrame(result).to_json(orient="records", double_precision=15),
}


@pytest.mark.parametrize("name", CROSS_VALIDATE)
def test_cross_validate(tmp_path, validated, name):
    (tmp_path / name).write_text(CROSS_VALIDATE[name](validated))
    (one,) = experiment_from_log(tmp_path / name)
    assert one.problem is None, one.problem
    assert [cell.fold for cell in one.cells] == ["0", "1", "2", "3"]
    for metric, test in (("f1", "test_f1"), ("auc", "test_roc_auc")):
        found = [value.value for value in one.scores.values[metric]]
        assert found == pytest.approx(validated[test].tolist(), abs=1e-14)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.csv", "fit_time,score_time,test_score\n1,1,0.5\n1,1,0.6\n"),
        ("log.json", '{"fit_time": [1, 1], "score_time": [1, 1], "test_score": [0.5, 0.6]}'),
        ("inner.json", '{"model": "svm", "cv": {"fit_time": [1, 1], "score_time": [1, 1], "test_score": [0.5, 0.6]}}'),
    ],
)
def test_cross_validate_with_one_unnamed_score(read, name, text):
    with pytest.raises(InputError, match=r"columns: \{accuracy: test_score\}"):
        read({name: text})
    log = read({name: text}, columns={"f1": "test_score"})
    assert [cell.fold for cell in log.scores.cells] == ["0", "1"]
    assert [str(value) for value in log.scores.values["f1"]] == ["0.5", "0.6"]


def test_cross_validate_of_several_models(read):
    text = "model,fit_time,score_time,test_f1\n" + "".join(f"{m},1,1,.{k}\n" for m in "ab" for k in (5, 6))
    logs = read(text, by=("model",))
    assert [log.scores.cells for log in logs.values()] == [(Cell("0"), Cell("1"))] * 2
    with pytest.raises(InputError, match=r"by: \[model\]"):
        read(text)


SEARCH = {
    "cv_results.csv": lambda results: pd.DataFrame(results).to_csv(),
    "dict.json": lambda results: json.dumps(listed(results)),
    "columns.json": lambda results: pd.DataFrame(results).to_json(double_precision=15),
    "records.json": lambda results: pd.DataFrame(results).to_json(orient="records", double_precision=15),
}


@pytest.mark.parametrize("name", SEARCH)
def test_each_candidate_of_a_search_is_an_experiment(tmp_path, searched, name):
    (tmp_path / name).write_text(SEARCH[name](searched))
    found = experiment_from_log(tmp_path / name)
    assert len(found) == 3
    for at, one in enumerate(found):
        assert [value.value for value in one.scores.values["f1"]] == pytest.approx(
            [searched[f"split{k}_test_f1"][at] for k in range(4)], abs=1e-14
        )
        claimed = {claim.metric.name: claim.printed for claim in one.claims}
        assert claimed["auc"].value == pytest.approx(searched["mean_test_roc_auc"][at], abs=1e-14)
        assert claimed["auc"].spread.value == pytest.approx(searched["std_test_roc_auc"][at], abs=1e-14)
    best = str(int(np.argmin(searched["rank_test_f1"])))
    (one,) = experiment_from_log(tmp_path / name, select={"rank_test_f1": "1"}, claims=["f1 = 0.9"])
    assert one.name == name.split(".")[0]
    assert one.scores.values["f1"][0].value == pytest.approx(searched["split0_test_f1"][int(best)], abs=1e-14)


def test_the_mean_of_a_candidate_with_decimal_commas(read):
    log = read("params;split0_test_f1;split1_test_f1;mean_test_f1;std_test_f1\n{};0,5;0,6;0,55;0,05\n")
    assert [str(claim) for claim in log.claims] == ["f1 = 0.55 ± 0.05"]


CARET = """pred,obs,no,yes,rowIndex,C,Resample
no,no,0.9,0.1,1,1,Fold1.Rep1
yes,yes,0.2,0.8,2,1,Fold2.Rep1
no,no,0.7,0.3,1,1,Fold2.Rep2
yes,no,0.4,0.6,2,1,Fold1.Rep2
"""


def test_caret(read):
    p = read(CARET).predictions
    assert p.cells == (Cell("Fold1", "Rep1"), Cell("Fold2", "Rep1"), Cell("Fold1", "Rep2"), Cell("Fold2", "Rep2"))
    assert (p.cell.tolist(), p.ids.tolist()) == ([0, 1, 3, 2], ["1", "2", "1", "2"])
    assert p.scores["yes"].tolist() == [0.1, 0.8, 0.3, 0.6]


def test_caret_without_repeats_and_with_settings(read):
    text = CARET.replace(".Rep1", "").replace("Fold2.Rep2", "Fold3").replace("Fold1.Rep2", "Fold4")
    assert [cell.fold for cell in read(text).predictions.cells] == ["Fold1", "Fold2", "Fold3", "Fold4"]
    both = CARET + CARET.partition("\n")[2].replace(",1,Fold", ",2,Fold")
    assert len(read(both, by=("C",))) == 2
    with pytest.raises(InputError, match=r"by: \[C\]"):
        read(both)


def test_mlr3(read):
    text = "row_ids,truth,response,prob.a,prob.b,iteration\n1,a,a,.9,.1,1\n2,b,a,.8,.2,1\n3,b,b,.1,.9,2\n"
    p = read(text).predictions
    assert (p.cells, p.ids.tolist()) == ((Cell("1"), Cell("2")), ["1", "2", "3"])
    assert (p.truth.tolist(), p.predicted.tolist(), p.scores["b"].tolist()) == ([0, 1, 1], [0, 0, 1], [0.1, 0.2, 0.9])


@pytest.mark.parametrize("names", ["true_a,true_b,pred_a,pred_b", "y_true_a,y_true_b,y_pred_a,y_pred_b"])
def test_indicator_columns(read, names):
    p = read(f"fold,{names}\n0,1,0,1,1\n1,0,0,1.0,0\n").predictions
    assert (p.labels, p.gold.tolist(), p.predicted_sets.tolist()) == (("a", "b"), [[1, 0], [0, 0]], [[1, 1], [1, 0]])


def test_labels_between_bars_are_asked_about(read):
    with pytest.raises(InputError, match=r"'a\|b' .* may be one label or several; if several, say separator: '\|'"):
        read("fold,y_true,y_pred\n0,a|b,a\n1,a,b\n")
    with pytest.raises(InputError, match="separator: ';'"):
        read("fold,y_true,y_pred\n0,a;b,b;c\n1,c;d,a;b\n")
    assert read("fold,y_true,y_pred\n0,a|b,a\n1,a,b\n", separator="|").predictions.gold.tolist() == [[1, 1], [1, 0]]
    assert read("fold,y_true,y_pred\n0,a|b,a\n1,a,b\n", labels=("a", "b", "a|b")).predictions.gold is None


def test_fractions_may_be_declared_labels(read):
    text = "fold,y_true,y_pred\n0,0.5,1.0\n1,1.0,0.5\n"
    with pytest.raises(InputError, match=r"declare labels: \[0\.5, …\]"):
        read(text)
    assert read(text, labels=("0.5", "1.0")).predictions.truth.tolist() == [0, 1]


def test_one_fold_written_in_two_ways(read):
    with pytest.raises(InputError, match="may be one fold or two; write each fold in one way"):
        read("fold,y_true,y_pred\n1,1,0\n01,0,0\n")
