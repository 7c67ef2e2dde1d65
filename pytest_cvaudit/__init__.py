"""Audit cross-validation results: how each claimed number was made, what is wrong with it, and the right one."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: Where each public name lives; imported on first use, so that plain pytest does not pay for numpy and pandas.
_HOMES = {
    "Audit": "pytest_cvaudit.engine",
    "Claim": "pytest_cvaudit.model",
    "Experiment": "pytest_cvaudit.model",
    "InputError": "pytest_cvaudit.errors",
    "Recorder": "pytest_cvaudit.recorder",
    "audit": "pytest_cvaudit.engine",
    "capture": "pytest_cvaudit.capturing.session",
    "cross_validate": "pytest_cvaudit.sklearn_api",
    "load_manifest": "pytest_cvaudit.manifest",
}
__all__ = [
    "Audit",
    "Claim",
    "Experiment",
    "InputError",
    "Recorder",
    "__version__",
    "audit",
    "capture",
    "cross_validate",
    "load_manifest",
]

if TYPE_CHECKING:
    from pytest_cvaudit.capturing.session import capture
    from pytest_cvaudit.engine import Audit, audit
    from pytest_cvaudit.errors import InputError
    from pytest_cvaudit.manifest import load_manifest
    from pytest_cvaudit.model import Claim, Experiment
    from pytest_cvaudit.recorder import Recorder
    from pytest_cvaudit.sklearn_api import cross_validate


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'pytest_cvaudit' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
