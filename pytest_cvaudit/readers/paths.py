"""From what a manifest names to files, and from files to the folds that their names tell."""

from __future__ import annotations

import glob
import os
import re
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model.labels import label_order
from pytest_cvaudit.readers.formats import is_known, known_suffixes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_cvaudit.readers.spec import LogSpec

#: Columns made of the paths of several files: the name of the directory, and of the file without its suffix.
DIRECTORY, FILE = "directory", "file"

_NUMBER = re.compile(r"\d+")
#: Words before a number that say what it counts, and that is no folds.
_NO_FOLD = re.compile(
    r"(?:^|[\W_])(?:seed|epoch|model|classifier|clf|class|label|rep|repeat|repetition|trial|step|checkpoint|ckpt|config|"
    r"experiment|exp|inner|threshold|version|v)[\W_]*\d+",
    re.IGNORECASE,
)


def find_files(spec: LogSpec) -> list[Path]:
    """Return the files that a log names, each once, in the order that a person would number them."""
    found: dict[Path, None] = {}
    for pattern in spec.paths:
        files = _matches(spec.base, pattern)
        if not files:
            raise InputError(_nothing(spec.base, pattern), spec.location.path, spec.location.line)
        found.update(dict.fromkeys(files))
    if not found:
        raise InputError("the log names no file", spec.location.path, spec.location.line)
    return list(found)


def are_listed(spec: LogSpec) -> bool:
    """Tell whether the user names every file: then that they are one log is said, not guessed."""
    return all((spec.base / pattern).is_file() for pattern in spec.paths)


def _nothing(base: Path, pattern: str) -> str:
    if (base / pattern).is_dir():
        return f"no file of a known kind ({known_suffixes()}) in '{pattern}' in {show(base)}"
    if (base / pattern).exists():
        return f"'{pattern}' is neither a file nor a folder"
    return f"no file matches '{pattern}' in {show(base)}"


def _matches(base: Path, pattern: str) -> list[Path]:
    whole = base / pattern
    if whole.is_file():
        return [whole]
    if whole.is_dir():
        return _in_directory(whole)
    found = glob.glob(pattern, root_dir=base, recursive=True)  # noqa: PTH207 (Path.glob refuses absolute patterns)
    matches = _sorted(base / match for match in found)
    files = [match for match in matches if match.is_file()]
    return files or [file for match in matches if match.is_dir() for file in _in_directory(match)]


def _in_directory(directory: Path) -> list[Path]:
    here = [path for path in _sorted(directory.iterdir()) if is_log(path)]
    return here or [
        path for sub in _sorted(directory.iterdir()) if sub.is_dir() for path in _sorted(sub.iterdir()) if is_log(path)
    ]


def is_log(path: Path) -> bool:
    """Tell whether a file is of a kind that is read."""
    return path.is_file() and is_known(path) and not path.name.startswith(".")


def _sorted(paths: Iterable[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: [label_order(part) for part in path.parts])


def show(path: Path) -> str:
    """Write a path as the user would: relative to the working directory if it lies below it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def path_columns(paths: Sequence[Path]) -> dict[str, list[str]]:
    """Return what the paths of several files tell, as columns that a user may name."""
    if len(paths) < 2:
        return {}
    return {DIRECTORY: [path.parent.name for path in paths], FILE: [path.name.split(".")[0] for path in paths]}


def fold_of_paths(paths: Sequence[Path]) -> str | None:
    """Return which of these columns is the fold, if one can be nothing else."""
    if len(paths) < 2:
        return None
    if len({path.name for path in paths}) == 1:
        directories = {path.parent.name for path in paths}
        # Words alone may be models as well as sites.
        numbered = all(_NUMBER.search(name) and not _NO_FOLD.search(name) for name in directories)
        return DIRECTORY if len(directories) == len(paths) and numbered else None
    if len({(path.parent, _NUMBER.sub("#", path.name)) for path in paths}) == 1 and _one_number_differs(paths):
        return FILE
    return None


def _one_number_differs(paths: Sequence[Path]) -> bool:
    """Tell whether the names differ in one number, and that does not count something else than folds."""
    numbers = [len(set(number)) > 1 for number in zip(*(_NUMBER.findall(path.name) for path in paths), strict=True)]
    if sum(numbers) != 1:
        return False
    number = list(_NUMBER.finditer(paths[0].name))[numbers.index(True)]
    return not any(match.end() == number.end() for match in _NO_FOLD.finditer(paths[0].name))
