"""Whatever a file holds, it is read or refused with one line."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Protocol
from pytest_cvaudit.readers import LogSpec, read_log

NAMES = st.sampled_from(
    [
        "fold",
        "run",
        "id",
        "y_true",
        "correct",
        "label",
        "y_pred",
        "prediction",
        "score",
        "prob_a",
        "prob_b",
        "a",
        "b",
        "tp",
        "fp",
        "fn",
        "tn",
        "n",
        "positives",
        "metric",
        "value",
        "f1",
        "auc",
        "error",
        "info",
        "split0_test_f1",
        "split1_test_score",
        "model",
        "cm",
        "params",
        "fit_time",
        "score_time",
        "test_f1",
        "mean_test_f1",
        "std_f1",
        "mean_f1",
        "true_a",
        "true_b",
        "pred_a",
        "pred_b",
        "Resample",
        "obs",
        "row_ids",
        "response",
        "truth",
        "iteration",
        "",
    ]
)
CELLS = st.sampled_from(
    [
        "",
        "0",
        "1",
        "2",
        "1.0",
        "0.5",
        "-1",
        "a",
        "b",
        "c",
        "nan",
        "inf",
        "mean",
        "True",
        "[a b]",
        "[]",
        "['a', 'b']",
        "['a'",
        "58%",
        "85",
        "0.5 ± 0.1",
        "f1",
        "loss",
        '"',
        "test",
        "1e400",
        "9" * 30,
        "[[1 2] [3 4]]",
        "[[1]]",
        '{"matrix": 1}',
        "Fold1.Rep2",
        "0.71 (0.02)",
        "a|b",
        "é",
    ]
)
ROLES = st.sampled_from(
    ["fold", "repeat", "id", "truth", "predicted", "score", "score_a", "label", "tp", "metric", "value", "f1", "x"]
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "columns": st.dictionaries(ROLES, NAMES, max_size=2),
        "by": st.lists(NAMES, max_size=2).map(tuple),
        "select": st.dictionaries(NAMES, CELLS, max_size=1),
        "threshold": st.floats(0, 1),
        "separator": st.sampled_from([" ", ";"]),
    },
)
PROTOCOLS = st.builds(
    Protocol,
    positive=st.sampled_from([None, None, "a", "1"]),
    labels=st.sampled_from([None, None, ("a", "b"), ("0", "1", "2")]),
)


@st.composite
def tables(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=7, unique=True))
    rows = draw(st.lists(st.lists(CELLS, min_size=len(names), max_size=len(names)), max_size=8))
    return names, rows


def as_csv(names, rows):
    return "\n".join(",".join(row) for row in [names, *rows])


def as_json(names, rows):
    return json.dumps([dict(zip(names, row, strict=True)) for row in rows])


def as_json_lines(names, rows):
    return "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows)


def as_arff(names, rows):
    return "\n".join([*(f"@attribute '{name}' string" for name in names), "@data", *(",".join(row) for row in rows)])


def as_markdown(names, rows):
    return "\n".join("|" + "|".join(row) + "|" for row in [names, ["--"] * len(names), *rows])


WRITERS = {
    "log.md": as_markdown,
    "log.csv": as_csv,
    "log.json": as_json,
    "log.jsonl": as_json_lines,
    "log.arff": as_arff,
}


def read_or_refuse(name, content, options, protocol):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(content)
        with contextlib.suppress(InputError):
            read_log(LogSpec(paths=(name,), base=Path(folder), **options), protocol)


@settings(max_examples=600, deadline=None)
@given(table=tables(), name=st.sampled_from(list(WRITERS)), options=OPTIONS, protocol=PROTOCOLS)
def test_tables(table, name, options, protocol):
    read_or_refuse(name, WRITERS[name](*table).encode(), options, protocol)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | CELLS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


KEYS = st.sampled_from(
    [
        "folds", "per_fold", "fold_0", "fold_1", "0", "1", "mean", "summary", "metrics", "fold", "f1",
        "mean_f1", "y_true", "y_pred", "y_prob", "classes", "labels", "status", "cm", "columns", "data",
        "index", "split0_test_f1", "params", "fit_time", "matrix",
    ]
)  # fmt: skip
NESTED = st.recursive(
    st.none() | st.integers(-2, 2) | CELLS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=16,
)


@settings(max_examples=200, deadline=None)
@given(value=JSON | NESTED)
def test_json(value):
    read_or_refuse("log.json", json.dumps(value).encode(), {}, Protocol())


@settings(max_examples=200, deadline=None)
@given(
    name=st.sampled_from(
        ["log.csv", "log.json", "log.jsonl", "log.arff", "log.parquet", "log.csv.gz", "log.json.xz", "log.csv.bz2"]
    ),
    content=st.binary(max_size=40) | st.text("fold,f1\n0\"'[]{}%;:\t\0\r", max_size=40).map(str.encode),
)
def test_bytes(name, content):
    read_or_refuse(name, content, {}, Protocol())
