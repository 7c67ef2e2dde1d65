"""What the names of runs, parameters and metrics in MLflow tell of folds and metrics."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.readers.metric_columns import key, metric_of
from pytest_cvaudit.readers.roles import NAMES, squashed

if TYPE_CHECKING:
    from collections.abc import Iterable

_COUNTS = {name for role in ("tp", "fp", "fn", "tn", "positives", "negatives", "n") for name in NAMES[role].split()}
_BETWEEN = re.compile(r"[/:\s\-]+")
_NUMBERED = re.compile(
    r"(?:^|(?<=[_/:. \-]))(?:cv[_\-]?)?(?:fold|split)[_/:. #=\-]*(\d+)(?=$|[_/:. \-])", re.IGNORECASE
)
_PER_FOLD = re.compile(r"(?:^|_)(?:per_|by_|each_)?folds?(?=_|$)", re.IGNORECASE)
#: Digits of a float64 that survive another order of summation, and of a float32.
_PLACES, _PLACES_FLOAT32, _SHORT = 12, 6, 9
#: A database stores infinity as the greatest number.
_INFINITE = 1e300


def plain(name: str) -> str:
    """Write a metric's name as a column's: ``val/f1`` is ``val_f1``."""
    return _BETWEEN.sub("_", name).strip("_")


def is_count(name: str) -> bool:
    """Tell whether a metric counts instances."""
    return squashed(name) in _COUNTS


def is_known(name: str) -> bool:
    """Tell whether a metric can be audited, or is a count."""
    return metric_of(name) is not None or is_count(name)


def metric_key(name: str) -> str | None:
    """Return the name under which values of a metric are kept."""
    metric = metric_of(name)
    return None if metric is None else key(metric)


def numbered(name: str) -> tuple[str, str] | None:
    """Take ``fold_0_f1``, ``f1_fold_0`` or ``fold0/f1`` apart into fold and metric."""
    found = list(_NUMBERED.finditer(name))
    if len(found) != 1:
        return None
    return found[0][1], plain(f"{name[: found[0].start()]}_{name[found[0].end() :]}").replace("__", "_")


def fold_in(name: str) -> str | None:
    """Return the fold that a run is named after: ``fold_3``, ``svm-fold-3``."""
    found = {match[1] for match in _NUMBERED.finditer(name)}
    return found.pop() if len(found) == 1 else None


def without_fold(name: str) -> str | None:
    """Return the metric of ``f1_per_fold`` or ``fold_f1``, or nothing where no fold is named."""
    bare = _PER_FOLD.sub("", plain(name)).strip("_")
    return bare if bare != plain(name) else None


def places(values: Iterable[float]) -> int:
    """Return how many decimals are surely right in numbers that one program logged.

    A number of few digits among others of few digits may have been rounded; among full ones it is as full as they are.
    """
    finite = [value for value in values if is_finite(value)]
    needed = max((_decimals(value) for value in finite), default=1)
    if needed > _SHORT and all(float(np.float32(value)) == value for value in finite):
        whole = len(str(int(max(map(abs, finite)))))
        return max(1, _PLACES_FLOAT32 + 1 - whole)
    return min(max(1, needed), _PLACES)


def _decimals(value: float) -> int:
    exponent = Decimal(repr(value)).as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def is_finite(value: float) -> bool:
    """Tell whether a metric has a value."""
    return math.isfinite(value) and abs(value) < _INFINITE


def written(value: float | None, decimals: int) -> str:
    """Write a metric's value as the cell of a table."""
    if value is None:
        return ""
    if is_finite(value):
        return f"{value:.{decimals}f}"
    return "NaN" if math.isnan(value) else "undefined"
