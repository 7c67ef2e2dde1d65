"""What cannot be read, or can be read in two ways, is refused with one line that says where and what to do."""

from __future__ import annotations

import re

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Location

P = "fold,y_true,y_pred,y_score\n"

# name: (files, options, file of the error, line of the error, texts in the message)
CASES = {
    "no file": (
        {},
        {"paths": ("runs/*.csv",), "location": Location("cvaudit.yaml", 7)},
        "cvaudit.yaml",
        7,
        ["no file matches 'runs/*.csv'"],
    ),
    "no path": ({}, {"paths": ()}, "<log>", None, ["names no file"]),
    "empty directory": ({"runs/a.txt": ""}, {"paths": ("runs",)}, "<log>", None, ["no file of a known kind", ".csv"]),
    "unknown suffix": ({"log.xlsx": "x"}, {}, "log.xlsx", None, ["unknown kind of file", ".csv"]),
    "empty file": ("", {}, "log.csv", None, ["empty"]),
    "header only": (P, {}, "log.csv", None, ["no rows"]),
    "not utf-8": ({"log.csv": b"fold,y_true,y_pred\n0,a,b\n0,\xe9,b\n"}, {}, "log.csv", 3, ["UTF-8"]),
    "not gzip": ({"log.csv.gz": b"fold,y_true"}, {}, "log.csv.gz", None, ["cannot be read"]),
    "too many fields": (P + "0,1,1,0.5\n0,1,1,0.5,x\n", {}, "log.csv", 3, ["more fields than the 4 columns"]),
    "open quote": (P + '0,1,1,0.5\n0,"1,1,0.5\n', {}, "log.csv", 3, ["not a table"]),
    "column twice": ("fold,f1,f1\n0,0.5,0.6\n", {}, "log.csv", 1, ["'f1' twice"]),
    "nothing to audit": ("a,b\n1,2\n", {}, "log.csv", None, ["nothing", "'a', 'b'", "y_true"]),
    "no fold": (
        "y_true,y_pred\n1,1\n0,1\n",
        {},
        "log.csv",
        None,
        ["no fold column", "columns: {fold: NAME}", "'y_true', 'y_pred'"],
    ),
    "no fold for scores": ("model,f1\nsvm,0.5\n", {}, "log.csv", None, ["no fold column"]),
    "no fold for counts": ("tp,fp,fn,tn\n1,2,3,4\n", {}, "log.csv", None, ["no fold column"]),
    "two folds": (
        "fold,cv_fold,y_true,y_pred\n0,0,1,1\n",
        {},
        "log.csv",
        None,
        ["'fold', 'cv_fold'", "columns: {fold: fold}"],
    ),
    "two repeats": (
        "fold,run,rep,y_true,y_pred\n0,0,0,1,1\n",
        {},
        "log.csv",
        None,
        ["'run', 'rep'", "columns: {repeat: run}"],
    ),
    "two truths": (
        "fold,label,target,y_pred\n0,0,1,1\n",
        {},
        "log.csv",
        None,
        ["'label', 'target'", "columns: {truth: label}"],
    ),
    "two predictions": (
        "fold,y_true,y_pred,prediction\n0,0,1,1\n",
        {},
        "log.csv",
        None,
        ["'y_pred', 'prediction'", "columns: {predicted: y_pred}"],
    ),
    "two scores": (
        "fold,y_true,svm_prob,rf_prob\n0,0,.1,.2\n0,1,.1,.2\n",
        {},
        "log.csv",
        None,
        ["'svm_prob', 'rf_prob'", "columns: {score: svm_prob}"],
    ),
    "two score sets": (
        "fold,y_true,prob_a,prob_b,score_a,score_b\n0,a,1,0,1,0\n0,b,1,0,1,0\n",
        {},
        "log.csv",
        None,
        ["'prob_a', 'prob_b'", "columns: {score_a: prob_a"],
    ),
    "train and test": (
        "split,y_true,y_pred\ntrain,0,1\ntest,1,1\n",
        {},
        "log.csv",
        None,
        ["'test', 'train'", "no folds", "select: {split: test}"],
    ),
    "unknown role": (
        P + "0,1,1,.5\n",
        {"columns": {"fodl": "fold"}},
        "log.csv",
        None,
        ["'fodl' is no role", "did you mean 'fold'?"],
    ),
    "unknown column": (
        P + "0,1,1,.5\n",
        {"columns": {"truth": "y_treu"}},
        "log.csv",
        None,
        ["'y_treu'", "did you mean 'y_true'?", "'y_score'"],
    ),
    "unknown by": (P + "0,1,1,.5\n", {"by": ("modle",)}, "log.csv", None, ["by: names column 'modle'"]),
    "unknown select": (
        P + "0,1,1,.5\n",
        {"select": {"flod": "1"}},
        "log.csv",
        None,
        ["select: names column 'flod'", "did you mean 'fold'?"],
    ),
    "select nothing": (P + "0,1,1,.5\n", {"select": {"fold": "9"}}, "log.csv", None, ["leaves no row", "'0'"]),
    "blank truth": (P + "0,1,1,.5\n0,,1,.5\n", {}, "log.csv", 3, ["'y_true' is blank"]),
    "blank prediction": (P + "0,1,1,.5\n\n0,0,,.5\n", {}, "log.csv", 4, ["'y_pred' is blank"]),
    "blank fold": (P + "0,1,1,.5\n,0,1,.5\n", {}, "log.csv", 3, ["fold is blank"]),
    "blank repeat": ("run,fold,y_true,y_pred\n0,0,1,1\n,0,1,1\n", {}, "log.csv", 3, ["repeat is blank"]),
    "blank score": (P + "0,1,1,.5\n0,0,1,\n", {}, "log.csv", 3, ["'y_score'", "blank"]),
    "infinite score": (P + "0,1,1,.5\n0,0,1,-inf\n", {}, "log.csv", 3, ["infinite"]),
    "word for score": (
        P + '0,1,1,.5\n0,"0\n",1,.5\n0,1,1,high\n',
        {},
        "log.csv",
        5,
        ["'high' in column 'y_score' is not a number"],
    ),
    "fractions for labels": (
        "fold,y_true,y_pred\n0,0.25,1\n0,1.5,1\n",
        {},
        "log.csv",
        None,
        ["'y_true' holds fractions"],
    ),
    "predicted fractions": (
        P + "0,1,0.25,.5\n",
        {"columns": {"predicted": "y_pred"}},
        "log.csv",
        None,
        ["'y_pred' holds fractions", "columns: {score: y_pred}"],
    ),
    "no convention": (
        "fold,y_true,score\n0,ham,.1\n0,spam,.8\n",
        {},
        "log.csv",
        None,
        ["'ham', 'spam'", "positive: spam"],
    ),
    "positive that never occurs": (
        P + "0,0,1,.5\n",
        {"positive": "2"},
        "log.csv",
        None,
        ["positive label '2' never occurs in column 'y_true'; labels are '0', '1'"],
    ),
    "correct is a boolean": (
        "fold,prediction,correct\n0,cat,True\n0,dog,False\n",
        {},
        "log.csv",
        None,
        ["'correct' may be", "columns: {truth: NAME}"],
    ),
    "labels of two kinds": (
        "fold,y_true,y_pred\n0,0,no\n0,1,yes\n",
        {},
        "log.csv",
        None,
        ["no predicted label is a true one", "'no', 'yes'"],
    ),
    "confidence in the prediction": (
        P + "0,0,0,.9\n0,1,1,.8\n0,1,0,.6\n",
        {},
        "log.csv",
        None,
        ["never below 0.5", "score_<label>"],
    ),
    "threshold without score": (
        "fold,y_true,prob_a,prob_b,prob_c\n0,a,1,0,0\n0,b,0,1,0\n0,c,0,0,1\n",
        {"threshold": 0.5},
        "log.csv",
        None,
        ["threshold:", "two labels"],
    ),
    "truth alone": ("fold,y_true,x\n0,1,5\n", {}, "log.csv", None, ["no column holds predicted labels or scores"]),
    "several models": (
        "model,fold,y_true,y_pred\na,0,1,1\nb,0,1,0\n",
        {},
        "log.csv",
        3,
        ["'model' has several values in fold '0'", "by: [model]"],
    ),
    "the same instance twice": (
        "cohort,id,fold,y_true,y_pred\na,7,0,1,1\nb,7,0,1,0\n",
        {},
        "log.csv",
        3,
        ["lines 2 and 3", "by: [cohort]"],
    ),
    "some lists": ("fold,y_true,y_pred\n0,[A B],A\n0,[A],B\n", {}, "log.csv", 2, ["list of labels in column 'y_true'"]),
    "indicator rows": ("fold,y_true,y_pred\n0,[1 0],[0 1]\n0,[1 1],[0 0]\n", {}, "log.csv", None, ["zeros and ones"]),
    "fraction of a count": (
        "fold,tp,fp,fn,tn\n0,1,2,3,4\n1,1.5,2,3,4\n",
        {},
        "log.csv",
        3,
        ["'1.5' in column 'tp' is no count"],
    ),
    "negative count": ("fold,tp,fp,fn,tn\n0,1,2,-3,4\n", {}, "log.csv", 2, ["'-3' in column 'fn'"]),
    "blank count": ("fold,tp,fp,fn,tn\n0,1,2,,4\n", {}, "log.csv", 2, ["'fn'", "no count"]),
    "word for count": ("fold,tp,fp,fn,tn\n0,1,two,3,4\n", {}, "log.csv", 2, ["'two' in column 'fp' is not a number"]),
    "tp above positives": (
        "fold,positives,negatives,tp,fp\n0,3,9,2,1\n1,3,9,4,1\n",
        {},
        "log.csv",
        3,
        ["'tp' is greater than 'positives'"],
    ),
    "fp above negatives": ("fold,positives,negatives,tp,fp\n0,3,9,2,10\n", {}, "log.csv", 2, ["'negatives'"]),
    "n is not the sum": ("fold,tp,fp,fn,tn,n\n0,1,2,3,4,11\n", {}, "log.csv", 2, ["'n' is not the sum"]),
    "counts without fn": ("fold,tp,fp\n0,1,2\n", {}, "log.csv", None, ["fn or positives is needed"]),
    "label left out": (
        "fold,label,tp,fp,fn\n0,a,1,2,3\n0,b,1,2,3\n1,a,1,2,3\n",
        {},
        "log.csv",
        None,
        ["fold '1' has no row for label 'b'"],
    ),
    "blank label": ("fold,label,tp,fp,fn\n0,a,1,2,3\n0,,1,2,3\n", {}, "log.csv", 3, ["'label' is blank"]),
    "counts twice": (
        "model,fold,tp,fp,fn\na,0,1,2,3\nb,0,1,2,3\n",
        {},
        "log.csv",
        3,
        ["fold '0' is there twice, on lines 2 and 3", "by: [model]"],
    ),
    "two columns of a metric": (
        "fold,auc,roc_auc\n0,.5,.6\n",
        {},
        "log.csv",
        None,
        ["'auc', 'roc_auc'", "columns: {auc: auc}"],
    ),
    "no value of a metric": ("fold,f1\n0,0.5\n1,good\n", {}, "log.csv", 3, ["'good' is not a value of f1"]),
    "a comma for thousands or decimals": ("fold;f1\n0;1,234\n", {}, "log.csv", 2, ["'1,234' is not a value of f1"]),
    "out of range": ("fold,f1\n0,0.5\n1,55\n", {}, "log.csv", 3, ["f1 of 55 lies outside 0..1", "% sign"]),
    "far out of range": ("fold,f1\n0,0.5\n1,-3\n", {}, "log.csv", 3, ["f1 of -3 lies outside 0..1"]),
    "the same fold twice": (
        "framework,task,fold,f1\na,x,0,.5\na,y,0,.5\nb,x,0,.5\nb,y,0,.5\n",
        {},
        "log.csv",
        3,
        ["f1 of fold '0' is there twice, on lines 2 and 3", "by: [framework, task]"],
    ),
    "the same metric twice": (
        "seed,fold,metric,value\n1,0,f1,.5\n2,0,f1,.5\n",
        {},
        "log.csv",
        3,
        ["lines 2 and 3", "columns: {repeat: seed}"],
    ),
    "only unknown metrics": (
        "fold,metric,value\n0,loss,.5\n0,runtime,3\n",
        {},
        "log.csv",
        None,
        ["no metric in it is known", "'loss', 'runtime'"],
    ),
    "only summaries": ("fold,f1\nmean,.5\nstd,.1\n", {}, "log.csv", None, ["no row has a fold", "'mean', 'std'"]),
    "blank fold of scores": ("fold,f1\n0,.5\n,.6\n", {}, "log.csv", 3, ["fold is blank"]),
    "blank fold of counts": ("fold,tp,fp,fn\n0,1,2,3\n,1,2,3\n", {}, "log.csv", 3, ["fold is blank"]),
    "metric without a column": (
        "fold,f1\n0,.5\n",
        {"columns": {"metric": "auc"}},
        "log.csv",
        None,
        ["names column 'auc'"],
    ),
    "size of a fold": ("fold,f1,n\n0,.5,10.5\n", {}, "log.csv", 2, ["'n'", "10.5"]),
    "splits without a metric": (
        "params,split0_test_score\na,1\n",
        {},
        "log.csv",
        None,
        ["'split0_test_score'", "columns: {metric: accuracy}"],
    ),
    "several settings": (
        "param_c,split0_test_f1,split1_test_f1\n1,.5,.6\n2,.5,.6\n",
        {},
        "log.csv",
        3,
        ["fold '0'", "by: [param_c]"],
    ),
    "files that differ": (
        {"fold_0.csv": "y_true,y_pred\n1,1\n", "fold_1.csv": "y_true,y_hat\n1,1\n"},
        {},
        "fold_1.csv",
        None,
        ["columns differ", "'y_hat', 'y_pred'"],
    ),
    "not json": ({"log.json": '[\n{"fold": 0,}\n]'}, {}, "log.json", 2, ["not JSON"]),
    "json without records": ({"log.json": "[1, 2]"}, {}, "log.json", None, ["no records", "list of records"]),
    "json with two lists": (
        {"log.json": '{"folds": [{"fold": 0, "f1": 0.5}], "inner_folds": [{"fold": 0, "f1": 0.4}]}'},
        {},
        "log.json",
        None,
        ["'folds' and 'inner_folds'"],
    ),
    "json value": (
        {"log.json": '{"folds": [\n {"fold": 0, "f1": 0.5},\n {"fold": 1,\n  "f1": "good"}]}'},
        {},
        "log.json",
        3,
        ["'good'"],
    ),
    "not a json line": ({"log.jsonl": '{"fold": 0}\n\n[1]\n'}, {}, "log.jsonl", 3, ["JSON object"]),
    "broken json line": ({"log.jsonl": '{"fold": 0}\n{"fold"\n'}, {}, "log.jsonl", 2, ["not JSON"]),
    "not parquet": ({"log.parquet": b"PAR0"}, {}, "log.parquet", None, ["not a Parquet file"]),
    "arff without data": ({"log.arff": "@relation x\n@attribute fold numeric\n"}, {}, "log.arff", None, ["no @data"]),
    "sparse arff": (
        {"log.arff": "@attribute fold numeric\n@attribute f1 numeric\n@data\n{0 1, 1 0.5}\n"},
        {},
        "log.arff",
        4,
        ["sparse"],
    ),
    "arff value": (
        {"log.arff": "@attribute fold numeric\n@attribute f1 numeric\n@data\n% note\n0,0.5\n1,?\n2,good\n"},
        {},
        "log.arff",
        7,
        ["'good'"],
    ),
    "inline table": (
        {},
        {"table": "fold,f1\n0,0.5\n1,good\n", "paths": (), "location": Location("cvaudit.yaml", 10)},
        "cvaudit.yaml",
        13,
        ["'good'"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused_with_place_and_advice(name, read):
    files, options, path, line, texts = CASES[name]
    with pytest.raises(InputError) as caught:
        read(files, **options)
    error = caught.value
    assert error.path is not None
    assert error.path.endswith(path)
    assert error.line == line
    assert "\n" not in str(error)
    for text in texts:
        assert text in error.message


def test_long_lists_of_columns_are_cut(read):
    with pytest.raises(InputError, match=re.escape("'c29' and 10 more")):
        read(",".join(f"c{i}" for i in range(40)) + "\n" + ",".join("1" * 40) + "\n")


def test_parquet_needs_pyarrow(read, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(
        InputError, match=re.escape("reading Parquet needs pyarrow: pip install 'pytest-cvaudit[parquet]'")
    ):
        read({"log.parquet": b"PAR1"})
