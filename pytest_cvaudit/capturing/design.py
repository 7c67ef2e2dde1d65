"""From a splitter to the design that it promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cvaudit.model import Cell

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Design:
    """The splitter and how it prints itself, the cell of each split, and what can be declared."""

    splitter: Any
    shown: str
    cells: tuple[Cell, ...]
    declared: dict[str, Any]


def design_of(cv: Any, tests: Sequence[Any], instances: int) -> Design:
    """Read a splitter; folds and instances are declared only where every repeat tests each instance once."""
    cv = getattr(cv, "base_cv", cv)
    repeats = int(getattr(cv, "n_repeats", 1))
    size = len(tests) // repeats if repeats and len(tests) % repeats == 0 else len(tests)
    cells = tuple(Cell(str(i % size), str(i // size)) for i in range(len(tests)))
    declared: dict[str, Any] = {}
    if all(_partition(tests[start : start + size], instances) for start in range(0, len(tests), size)):
        declared = {"folds": size, "instances": instances}
        if len(tests) > size:
            declared["repeats"] = len(tests) // size
    if "Stratified" in type(cv).__name__:
        declared["stratified"] = True
    return Design(None if _made_beforehand(cv) else cv, _shown(cv), cells, declared)


def _partition(tests: Sequence[Any], instances: int) -> bool:
    counts = np.zeros(instances, dtype=np.int64)
    for test in tests:
        np.add.at(counts, _positions(test), 1)
    return bool((counts == 1).all())


def _positions(test: Any) -> Any:
    found = np.asarray(test)
    return np.flatnonzero(found) if found.dtype == bool else found


def _shown(cv: Any) -> str:
    """The splitter in one line; splits that were made beforehand have no other name."""
    return "splits made beforehand" if _made_beforehand(cv) else " ".join(repr(cv).split())


def _made_beforehand(cv: Any) -> bool:
    return type(cv).__name__ == "_CVIterableWrapper"
