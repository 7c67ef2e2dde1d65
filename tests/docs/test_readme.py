"""What the README shows is what one sees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from pytest_cvaudit.cli import main
from pytest_cvaudit.manifest import load_manifest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_findings_of_the_demo_are_those_in_the_readme(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(["check", "examples"]) == 1
    seen = capsys.readouterr().out
    (quoted,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    rows = [row.rstrip().removesuffix("…").rstrip() for row in quoted.splitlines()]
    assert len(rows) == 6
    for row in rows:
        assert row in seen


def test_the_manifest_of_the_readme_loads(tmp_path):
    (manifest,) = [text for text in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL) if "experiments:" in text]
    (tmp_path / "cvaudit.yaml").write_text(manifest)
    assert [spec.name for spec in load_manifest(tmp_path / "cvaudit.yaml").experiments] == ["re0-svm"]


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_links_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_example_manifests_claim_what_their_scripts_print():
    claims = [
        claim
        for path in sorted((ROOT / "examples").glob("rare_*/cvaudit.yaml"))
        for experiment in yaml.safe_load(path.read_text())["experiments"]
        for claim in experiment["claims"]
    ]
    assert claims == ["macro_f1 = 0.863", "f1 = 0.703", "accuracy = 97.4%", "auc = 0.739"]
