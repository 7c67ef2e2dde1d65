"""Formats of other packages come in through an entry point, before our own."""

from __future__ import annotations

import pandas as pd
import pytest

from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Claim, Protocol
from pytest_cvaudit.readers import formats
from pytest_cvaudit.readers.formats import FileFormat, Found, Source, Store

FRAME = pd.DataFrame({"part": ["1", "1", "2", "2"], "said": ["a", "b", "a", "a"], "was": ["a", "b", "a", "b"]})
FOUND = Found(
    columns={"fold": "part", "truth": "was", "predicted": "said"},
    claims={(): (Claim.parse("accuracy = 0.75"),)},
    protocol=Protocol(folds=3),
)


def opened(*given):
    return Source("lab", tuple(FRAME), lambda kinds: FRAME[list(kinds)], lambda row: row + 1, found=FOUND)


class Point:
    def __init__(self, format_):
        self.load = lambda: format_


@pytest.fixture
def installed(monkeypatch):
    points = [Point(FileFormat("lab", (".lab",), opened)), Point(Store("lab", "lab", opened))]
    monkeypatch.setattr(formats, "entry_points", lambda group: points if group == "pytest_cvaudit.readers" else [])
    formats._formats.cache_clear()
    yield
    formats._formats.cache_clear()


@pytest.mark.parametrize("kind", ["file", "address"])
def test_a_format_of_another_package_is_read_with_what_it_knows(installed, tmp_path, kind):
    path = tmp_path / "run.lab"
    path.touch()
    (found,) = experiment_from_log(path if kind == "file" else "lab:run")
    assert found.problem is None
    assert found.predictions.labels == ("a", "b")
    assert [cell.fold for cell in found.cells] == ["1", "2"]
    assert [str(claim) for claim in found.claims] == ["accuracy = 0.75"]
    assert found.protocol.folds == 3


def test_what_the_user_says_comes_before_what_a_format_found(installed, tmp_path):
    path = tmp_path / "run.lab"
    path.touch()
    (found,) = experiment_from_log(path, protocol=Protocol(folds=2), claims=["accuracy = 0.8"], columns={"fold": "was"})
    assert found.protocol.folds == 2
    assert [str(claim) for claim in found.claims] == ["accuracy = 0.8"]
    assert [cell.fold for cell in found.cells] == ["a", "b"]


def test_without_the_package_its_files_are_unknown(tmp_path):
    path = tmp_path / "run.lab"
    path.touch()
    (found,) = experiment_from_log(path)
    assert "unknown kind of file: '.lab'" in str(found.problem)
