"""The walk-through in CONTRIBUTING.md, done in a copy of the project exactly as written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def walked(tmp_path):
    """A copy of the project with the walk-through's card and check added."""
    for name in ("pytest_cvaudit", "rules", "tests/rules"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    card_path = re.search(r"\*\*1\. The card\*\*, `([^`]+)`", text)[1]
    check_path = re.search(r"\*\*2\. The check\*\*, in `([^`]+)`", text)[1]
    (tmp_path / card_path).write_text(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    with (tmp_path / check_path).open("a") as module:
        module.write("\n\n" + re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    return tmp_path


def run(folder, *command):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_walk_through_yields_a_working_rule(walked):
    tested = run(walked, "pytest", "-q", "-p", "no:cacheprovider", "tests/rules", "-k", "CV199 or match")
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert re.search(r"\b6 passed", tested.stdout), tested.stdout

    explained = run(walked, "pytest_cvaudit", "explain", "tiny-fold")
    assert explained.returncode == 0, explained.stderr
    assert "CV199 tiny-fold" in explained.stdout
    assert "fold 2 has 3 instances" in explained.stdout


def test_a_card_without_its_check_is_noticed(walked):
    module = walked / "pytest_cvaudit/checks/folds.py"
    module.write_text(module.read_text().replace('@check("CV199")', ""))
    assert run(walked, "pytest", "-q", "-p", "no:cacheprovider", "tests/rules", "-k", "match").returncode == 1
