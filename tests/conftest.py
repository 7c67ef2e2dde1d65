"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def real_logs() -> Path:
    """The folder of logs that others made, which is not part of the repository."""
    folder = Path(os.environ.get("CVAUDIT_REAL_LOGS", Path(__file__).parents[2] / "shared" / "real"))
    if not folder.is_dir():
        pytest.skip(f"the real logs are not there: set CVAUDIT_REAL_LOGS (looked in {folder})")
    return folder
