"""What made a recording: the splitter with its parameters, the design that it promises, and the libraries at work."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cvaudit.model import Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_LIBRARIES = ("numpy", "scipy", "pandas", "sklearn", "joblib", "xgboost", "lightgbm", "catboost", "torch")


def splitter_protocol(splitter: Any) -> dict[str, Any]:
    """What a splitter of k-fold cross-validation declares; of other splitters the number of folds means less."""
    if isinstance(splitter, int) and not isinstance(splitter, bool):
        return {"folds": splitter}
    name = type(splitter).__name__
    folds = _folds(splitter)
    if "KFold" not in name or folds is None:
        return _kind(splitter)
    found: dict[str, Any] = {"folds": folds, **_kind(splitter)}
    if isinstance(repeats := getattr(splitter, "n_repeats", None), int | np.integer):
        found["repeats"] = int(repeats)
    return found


def _kind(splitter: Any) -> dict[str, Any]:
    """What the folds are made of; groups and times are kept whole, so they spread the classes as well as they can."""
    name = type(splitter).__name__
    if "Group" in name:
        return {"group": "groups"}
    if "TimeSeries" in name:
        return {"group": "time"}
    return {"stratified": True} if "Stratified" in name else {}


def _folds(splitter: Any) -> int | None:
    inner = getattr(splitter, "cvargs", {})
    found = inner.get("n_splits") if isinstance(inner, Mapping) and inner else getattr(splitter, "n_splits", None)
    return int(found) if isinstance(found, int | np.integer) else None


@dataclass(frozen=True)
class Design:
    """The splitter and how it prints itself, the cell of each split, and what can be declared."""

    splitter: Any
    shown: str
    cells: tuple[Cell, ...]
    declared: dict[str, Any]


def design_of(cv: Any, tests: Sequence[Any], instances: int) -> Design:
    """Read a splitter with its splits; folds and instances are declared where every repeat tests each instance once."""
    cv = getattr(cv, "base_cv", cv)
    repeats = int(getattr(cv, "n_repeats", 1))
    size = len(tests) // repeats if repeats and len(tests) % repeats == 0 else len(tests)
    declared = _kind(cv)
    if all(_partition(tests[start : start + size], instances) for start in range(0, len(tests), size)):
        declared |= {"folds": size, "instances": instances}
        if len(tests) > size:
            declared["repeats"] = len(tests) // size
    # Splits that were made beforehand have no splitter, and no other name.
    made = type(cv).__name__ == "_CVIterableWrapper"
    shown = "splits made beforehand" if made else " ".join(repr(cv).split())
    return Design(None if made else cv, shown, tuple(split_cells(len(tests), size, repeats)), declared)


def _partition(tests: Sequence[Any], instances: int) -> bool:
    counts = np.zeros(instances, dtype=np.int64)
    for test in tests:
        np.add.at(counts, positions(test), 1)
    return bool((counts == 1).all())


def positions(indices: Any) -> NDArray[Any]:
    """The positions that a splitter gives, or that its mask marks."""
    found = np.asarray(indices)
    return np.flatnonzero(found) if found.dtype == bool else found


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
