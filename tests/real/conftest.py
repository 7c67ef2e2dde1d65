from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_logs():
    """The folder of real logs, which is not part of the repository."""
    folder = Path(os.environ.get("CVAUDIT_REAL_LOGS", Path(__file__).parents[3] / "shared" / "real"))
    if not folder.is_dir():
        pytest.skip(f"the real logs are not there: set CVAUDIT_REAL_LOGS (looked in {folder})")
    return folder
