"""Large files take a quicker way, which must read the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Protocol
from pytest_cvaudit.readers import LogSpec, read_log
from pytest_cvaudit.readers.formats import arrow, delimited, large_csv, parquet

pytest.importorskip("pyarrow")

LABELS = st.sampled_from(["0", "1", "-3", "007", "0.60", "yes", " no", "a b", "NA", "nan", "é", "x;y", 'q"q', "130"])
SCORES = st.one_of(st.floats(-10, 10).map(repr), st.sampled_from(["0.60", "1e-5", " 0.5", "1", "-0", ".5", "5."]))
NAMES = st.sampled_from(["7", "07", "8", "9", "x"])
ROWS = st.lists(st.tuples(st.integers(0, 4), LABELS, LABELS, SCORES, NAMES), min_size=1)


def read(path):
    try:
        return read_log(LogSpec(paths=(str(path),)), Protocol())[()].predictions
    except InputError as error:
        return str(error)


def same(left, right):
    if isinstance(left, str) or isinstance(right, str):
        return left == right
    arrays = ("cell", "truth", "predicted")
    return (
        (left.cells, left.labels, left.scores.keys()) == (right.cells, right.labels, right.scores.keys())
        and all(np.array_equal(getattr(left, name), getattr(right, name)) for name in arrays)
        and all(left.scores[label].tobytes() == right.scores[label].tobytes() for label in left.scores)
        and (left.ids is None) == (right.ids is None)
        and (left.ids is None or left.ids.astype(str).tolist() == right.ids.astype(str).tolist())
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(rows=ROWS, blank=st.sampled_from(["", "\n"]), short=st.booleans())
def test_the_quick_way_reads_csv_as_the_patient_one_does(tmp_path, monkeypatch, rows, blank, short):
    lines = [",".join((str(fold), truth, guess, score, f"{name}{at}")) for at, (fold, truth, guess, score, name)
             in enumerate(rows)]  # fmt: skip
    path = tmp_path / "log.csv"
    path.write_text(blank + "fold,y_true,y_pred,y_score,id\n" + "\n".join(lines) + ("\n1,0" if short else ""))
    monkeypatch.setattr(delimited, "_LARGE", 10**9)
    patient = read(path)
    monkeypatch.setattr(delimited, "_LARGE", 0)
    assert same(read(path), patient)


def test_a_plain_large_file_is_read_the_quick_way(tmp_path, monkeypatch):
    path = tmp_path / "log.csv"
    pd.DataFrame({"fold": np.arange(120_000) % 5, "y_true": 1, "y_pred": 0, "id": np.arange(120_000)}).to_csv(path)
    taken = []
    monkeypatch.setattr(delimited, "load_large", lambda *given: taken.append(large_csv.load_large(*given)) or taken[-1])
    found = read(path)
    assert taken and all(frame is not None for frame in taken)
    assert len(found.cells) == 5 and found.ids.tolist() == list(range(120_000))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "float32", "float64", "str", "category", "bool"])
@pytest.mark.parametrize("batch", [3, arrow.BATCH])
def test_parquet_reads_labels_of_any_type_in_any_batches(tmp_path, monkeypatch, dtype, batch):
    monkeypatch.setattr(arrow, "BATCH", batch)
    wide = (
        [-100, 100, 0, 100, -100, 100, 7] if dtype in ("int8", "int16", "int64", "category") else [0, 1, 1, 0, 1, 1, 0]
    )
    truth = pd.Series(wide).astype(dtype)
    score = np.linspace(0, 1, 7)
    frame = pd.DataFrame({"fold": [3, 3, 1, 1, 2, 2, 2], "y_true": truth, "y_pred": truth, "id": np.arange(7) * 10**12})
    if len(set(wide)) == 2:
        frame["y_score"] = score
    frame.to_parquet(tmp_path / "log.parquet")
    found = read(tmp_path / "log.parquet")
    names = {0: "False", 1: "True"} if dtype == "bool" else {value: str(value) for value in wide}
    assert [found.labels[code] for code in found.truth] == [names[value] for value in wide]
    assert [found.cells[code].fold for code in found.cell] == ["3", "3", "1", "1", "2", "2", "2"]
    assert found.ids.tolist() == (np.arange(7) * 10**12).tolist()
    assert not found.scores or np.array_equal(next(iter(found.scores.values())), score)


def test_many_names_and_gaps_in_parquet_take_the_general_way(tmp_path):
    rows = 20_000
    frame = pd.DataFrame({"fold": np.arange(rows) * 2, "y_true": np.arange(rows) % 2, "y_pred": 1.0})
    frame.to_parquet(tmp_path / "log.parquet")
    assert len(read(tmp_path / "log.parquet").cells) == rows
    frame["fold"] = frame["fold"].where(frame["fold"] != 10)
    frame.to_parquet(tmp_path / "gap.parquet")
    assert "gap.parquet:6: the fold is blank" in read(tmp_path / "gap.parquet")


@pytest.mark.parametrize(
    "ids",
    [
        ["1", "07"],
        ["-0", "1"],
        ["+5", "6"],
        ["0xF", "15"],
        ["0xFFFFFFFFFFFFFFF", "1"],
        ["10", "-999"],
        ["9223372036854775807", "-9223372036854775808"],
        ["1", "x"],
    ],
    ids=str,
)
def test_ids_stay_as_they_are_written(tmp_path, monkeypatch, ids):
    monkeypatch.setattr(delimited, "_LARGE", 0)
    path = tmp_path / "log.csv"
    path.write_text("fold,y_true,y_pred,id\n" + "".join(f"{at % 2},{at % 2},1,{name}\n" for at, name in enumerate(ids)))
    assert [str(name) for name in read(path).ids] == ids


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(
    seed=st.integers(0, 2**32),
    labels=st.sampled_from([(0, 1), (-1, 1), (3, 9), ("no", "yes"), (0, 200, 4000), tuple(range(150))]),
    folds=st.sampled_from([(0, 5), (1, 4), (7, 300)]),
    is_sorted=st.booleans(),
    group=st.sampled_from([2, 7, 1000]),
    part=st.sampled_from([1, 10]),
)
def test_parquet_reads_the_same_whatever_its_row_groups(
    tmp_path, monkeypatch, seed, labels, folds, is_sorted, group, part
):
    monkeypatch.setattr(arrow, "BATCH", 5)
    monkeypatch.setattr(parquet, "_PART", part)
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 60))
    fold = rng.integers(*folds, rows)
    names = np.array(labels)
    frame = pd.DataFrame({
        "fold": np.sort(fold) if is_sorted else fold, "y_true": names[rng.integers(0, len(names), rows)],
        "id": rng.permutation(rows) - 5,
    })  # fmt: skip
    frame["y_pred"] = frame["y_true"].where(rng.random(rows) < 0.5, frame["y_true"].to_numpy()[::-1])
    frame.to_parquet(tmp_path / "log.parquet", row_group_size=group, index=False)
    found = read(tmp_path / "log.parquet")
    assert [found.cells[code].fold for code in found.cell] == frame["fold"].astype(str).tolist()
    assert [found.labels[code] for code in found.truth] == frame["y_true"].astype(str).tolist()
    assert [found.labels[code] for code in found.predicted] == frame["y_pred"].astype(str).tolist()
    assert set(found.labels) == {*frame["y_true"].astype(str), *frame["y_pred"].astype(str)}
    assert found.ids.tolist() == frame["id"].tolist()


@pytest.mark.parametrize("names", [["no", "yes"], [f"c{at}" for at in range(40)], ["a", "bb", "ccccccccc"], ["é", "ö"]],
                         ids=["few", "many", "long", "two bytes"])  # fmt: skip
def test_text_labels_of_a_large_csv_are_those_written(tmp_path, monkeypatch, names):
    monkeypatch.setattr(delimited, "_LARGE", 0)
    rng = np.random.default_rng(5)
    truth, guess = (np.array(names)[rng.integers(0, len(names), 3_000)] for _ in range(2))
    frame = pd.DataFrame({"fold": np.arange(3_000) % 10, "y_true": truth, "y_pred": guess, "filling": "x" * 400})
    frame.to_csv(tmp_path / "log.csv", index=False)
    found = read(tmp_path / "log.csv")
    assert set(found.labels) == set(names)
    assert [found.labels[code] for code in found.truth] == truth.tolist()
    assert [found.labels[code] for code in found.predicted] == guess.tolist()


def test_more_names_than_a_byte_numbers_are_read_by_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_LARGE", 0)
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 200, 40_000)
    frame = pd.DataFrame({"fold": np.arange(40_000) % 10, "y_true": truth, "y_pred": truth[::-1], "filling": "x" * 100})
    frame.to_csv(tmp_path / "log.csv", index=False)
    for _ in range(5):
        found = read(tmp_path / "log.csv")
        assert [found.labels[code] for code in found.truth] == [str(label) for label in truth]


def test_one_digit_folds_after_many_others(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_LARGE", 0)
    fold = np.repeat(np.arange(300)[::-1], [20] * 299 + [60_000])
    frame = pd.DataFrame({"fold": fold, "y_true": 1, "y_pred": 0, "filling": "x" * 40})
    frame.to_csv(tmp_path / "log.csv", index=False)
    found = read(tmp_path / "log.csv")
    assert [found.cells[code].fold for code in found.cell] == [str(number) for number in fold]


def test_long_ids_with_a_gap_are_not_rounded(tmp_path):
    ids = [None, *(10**18 + at for at in range(1, 9))]
    frame = pd.DataFrame({"fold": [0, 1, 2] * 3, "y_true": 1, "y_pred": 0, "id": pd.array(ids, dtype="Int64")})
    frame.to_parquet(tmp_path / "log.parquet")
    assert read(tmp_path / "log.parquet").ids.tolist() == ["", *(str(number) for number in ids[1:])]
