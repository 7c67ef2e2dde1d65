"""Log → Experiment → log keeps every value bit for bit."""

from __future__ import annotations

import json
import tempfile
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Experiment, Protocol
from pytest_cvaudit.readers import write_log

LABELS = ("a", "b c", "ü,;", 'x"y', "it's", "007", "-3", "NA", "None", "line\nbreak", "#", "A")
CELL = st.tuples(st.sampled_from(["0", "2", "10", "fold 3", "01"]), st.sampled_from(["0", "1", "r2"]))
TEXT = st.text("abc0127é ", min_size=1, max_size=4).filter(lambda text: text == text.strip())
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
SUFFIX = st.sampled_from([".csv", ".parquet"])
PRINTED = st.sampled_from(
    ["0.60", "0.6", ".5", "1", "1e-3", "58%", "0.485 (+/- 0.021)", "0.71 (0.02)", "0.5 ± 0.10", ""]
)


def same(one, other):
    """Tell whether two pieces of evidence are equal to the bit, types of texts and numbers aside."""
    if is_dataclass(one):
        # Where a value stands is another place in another file.
        names = [f.name for f in fields(one) if f.name != "lines"]
        return type(one) is type(other) and all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, np.ndarray):
        if one.dtype.kind == "f":
            return one.tobytes() == other.tobytes()
        return one.astype(str).tolist() == other.astype(str).tolist()
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return one == other


def read(path, protocol):
    (found,) = experiment_from_log(path, protocol=protocol)
    assert found.problem is None, found.problem
    return found


def round_trip(text, suffix, protocol=None, name="first.csv"):
    protocol = protocol or Protocol()
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / name, Path(folder) / f"second{suffix}"
        first.write_text(text, encoding="utf-8", newline="")
        one = read(first, protocol)
        write_log(one, second)
        return one, read(second, protocol)


def quoted(*cells):
    return ",".join('"' + str(cell).replace('"', '""') + '"' for cell in cells)


def evidence_is_kept(one, other):
    for part in ("predictions", "counts", "scores"):
        assert same(getattr(one, part), getattr(other, part)), part
    assert [(m.cell, m.what, m.reason) for m in one.missing] == [(m.cell, m.what, m.reason) for m in other.missing]


ROW = st.tuples(CELL, TEXT, st.sampled_from(LABELS), st.sampled_from(LABELS), FLOAT, FLOAT)


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(ROW, max_size=20), suffix=SUFFIX)
def test_predictions(rows, suffix):
    # Capitals tell labels apart only if both are true ones.
    rows = [(("0", "0"), "first", "a", "a", 0.1 + 0.2, -0.0), (("0", "0"), "second", "A", "a", 0.0, 0.0), *rows]
    lines = [quoted(*cell, mark, true, guess, repr(s), repr(t)) for cell, mark, true, guess, s, t in rows]
    text = "\n".join(["fold,repeat,id,y_true,y_pred,score_a,score_b c", *lines])
    evidence_is_kept(*round_trip(text, suffix, Protocol(labels=("a", "b c"))))


SETS = st.lists(st.sampled_from(LABELS), max_size=3)


@settings(max_examples=12, deadline=None)
@given(rows=st.lists(st.tuples(st.sampled_from("012"), SETS, SETS), min_size=1, max_size=10), suffix=SUFFIX)
def test_sets_of_labels(rows, suffix):
    lines = [quoted(fold, json.dumps(true), json.dumps(guess)) for fold, true, guess in [("0", ["a", "a"], []), *rows]]
    evidence_is_kept(*round_trip("\n".join(["fold,y_true,y_pred", *lines]), suffix))


COUNT = st.integers(0, 10**9)


@settings(max_examples=12, deadline=None)
@given(counts=st.lists(st.tuples(COUNT, COUNT, COUNT, COUNT, PRINTED), min_size=1, max_size=6), suffix=SUFFIX)
def test_counts(counts, suffix):
    lines = [",".join(map(str, [fold, *row])) for fold, row in enumerate(counts)]
    evidence_is_kept(*round_trip("\n".join(["fold,tp,fp,fn,tn,auc", *lines]), suffix))
    evidence_is_kept(*round_trip("\n".join(["fold,tp,fp,fn,x,auc", *lines]), suffix))
    matrices = [f'{fold},"[[{a}, {b}], [{c}, {d}]]",{auc}' for fold, (a, b, c, d, auc) in enumerate(counts)]
    evidence_is_kept(*round_trip("\n".join(["fold,cm,auc", *matrices]), suffix))
    by_label = [
        f"{fold},{label},{a},{b},{c}" for fold, (a, b, c, *_) in enumerate(counts) for label in ("b", "a", "x y")
    ]
    evidence_is_kept(*round_trip("\n".join(["fold,label,tp,fp,fn", *by_label]), suffix))


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(
        st.tuples(PRINTED, PRINTED, st.sampled_from(["", "30"]), st.sampled_from(["", "one class"])), max_size=6
    ),
    suffix=SUFFIX,
)
def test_scores(rows, suffix):
    lines = [
        f"{fold},{f1},{auc},{n},{info}" for fold, (f1, auc, n, info) in enumerate([("0.50", "nan", "9", ""), *rows])
    ]
    evidence_is_kept(*round_trip("\n".join(["fold,f1,roc_auc,n,info", *lines]), suffix))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_training_rows_groups_and_hashes(suffix):
    text = (
        "fold,set,row_id,hash,site,y_true,y_pred,score_1\n0,test,a,x1,s1,1,1,0.7\n0,test,b,x2,s2,0,0,0.1\n"
        "0,train,c,x3,s1,1,,\n1,test,c,x3,s1,1,0,0.3\n1,train,b,x2,s2,0,,\n"
    )
    one, other = round_trip(text, suffix, Protocol(group="site"))
    evidence_is_kept(one, other)
    assert one.predictions.training is not None
    assert one.predictions.groups is not None


def test_failed_folds_keep_their_reason():
    one, other = round_trip("fold,tp,fp,fn,tn,info\n0,1,2,3,4,\n1,,,,,timeout\n", ".csv")
    evidence_is_kept(one, other)
    assert one.missing[0].reason == "timeout"


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(InputError, match="no folds"):
        write_log(Experiment("x"), tmp_path / "x.csv")
    with pytest.raises(InputError, match=r"\.csv or \.parquet"):
        write_log(Experiment("x"), tmp_path / "x.json")
    one, _ = round_trip('fold,cm\n0,"[[1,2,3],[4,5,6],[7,8,9]]"\n', ".csv")
    scores, _ = round_trip("fold,auc\n0,0.5\n", ".csv")
    with pytest.raises(InputError, match="do not fit into one table"):
        write_log(replace(one, scores=scores.scores), tmp_path / "x.csv")
