"""Tables 1 and 2 of Forman & Scholz as a project, and two ways to run the command: here, and as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pytest_cvaudit.cli import main

if TYPE_CHECKING:
    from pathlib import Path

TABLE_1 = "fold,negatives,positives,tp,fp\n1,373,3,3,0\n2,372,4,4,1\n3,372,4,4,13\n4,372,4,3,5\n"
TABLE_2 = "fold,negatives,positives,tp,fp\n1,372,4,2,0\n2,372,4,0,0\n3,372,4,4,0\n4,372,4,4,0\n"
MANIFEST = """\
experiments:
  - name: table-1
    log: one.csv
    positive: "1"
    folds: 4
    claims:
      - f1 = 0.69
  - name: table-2
    log: two.csv
    claims:
      - {metric: f1, value: 77%, aggregation: tp_fp}
"""
#: Of the rules that come first, so that a new rule does not change these tests.
RULES = ("--select", "CV002,CV003,CV101,CV102,CV103,CV201,CV202,CV203,CV301,CV501,CV502")


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The only line on standard error."""
        (line,) = self.err.splitlines()
        return line


Cli = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory with nothing in the environment that changes the output."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "CVAUDIT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def project(folder: Path) -> Path:
    """A manifest with the two tables: the first claims the mean over folds, the second is right."""
    (folder / "one.csv").write_text(TABLE_1)
    (folder / "two.csv").write_text(TABLE_2)
    (folder / "cvaudit.yaml").write_text(MANIFEST)
    return folder


@pytest.fixture
def cli(folder: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command in this process."""

    def run(*arguments: str) -> Done:
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def process(folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command as a user does: its own process, nothing but pipes."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **options.pop("env", {})}
        command = [sys.executable, "-m", "pytest_cvaudit", *arguments]
        return subprocess.run(
            command, capture_output=True, encoding="utf-8", env=environment, check=False, timeout=60, **options
        )

    return run
