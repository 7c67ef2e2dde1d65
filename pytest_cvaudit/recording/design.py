"""What made a recording: the splitter with its parameters, and the libraries at work."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from pytest_cvaudit.model import Cell

_LIBRARIES = ("numpy", "scipy", "pandas", "sklearn", "joblib", "xgboost", "lightgbm", "catboost", "torch")


def splitter_protocol(splitter: Any) -> dict[str, Any]:
    """What a splitter of k-fold cross-validation declares; of other splitters nothing is known to hold."""
    if isinstance(splitter, int) and not isinstance(splitter, bool):
        return {"folds": splitter}
    name = type(splitter).__name__
    folds = _folds(splitter)
    if "KFold" not in name or folds is None:
        return {}
    found: dict[str, Any] = {"folds": folds}
    if isinstance(repeats := getattr(splitter, "n_repeats", None), int | np.integer):
        found["repeats"] = int(repeats)
    if "Stratified" in name:
        found["stratified"] = True
    return found


def _folds(splitter: Any) -> int | None:
    inner = getattr(splitter, "cvargs", {})
    found = inner.get("n_splits") if isinstance(inner, Mapping) and inner else getattr(splitter, "n_splits", None)
    return int(found) if isinstance(found, int | np.integer) else None


def split_cells(number: int, folds: int | None, repeats: int | None) -> list[Cell]:
    """The cells of so many splits in their order: repeat by repeat, where there are several."""
    size = folds if folds and repeats and repeats > 1 and folds * repeats == number else max(number, 1)
    return [Cell(str(index % size), str(index // size)) for index in range(number)]


def splitter_about(splitter: Any) -> dict[str, Any]:
    """The name and the parameters of a splitter, for the record."""
    if isinstance(splitter, int):
        return {"class": "int", "parameters": {"n_splits": splitter}}
    parameters = {name: plain(value) for name, value in getattr(splitter, "__dict__", {}).items()}
    name = f"{type(splitter).__module__}.{type(splitter).__qualname__}"
    return {"class": name, "parameters": parameters, "splits": _splits(splitter)}


def _splits(splitter: Any) -> int | None:
    """How many splits there will be, where the splitter knows without the data."""
    try:
        return int(splitter.get_n_splits())
    except (AttributeError, TypeError, ValueError):
        return None


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries at work."""
    found = {name: getattr(sys.modules.get(name), "__version__", None) for name in _LIBRARIES}
    return {"python": platform.python_version(), **{name: str(text) for name, text in found.items() if text}}


def plain(value: Any) -> Any:
    """Bring a parameter into a form that JSON holds; what has none is written as text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return repr(value)
