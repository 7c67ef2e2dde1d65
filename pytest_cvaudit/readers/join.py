"""Columns from a second file, joined by id: the folds, or the true labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.conventions.derived import strings
from pytest_cvaudit.readers.formats import open_source
from pytest_cvaudit.readers.paths import show
from pytest_cvaudit.readers.roles import is_named
from pytest_cvaudit.readers.table import listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.readers.formats import Kind, Source
    from pytest_cvaudit.readers.spec import LogSpec

    Texts = NDArray[np.object_]

_SHOWN = 3


def joined(sources: Sequence[Source], spec: LogSpec) -> Sequence[Source]:
    """Add the columns of the files that ``folds_from:`` and ``join:`` name; every id must match exactly once."""
    for key, path in (("folds_from", spec.folds_from), ("join", spec.join)):
        if path is not None:
            sources = _joined(sources, spec, key, path)
    return sources


def _joined(sources: Sequence[Source], spec: LogSpec, key: str, path: str) -> Sequence[Source]:
    if not (spec.base / path).is_file():
        raise InputError(f"{key}: no file '{path}' in {show(spec.base)}", spec.location.path, spec.location.line)
    other = open_source(spec.base / path, show(spec.base / path))
    names = _added(sources[0], other, spec, key)
    mark, theirs = _marks(sources[0], other, spec, key)
    marks = strings(other, theirs)
    _refuse_twice(other, theirs, marks)
    index = pd.Index(marks)
    rows = [index.get_indexer(pd.Index(strings(source, mark))) for source in sources]
    for source, found in zip(sources, rows, strict=True):
        _refuse_unknown(source, mark, found, other)
    unused = np.setdiff1d(np.arange(len(marks)), np.concatenate(rows))
    if len(unused):
        ids = listing(marks[unused[:_SHOWN]].tolist())
        raise InputError(
            f"{len(unused)} of {len(marks)} ids have no row in {sources[0].path}, the first: {ids}", other.path,
            other.line(int(unused[0])),
        )  # fmt: skip
    for source, found in zip(sources, rows, strict=True):
        _refuse_contradiction(source, mark, found, other)
    return [_with(source, other, names, found) for source, found in zip(sources, rows, strict=True)]


def _added(source: Source, other: Source, spec: LogSpec, key: str) -> list[str]:
    """Return the columns to take over: all new ones, or only those that tell the fold."""
    new = [name for name in other.columns if name not in source.columns]
    if key == "join":
        return new
    asked = {spec.columns.get("fold"), spec.columns.get("repeat")}
    folds = [name for name in new if name in asked or is_named(name, "fold", "repeat")]
    if not any(is_named(name, "fold") or name == spec.columns.get("fold") for name in folds):
        raise InputError(
            f"no fold column that the log lacks; say which with columns: {{fold: NAME}} (columns:"
            f" {listing(other.columns)})",
            other.path,
        )
    return folds


def _marks(source: Source, other: Source, spec: LogSpec, key: str) -> tuple[str, str]:
    """Return the column of ids in either file."""
    if (given := spec.columns.get("id")) is not None and given in source.columns and given in other.columns:
        return given, given
    shared = [name for name in source.columns if name in other.columns]
    ids = [name for name in shared if is_named(name, "id")] or (shared if len(shared) == 1 else [])
    if len(ids) == 1:
        return ids[0], ids[0]
    either = [[name for name in one.columns if is_named(name, "id")] for one in (source, other)]
    if not shared and all(len(names) == 1 for names in either):
        return either[0][0], either[1][0]
    raise InputError(
        f"{key}: which column holds the ids of both files is not clear; say which with columns: {{id: NAME}}"
        f" ({source.path} has {listing(source.columns)}; here are {listing(other.columns)})",
        other.path,
    )


def _refuse_twice(other: Source, name: str, marks: Texts) -> None:
    again = pd.Series(marks).duplicated().to_numpy()
    if again.any():
        row = int(again.argmax())
        raise InputError(
            f"{name} '{marks[row]}' is there twice; every id must match exactly once", other.path, other.line(row)
        )


def _refuse_unknown(source: Source, mark: str, rows: NDArray[np.intp], other: Source) -> None:
    lost = np.flatnonzero(rows < 0)
    if len(lost):
        ids = strings(source, mark)[lost[:_SHOWN]].tolist()
        raise InputError(
            f"{len(lost)} of {len(rows)} ids are not in {other.path}, the first: {listing(ids)}", source.path,
            source.line(int(lost[0])),
        )  # fmt: skip


def _refuse_contradiction(source: Source, mark: str, rows: NDArray[np.intp], other: Source) -> None:
    """Refuse folds and true labels that both files have and that differ."""
    for name in source.columns:
        if name in other.columns and name != mark and is_named(name, "fold", "repeat", "truth"):
            ours, theirs = strings(source, name), strings(other, name)[rows]
            if (ours != theirs).any():
                row = int((ours != theirs).argmax())
                raise InputError(
                    f"{name} is '{ours[row]}' here and '{theirs[row]}' in {other.path}; take it out of one of them",
                    source.path,
                    source.line(row),
                )


def _with(source: Source, other: Source, names: Sequence[str], rows: NDArray[np.intp]) -> Source:
    def load(kinds: Mapping[str, Kind]) -> pd.DataFrame:
        own = {name: kind for name, kind in kinds.items() if name not in names}
        frame = source.load(own or {source.columns[0]: "category"})
        more = {name: kind for name, kind in kinds.items() if name in names}
        if more:
            taken = other.load(more).iloc[rows]
            taken.index = frame.index
            frame = pd.concat([frame, taken], axis=1)
        return frame[list(kinds)]

    return replace(source, columns=(*source.columns, *names), load=load)
