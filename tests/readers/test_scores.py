"""Logs with the printed values of each fold."""

from __future__ import annotations

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell, Severity
from pytest_cvaudit.run import Options, audit_log


def shown(scores):
    return {
        metric: [None if value is None else str(value) for value in values] for metric, values in scores.values.items()
    }


def test_digits_are_kept(read):
    s = read("fold,f1,auc,brier\n1,0.60,0.485 (+/- 0.021),1\n0,1.0,58%,0\n").scores
    assert s.cells == (Cell("0"), Cell("1"))
    assert shown(s) == {"f1": ["1.0", "0.60"], "auc": ["58%", "0.485 (+/- 0.021)"], "brier": ["0", "1"]}
    assert float(s.values["auc"][1].spread.digits) == 0.021
    assert read({"log.json": '[{"fold": 0, "f1": 0.60}]'}).scores.values["f1"][0].text == "0.60"


def test_names_of_metrics(read):
    s = read(
        "fold,test_f1,eval_roc_auc_score,val_accuracy,train_f1,mean_f1,std_f1,loss,F1 macro,precision@5\n"
        "0,.1,.2,.3,.4,.5,.6,.7,.8,.9\n"
    ).scores
    assert shown(s) == {"f1": [".1"], "auc": [".2"], "accuracy": [".3"], "macro_f1": [".8"], "precision_at_5": [".9"]}


def test_averages_over_labels_in_brackets(read):
    names = "F1 (macro),test_f1_score(weighted),Precision Score (Micro-averaged),AUC (macro),recall (lfb)"
    others = "F1 (%),AUC (95% CI),Recall (train),train F1 (micro),Accuracy (macro),F1 (macro) (%),F1 (macro) std,F1 (a)"
    s = read(f"fold,{names},{others}\n0,.1,.2,.3,.4,.5{',.9' * 8}\n").scores
    assert shown(s) == {
        "macro_f1": [".1"], "weighted_f1": [".2"], "micro_precision": [".3"], "macro_auc": [".4"], "lfb_recall": [".5"],
    }  # fmt: skip
    with pytest.raises(InputError, match=r"'F1 \(macro\)', 'f1_macro' may all be the macro_f1"):
        read("fold,F1 (macro),f1_macro\n0,.5,.6\n")


def test_given_metrics_come_first(read):
    s = read("fold,auc,roc_auc,mean_acc\n0,.1,.2,.3\n", columns={"auc": "roc_auc", "accuracy": "mean_acc"}).scores
    assert shown(s) == {"auc": [".2"], "accuracy": [".3"]}


def test_sizes(read):
    s = read("fold,f1,n_test,n_pos\n0,.1,30,3\n1,.2,31,\n").scores
    assert (s.n, s.positives) == ((30, 31), (3, None))


def test_percentages_without_a_sign(read):
    s = read("fold,accuracy,recall\n0,85.3,0\n1,100,90 ± 2\n").scores
    assert [value.value for value in s.values["accuracy"]] == [0.853, 1.0]
    assert [value.value for value in s.values["recall"]] == [0.0, 0.9]
    assert s.values["recall"][1].spread.value == 0.02
    with pytest.raises(InputError, match="accuracy of 85 lies outside"):
        read("fold,accuracy\n0,85\n1,1\n")


def test_unbounded_and_signed_metrics(read):
    s = read("fold,log_loss,mcc\n0,3.5,-0.2\n").scores
    assert shown(s) == {"log_loss": ["3.5"], "mcc": ["-0.2"]}


def test_blank_cells_and_failed_folds(read):
    log = read("fold,acc,auc,logloss,info\n0,.5,.6,,\n1,.5,nan,,one class\n2,,,,timeout\n")
    assert shown(log.scores) == {"accuracy": [".5", ".5"], "auc": [".6", None]}
    assert [(fold.cell.fold, fold.what, fold.reason, fold.line) for fold in log.missing] == [
        ("1", "auc is nan", "one class", 3),
        ("2", "every metric is blank", "timeout", 4),
    ]


@pytest.mark.parametrize(
    ("claims", "severity"),
    [
        ((), Severity.ERROR),
        (("auc = 0.92",), Severity.ERROR),
        (("f1 = 0.7625", "auc = 0.92"), Severity.ERROR),
        (("f1 = 0.7625",), Severity.INFO),
    ],
)
def test_a_fold_that_lacks_one_metric_is_blamed_for_claims_of_that_metric_only(tmp_path, claims, severity):
    path = tmp_path / "log.csv"
    path.write_text("fold,f1,auc\n0,0.8,0.9\n1,0.7,0.95\n2,0.75,\n3,0.8,0.91\n")
    found = audit_log(path, Options(claims=claims)).findings
    (finding,) = (finding for finding in found if finding.code == "CV103" and finding.fold == "fold 2")
    assert finding.message.startswith("fold 2 has no auc: auc is blank")
    assert (finding.severity, finding.location.line) == (severity, 4)


def test_a_log_of_failures_only(read):
    log = read("fold,auc,error\n0,,boom\n1,,boom\n")
    assert log.scores is None
    assert [fold.reason for fold in log.missing] == ["boom", "boom"]


def test_a_status_that_says_nothing_is_no_reason(read):
    (fold,) = read("fold,auc,status,note\n0,.5,ok,\n1,,ok,too few\n").missing
    assert fold.reason == "too few"


def test_error_is_a_metric_where_it_is_a_number(read):
    assert shown(read("fold,error,f1\n0,0.1,.5\n").scores) == {"error": ["0.1"], "f1": [".5"]}


def test_long_tables(read):
    log = read("fold,metric,value\n0.0,eval_f1,.5\n1.0,eval_f1,.6\n0.0,eval_auc,.7\n0.0,eval_loss,9\n,eval_f1,.8\n")
    assert log.scores.cells == (Cell("0"), Cell("1"))
    assert shown(log.scores) == {"f1": [".5", ".6"], "auc": [".7", None]}
    assert [(fold.cell.fold, fold.what, fold.line) for fold in log.missing] == [("1", "auc has no row", 3)]


def test_parts_of_a_long_table_without_a_known_metric_are_empty(read):
    logs = read("task,fold,metric,value\na,0,f1,.5\nb,0,spearman,.5\n", by=("task",))
    assert logs["a",].scores is not None
    assert logs["b",].scores is None


def test_cv_results(read):
    text = (
        "mean_fit_time,param_c,params,split0_test_f1,split10_test_f1,split2_test_f1,mean_test_f1,rank_test_f1\n"
        "0.1,1,a,.1,.3,.2,.2,1\n0.1,,b,.4,.6,.5,.5,2\n"
    )
    logs = read(text, by=("param_c",))
    assert shown(logs["1",].scores) == {"f1": [".1", ".2", ".3"]}
    assert shown(logs["",].scores) == {"f1": [".4", ".5", ".6"]}
    assert [cell.fold for cell in logs["1",].scores.cells] == ["0", "2", "10"]
    assert shown(read(text, select={"params": "b"}).scores) == {"f1": [".4", ".5", ".6"]}


def test_cv_results_that_do_not_name_their_metric(read):
    text = "params,n,split0_test_score,split1_test_score\na,90,1.0,.5\n"
    scores = read(text, columns={"metric": "acc"}).scores
    assert (shown(scores), scores.n) == ({"accuracy": ["1.0", ".5"]}, ())


def test_repeats(read):
    s = read("run,fold,f1\n2,0,.1\n1,1,.2\n1,0,.3\n").scores
    assert s.cells == (Cell("0", "1"), Cell("1", "1"), Cell("0", "2"))
    assert shown(s) == {"f1": [".3", ".2", ".1"]}
