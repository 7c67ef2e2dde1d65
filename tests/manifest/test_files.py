"""Finding manifests and showing paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_cvaudit.manifest import find_manifests, is_manifest, shown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cvaudit.yaml", True), ("re0.cvaudit.yaml", True), ("cvaudit.yml", False), ("mycvaudit.yaml", False),
        ("cvaudit.yaml.bak", False), ("folds.csv", False),
    ],
)  # fmt: skip
def test_names_of_manifests(name: str, expected: bool) -> None:
    assert is_manifest(Path("somewhere", name)) is expected


def test_manifests_of_a_tree(tmp_path: Path) -> None:
    wanted = ["a/b/x.cvaudit.yaml", "a/cvaudit.yaml", "cvaudit.yaml"]
    others = ["a/other.yaml", ".git/cvaudit.yaml", "node_modules/p/cvaudit.yaml", "env/cvaudit.yaml", "env/pyvenv.cfg"]
    for name in wanted + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [path.relative_to(tmp_path).as_posix() for path in find_manifests(tmp_path)] == wanted


def test_a_directory_with_the_name_of_a_manifest_is_none(tmp_path: Path) -> None:
    (tmp_path / "cvaudit.yaml").mkdir()
    assert find_manifests(tmp_path) == []


def test_a_hidden_directory_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "cvaudit.yaml").touch()
    assert len(find_manifests(tmp_path / ".hidden")) == 1


def test_paths_are_shown_from_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert shown(tmp_path / "here" / "a" / "cvaudit.yaml") == "a/cvaudit.yaml"
    assert shown(Path("cvaudit.yaml")) == "cvaudit.yaml"
    assert shown(tmp_path / "cvaudit.yaml") == str(tmp_path / "cvaudit.yaml")
    assert shown(Path("../cvaudit.yaml")) == "../cvaudit.yaml"
