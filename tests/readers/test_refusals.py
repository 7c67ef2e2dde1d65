"""Damaged and ambiguous files of every format, through the command: one line each, exit code 2, nothing written."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from pytest_cvaudit.cli import main

F1 = [{"fold": 0, "f1": 0.5}, {"fold": 1, "f1": 0.6}]


def parquet(**columns):
    stream = io.BytesIO()
    pd.DataFrame(columns).to_parquet(stream)
    return stream.getvalue()


def grid(*rows):
    return "\n".join(f"| {' | '.join(row.split(','))} |" for row in rows)


# name: (content, line, what the message says)
FILES = {
    # CSV
    "cut_quote.csv": ('fold,y_true,y_pred\n0,1,1\n0,"1,1\n', 3, "not a table"),
    "shifted.csv": ("fold,y_true,y_pred\n0,1,1\n0,1,1,1\n", 3, "more fields than the 3 columns"),
    "latin1.csv": (b"fold,y_true,y_pred\n0,caf\xe9,b\n", 2, "not UTF-8"),
    "two_models.csv": ("model,fold,y_true,y_pred\na,0,1,1\nb,0,1,0\n", 3, "by: [model]"),
    "oof.csv": ("id,target,prediction\na,1,0.5\nb,0,0.4\n", None, "folds_from: FILE"),
    "fold_twice.csv": ("fold,y_true,y_pred\n1,1,0\n01,0,0\n", None, "folds '1', '01' may be one fold or two"),
    "ratings.csv": ("fold,y_true,y_pred\n0,0.5,1.5\n1,1.5,0.5\n", None, "holds fractions"),
    "bars.csv": ("fold,tags_true,y_true,y_pred\n0,x,a|b,a\n1,x,a,b\n", None, "separator: '|'"),
    "epochs.csv": ("epoch,loss,accuracy\n1,0.5,0.8\n2,0.4,0.9\n", None, "no fold column"),
    "indicators.csv": ("fold,true_a,true_b,pred_a,pred_b\n0,1,2,0,1\n", None, "nothing in it can be audited"),
    # JSON
    "cut.json": ('{"folds": [\n{"fold": 0, "f1": 0.5},\n', 3, "not JSON"),
    "two_lists.json": (json.dumps({"outer_folds": F1, "inner_folds": F1}), None, "'outer_folds' and 'inner_folds'"),
    "unequal_lists.json": (json.dumps({"fit_time": [1, 2], "test_f1": [0.5]}), None, "one length"),
    "ragged_split.json": (json.dumps({"columns": ["fold", "f1"], "data": [[0, 0.5], [1]]}), None, "row 1 under 'data'"),
    "unequal_arrays.json": (
        '{"folds": [\n{"y_true": [0, 1], "y_pred": [0, 1]},\n{"y_true": [0, 1, 1], "y_pred": [0]}]}',
        3,
        "differ in length: 'y_true' 3, 'y_pred' 1",
    ),
    "classes.json": (json.dumps({"folds": [{"y_true": ["a", "b"], "y_prob": [[1, 0], [0, 1]]}]}), 1, '"classes": […]'),
    "history.json": (json.dumps({"loss": [0.5, 0.4], "accuracy": [0.8, 0.9]}), None, "no fold column"),
    "test_and_val.json": (
        json.dumps([{"fold": 0, "test": {"f1": 0.5}, "val": {"f1": 0.6}}]),
        None,
        "'test_f1', 'val_f1' may all be the f1",
    ),
    "numbers.json": ("[1, 2, 3]", None, "no records in the file"),
    "words.json": ('{"fold_0": {"f1": 0.5},\n"fold_1": {"f1": "good"}}', 2, "'good' is not a value of f1"),
    "key_twice.json": ('{"folds": [\n{"fold": 0, "f1": 0.5},\n{"fold": 1, "f1": 0.5,\n"f1": 0.6}]}', 4, "'f1' twice"),
    "key_twice_and_cut.json": ('{"folds": [\n{"f1": 0.5, "f1": 0.6},\n', 3, "not JSON"),
    # JSON Lines
    "key_twice.jsonl": ('{"fold": 0, "f1": 0.5}\n{"fold": 1, "f1": 0.5, "f1": 0.6}\n', 2, "an object has 'f1' twice"),
    "cut.jsonl": ('{"fold": 0, "f1": 0.5}\n{"fold": 1, "f1"\n', 2, "not JSON"),
    "arrays.jsonl": ('{"fold": 0, "y_true": [1, 0, 1], "y_pred": [1, 1]}\n', 1, "differ in length"),
    # Parquet
    "cut.parquet": (parquet(fold=[0, 1], f1=[0.5, 0.6])[:-9], None, "not a Parquet file"),
    "nan.parquet": (
        parquet(fold=[0, 1], y_true=[1, 0], score=[0.5, np.nan]),
        2,
        "the score in column 'score' is blank or not a number",
    ),
    # ARFF
    "header.arff": ("@relation x\n@attribute fold numeric\n", None, "no @data line"),
    "sparse.arff": ("@attribute fold numeric\n@attribute f1 numeric\n@data\n{0 1, 1 0.5}\n", 4, "sparse ARFF"),
    # Markdown
    "text.md": ("# About\nNothing here.\n", None, "a heading such as '# FOLD 01'"),
    "two_tables.md": ("\n\n".join([grid("fold,f1", "--,--", "0,.5")] * 2), None, "tables in lines 1 and 5"),
    "short_row.md": (grid("fold,f1", "--,--", "0,.5", "1"), 4, "the row has 1 cells for 2 columns"),
    "twice.md": ("# FOLD 01\nAUC: 0.7\nAUC: 0.8\n", 3, "fold '01' has 'AUC' twice"),
    # confusion matrices
    "ravel.csv": ('fold,cm\n0,"[[50, 3], [4, 43]]"\n1,"[50, 3, 4, 43]"\n', 3, "is no confusion matrix"),
    "sizes.csv": ('fold,cm\n0,"[[5, 3], [4, 4]]"\n1,"[[5, 3, 0], [4, 4, 0], [0, 0, 1]]"\n', None, "of different size"),
    "rates.csv": ('fold,cm\n0,"[[0.9, 0.1], [0.2, 0.8]]"\n', 2, "'0.9' in the matrix in column 'cm' is no count"),
    "turned.csv": ('fold,cm,recall\n0,"[[50, 3], [4, 43]]",0.9348\n', 2, "rows are the predicted labels"),
    # scikit-learn, caret, mlr3, automlbenchmark, tables of means
    "cv_results.csv": ("params,split0_test_score,split1_test_score\na,1,1\nb,1,1\n", None, "{metric: accuracy}"),
    "same_params.csv": ("params,split0_test_f1,rank_test_f1\na,.5,1\na,.6,2\n", 3, "fold '0' is there twice"),
    "models.csv": ("model,fit_time,score_time,test_f1\na,1,1,.5\nb,1,1,.6\n", 3, "by: [model]"),
    "caret.csv": ("pred,obs,rowIndex,C,Resample\na,a,1,1,F1\na,b,1,2,F1\nb,b,2,1,F1\nb,b,2,2,F1\n", 3, "by: [C]"),
    "mlr3.csv": ("row_ids,truth,response\n1,a,a\n2,b,b\n", None, "no fold column"),
    "automl.csv": ("framework,task,fold,auc\na,x,0,.5\na,y,0,.5\nb,x,0,.5\nb,y,0,.5\n", 3, "by: [framework, task]"),
    "means.csv": ("f1,auc\n0.5 ± 0.1,0.6 ± 0.1\n0.6 ± 0.1,0.7 ± 0.1\n", None, "no column tells the rows apart"),
    # formats that are not read
    "model.pkl": (b"\x80\x04.", None, "unpickled"),
    "scores.npy": (b"\x93NUMPY", None, "arrays have no names"),
    "results.xlsx": (b"PK", None, "save the sheet as CSV"),
    "notes.docx": (b"PK", None, "unknown kind of file: '.docx'"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, (content, _, _) in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_at_least_thirty():
    assert len(FILES) >= 30


def test_one_line_each_and_nothing_written(folder, capsys):
    for name, (_, line, text) in FILES.items():
        assert main(["check", name, "--output", "out.txt", "--report", "json:out.json"]) == 2, name
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1, err
        assert err.startswith(f"cvaudit: {name}:{line}: " if line else f"cvaudit: {name}: "), err
        assert text in err, err
        assert "internal error" not in err
    assert {path.name for path in folder.iterdir()} == set(FILES)


def test_the_process_itself(folder):
    environment = {**os.environ, "CVAUDIT_DEBUG": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest_cvaudit", "check", *FILES],
        capture_output=True, text=True, env=environment, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == len(FILES)


def test_a_device_is_no_log(tmp_path, capsys):
    manifest = tmp_path / "cvaudit.yaml"
    manifest.write_text(f"experiments: [{{name: a, log: {os.devnull}}}]\n")
    assert main(["check", str(manifest)]) == 2
    assert "is neither a file nor a folder" in capsys.readouterr().err
