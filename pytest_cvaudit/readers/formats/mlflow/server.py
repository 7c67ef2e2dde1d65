"""MLflow tracking servers, through MLflow's own client."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.mlflow.runs import Point, Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlflow import MlflowClient

_PAGE = 1000
#: By default MLflow goes on trying for minutes where nobody answers; what the user sets himself stays.
_PATIENCE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "30"}


class ServerStore:
    """A server, or whatever else the client can speak to."""

    def __init__(self, uri: str, shown: str) -> None:
        """Take the tracking URI; nothing is asked of the server yet."""
        self.uri, self.shown = uri, shown

    @cached_property
    def _downloads(self) -> Path:
        folder = tempfile.mkdtemp(prefix="cvaudit-mlflow-")
        # What is opened loads later, so the files must outlive the store.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    @cached_property
    def _client(self) -> MlflowClient:
        try:
            from mlflow import MlflowClient
        except ImportError as error:
            raise InputError(
                "reading an MLflow server needs its client: pip install 'pytest-cvaudit[mlflow]'", self.shown
            ) from error
        with self._asking():
            return MlflowClient(self.uri)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Turn everything that the client raises into one line."""
        unset = [name for name in _PATIENCE if name not in os.environ]
        os.environ.update({name: _PATIENCE[name] for name in unset})
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            line = next(iter(str(error).splitlines()), type(error).__name__)
            raise InputError(f"the MLflow store at {self.uri} cannot be read: {line}", self.shown) from error
        finally:
            for name in unset:
                os.environ.pop(name, None)

    def experiments(self) -> dict[str, str]:
        """Return the names of the experiments by id."""
        client = self._client
        with self._asking():
            found = _every(lambda token: client.search_experiments(max_results=_PAGE, page_token=token))
        return {one.experiment_id: one.name for one in found}

    def experiment_of(self, run: str) -> str | None:
        """Return the id of the experiment that a run belongs to, or nothing if there is no such run."""
        from mlflow.exceptions import MlflowException

        client = self._client
        with self._asking():
            try:
                info = client.get_run(run).info
            except MlflowException as error:
                if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                    return None
                raise
        return str(info.experiment_id) if info.lifecycle_stage == "active" else None

    def runs(self, experiment: str) -> list[Run]:
        """Return the runs of an experiment, the oldest first."""
        client, order = self._client, ["attributes.start_time ASC"]
        with self._asking():
            found = _every(
                lambda token: client.search_runs([experiment], order_by=order, max_results=_PAGE, page_token=token)
            )
        return [
            Run(
                one.info.run_id, one.info.run_name or one.data.tags.get("mlflow.runName", ""), experiment,
                one.info.status, dict(sorted(one.data.metrics.items())), dict(one.data.params), dict(one.data.tags),
                one.info.artifact_uri or "",
            )
            for one in found
        ]  # fmt: skip

    def history(self, run: Run, metric: str) -> list[Point]:
        """Return every logged value of a metric, in the order of logging."""
        client = self._client
        with self._asking():
            found = client.get_metric_history(run.id, metric)
        return [Point(one.step, one.timestamp, one.value) for one in found]

    def artifacts(self, run: Run) -> list[str]:
        """Return the paths of the files that a run logged."""
        client = self._client
        files: list[str] = []
        folders = [""]
        with self._asking():
            while folders:
                for one in client.list_artifacts(run.id, folders.pop()):
                    (folders if one.is_dir else files).append(one.path)
        return sorted(files)

    def fetch(self, run: Run, artifact: str) -> Path:
        """Download an artifact into a folder that is deleted when Python ends."""
        client = self._client
        target = self._downloads / run.id
        target.mkdir(exist_ok=True)
        with self._asking():
            return Path(client.download_artifacts(run.id, artifact, str(target)))


def _every(page: Any) -> list[Any]:
    """Turn the pages of a listing."""
    found: list[Any] = []
    token = None
    while True:
        part: Sequence[Any] = page(token)
        found += part
        token = getattr(part, "token", None)
        if not token:
            return found
