"""A project with one experiment, Table 1 of Forman & Scholz, and short ways to run pytest on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

# pytester forgets what an inner run imported, and numpy cannot be imported twice.
import pytest_cvaudit.pytest_items
import pytest_cvaudit.readers
import pytest_cvaudit.recorder
import pytest_cvaudit.reporters.text  # noqa: F401

Run = Callable[..., pytest.RunResult]

FOLDS = """\
fold,negatives,positives,tp,fp
1,373,3,3,0
2,372,4,4,1
3,372,4,4,13
4,372,4,3,5
"""
#: Other plugins only cost time here.
QUICK = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
MANIFEST = """\
experiments:
  - name: experiment
    log: folds.csv
    folds: 4
    claims:
      - f1 = 0.69
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with ``cvaudit.yaml`` and its log; its f1 of 0.69 is the mean over folds (CV201)."""
    write(pytester, {"folds.csv": FOLDS, "cvaudit.yaml": MANIFEST})
    return pytester


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Run ``pytest --cvaudit`` in this process."""
    return lambda *args: pytester.runpytest_inprocess("--cvaudit", *QUICK, *args)


@pytest.fixture
def run_off(pytester: pytest.Pytester) -> Run:
    """Run ``pytest`` in this process, without ``--cvaudit``."""
    return lambda *args: pytester.runpytest_inprocess(*QUICK, *args)


@pytest.fixture
def write_files(pytester: pytest.Pytester) -> Callable[[dict[str, str]], None]:
    """Write files by path and text."""
    return lambda files: write(pytester, files)


def write(pytester: pytest.Pytester, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
