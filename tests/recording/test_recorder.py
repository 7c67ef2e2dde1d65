"""The recorder on disk: what goes in comes out bit for bit, from any process, and nothing is mixed silently."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import pytest_cvaudit as cvaudit
from pytest_cvaudit.cli import main
from pytest_cvaudit.model import Evidence
from pytest_cvaudit.recorder import MemoryRecorder
from pytest_cvaudit.recording import read_recording
from tests.recording.conftest import folds, read


def record(path, *, number=4, rows=30, **options):
    with cvaudit.Recorder(path, **options) as recorder:
        for truth, predicted, score, test in folds(number, rows):
            recorder.fold(truth, predicted, score, test=test)
    return recorder


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", ["one", "two"])
def test_every_value_comes_back_bit_for_bit(target, encoding, dtype, columns):
    given = list(folds(dtype=dtype))
    given[0][2][0] = np.nextafter(dtype(0.1), dtype(1)), 5e-39  # a number that few printed digits would lose
    with cvaudit.Recorder(target) as recorder:
        for truth, predicted, score, test in given:
            train = np.setdiff1d(np.arange(120), test)
            recorder.fold(truth, predicted, score[:, 1] if columns == "one" else score, test=test, train=train)
    back = read_recording(target, "")
    assert len(back.folds) == 4 and not back.missing
    for fold, (truth, predicted, score, test) in zip(back.folds, given, strict=True):
        assert np.array_equal(np.array(fold.truth.names)[fold.truth.codes], truth.astype(str))
        assert np.array_equal(np.array(fold.predicted.names)[fold.predicted.codes], predicted.astype(str))
        expected = score[:, 1] if columns == "one" else score
        assert fold.score.dtype == dtype and fold.score.tobytes() == np.ascontiguousarray(expected).tobytes()
        assert fold.ids.dtype == np.int64 and np.array_equal(fold.ids, test)
        assert np.array_equal(fold.train, np.setdiff1d(np.arange(120), test))
    assert np.array_equal(
        read(target).predictions.scores["1"], np.concatenate([score[:, 1] for _, _, score, _ in given])
    )


def test_a_recording_and_memory_make_the_same_experiment(target, encoding):
    memory, disk = MemoryRecorder("svm"), cvaudit.Recorder(target)
    for recorder in (memory, disk):
        recorder.protocol(positive=1, folds=4, stratified=True, labels={0: 80, 1: 40})
        for number, (truth, predicted, score, test) in enumerate(folds()):
            recorder.fold(truth, predicted, score, test=test, train=(test + 30) % 120, y_train=truth, fold=number + 1)
        recorder.claim("f1", "0.60", aggregation="avg", label=1, where="Table 1")
        recorder.claims({"precision_at_5": 0.8})
        recorder.skip("out of memory", fold=5)
    one, two = memory.experiment(), read(target)
    assert [one.protocol, one.claims, one.missing] == [two.protocol, two.claims, two.missing[:1]]
    assert [missing.cell.fold for missing in two.missing] == ["5", "?"], "it is not closed yet"
    disk.close()
    two = read(target)
    assert two.missing == one.missing
    assert one.protocol.frequencies == {"0": 2 / 3, "1": 1 / 3}
    for name, value in vars(one.predictions).items():
        other = getattr(two.predictions, name)
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, other) and value.dtype == other.dtype, name
    assert {label: score.tobytes() for label, score in one.predictions.scores.items()} == {
        label: score.tobytes() for label, score in two.predictions.scores.items()
    }
    assert [str(finding.message) for finding in cvaudit.audit([one]).findings] == [
        str(finding.message) for finding in cvaudit.audit([two]).findings
    ]


@pytest.mark.parametrize(
    ("truth", "predicted", "names"),
    [
        ([0, 1, 1], np.array([0.0, 1.0, 0.0]), ("0", "1")),
        (["ham", "spam", "ham"], np.array(["ham", "ham", "spam"], dtype=object), ("ham", "spam")),
        ([True, False, True], np.array([True, True, False]), ("False", "True")),
        (pd.Series(["b", "a", "b"], dtype="category"), pd.Series(["b", "b", "a"]), ("a", "b")),
        (pd.Series([1, 2, 1], dtype="Int64"), pd.Series([1, 1, 2]), ("1", "2")),
        (["c10", "c9", "c10"], ["c9", "c9", "c10"], ("c9", "c10")),
        (["", "é,\n", "nan"], ["", "", "nan"], ("", "nan", "é,\n")),
    ],
)
def test_labels_of_any_usual_type(target, encoding, truth, predicted, names):
    with cvaudit.Recorder(target) as recorder:
        recorder.fold(truth, predicted)
        recorder.fold(truth, predicted)
    rows = read(target).predictions
    assert rows.labels == names
    expected = [str(int(label)) if isinstance(label, float) else str(label) for label in np.asarray(predicted).tolist()]
    assert [rows.labels[code] for code in rows.predicted] == expected * 2


def test_booleans_beside_numbers_are_zeros_and_ones(target, encoding):
    score = np.array([0.2, 0.9, 0.8, 0.4])
    with cvaudit.Recorder(target) as recorder:
        recorder.fold([0, 1, 0, 1], score > 0.5, score, y_train=np.array([True, False]))
        recorder.fold(score > 0.5, [0, 1, 1, 1], score, y_train=[0, 1])
    rows = read(target).predictions
    assert rows.labels == ("0", "1")
    assert rows.truth.tolist() == [0, 1, 0, 1, 0, 1, 1, 0]
    assert rows.predicted.tolist() == [0, 1, 1, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("StratifiedKFold", (3, True, None)),
        ("StratifiedGroupKFold", (3, None, "groups")),
        ("GroupKFold", (3, None, "groups")),
        ("TimeSeriesSplit", (None, None, "time")),
    ],
)
def test_what_a_splitter_declares(target, name, declared):
    model_selection = pytest.importorskip("sklearn.model_selection")
    record(target, number=3, splitter=getattr(model_selection, name)(3))
    found = read(target).protocol
    assert (found.folds, found.stratified, found.group) == declared


def test_columns_of_scores_follow_scikit_learn_s_order_of_classes(target):
    """A label c10 comes before c9 there, though a person would list it after."""
    classes, score = ["c1", "c10", "c9"], np.eye(3)
    with cvaudit.Recorder(target) as recorder:
        recorder.fold(classes, classes, score)
        recorder.fold(classes, classes, score)
    scores = read(target).predictions.scores
    assert {label: values.tolist() for label, values in scores.items()} == {
        label: [0.0] * index + [1.0] + [0.0] * (2 - index) + [0.0] * index + [1.0] + [0.0] * (2 - index)
        for index, label in enumerate(classes)
    }


def test_a_class_that_a_model_never_saw_has_no_probability(target):
    with cvaudit.Recorder(target) as recorder:
        recorder.fold(["a", "b", "c"], ["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], classes=["a", "b"])
        recorder.fold(["a", "b", "c"], ["a", "b", "c"], np.eye(3), classes=["a", "b", "c"])
    assert read(target).predictions.scores["c"].tolist() == [0, 0, 0, 0, 0, 1]


def test_multi_label_matrices_and_sets(target, encoding):
    matrix = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    sets = [{"x", "z"}, [], ["y", "y"]]
    with cvaudit.Recorder(target, classes=["x", "y", "z"]) as recorder:
        recorder.fold(matrix, matrix[::-1], np.full((3, 3), 0.25))
        recorder.fold(sets, sets, np.full((3, 3), 0.5))
    rows = read(target).predictions
    assert rows.labels == ("x", "y", "z")
    assert rows.gold.tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 0, 1], [0, 0, 0], [0, 2, 0]]
    assert rows.predicted_sets[:3].tolist() == matrix[::-1].tolist()
    assert rows.scores["z"].tolist() == [0.25] * 3 + [0.5] * 3
    names = {outcome.code for outcome in cvaudit.audit([read(target)]).outcomes if outcome.status == "failed"}
    assert "CV406" in names, "a label predicted twice is seen"


def test_training_labels_say_more_than_the_log_where_they_do(target):
    with cvaudit.Recorder(target) as recorder:
        recorder.fold(["a", "b"], ["a", "b"], y_train=["a", "a", "b", "rare"])
    protocol = read(target).protocol
    assert protocol.labels == ("a", "b", "rare")
    assert protocol.frequencies == {"a": 0.5, "b": 0.25, "rare": 0.25}
    with cvaudit.Recorder(target, overwrite=True) as recorder:
        recorder.fold(["a", "b"], ["a", "b"], y_train=["a", "a", "b"])
        recorder.fold(["a", "a", "b"], ["a", "b", "b"], y_train=["b", "a"])
    assert read(target).protocol.labels is None, "the other fold says the same"


def test_instances_that_are_trained_on_and_tested_are_found(target):
    with cvaudit.Recorder(target) as recorder:
        for truth, predicted, score, test in folds():
            recorder.fold(
                truth, predicted, score, test=test, train=np.append(np.setdiff1d(np.arange(120), test), test[3])
            )
    (finding,) = [one for one in cvaudit.audit([read(target)]).findings if one.code == "CV107"]
    assert finding.message.startswith("4 of 120 test rows have an id that is in the training set of their own fold too")


def test_the_design_and_the_libraries_are_kept(target):
    sklearn = pytest.importorskip("sklearn.model_selection")
    cv = sklearn.RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=3)
    with cvaudit.Recorder(target, splitter=cv, seed=np.int64(3)) as recorder:
        for truth, predicted, score, _ in folds():
            recorder.fold(truth, predicted, score)
    found = read(target)
    assert (found.protocol.folds, found.protocol.repeats, found.protocol.stratified) == (2, 2, True)
    assert [(cell.repeat, cell.fold) for cell in found.cells] == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")]
    back = read_recording(target, "")
    assert back.about[0]["versions"]["numpy"] == np.__version__
    kept = back.design
    assert kept["seed"] == 3
    assert kept["splitter"]["class"].endswith("RepeatedStratifiedKFold")
    assert kept["splitter"]["parameters"]["cvargs"] == {"n_splits": 2}
    assert kept["splitter"]["parameters"]["random_state"] == 3


@pytest.mark.parametrize("training", [False, True])
def test_it_is_no_more_than_twice_the_arrays(target, encoding, training):
    arrays = 0
    with cvaudit.Recorder(target) as recorder:
        for truth, predicted, score, test in folds(5, 60):
            train = np.setdiff1d(np.arange(300), test)
            given = {"test": test, **({"train": train, "y_train": (train % 3 == 0).astype(int)} if training else {})}
            recorder.fold(truth, predicted, score, **given)
            arrays += sum(array.nbytes for array in (truth, predicted, score, *given.values()))
    files = [target] if target.is_file() else list(target.iterdir())
    assert sum(file.stat().st_size for file in files) <= 2 * arrays


def test_a_folder_is_a_parquet_data_set_too(tmp_path):
    record(tmp_path / "svm")
    frame = pd.read_parquet(tmp_path / "svm")
    assert list(frame.columns) == ["repeat", "fold", "y_true", "y_pred", "y_score", "id"]
    assert len(frame) == 120 and frame["id"].tolist() == list(range(120))


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda rec: rec.fold([1, 0], [1]), "fold 0: y_pred has 1 rows and y_true has 2"),
        (lambda rec: rec.fold([1, 0], [1, 0], test=[1]), "fold 0: test has 1 rows and y_true has 2"),
        (lambda rec: rec.fold([1, 0], y_score=[0.1, np.nan]), "fold 0: y_score is not finite in row 1"),
        (lambda rec: rec.fold([[1, 0]], [1]), "fold 0: y_true has sets of labels, and y_pred one label per instance"),
        (lambda rec: rec.fold([[1, 0], [2, 0]], [1, 0]), "fold 0: y_true has sets of labels, and y_pred one label"),
        (
            lambda rec: rec.fold(np.array([[1, 0], [2, 0]]), [1, 0]),
            "y_true must have one label per instance, or a column",
        ),
        (lambda rec: rec.fold([1, 0], [0.3, 0.7]), "y_pred has 0.3, which is no label; scores are given as y_score"),
        (lambda rec: rec.fold([1, 0], classes=["a", "a"], y_pred=[1, 0]), "classes has the label 'a' twice"),
        (
            lambda rec: rec.fold(["no", "yes"], [False, True]),
            "fold 0: labels are words in y_true (no, yes) and booleans in y_pred (False, True)",
        ),
        (
            lambda rec: rec.fold([0, 1], [0, 1], classes=["a", "b"]),
            "fold 0: labels are words in classes (a, b) and num",
        ),
        (
            lambda rec: rec.fold([0, 1], y_score=np.eye(2, 3), classes=[0, 1]),
            "fold 0: y_score has 3 columns for 2 classes (0, 1); name the classes in the order of the columns",
        ),
        (
            lambda rec: rec.fold([0, 1, 2], y_score=np.ones((3, 2)), y_train=[0, 1, 2]),
            "fold 0: y_score has 2 columns for 3 classes (0, 1, 2); name the classes in the order of the columns",
        ),
        (lambda rec: rec.fold(["a\udc80", "b"], ["b", "b"]), "'a\\udc80' is no text that can be written as UTF-8"),
        (lambda rec: rec.protocol(fold=3), "unknown protocol entry 'fold'; did you mean 'folds'?"),
        (lambda rec: rec.protocol(stratified="yes"), "protocol entry 'stratified' must be True or False, not 'yes'"),
        (lambda rec: rec.claim("f1", 58), "claim 'f1 = 58' lies outside 0..1; write 58% if it is a percentage"),
        (lambda rec: rec.claims([3]), "3 is not a claim; write it as 'f1 = 0.69' or ('f1', 0.69)"),
    ],
)
def test_a_mistake_is_one_clear_line_and_writes_nothing(target, call, line):
    recorder = cvaudit.Recorder(target)
    with pytest.raises(cvaudit.InputError) as caught:
        call(recorder)
    assert caught.value.message.startswith(line)
    assert read(target).predictions is None


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        ({"fold": "a"}, {"fold": "a"}, "fold a of repeat 0 was recorded already"),
        ({}, {"y_pred": None, "y_score": [0.1, 0.2]}, "fold 1: y_pred must be given for all folds or for none"),
        ({"test": [1, 2]}, {}, "fold 1: test must be given for all folds or for none"),
        (
            {},
            {"y_true": [True, False], "y_pred": [True, True]},
            "fold 1: labels are booleans in this fold (False, True)",
        ),
        ({"y_score": np.eye(2)}, {"y_score": np.ones((2, 3))}, "fold 1: y_score has 3 columns, and in fold 0 it has 2"),
    ],
)
def test_folds_must_go_together(target, first, second, line):
    with cvaudit.Recorder(target) as recorder:
        recorder.fold(**{"y_true": [1, 0], "y_pred": [1, 0], **first})
        with pytest.raises(cvaudit.InputError) as caught:
            recorder.fold(**{"y_true": [1, 0], "y_pred": [1, 0], **second})
    assert caught.value.message.startswith(line)


@pytest.mark.parametrize("worker", [False, True])
def test_columns_that_fit_no_classes_are_refused_at_the_end_and_nothing_is_lost(target, encoding, worker):
    recorder = cvaudit.Recorder(target)
    records = pickle.loads(pickle.dumps(recorder)) if worker else recorder
    for _ in range(2):
        records.fold([0, 1], [0, 1], np.eye(2, 3))
    with pytest.raises(cvaudit.InputError, match=r"3 columns for 2 classes \(0, 1\); .*protocol\(labels=…\)") as caught:
        recorder.close()
    assert caught.value.path == str(target)
    recorder.protocol(labels=[0, 1, 2])
    recorder.close()
    found = read(target)
    assert not found.missing and found.predictions.scores["1"].tolist() == [0, 1, 0, 1]
    assert found.predictions.scores["2"].tolist() == [0] * 4


def test_a_block_that_ends_with_such_columns_can_be_gone_on_with(target):
    with pytest.raises(cvaudit.InputError, match="3 columns for 2 classes"), cvaudit.Recorder(target) as recorder:
        recorder.fold(["a", "b"], ["a", "b"], np.eye(2, 3))
    with cvaudit.Recorder(target, resume=True) as recorder:
        recorder.fold(["a", "c"], ["a", "b"], np.eye(2, 3))
    assert list(read(target).predictions.scores) == ["a", "b", "c"] and not read(target).missing


def test_a_session_of_several_does_not_know_all_classes(target):
    for truth in ([0, 1], [1, 2]):
        with cvaudit.Recorder(target, append=True) as recorder:
            recorder.fold(truth, truth, np.eye(2, 3))
    assert list(read(target).predictions.scores) == ["0", "1", "2"] and not read(target).missing


def test_training_labels_name_the_columns(target):
    memory = MemoryRecorder("svm")
    with cvaudit.Recorder(target) as recorder:
        for each in (recorder, memory):
            each.fold(["c10", "c2"], ["c10", "c2"], np.eye(2, 3), y_train=["c10", "c2", "d"])
            each.fold(["c10", "d"], ["c10", "c10"], np.eye(2), y_train=["c10", "c2"])
    for found in (read(target), memory.experiment()):
        assert found.predictions.scores["c10"].tolist() == [1, 0, 1, 0]
        assert found.predictions.scores["c2"].tolist() == [0, 1, 0, 1]
        assert found.predictions.scores["d"].tolist() == [0, 0, 0, 0]


def test_a_recording_is_never_taken_over_silently(target):
    record(target)
    with pytest.raises(cvaudit.InputError, match="holds a finished recording with 4 folds; pass overwrite=True"):
        cvaudit.Recorder(target)
    assert len(read(target).cells) == 4
    if target.is_dir():
        (target / "notes.txt").write_text("mine")
    record(target, number=2, overwrite=True)
    assert len(read(target).cells) == 2
    assert target.is_file() or (target / "notes.txt").read_text() == "mine"
    with cvaudit.Recorder(target, append=True) as recorder:
        recorder.fold([1, 0], [1, 0], np.eye(2), test=[500, 501])
        with pytest.raises(cvaudit.InputError, match="fold 0 of repeat 0 was recorded already"):
            recorder.fold([1, 0], [1, 0], np.eye(2), test=[502, 503], fold=0)
    found = read(target)
    assert [cell.fold for cell in found.cells] == ["0", "1", "2"] and not found.missing
    with pytest.raises(cvaudit.InputError, match="the recording was closed already"):
        recorder.fold([1, 0], [1, 0], np.eye(2), test=[504, 505])


def test_paths_that_cannot_be_a_recording(tmp_path):
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "notes.txt").write_text("mine")
    (tmp_path / "folder.cvrec").mkdir()
    for name in ("file", "notes.cvrec"):
        (tmp_path / name).write_text("mine")
    for path, line in [
        ("used", "the folder is not empty and holds no recording"),
        ("log.csv", "a recording is a folder, or a file called *.cvrec"),
        ("file", "there is a file, which is no recording"),
        ("file/svm", "cannot be written: file is a file, not a folder"),
        ("notes.cvrec", "there is a file, which is no recording"),
        ("folder.cvrec", "is a folder; a recording called *.cvrec is one file"),
    ]:
        with pytest.raises(cvaudit.InputError) as caught:
            cvaudit.Recorder(tmp_path / path, overwrite=True)
        assert caught.value.message.startswith(line)
    assert (tmp_path / "used" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "notes.cvrec").read_text() == "mine"
    with pytest.raises(cvaudit.InputError, match="exclude each other"):
        cvaudit.Recorder(tmp_path / "svm", overwrite=True, append=True)


def test_an_error_in_the_block_is_kept_as_the_reason(target):
    with pytest.raises(MemoryError), cvaudit.Recorder(target) as recorder:
        recorder.protocol(folds=3)
        for truth, predicted, score, _ in folds(2):
            recorder.fold(truth, predicted, score)
        raise MemoryError("out of\nmemory")
    (missing,) = read(target).missing
    assert (missing.cell.fold, missing.reason) == ("2", "MemoryError: out of memory")
    with cvaudit.Recorder(target, resume=True) as recorder:
        recorder.fold(truth, predicted, score, fold=2)
    assert not read(target).missing, "a recording can be gone on with"


def test_splits_that_were_never_recorded_are_missing(target):
    sklearn = pytest.importorskip("sklearn.model_selection")
    with cvaudit.Recorder(target, splitter=sklearn.ShuffleSplit(3)) as recorder:
        for truth, predicted, score, _ in folds(2):
            recorder.fold(truth, predicted, score)
    assert [(one.cell.fold, one.what) for one in read(target).missing] == [
        ("2", "the splitter makes 3 splits, and this one was not recorded")
    ]


def test_a_full_disk_is_one_line_and_leaves_no_trace(target, monkeypatch):
    with cvaudit.Recorder(target) as recorder:
        recorder.fold([1, 0], [1, 0])
        write = os.write

        def full(descriptor, data):
            write(descriptor, bytes(data)[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(cvaudit.InputError, match="cannot be recorded: No space left on device") as caught:
                recorder.fold([1, 0], [1, 0])
            assert caught.value.path == str(target)
            with pytest.raises(cvaudit.InputError, match="cannot be written: No space left on device"):
                cvaudit.Recorder(target.parent / "new")
        recorder.fold([1, 0], [0, 1])
    assert [cell.fold for cell in read(target).cells] == ["0", "1"] and not read(target).missing
    if target.is_dir():
        assert not [file for file in target.iterdir() if file.suffix == ".tmp"]


def test_the_disk_is_waited_for_at_the_end_only_where_that_is_asked_for(target, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    record(target, durable=False)
    assert len(flushed) == 1
    record(target, overwrite=True)
    assert len(flushed) > 5
    assert len(read(target).cells) == 4


def test_a_fold_that_disappears_and_one_that_is_damaged_are_seen(tmp_path, encoding):
    record(tmp_path / "svm")
    (file,) = (tmp_path / "svm").glob("repeat=0,fold=2.*")
    data = file.read_bytes()
    file.unlink()
    assert [(one.cell.fold, one.what) for one in read(tmp_path / "svm").missing] == [
        ("2", "it was recorded, and is not there any more")
    ]
    for position in (len(data) // 2, len(data) - 20):
        file.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        with pytest.raises(cvaudit.InputError, match=r"svm: repeat=0,fold=2\.\w+: "):
            cvaudit.Recorder(tmp_path / "svm", append=True).experiment()


def test_damage_within_one_file_is_not_read_as_complete(tmp_path):
    record(tmp_path / "svm.cvrec")
    data = (tmp_path / "svm.cvrec").read_bytes()
    for position in range(5, len(data), len(data) // 40):
        (tmp_path / "svm.cvrec").write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        assert read(tmp_path / "svm.cvrec").missing
    damaged = data[:30] + b"x" + data[31:]
    (tmp_path / "svm.cvrec").write_bytes(damaged)
    with pytest.raises(cvaudit.InputError, match="damaged: whole entries follow behind one that is not"):
        cvaudit.Recorder(tmp_path / "svm.cvrec", append=True)
    assert (tmp_path / "svm.cvrec").read_bytes() == damaged, "what can still be rescued is not touched"


def _fold(recorder, number):
    truth, predicted, score, test = list(folds(8))[number]
    recorder.fold(truth, predicted, score, test=test, fold=number)


def _unnamed(recorder, number):
    recorder.fold([0, 1], [0, 1], y_score=[number, number + 0.5])


def test_several_processes_record_at_once(target):
    with cvaudit.Recorder(target) as recorder, multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.starmap(_fold, [(recorder, number) for number in range(8)], chunksize=1)
    rows, given = read(target).predictions, list(folds(8))
    assert not read(target).missing
    assert np.array_equal(rows.scores["1"], np.concatenate([score[:, 1] for _, _, score, _ in given]))


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(target, backend):
    joblib = pytest.importorskip("joblib")
    with cvaudit.Recorder(target) as recorder:
        joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(_unnamed)(recorder, number) for number in range(9))
    found = read(target)
    assert [cell.fold for cell in found.cells] == [str(number) for number in range(9)]
    assert sorted(found.predictions.scores["1"]) == sorted([*range(9), *(number + 0.5 for number in range(9))])
    assert not found.missing


def test_a_copy_records_but_does_not_close(target):
    recorder = cvaudit.Recorder(target)
    copy = pickle.loads(pickle.dumps(recorder))
    copy.fold([1, 0], [1, 0])
    copy.close()
    assert read(target).missing
    recorder.fold([1, 0], [0, 1])
    recorder.close()
    assert not read(target).missing and len(read(target).cells) == 2


def test_the_command_line_reads_recordings(tmp_path, monkeypatch, capsys):
    def check(*arguments):
        code = main(["check", *arguments])
        return code, "".join(capsys.readouterr())

    monkeypatch.chdir(tmp_path)
    record(tmp_path / "runs" / "svm")
    record(tmp_path / "runs" / "knn.cvrec")
    code, text = check("runs", "--format", "json")
    assert {one["experiment"] for one in json.loads(text)["outcomes"]} == {"svm", "knn"}
    manifest = tmp_path / "cvaudit.yaml"
    manifest.write_text("experiments:\n  - {name: mine, log: runs/svm, claims: [f1 = 0.99]}\n")
    code, text = check("cvaudit.yaml")
    assert code == 1 and "CV502" in text
    for log, line in [
        ("runs/*", "runs/knn.cvrec: several recordings: 'runs/knn.cvrec', 'runs/svm'; a recording is a log by itself"),
        ("runs", "runs: several recordings: "),
        ("runs/svm/*.parquet", "runs/svm/repeat=0,fold=0.parquet: part of a recording"),
        ("[runs/svm, cvaudit.yaml]", "runs/svm: recording runs/svm and other files"),
    ]:
        quoted = log if log.startswith("[") else f"'{log}'"
        manifest.write_text(f"experiments:\n  - {{name: mine, log: {quoted}}}\n")
        code, text = check("cvaudit.yaml")
        assert code == 2 and line in text
    code, text = check("runs/svm", "--column", "truth=y_true")
    assert code == 2 and "a recording tells its own columns; leave out `columns:`" in text


def test_an_unclosed_recording_fails_the_audit(tmp_path):
    recorder = cvaudit.Recorder(tmp_path / "svm")
    for truth, predicted, score, _ in folds():
        recorder.fold(truth, predicted, score)
    command = [sys.executable, "-m", "pytest_cvaudit", "check", "svm"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "fold ? has no result: the recording was not closed: its process was killed, or is still" in done.stdout


def test_progress_is_shown_only_when_it_is_asked_for(target, capsys, monkeypatch):
    monkeypatch.setattr("pytest_cvaudit.recorder._PROGRESS_AFTER", 0)
    record(target, number=2)
    assert capsys.readouterr().err == ""
    record(target, number=2, overwrite=True, progress=True)
    assert "folds in svm" in capsys.readouterr().err


def test_the_evidence_is_predictions(target):
    audit = record(target).finish()
    assert audit.audited[0].experiment.evidence is Evidence.PREDICTIONS
