"""Where an MLflow address points: the store, the experiment or run in it, and perhaps a logged file."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.readers.formats.mlflow.local import FolderStore, SqliteStore, is_folder_store
from pytest_cvaudit.readers.formats.mlflow.server import ServerStore
from pytest_cvaudit.readers.table import listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_cvaudit.readers.formats.mlflow.runs import Run, RunStore

_OPTIONS = ("uri", "fold")
_ENVIRONMENT = "MLFLOW_TRACKING_URI"
_SCHEME = re.compile(r"^([a-z][a-z0-9+.\-]+):", re.IGNORECASE)


def split_options(rest: str, address: str) -> tuple[str, dict[str, str]]:
    """Part the name from the options after the question mark."""
    name, _, query = rest.partition("?")
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    for option, _, value in pairs:
        if option not in _OPTIONS or (option == "fold" and value != "step"):
            raise InputError(f"'?{option}={value}' is not understood; known are ?uri=… and ?fold=step", address)
    if not name.strip("/"):
        raise InputError("name an experiment or a run: mlflow:<experiment name, experiment id or run id>", address)
    return name, {option: value for option, _, value in pairs}


def open_store(given: str | None, base: Path, shown: str) -> RunStore:
    """Open the store that is named in the address or the environment, or lies in the folder."""
    if given is None and (said := os.environ.get(_ENVIRONMENT)):
        # The variable is MLflow's own, for which paths start at the working directory.
        given, base = said, Path()
    if given is not None:
        return _store_at(given, base, shown)
    database, folder = base / "mlflow.db", base / "mlruns"
    if database.is_file() and is_folder_store(folder):
        raise InputError("both mlflow.db and mlruns hold runs; say which with ?uri=mlflow.db or ?uri=mlruns", shown)
    if database.is_file():
        return SqliteStore(database, shown)
    if is_folder_store(folder):
        return FolderStore(folder, shown)
    raise InputError(
        "where is the MLflow store? there is no mlflow.db and no mlruns here; add ?uri=sqlite:///path/to/mlflow.db,"
        f" ?uri=path/to/mlruns or ?uri=http://host:port to the address, or set {_ENVIRONMENT}",
        shown,
    )


def _store_at(uri: str, base: Path, shown: str) -> RunStore:
    match = _SCHEME.match(uri)
    scheme = match[1].lower() if match else ""
    if scheme == "sqlite":
        return SqliteStore(base / re.sub(r"^sqlite:(?:///)?", "", uri, flags=re.IGNORECASE), shown)
    if scheme in ("", "file"):
        path = base / unquote(re.sub(r"^file:(?://(?=/))?", "", uri, flags=re.IGNORECASE))
        return SqliteStore(path, shown) if path.is_file() else FolderStore(path, shown)
    return ServerStore(uri, shown)


@dataclass(frozen=True)
class Target:
    """The runs that an address names, with those nested in them, and perhaps a file that one of them logged."""

    runs: Sequence[Run]
    tops: Sequence[Run]
    artifact: str | None = None

    def only(self, store: RunStore) -> Run:
        """Return the only run, or ask for its id."""
        if len(self.tops) != 1:
            names = listing(str(run) for run in self.tops)
            raise InputError(f"which run? name one as mlflow:<run id>/{self.artifact}: {names}", store.shown)
        return self.tops[0]

    def children(self) -> Mapping[str, list[Run]]:
        """Return the runs nested in each run."""
        found = defaultdict(list)
        for run in self.runs:
            if run.parent is not None:
                found[run.parent].append(run)
        return found


def find_target(name: str, store: RunStore) -> Target:
    """Find what ``experiment``, ``run``, ``experiment/run name`` or one of these and ``/artifact`` stands for."""
    experiments = store.experiments()
    parts = name.split("/")
    for length in range(len(parts), 0, -1):
        first, rest = "/".join(parts[:length]), "/".join(parts[length:])
        ids = {key for key, called in experiments.items() if first in (key, called)}
        if len(ids) > 1:
            raise InputError(f"'{first}' is the name of one experiment and the id of another", store.shown)
        if ids:
            runs = store.runs(ids.pop())
            known = {run.id for run in runs}
            return _within(Target(runs, [run for run in runs if run.parent not in known]), rest, store)
        # An id has only digits and hex letters; asking a server about anything else would be in vain.
        experiment = store.experiment_of(first) if re.fullmatch(r"[0-9a-fA-F\-]{8,}", first) else None
        if experiment is not None:
            runs = store.runs(experiment)
            top = [run for run in runs if run.id == first]
            return Target(runs, top, rest or None)
    seen = listing(experiments.values())
    raise InputError(
        f"no experiment or run '{name}'{suggestion(name, experiments.values())} (experiments: {seen})", store.shown
    )


def _within(target: Target, rest: str, store: RunStore) -> Target:
    """Take a run's name off the rest, if it is one; what is left names an artifact."""
    if not rest:
        return target
    for run in target.runs:
        if run.name and (rest == run.name or rest.startswith(f"{run.name}/")):
            same = [other for other in target.runs if other.name == run.name]
            if len(same) > 1:
                ids = ", ".join(other.id for other in same)
                raise InputError(f"several runs are called '{run.name}'; name one by its id: {ids}", store.shown)
            return Target(target.runs, same, rest[len(run.name) + 1 :] or None)
    return replace(target, artifact=rest)
