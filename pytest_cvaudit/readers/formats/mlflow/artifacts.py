"""Tables that runs of MLflow logged as files."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pandas as pd

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.model import Cell, MissingFold
from pytest_cvaudit.readers.formats.source import Found, Kind, Source
from pytest_cvaudit.readers.table import listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_cvaudit.readers.formats.mlflow.folds import FoldRow, Folds
    from pytest_cvaudit.readers.formats.mlflow.runs import Run, RunStore

FOLD, REPEAT = "fold", "repeat"
#: The folder of a logged model has this file.
_MODEL = "MLmodel"


def tables_of(run: Run, store: RunStore) -> list[str]:
    """Return the artifacts that some format reads, without the files of logged models."""
    from pytest_cvaudit.readers.formats import is_known

    files = [PurePosixPath(file) for file in store.artifacts(run)]
    models = {file.parent for file in files if file.name == _MODEL}
    return [str(file) for file in files if is_known(Path(file)) and not models.intersection(file.parents)]


def open_artifact(run: Run, artifact: str, store: RunStore, folds: Folds | None) -> Source:
    """Open a table that the run logged, or that each of its folds logged under the same name."""
    files = tables_of(run, store)
    if artifact in files:
        return _open(run, artifact, store)
    rows = [row for row in (folds.rows if folds else ()) if row.run is not None]
    own = [row for row in rows if row.run is not None and row.run.finished and artifact in tables_of(row.run, store)]
    if own:
        return _joined(rows, own, artifact, store)
    seen = f" (it has {listing(files)})" if files else " (it has none that can be read)"
    raise InputError(f"run {run} has no artifact '{artifact}'{suggestion(artifact, files)}{seen}", store.shown)


def _open(run: Run, artifact: str, store: RunStore) -> Source:
    from pytest_cvaudit.readers.formats import open_source

    return open_source(store.fetch(run, artifact), f"mlflow:{run.id}/{artifact}")


def _joined(rows: Sequence[FoldRow], own: Sequence[FoldRow], artifact: str, store: RunStore) -> Source:
    """Put the tables of the folds below each other, with the fold of each."""
    parts = [_open(row.run, artifact, store) for row in own if row.run is not None]
    repeated = any(row.repeat is not None for row in own)
    said = {FOLD: [row.fold for row in own], **({REPEAT: [row.repeat or "0" for row in own]} if repeated else {})}
    for part in parts[1:]:
        odd = set(part.columns) ^ set(parts[0].columns)
        if odd and not part.ragged:
            names = listing(sorted(odd))
            raise InputError(f"its columns differ from those of {parts[0].path} in {names}", part.path)
    columns = tuple(dict.fromkeys(name for part in parts for name in part.columns if name not in said))

    def load(kinds: Mapping[str, Kind]) -> pd.DataFrame:
        frames = []
        for index, part in enumerate(parts):
            asked: dict[str, Kind] = {name: kind for name, kind in kinds.items() if name in part.columns}
            frame = part.load(asked or {part.columns[0]: "category"})
            more = {name: pd.Series(values[index], index=frame.index, dtype="str") for name, values in said.items()}
            frames.append(frame.assign(**more).reindex(columns=list(kinds)))
        return pd.concat(frames, ignore_index=True)

    used = {(row.fold, row.repeat) for row in own}
    missing = tuple(
        MissingFold(Cell(row.fold, row.repeat or "0"), f"there is no {artifact}", row.info or None)
        for row in rows
        if (row.fold, row.repeat) not in used
    )
    columns = (*said, *columns)
    roles = {name: name for name in said}
    return Source(f"{parts[0].path} …", columns, load, lambda _: None, found=Found(columns=roles, missing=missing))
