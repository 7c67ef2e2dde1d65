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
    "audit": "pytest_cvaudit.engine",
    "load_manifest": "pytest_cvaudit.manifest",
}
__all__ = ["Audit", "Claim", "Experiment", "InputError", "__version__", "audit", "load_manifest"]

if TYPE_CHECKING:
    from pytest_cvaudit.engine import Audit, audit
    from pytest_cvaudit.errors import InputError
    from pytest_cvaudit.manifest import load_manifest
    from pytest_cvaudit.model import Claim, Experiment


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'pytest_cvaudit' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
