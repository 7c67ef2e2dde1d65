"""``cvaudit init``: look at logs and draft a manifest for them."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest.files import NAME

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from pytest_cvaudit.manifest.draft import Draft

HELP = "draft a manifest for logs"
ABOUT = (
    "Look at a log, a folder of logs or an address such as mlflow:NAME, and write a manifest with the guesses marked, "
    "ready to edit."
)
_MOST_REMEDIES = 4


def add_options(parser: argparse.ArgumentParser, emit: Callable[[str], None]) -> None:
    """Add the options."""
    parser.add_argument("path", metavar="PATH", help="a log, a folder of logs, or an address that a reader understands")
    parser.add_argument(
        "--output", metavar="FILE", help=f"the manifest (default: {NAME} beside the log; - prints that)"
    )
    parser.add_argument("--force", action="store_true", help="replace a manifest that is there")
    parser.set_defaults(run=lambda options: _run(options, emit))


def _run(options: argparse.Namespace, emit: Callable[[str], None]) -> int:
    """Draft, and write the manifest unless one is there; exit 2 if a log could not be read."""
    from pytest_cvaudit.manifest import shown
    from pytest_cvaudit.manifest.draft import manifest_text
    from pytest_cvaudit.reporters import write

    target = _target(options)
    if options.output != "-" and target.exists() and not options.force:
        raise InputError("there is a manifest already; edit it, or replace it with --force", shown(target))
    drafts = _drafts(options.path, target.parent)
    read = [draft for draft in drafts if draft.problem is None]
    for draft in drafts:
        if draft.problem is not None:
            print(f"cvaudit: {draft.problem}", file=sys.stderr)
    if read:
        text = manifest_text(drafts, shown(target))
        if options.output == "-":
            emit(text)
        else:
            write(str(target), text)
            print(f'wrote {shown(target)}; check the lines marked "guess" and add the claims', file=sys.stderr)
    return 0 if len(read) == len(drafts) else 2


def _target(options: argparse.Namespace) -> Path:
    if options.output not in (None, "-"):
        return Path(options.output)
    path = Path(options.path)
    return (path if path.is_dir() else path.parent if path.exists() else Path()) / NAME


def _drafts(text: str, base: Path) -> list[Draft]:
    from pytest_cvaudit.manifest import shown

    path = Path(text)
    if not path.exists():
        if ":" not in text:
            raise InputError("no such file or folder", text)
        return [_draft(text, base)]
    drafts = _in_folder(path, base) if path.is_dir() else [_draft(path, base)]
    if not drafts:
        raise InputError("no log of a known kind in this folder", shown(path))
    return drafts


def _in_folder(folder: Path, base: Path) -> list[Draft]:
    """Draft for each log in a folder, or for the folder if its files are no logs by themselves but together are one."""
    from pytest_cvaudit.readers import is_log
    from pytest_cvaudit.recording import is_recording

    if is_recording(folder):
        return [_draft(folder, base)]
    found: list[Draft] = []
    for path in _inside(folder):
        if path.is_dir():
            found += _in_folder(path, base)
        elif is_log(path) or is_recording(path):
            found.append(_draft(path, base))
    if found and all(draft.problem is not None for draft in found):
        together = _draft(folder, base)
        return [together] if together.problem is None else found
    return found


def _inside(folder: Path) -> list[Path]:
    """What lies in a folder, but for hidden and installed things, and links to folders: they may lead back up."""
    from pytest_cvaudit.manifest import shown

    try:
        every = sorted(folder.iterdir())
    except OSError as error:
        print(f"cvaudit: {shown(folder)}: not looked into: {error.strerror}", file=sys.stderr)
        return []
    if (folder / "pyvenv.cfg").exists():
        return []
    skipped = (path.name.startswith(".") or path.name == "node_modules" for path in every)
    return [path for path, skip in zip(every, skipped, strict=True) if not skip and not _is_link(path)]


def _written(path: str) -> str:
    """Let a path that could be taken for an address, such as mlflow:NAME, be none."""
    return f"./{path}" if ":" in path or "?" in path else path


def _is_link(path: Path) -> bool:
    return path.is_symlink() and path.is_dir()


def _draft(log: Path | str, base: Path) -> Draft:
    """Read a log, following what the reader itself suggests where it asks back."""
    from pytest_cvaudit.manifest import experiment_from_log
    from pytest_cvaudit.manifest.draft import Draft
    from pytest_cvaudit.model import Protocol

    draft = Draft(log if isinstance(log, str) else _written(Path(os.path.relpath(log, base)).as_posix()))
    for _ in range(_MOST_REMEDIES):
        protocol = Protocol(positive=draft.positive)
        read = experiment_from_log(log, columns=draft.columns, by=draft.by, protocol=protocol)
        problem = next((one.problem for one in read if one.problem is not None), None)
        draft = replace(draft, experiments=() if problem else read, problem=problem)
        if problem is None or not problem.remedy:
            break
        draft = draft.remedied(problem.remedy)
    return draft
