"""What is read of an MLflow store, whichever kind of store it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PARENT = "mlflow.parentRunId"
FINISHED = "FINISHED"


class Point(NamedTuple):
    """One logged value of a metric."""

    step: int
    timestamp: int
    value: float


@dataclass(frozen=True)
class Run:
    """One run with the last value of each of its metrics."""

    id: str
    name: str
    experiment: str
    status: str = FINISHED
    metrics: Mapping[str, float] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    artifacts: str = ""

    @property
    def parent(self) -> str | None:
        """The id of the run that this one is nested in."""
        return self.tags.get(PARENT)

    @property
    def finished(self) -> bool:
        """Tell whether the run came to its end."""
        return self.status == FINISHED

    def __str__(self) -> str:
        """Name the run for a message."""
        return f"'{self.name}' ({self.id})" if self.name else self.id


class RunStore(Protocol):
    """Where runs are kept; only what is active, never what was deleted."""

    shown: str

    def experiments(self) -> Mapping[str, str]:
        """Return the names of the experiments by id."""

    def experiment_of(self, run: str) -> str | None:
        """Return the id of the experiment that a run belongs to, or nothing if there is no such run."""

    def runs(self, experiment: str) -> Sequence[Run]:
        """Return the runs of an experiment, the oldest first."""

    def history(self, run: Run, metric: str) -> Sequence[Point]:
        """Return every logged value of a metric, in the order of logging."""

    def artifacts(self, run: Run) -> Sequence[str]:
        """Return the paths of the files that a run logged."""

    def fetch(self, run: Run, artifact: str) -> Path:
        """Return a local file with the content of an artifact."""
