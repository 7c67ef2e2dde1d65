"""Recordings of the `Recorder`: their evidence needs no guess at columns, and says itself what is missing."""

from __future__ import annotations

import glob
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model.folds import assemble
from pytest_cvaudit.readers.paths import show
from pytest_cvaudit.readers.spec import Log
from pytest_cvaudit.readers.table import listing
from pytest_cvaudit.recording import find_recordings, is_recording, read_recording

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_cvaudit.model import Protocol
    from pytest_cvaudit.readers.spec import LogSpec

_ALONE = "a recording is a log by itself; give each an experiment of its own"


def read_recorded(spec: LogSpec, protocol: Protocol, completed: Callable[[Protocol, Protocol], Protocol]) -> Log | None:
    """Read a log that is a recording; None if it is none."""
    path = _only(spec)
    if path is None:
        return None
    shown = show(path)
    given = ("columns", "by", "select", "threshold", "separator", "folds_from", "join")
    if odd := [name for name in given if getattr(spec, name, None)]:
        raise InputError(f"a recording tells its own columns; leave out `{odd[0]}:`", shown)
    found = read_recording(path, shown)
    predictions, known = None, completed(protocol, found.protocol)
    if found.folds:
        try:
            predictions, known = assemble(found.folds, known)
        except InputError as error:
            raise error.at(shown) from None
    return Log(predictions, missing=found.missing, files=(shown,), claims=found.claims, protocol=known)


def _only(spec: LogSpec) -> Path | None:
    """The recording that a log names, if it names one; refuses several, and parts of one."""
    if spec.table is not None or spec.sources:
        return None
    places = [place for pattern in spec.paths for place in _places(spec.base, pattern)]
    parents = {place.parent: place for place in reversed(places)}
    for parent, place in parents.items():
        if is_recording(parent):
            raise InputError(f"part of a recording, which may be incomplete; name {show(parent)}", show(place))
    recorded = {each: None for place in places for each in find_recordings(place, depth=2)}
    if not recorded:
        return None
    if len(recorded) > 1:
        raise InputError(f"several recordings: {listing(map(show, recorded))}; {_ALONE}", show(places[0]))
    if len(places) > 1:
        raise InputError(f"recording {show(next(iter(recorded)))} and other files; {_ALONE}", show(places[0]))
    return next(iter(recorded))


def _places(base: Path, pattern: str) -> list[Path]:
    if (base / pattern).exists():
        return [base / pattern]
    found = glob.glob(pattern, root_dir=base, recursive=True)  # noqa: PTH207 (Path.glob refuses absolute patterns)
    return sorted(base / match for match in found)
