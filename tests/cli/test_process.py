"""The command as a process: pipes, terminals, encodings and odd places."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import MANIFEST, TABLE_1, TABLE_2

COMMAND = [sys.executable, "-m", "pytest_cvaudit"]


def test_one_document_on_standard_output_and_the_rest_on_standard_error(project, process):
    done = process("check", ".", "nope.csv", "--format", "json", "--statistics")
    assert done.returncode == 2
    assert json.loads(done.stdout)["version"] == 1
    assert done.stderr.splitlines()[0] == "cvaudit: nope.csv: no such file or folder"
    assert any(line.endswith("CV201 f-avg") for line in done.stderr.splitlines())


def test_the_installed_command_is_the_same(project):
    command = shutil.which("cvaudit", path=Path(sys.executable).parent)
    if command is None:
        pytest.skip("the command is not installed beside this Python")
    done = subprocess.run([command, "check", ".", "--select", "CV201"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("cvaudit.yaml:7: error CV201")


def test_no_colours_in_a_pipe_and_narrow_columns_lose_nothing(project, process):
    done = process("report", ".", env={"COLUMNS": "7", "TERM": "xterm-256color"})
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert "0.583333" in done.stdout
    assert process("rules", env={"COLUMNS": "wide"}).returncode == 0


@pytest.mark.parametrize(("variable", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_is_coloured_unless_no_color_is_set(project, variable, coloured):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", **variable}
    with subprocess.Popen([*COMMAND, "check", "."], stdout=theirs, stderr=subprocess.PIPE, env=environment) as running:
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux tells the end of a terminal so
                break
            text += part
        assert running.wait(60) == 1
    os.close(ours)
    assert (b"\x1b[" in text) is coloured
    assert b"CV201" in text


def test_a_reader_who_leaves_early_changes_nothing(folder, process):
    rows = "\n".join(f"  - name: e{number}\n    log: one.csv\n    claims: [f1 = 0.69]" for number in range(300))
    (folder / "one.csv").write_text(TABLE_1)
    (folder / "cvaudit.yaml").write_text(f"experiments:\n{rows}\n")
    with subprocess.Popen([*COMMAND, "check", "."], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline().startswith(b"cvaudit.yaml:4: error CV201")
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(project):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, "check", "."], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "cvaudit: cannot write to standard output: No space left on device\n"


def test_a_terminal_that_knows_only_ascii(folder, process):
    text = MANIFEST.replace("table-1", "größe ± 漢字")
    (folder / "one.csv").write_text(TABLE_1)
    (folder / "two.csv").write_text(TABLE_2)
    (folder / "cvaudit.yaml").write_text(text, encoding="utf-8")
    done = process("check", ".", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 1
    assert r"[gr\xf6\xdfe \xb1 \u6f22\u5b57]" in done.stdout
    done = process("report", ".", "--format", "json", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert json.loads(done.stdout)["experiments"][0]["name"] == "größe ± 漢字"


def test_spaces_unicode_windows_newlines_and_another_directory(folder, process):
    place = folder / "my results é"
    place.mkdir()
    for name, text in (("one.csv", TABLE_1), ("two.csv", TABLE_2), ("cvaudit.yaml", MANIFEST)):
        (place / name).write_bytes(text.replace("\n", "\r\n").encode())
    (folder / "elsewhere").mkdir()
    here = process("check", "my results é", "--select", "CV201")
    assert here.returncode == 1
    assert here.stdout.splitlines()[0] == "my results é/cvaudit.yaml:7: error CV201 f-avg [table-1]"
    assert here.stdout.splitlines()[2] == "     7 |       - f1 = 0.69"
    there = process("check", "../my results é", "--select", "CV201", cwd=folder / "elsewhere")
    assert there.returncode == 1
    assert there.stdout.splitlines()[0] == "../my results é/cvaudit.yaml:7: error CV201 f-avg [table-1]"
    assert there.stdout.splitlines()[2] == "     7 |       - f1 = 0.69"


def test_usage_errors_exit_with_2(folder, process):
    for arguments in (
        [],
        ["check"],
        ["chek"],
        ["check", "x.csv", "--folds", "0"],
        ["check", "x.csv", "--fail-on", "x"],
    ):
        done = process(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert "Traceback" not in done.stderr
