"""MLflow stores on disk, read without MLflow: it would create, migrate or refuse what is only to be looked at."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

import yaml

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.mlflow.runs import Point, Run
from pytest_cvaudit.readers.formats.source import reading

if TYPE_CHECKING:
    from collections.abc import Iterator

_STATUS = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
_TABLES = {"experiments", "runs", "metrics", "latest_metrics", "params", "tags"}


class _Artifacts:
    """Artifacts in a folder of this machine."""

    shown: str
    #: Where artifacts may lie when the store was moved since; the ids of experiment and run follow.
    roots: tuple[Path, ...] = ()

    def artifacts(self, run: Run) -> list[str]:
        """Return the paths of the files that a run logged."""
        folder = self._folder(run)
        if folder is None:
            return []
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

    def fetch(self, run: Run, artifact: str) -> Path:
        """Return the file itself."""
        folder = self._folder(run)
        if folder is None:
            raise InputError(
                f"the artifacts of run {run} are at {run.artifacts}, which is no folder here;"
                " name the server with ?uri=http://…, or download the file and name it as log",
                self.shown,
            )
        return folder / artifact

    def _folder(self, run: Run) -> Path | None:
        parts = urlsplit(run.artifacts)
        own = [Path(unquote(parts.path))] if parts.scheme in ("", "file") else []
        moved = [root / run.experiment / run.id / "artifacts" for root in self.roots]
        return next((folder for folder in (*own, *moved) if folder.is_dir()), None)


@dataclass
class SqliteStore(_Artifacts):
    """The database that MLflow keeps in one file."""

    path: Path
    shown: str

    def __post_init__(self) -> None:
        """Refuse what is no MLflow database."""
        self.roots = (self.path.parent / "mlruns", self.path.parent / "mlartifacts")
        if not self.path.is_file():
            raise InputError(f"no such file: {self.path.name}", self.shown)
        absent = _TABLES - {row[0] for row in self._rows("SELECT name FROM sqlite_master")}
        if absent:
            raise InputError(f"no MLflow database: {self.path.name} has no table '{min(absent)}'", self.shown)

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        address = f"file:{quote(str(self.path.absolute()))}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True)) as connection:
                return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise InputError(f"{self.path.name} cannot be read as an MLflow database: {error}", self.shown) from error

    def experiments(self) -> dict[str, str]:
        """Return the names of the experiments by id."""
        rows = self._rows("SELECT experiment_id, name FROM experiments WHERE lifecycle_stage = 'active'")
        return {str(key): str(name) for key, name in rows}

    def experiment_of(self, run: str) -> str | None:
        """Return the id of the experiment that a run belongs to, or nothing if there is no such run."""
        query = "SELECT experiment_id FROM runs WHERE run_uuid = ? AND lifecycle_stage = 'active'"
        rows = self._rows(query, run)
        return str(rows[0][0]) if rows else None

    def runs(self, experiment: str) -> list[Run]:
        """Return the runs of an experiment, the oldest first."""
        rows = self._rows(
            "SELECT run_uuid, name, status, artifact_uri FROM runs WHERE experiment_id = ?"
            " AND lifecycle_stage = 'active' ORDER BY start_time, run_uuid",
            experiment,
        )
        params, tags = (self._of_runs(table, "COALESCE(value, '')", experiment) for table in ("params", "tags"))
        value = "CASE WHEN is_nan THEN NULL ELSE value END"
        metrics = self._of_runs("latest_metrics", value, experiment)
        return [
            Run(
                key, name or tags[key].get("mlflow.runName", ""), experiment, status,
                {metric: _number(number) for metric, number in metrics[key].items()}, params[key], tags[key],
                uri or "",
            )
            for key, name, status, uri in rows
        ]  # fmt: skip

    def _of_runs(self, table: str, value: str, experiment: str) -> defaultdict[str, dict[str, Any]]:
        found: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        query = (
            f"SELECT run_uuid, key, {value} FROM {table}"
            " WHERE run_uuid IN (SELECT run_uuid FROM runs WHERE experiment_id = ?) ORDER BY key"
        )
        for run, key, content in self._rows(query, experiment):
            found[run][key] = content
        return found

    def history(self, run: Run, metric: str) -> list[Point]:
        """Return every logged value of a metric, in the order of logging."""
        rows = self._rows(
            "SELECT step, timestamp, CASE WHEN is_nan THEN NULL ELSE value END FROM metrics"
            " WHERE run_uuid = ? AND key = ? ORDER BY timestamp, step",
            run.id,
            metric,
        )
        return [Point(int(step), int(timestamp), _number(value)) for step, timestamp, value in rows]


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


@dataclass
class FolderStore(_Artifacts):
    """The folder ``mlruns`` of older versions: a folder per experiment and run, a file per metric."""

    path: Path
    shown: str

    def __post_init__(self) -> None:
        """Refuse what is no such folder."""
        self.roots = (self.path,)
        if not self.path.is_dir():
            raise InputError(f"no such folder: {self.path.name}", self.shown)
        if not is_folder_store(self.path):
            raise InputError(f"no MLflow store: {self.path.name} has no folder with a meta.yaml", self.shown)

    def _metas(self, folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
        for meta in sorted(folder.glob("*/meta.yaml")):
            text = self._text(meta)
            try:
                content = yaml.safe_load(text)
            except yaml.YAMLError:
                content = None
            if not isinstance(content, dict):
                raise InputError(f"{meta.relative_to(self.path)} is no MLflow description of a run", self.shown)
            if not meta.parent.name.startswith(".") and content.get("lifecycle_stage", "active") == "active":
                yield meta.parent, content

    def experiments(self) -> dict[str, str]:
        """Return the names of the experiments by id."""
        return {folder.name: str(meta.get("name", folder.name)) for folder, meta in self._metas(self.path)}

    def experiment_of(self, run: str) -> str | None:
        """Return the id of the experiment that a run belongs to, or nothing if there is no such run."""
        return next((key for key in self.experiments() if (self.path / key / run / "meta.yaml").is_file()), None)

    def runs(self, experiment: str) -> list[Run]:
        """Return the runs of an experiment, the oldest first."""
        found = [(_started(meta), self._run(folder, meta)) for folder, meta in self._runs_in(experiment)]
        return [run for _, run in sorted(found, key=lambda item: (item[0], item[1].id))]

    def _runs_in(self, experiment: str) -> Iterator[tuple[Path, dict[str, Any]]]:
        return ((folder, meta) for folder, meta in self._metas(self.path / experiment) if "run_id" in meta)

    def _run(self, folder: Path, meta: dict[str, Any]) -> Run:
        tags = self._texts(folder / "tags")
        status = str(meta.get("status", ""))
        metrics = {
            name: max(points, key=lambda point: (point.step, point.timestamp)).value
            for name in _names(folder / "metrics")
            if (points := self._points(folder / "metrics" / name))
        }
        return Run(
            folder.name, str(meta.get("run_name") or tags.get("mlflow.runName", "")), folder.parent.name,
            _STATUS.get(status, status), metrics, self._texts(folder / "params"), tags,
            str(meta.get("artifact_uri", "")),
        )  # fmt: skip

    def _texts(self, folder: Path) -> dict[str, str]:
        return {name: self._text(folder / name).rstrip("\n") for name in _names(folder)}

    def _text(self, path: Path) -> str:
        with reading(path, f"{self.shown} ({path.relative_to(self.path).as_posix()})"):
            return path.read_text(encoding="utf-8")

    def _points(self, path: Path) -> list[Point]:
        points = []
        for number, line in enumerate(self._text(path).splitlines(), start=1):
            words = line.split()
            try:
                points.append(Point(int(words[2]) if len(words) > 2 else 0, int(words[0]), float(words[1])))
            except (ValueError, IndexError):
                where = path.relative_to(self.path).as_posix()
                raise InputError(f"{where}, line {number}, is no 'timestamp value step'", self.shown) from None
        return points

    def history(self, run: Run, metric: str) -> list[Point]:
        """Return every logged value of a metric, in the order of logging."""
        return self._points(self.path / run.experiment / run.id / "metrics" / metric)


def is_folder_store(path: Path) -> bool:
    """Tell whether a folder holds experiments; newer versions keep only artifacts under the same name."""
    return any(path.glob("*/meta.yaml"))


def _started(meta: dict[str, Any]) -> int:
    start = meta.get("start_time")
    return start if isinstance(start, int) else 0


def _names(folder: Path) -> list[str]:
    """Name the entries below a folder, those with a slash too."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
