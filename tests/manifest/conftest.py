"""A way to write a manifest and load it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_cvaudit.manifest import Manifest, load_manifest

if TYPE_CHECKING:
    from .corpus import Load


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Return a function that loads a manifest from its text, as ``cvaudit.yaml`` in the current directory."""
    monkeypatch.chdir(tmp_path)

    def load_text(text: str) -> Manifest:
        Path("cvaudit.yaml").write_text(text, encoding="utf-8")
        return load_manifest(Path("cvaudit.yaml"))

    return load_text
