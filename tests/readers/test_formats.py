"""Every format gives back what was written, whatever the order of the rows."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_cvaudit.model import Cell, Protocol, sorted_cells
from pytest_cvaudit.readers import LogSpec, read_log

LABELS = ("a", "b c", "ü,;", 'x"y', "it's", "007", "-3", "NA", "None", "line\nbreak", "tab\tbed", "#")
HEADER = ("fold", "repeat", "id", "y_true", "y_pred", "s1", "s2")
ROW = st.tuples(
    st.sampled_from(["0", "2", "10", "fold 3", "01"]),
    st.sampled_from(["0", "1"]),
    st.text("abc0127é ", min_size=1, max_size=4).filter(lambda text: text == text.strip()),
    st.sampled_from(LABELS),
    st.sampled_from(LABELS),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0, 1),
)
# A label that is both true and predicted, as logs without any are refused.
ROWS = st.lists(ROW, max_size=30).map(lambda rows: [("0", "0", "first", "a", "a", 0.5, 0.25), *rows])


def delimited(delimiter):
    def write(rows, path):
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, delimiter=delimiter).writerows([HEADER, *rows])

    return write


def records(rows):
    return [dict(zip(HEADER, row, strict=True)) for row in rows]


WRITERS = {
    "comma.csv": delimited(","),
    "semicolon.csv": delimited(";"),
    "log.tsv": delimited("\t"),
    "log.json": lambda rows, path: path.write_text(json.dumps({"name": "x", "rows": records(rows)})),
    "log.jsonl": lambda rows, path: path.write_text("\n".join(map(json.dumps, records(rows)))),
    "log.parquet": lambda rows, path: pd.DataFrame(records(rows)).to_parquet(path),
    "log.csv.xz": lambda rows, path: pd.DataFrame(records(rows)).to_csv(path, index=False),
}


def read_back(name, rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        WRITERS[name](rows, path)
        columns = {"score_a": "s1", "score_b c": "s2"}
        return read_log(LogSpec(paths=(str(path),), columns=columns), Protocol())[()].predictions


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=40, deadline=None)
@given(rows=ROWS)
def test_round_trip(name, rows):
    p = read_back(name, rows)
    cells = [Cell(row[0], row[1]) for row in rows]
    assert p.cells == sorted_cells(cells)
    assert [p.cells[code] for code in p.cell] == cells
    assert set(p.labels) == {"a", "b c", *(row[3] for row in rows), *(row[4] for row in rows)}
    assert [p.labels[code] for code in p.truth] == [row[3] for row in rows]
    assert [p.labels[code] for code in p.predicted] == [row[4] for row in rows]
    assert p.scores["a"].tolist() == [row[5] for row in rows]
    assert p.scores["b c"].tolist() == [row[6] for row in rows]
    assert p.ids.tolist() == [row[2] for row in rows]


@settings(max_examples=30, deadline=None)
@given(rows=ROWS, data=st.data())
def test_the_order_of_rows_only_orders_rows(rows, data):
    order = data.draw(st.permutations(range(len(rows))))
    one, other = read_back("comma.csv", rows), read_back("comma.csv", [rows[i] for i in order])
    assert (one.cells, one.labels) == (other.cells, other.labels)
    np.testing.assert_array_equal(one.cell[list(order)], other.cell)
    np.testing.assert_array_equal(one.truth[list(order)], other.truth)


def test_byte_order_mark_and_windows_line_ends(read):
    log = read({"log.csv": b"\xef\xbb\xbffold,f1\r\n0,.5\r\n\r\n1,.6\r\n"})
    assert [cell.fold for cell in log.scores.cells] == ["0", "1"]


def test_spaces_around_fields_and_empty_trailing_fields(read):
    p = read('fold, y_true ,y_pred\n0, a ,"b"\n 1 ,b,a,\n').predictions
    assert (p.labels, p.cells) == (("a", "b"), (Cell("0"), Cell("1")))


def test_types_of_parquet_columns(read):
    frame = pd.DataFrame(
        {
            "fold": pd.array([0, 1, 1], dtype="Int64"),
            "y_true": [True, False, True],
            "y_pred": pd.Categorical(["True", "True", "False"]),
            "score": np.array([0.25, 0.5, 0.75], dtype=np.float32),
        }
    )
    stream = io.BytesIO()
    frame.to_parquet(stream)
    p = read({"log.parquet": stream.getvalue()}).predictions
    assert (p.cells, p.labels) == ((Cell("0"), Cell("1")), ("False", "True"))
    assert (p.truth.tolist(), p.predicted.tolist()) == ([1, 0, 1], [1, 1, 0])
    assert p.scores["True"].tolist() == [0.25, 0.5, 0.75]


def test_lists_in_parquet(read):
    stream = io.BytesIO()
    pd.DataFrame({"fold": [0.0, 1.0], "y_true": [["A"], []], "y_pred": [["A", "A"], None]}).to_parquet(stream)
    p = read({"log.parquet": stream.getvalue()}).predictions
    assert (p.labels, p.gold.tolist(), p.predicted_sets.tolist()) == (("A",), [[1], [0]], [[2], [0]])


@pytest.mark.parametrize(
    "text",
    [
        '[{"model": "m", "per_fold": [{"fold": 0, "f1": 0.5}, {"fold": 1, "f1": 0.6}], "n": 90}]',
        '{"model": "m", "folds": [{"fold": 0, "f1": 0.5}, {"fold": 1, "f1": 0.6}], "f1": 0.55, "notes": []}',
        '[{"model": "m", "fold": 0, "f1": 0.5}, {"model": "m", "fold": 1, "f1": 0.6, "extra": null}]',
    ],
)
def test_shapes_of_json(read, text):
    logs = read({"log.json": text}, by=("model",))
    assert [str(value) for value in logs["m",].scores.values["f1"]] == ["0.5", "0.6"]
    assert logs["m",].scores.n == ()


def test_arff(read):
    text = (
        "% made by hand\n@RELATION r\n\n@attribute 'repeat' numeric\n@attribute fold numeric\n"
        '@attribute "row id" string\n'
        "@attribute sample numeric\n@attribute prediction {a,'b c'}\n@attribute correct {a,'b c'}\n"
        "@DATA\n% first\n0,0,'x, y',0,a,a\n0,0,'it\\'s',1,'b c',a\n0,1,z,1,a,'b c'\n\0"
    )
    p = read({"log.arff": text}, columns={"id": "row id"}).predictions
    assert (p.cells, p.labels) == ((Cell("0"), Cell("1")), ("a", "b c"))
    assert (p.truth.tolist(), p.predicted.tolist(), p.ids.tolist()) == ([0, 1], [1, 0], ["it's", "z"])
