"""init: a first manifest from logs alone, with every guess marked, that the audit takes as it is."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

import pytest

import pytest_cvaudit as cvaudit
from pytest_cvaudit.manifest import load_manifest


def write(path, header, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header.split(","), *rows])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(fold, label, label, 0.9 if label == "yes" else 0.1) for fold in range(3) for label in ("yes", "no", "no")]
    write(tmp_path / "oof.csv", "fold,y_true,y_pred,y_score", rows)
    return tmp_path


def test_a_log_gets_an_entry_with_its_guesses_marked(folder, cli):
    done = cli("init", "oof.csv")
    assert (done.code, done.out) == (0, "")
    assert done.err == 'wrote cvaudit.yaml; check the lines marked "guess" and add the claims\n'
    text = (folder / "cvaudit.yaml").read_text()
    lines = [re.sub(r"(?<=\S)\s\s+# .*", "", line) for line in text.splitlines()]
    assert lines[2:] == [
        "experiments:",
        "  - name: oof",
        "    log: oof.csv",
        '    positive: "yes"',
        "    # folds: 3",
        "    # instances: 9",
        "    # stratified: true",
        "    claims: []",
    ]
    assert "# predictions, 3 folds, 9 rows, labels no, yes" in text


def test_the_draft_is_audited_as_it_is(folder, cli):
    assert cli("init", "oof.csv").code == 0
    path = folder / "cvaudit.yaml"
    path.write_text(path.read_text().replace("claims: []", "claims: [f1 = 0.50]"))
    done = cli("check", ".", "--select", "CV502")
    assert done.code == 1
    assert done.out.startswith("cvaudit.yaml:10: error CV502")


def test_a_manifest_is_never_replaced_unasked(folder, cli):
    (folder / "cvaudit.yaml").write_text("experiments: []\n")
    done = cli("init", "oof.csv")
    assert (done.code, done.err) == (
        2, "cvaudit: cvaudit.yaml: there is a manifest already; edit it, or replace it with --force\n"
    )  # fmt: skip
    assert (folder / "cvaudit.yaml").read_text() == "experiments: []\n"
    assert cli("init", "oof.csv", "--force").code == 0
    assert "oof" in (folder / "cvaudit.yaml").read_text()


def test_it_follows_what_the_reader_asks_for(folder, cli):
    rows = [(model, seed, "x", "a", "a") for model in ("svm", "nb") for seed in (1, 2)]
    write(folder / "logs" / "models.csv", "model,fold,id,y_true,y_pred", rows)
    write(folder / "logs" / "sites.csv", "site,y_true,y_pred", [(s, t, t) for s in ("here", "there") for t in "ab"])
    write(folder / "logs" / "words.csv", "fold,y_true,y_score", [(f, t, s) for f in (0, 1) for t, s in ("a1", "b0")])
    done = cli("init", "logs")
    assert (done.code, (folder / "logs" / "cvaudit.yaml").exists()) == (0, True)
    text = (folder / "logs" / "cvaudit.yaml").read_text()
    assert "    by: [model]                               # guess: these tell the experiments apart" in text
    assert "for: svm}" in text
    assert "    columns: {fold: site}                     # guess: other columns may be meant" in text
    assert "    positive: b                               # guess: it may be a as well" in text
    assert [spec.name for spec in load_manifest(folder / "logs" / "cvaudit.yaml").experiments] == [
        "models", "sites", "words",
    ]  # fmt: skip
    assert cli("check", "logs", "--select", "CV002").code == 0


def test_odd_names_and_folders_make_a_manifest_that_is_audited(folder, cli):
    logs = folder / "logs"
    names = (
        "a b",
        "c:d",
        "e'f",
        'g"h',
        "i # j",
        "- k",
        "{l}",
        "[m]",
        "n*o",
        "true",
        "1.0",
        "é日",
        "p::q",
        "r\ns",
        "%t",
        "x y",
    )
    for name in names:
        (logs / "sub # 1").mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "oof.csv", logs / f"{name}.csv")
        shutil.copy(folder / "oof.csv", logs / "sub # 1" / f"{name}.csv")
    shutil.copy(folder / "oof.csv", logs / "x\ny.csv")
    shutil.copy(folder / "oof.csv", logs / "mlflow:cv.csv")
    shutil.copy(folder / "oof.csv", logs / "a b.tsv.csv")
    write(logs / "not\nread.csv", "day,price\n", [(1, 2.5)])
    for name in ("svm", "svm.cvrec"):
        with cvaudit.Recorder(logs / name) as recorder:
            recorder.fold([0, 1], [0, 1])
    assert cli("init", "logs").code == 2
    read = load_manifest(logs / "cvaudit.yaml").experiments
    assert len({spec.name for spec in read}) == len(read) == 2 * len(names) + 5
    done = cli("check", "logs", "--select", "CV002")
    assert done.code == 0, done.out + done.err


def test_links_that_lead_back_and_installed_folders_are_left_out(folder, cli):
    for name, target in (("up", ".."), ("here", "."), ("nowhere.csv", "gone"), ("itself.csv", "itself.csv")):
        (folder / "sub").mkdir(exist_ok=True)
        (folder / "sub" / name).symlink_to(target)
    (folder / "linked.csv").symlink_to("oof.csv")
    write(folder / "venv" / "data.csv", "fold,y_true,y_pred", [(0, "a", "a")])
    (folder / "venv" / "pyvenv.cfg").touch()
    assert cli("init", ".").code == 0
    assert [spec.name for spec in load_manifest(folder / "cvaudit.yaml").experiments] == ["linked", "oof"]


def test_a_folder_that_may_not_be_looked_into_is_told(folder, cli, monkeypatch):
    (folder / "locked").mkdir()

    def refused(original):
        def call(path, *args):
            if "locked" in path.parent.parts or (path.name == "locked" and original is iterate):
                raise PermissionError(13, "Permission denied", str(path))
            return original(path, *args)

        return call

    iterate = Path.iterdir
    for name in ("iterdir", "is_file"):
        monkeypatch.setattr(Path, name, refused(getattr(Path, name)))
    done = cli("init", ".")
    assert done.err.splitlines()[0] == "cvaudit: locked: not looked into: Permission denied"
    assert [spec.name for spec in load_manifest(folder / "cvaudit.yaml").experiments] == ["oof"]


def test_files_that_are_one_log_together_get_one_entry(folder, cli):
    for fold in range(3):
        write(folder / "runs" / str(fold) / "preds.csv", "y_true,y_pred", [("a", "a"), ("b", "b")])
    assert cli("init", "runs", "--output", "here.cvaudit.yaml").code == 0
    (spec,) = load_manifest(folder / "here.cvaudit.yaml").experiments
    assert (spec.name, spec.log.paths) == ("runs", ("runs",))
    assert cli("check", "here.cvaudit.yaml", "--select", "CV002").code == 0


def test_what_cannot_be_read_is_told_and_kept_as_a_comment(folder, cli):
    write(folder / "prices.csv", "day,price", [(1, 2.5)])
    done = cli("init", ".")
    assert done.code == 2
    assert "cvaudit: prices.csv: nothing in it can be audited" in done.err
    text = (folder / "cvaudit.yaml").read_text()
    assert "  # prices.csv is not read: nothing in it can be audited" in text
    assert [spec.name for spec in load_manifest(folder / "cvaudit.yaml").experiments] == ["oof"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere", "nowhere: no such file or folder"),
        ("empty", "empty: no log of a known kind in this folder"),
        ("prices.csv", "prices.csv: nothing in it can be audited"),
        ("ftp:there", "no file matches 'ftp:there'"),
    ],
)
def test_where_nothing_can_be_drafted_nothing_is_written(folder, cli, path, message):
    (folder / "empty").mkdir()
    write(folder / "prices.csv", "day,price", [(1, 2.5)])
    done = cli("init", path)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert not list(folder.rglob("cvaudit.yaml"))


def test_output_to_standard_output_writes_nothing(folder, cli):
    done = cli("init", "oof.csv", "--output", "-")
    assert done.code == 0
    assert done.out.startswith("# Drafted by `cvaudit init`.")
    assert not (folder / "cvaudit.yaml").exists()


@pytest.mark.parametrize("path", ["logs", "logs/oof.csv"])
def test_what_is_printed_works_where_it_says(folder, cli, path):
    (folder / "logs").mkdir()
    shutil.copy(folder / "oof.csv", folder / "logs" / "oof.csv")
    manifest = folder / "logs" / "cvaudit.yaml"
    manifest.touch()  # as a shell does before the command runs
    done = cli("init", path, "--output", "-")
    assert "then: cvaudit check logs/cvaudit.yaml\n" in done.out
    manifest.write_text(done.out)
    assert cli("check", "logs/cvaudit.yaml").code == 0
    assert cli("init", path, "--force").code == 0
    assert manifest.read_text() == done.out, "it is the manifest that would be written there"


@pytest.mark.parametrize("name", ["panrarewsi", "automlbenchmark", "pads-parkinson", "plm-secondary", "wine", "weka"])
def test_a_draft_for_real_logs_is_a_manifest(real_logs, tmp_path, monkeypatch, cli, name):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(real_logs / name, tmp_path / name)
    cli("init", name)
    assert load_manifest(tmp_path / name / "cvaudit.yaml").experiments
    done = cli("check", name, "--select", "CV002")
    assert done.code == 0, done.out


def test_a_folder_that_is_one_log_is_checked_without_a_manifest(folder, cli):
    for fold in range(3):
        write(folder / "runs" / str(fold) / "preds.csv", "y_true,y_pred", [("0", "0"), ("1", "1")])
    done = cli("check", "runs", "--claim", "f1=0.5", "--select", "CV502")
    assert done.code == 1
    assert "'f1 = 0.5'" in done.out


def test_files_of_several_models_are_not_taken_for_one_log(folder, cli):
    shutil.copy(folder / "oof.csv", folder / "other.csv")
    done = cli("check", ".")
    assert done.code == 2
    assert "several files have fold '0'; tell experiments apart with by: [file]" in done.err
