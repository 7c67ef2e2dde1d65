"""Which files are manifests, where they are, and how a path is shown to the user."""

from __future__ import annotations

import os
from pathlib import Path

NAME = "cvaudit.yaml"


def is_manifest(path: Path) -> bool:
    """Tell whether a file's name is that of a manifest."""
    return path.name == NAME or path.name.endswith(f".{NAME}")


def find_manifests(path: Path) -> list[Path]:
    """Return the manifests in a directory tree, in order, leaving out hidden and installed directories."""
    found = []
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if not _skipped(Path(folder, name))]
        found += [Path(folder, name) for name in names if is_manifest(Path(name))]
    return sorted(found)


def _skipped(folder: Path) -> bool:
    # Path.exists would raise where a folder may not be looked into.
    installed = os.path.exists(folder / "pyvenv.cfg")  # noqa: PTH110
    return folder.name.startswith(".") or folder.name == "node_modules" or installed


def shown(path: Path | str) -> str:
    """Write a path for a message: relative if it lies below the current directory, else as given."""
    try:
        return Path(path).absolute().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)
