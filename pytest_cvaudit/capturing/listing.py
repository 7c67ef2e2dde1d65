"""The manifest that lists what was captured, so that ``cvaudit check`` works at once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import load_manifest, shown
from pytest_cvaudit.manifest.files import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Why a claim of a weighted score is not checked: without its weights an honest number would look wrong.
WEIGHTS = "sample weights or other score parameters, which are not recorded"
_HEADER = "# Written by cvaudit capture, checksum "
_ABOUT = "# It is written anew by the next capture, unless you edit it: then it is kept.\n"


@dataclass(frozen=True)
class Entry:
    """One captured cross-validation: its name, its recording, and what a reader of the manifest wants to know.

    ``claims`` are written as they stand, ``guesses`` as comments, with the line that was printed; of what was scored
    with weights both are comments.
    """

    name: str
    log: str
    remarks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    guesses: tuple[tuple[str, str], ...] = ()
    weighted: bool = False


def refuse_foreign(folder: Path) -> None:
    """Stop before anything runs if the output folder is none, or has a manifest that somebody wrote."""
    path = folder / NAME
    if folder.exists() and not folder.is_dir():
        raise InputError("it is a file; capture into a folder", shown(folder))
    if path.exists() and not _lines(path)[0].startswith(_HEADER):
        raise InputError("this manifest was not written by capture; capture into another folder", shown(path))


def drop_listing(folder: Path) -> None:
    """Remove what an earlier capture listed: its claims are not about the folds that are recorded now."""
    path = folder / NAME
    if path.exists() and not _edited(path):
        path.unlink(missing_ok=True)


def write_listing(folder: Path, entries: Sequence[Entry]) -> str | None:
    """Write the manifest; one that was edited is kept, and what it lacks is said."""
    path = folder / NAME
    body = _ABOUT + _body(entries)
    if path.exists() and _edited(path):
        listed = {one.name for one in load_manifest(path).experiments}
        lacking = [entry.name for entry in entries if entry.name not in listed]
        if not lacking:
            return None
        fresh = folder / f"{NAME}.new"
        fresh.write_text(_signed(body), encoding="utf-8")
        return f"{shown(path)} was edited and is kept; it does not list {', '.join(lacking)} (see {shown(fresh)})"
    if entries:
        path.write_text(_signed(body), encoding="utf-8")
    else:
        path.unlink(missing_ok=True)
    return None


def _body(entries: Sequence[Entry]) -> str:
    rows = ["experiments:"]
    for entry in entries:
        rows += [f"  - name: {_quoted(entry.name)}", f"    log: {_quoted(entry.log)}"]
        rows += [f"    # {remark}" for remark in entry.remarks]
        if entry.claims and entry.weighted:
            rows += [f"    # claimed, but it cannot be checked: {claim}" for claim in entry.claims]
        elif entry.claims:
            rows += ["    claims:", *(f"      - {claim}" for claim in entry.claims)]
        if entry.guesses:
            rows.append("    # claims:   # guesses from what was printed; uncomment what you claim")
            rows += [f"    #   - {claim}   # printed: {line}" for claim, line in entry.guesses]
    return "\n".join(rows) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _signed(body: str) -> str:
    return f"{_HEADER}{_checksum(body)}.\n{body}"


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def _lines(path: Path) -> tuple[str, str]:
    try:
        first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return "", ""
    return first, rest


def _edited(path: Path) -> bool:
    first, rest = _lines(path)
    return first != f"{_HEADER}{_checksum(rest)}."
