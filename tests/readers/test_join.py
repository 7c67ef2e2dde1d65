"""Folds or true labels from a second file, joined by id."""

from __future__ import annotations

import pytest

from pytest_cvaudit.cli import main
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import experiments, load_manifest

OOF = "id,target,prediction\nx,1,0.5\ny,0,0.4\nz,1,0.75\n"
FOLDS = "id,fold\nz,1\ny,0\nx,1\n"


@pytest.fixture
def read_joined(read):
    def run(files, **options):
        return read(files, paths=("oof.csv",), **options)

    return run


def test_folds_from_a_file(read_joined):
    p = read_joined({"oof.csv": OOF, "folds.csv": FOLDS}, folds_from="folds.csv").predictions
    assert ([cell.fold for cell in p.cells], p.cell.tolist()) == (["0", "1"], [1, 0, 1])
    assert p.scores["1"].tolist() == [0.5, 0.4, 0.75]


def test_repeats_and_unusual_names(read_joined):
    folds = "PassengerId,part,other\nz,b,1\ny,a,2\nx,b,3\n"
    files = {"oof.csv": OOF.replace("id", "PassengerId"), "folds.csv": folds}
    p = read_joined(files, folds_from="folds.csv", columns={"fold": "part", "id": "PassengerId"}).predictions
    assert p.cell.tolist() == [1, 0, 1]


def test_the_truth_from_a_file(read_joined):
    files = {"oof.csv": "id,fold,prediction\nx,0,0.5\ny,1,0.4\n", "train.csv": "id,age,target\ny,3,0\nx,4,1\n"}
    assert read_joined(files, join="train.csv").predictions.truth.tolist() == [1, 0]


def test_both(read_joined):
    files = {
        "oof.csv": "id,prediction\nx,0.5\ny,0.4\n",
        "t.csv": "id,target\ny,0\nx,1\n",
        "f.csv": "id,fold\ny,0\nx,1\n",
    }
    p = read_joined(files, join="t.csv", folds_from="f.csv").predictions
    assert (p.truth.tolist(), p.cell.tolist()) == ([1, 0], [1, 0])


def test_several_logs_share_the_folds(read):
    files = {
        "a.csv": OOF,
        "folds.txt.csv": FOLDS.replace("x,1\n", "x,1\nw,0\n"),
        "b.csv": "id,target,prediction\nw,0,0.1\n",
    }
    p = read(files, paths=("a.csv", "b.csv"), folds_from="folds.txt.csv").predictions
    assert p.cell.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("folds", "path", "line", "text"),
    [
        (FOLDS.replace("x,1\n", ""), "oof.csv", 2, "1 of 3 ids are not in"),
        (FOLDS + "q,1\n", "folds.csv", 5, "1 of 4 ids have no row in"),
        (FOLDS + "x,1\n", "folds.csv", 5, "id 'x' is there twice"),
        (FOLDS.replace("fold", "part"), "folds.csv", None, "no fold column that the log lacks"),
        (FOLDS.replace("id,", "key,"), "folds.csv", None, "say which with columns: {id: NAME}"),
        ("", "folds.csv", None, "empty"),
    ],
)
def test_refused(read_joined, folds, path, line, text):
    with pytest.raises(InputError) as caught:
        read_joined({"oof.csv": OOF, "folds.csv": folds}, folds_from="folds.csv")
    assert caught.value.path.endswith(path)
    assert (caught.value.line, text in caught.value.message) == (line, True), caught.value


def test_the_message_says_how_to_supply_folds(read_joined):
    with pytest.raises(InputError, match="or join the folds by id with folds_from: FILE"):
        read_joined({"oof.csv": OOF})
    with pytest.raises(InputError, match=r"folds_from: no file 'nix\.csv'"):
        read_joined({"oof.csv": OOF}, folds_from="nix.csv")


def test_manifest_and_command_line(tmp_path, capsys, monkeypatch):
    (tmp_path / "oof.csv").write_text(OOF)
    (tmp_path / "folds.csv").write_text(FOLDS)
    manifest = tmp_path / "cvaudit.yaml"
    manifest.write_text("experiments: [{name: a, log: oof.csv, folds_from: folds.csv}]\n")
    (one,) = experiments(load_manifest(manifest))
    assert len(one.cells) == 2
    monkeypatch.chdir(tmp_path)
    assert main(["report", "oof.csv", "--folds-from", "folds.csv", "--exit-zero"]) == 0
    assert "predictions evidence" in capsys.readouterr().out
    assert main(["check", "cvaudit.yaml", "--join", "folds.csv"]) == 2
    assert "--folds-from and --join are for a log" in capsys.readouterr().err
    manifest.write_text("experiments: [{name: a, join: folds.csv}]\n")
    with pytest.raises(InputError, match="'join' needs a 'log' or a 'table'"):
        load_manifest(manifest)
