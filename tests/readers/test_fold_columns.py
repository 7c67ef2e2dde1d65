"""Tables with a column per fold."""

from __future__ import annotations

import json

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Protocol
from pytest_cvaudit.readers import LogSpec, read_log

MODELS = "model,n,fold_0,fold_1,fold_2\nsvm,99,0.5,0.60,0.7\nrf,99,0.6,0.7,failed\n"


def texts(log, metric="f1"):
    return [str(value) for value in log.scores.values[metric]]


@pytest.fixture
def parts(tmp_path):
    def run(name, content, **options):
        (tmp_path / name).write_text(content)
        return read_log(LogSpec(paths=(name,), base=tmp_path, **options), Protocol())

    return run


@pytest.mark.parametrize(
    ("name", "columns"), [("log.csv", {"metric": "f1"}), ("f1.csv", {}), ("f1_per_fold.csv", {}), ("f1_scores.csv", {})]
)
def test_a_row_per_model_of_one_metric(parts, name, columns):
    logs = parts(name, MODELS, columns=columns)
    assert list(logs) == [("svm",), ("rf",)]
    assert texts(logs["svm",]) == ["0.5", "0.60", "0.7"]
    assert [cell.fold for cell in logs["rf",].scores.cells] == ["0", "1"]
    assert [(one.cell.fold, one.line) for one in logs["rf",].missing] == [("2", 3)]
    assert not logs["svm",].scores.n  # 99 is no size of a fold


def test_of_what_the_values_are_is_asked(parts):
    with pytest.raises(InputError, match=r"'fold_2' hold the values of folds, but not of what; .*metric: f1") as caught:
        parts("results.csv", MODELS)
    assert caught.value.remedy == {"columns": {"metric": "f1"}}


def test_a_mean_with_decimal_commas(parts):
    logs = parts("f1.csv", "model;fold_0;fold_1;mean;std\nsvm;0,5;0,6;0,55;0,05\nrf;0,6;0,7;0,65;0,05\n")
    assert [str(claim) for log in logs.values() for claim in log.claims] == ["f1 = 0.55 ± 0.05", "f1 = 0.65 ± 0.05"]


def test_one_model_is_selected(parts):
    (log,) = parts("log.csv", MODELS, columns={"metric": "f1"}, select={"model": "svm"}).values()
    assert texts(log) == ["0.5", "0.60", "0.7"]


@pytest.mark.parametrize("head", ["metric", "", "Unnamed: 0"])
def test_a_row_per_metric_with_its_mean(parts, head):
    table = f"{head},Fold 1,Fold 2,Mean,Std\nf1,.5,.6,.55,.05\nroc_auc,.7,.9,.8,.1\nfit_time,3,4,3.5,.5\n"
    log = parts("log.csv", table)[()]
    assert (texts(log), texts(log, "auc")) == ([".5", ".6"], [".7", ".9"])
    assert [str(claim) for claim in log.claims] == ["f1 = .55 ± .05", "auc = .8 ± .1"]
    assert {claim.aggregation for claim in log.claims} == {"avg"}


def test_means_go_to_their_model(parts):
    table = "model,metric,fold1,fold2,mean\na,f1,.1,.2,.15\na,auc,.3,.4,.35\nb,f1,.5,.6,.55\nb,auc,.7,.8,.75\n"
    logs = parts("log.csv", table)
    assert [[str(claim) for claim in log.claims] for log in logs.values()] == [
        ["f1 = .15", "auc = .35"],
        ["f1 = .55", "auc = .75"],
    ]


@pytest.mark.parametrize("names", ["fold_0_f1,fold_1_f1,fold_0_loss", "f1_fold_0,f1_fold_1,train_f1_fold_0"])
def test_columns_named_after_fold_and_metric(parts, names):
    logs = parts("log.csv", f"model,{names}\na,.1,.2,9\nb,.3,.4,9\n")
    assert {key: texts(log) for key, log in logs.items()} == {("a",): [".1", ".2"], ("b",): [".3", ".4"]}


def test_json_records(parts):
    log = parts("f1.json", json.dumps({"fold_1": 0.5, "fold_2": 0.6, "mean": 0.55}))[()]
    assert (texts(log), [str(claim) for claim in log.claims]) == (["0.5", "0.6"], ["f1 = 0.55"])


def test_epochs_are_not_taken_for_experiments(parts):
    with pytest.raises(InputError, match=r"f1 of fold '0' is there twice, on lines 2 and 3"):
        parts("log.csv", "epoch,fold_0_f1,fold_1_f1\n1,.5,.6\n2,.6,.7\n")
