"""Small data sets, and one way to run something with and without capture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine, make_multilabel_classification

from pytest_cvaudit import capture, load_manifest
from pytest_cvaudit.manifest import experiments

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_cvaudit.capturing.session import Capture
    from pytest_cvaudit.model import Experiment

Data = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="session")
def cancer() -> Data:
    """Two classes; a few features, so that fitting is quick."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200, :5], y[:200]


@pytest.fixture(scope="session")
def wine() -> Data:
    """Three classes."""
    return load_wine(return_X_y=True)


@pytest.fixture(scope="session")
def multilabel() -> Data:
    """Five labels, several of which an instance can have."""
    return make_multilabel_classification(120, random_state=0)


@dataclass
class Both:
    """The result of the same code without and with capture, and what was captured."""

    plain: Any
    result: Any
    capture: Capture
    folder: Path

    @property
    def missed(self) -> list[str]:
        """The lines of what was not captured, without the place."""
        return [line.partition(": ")[2] for line in self.capture.missed]

    @property
    def experiments(self) -> list[Experiment]:
        """What the manifest in the folder lists."""
        found = experiments(load_manifest(self.folder / "cvaudit.yaml"))
        for one in found:
            if one.problem is not None:
                raise one.problem
        return found

    @property
    def experiment(self) -> Experiment:
        """The only one."""
        (found,) = self.experiments
        return found


@pytest.fixture
def both(tmp_path: Path) -> Callable[[Callable[[], Any]], Both]:
    """Run something without and with capture."""

    def run(code: Callable[[], Any]) -> Both:
        np.random.seed(0)
        plain = code()
        np.random.seed(0)
        with capture(tmp_path / "runs") as captured:
            result = code()
        return Both(plain, result, captured, tmp_path / "runs")

    return run
