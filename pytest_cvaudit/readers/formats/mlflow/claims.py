"""The claims of a run: metrics that speak of all folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Claim, Printed, find_metric
from pytest_cvaudit.readers.formats.mlflow.names import is_finite, metric_key, places
from pytest_cvaudit.readers.metric_columns import metric_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pytest_cvaudit.model import Metric
    from pytest_cvaudit.readers.formats.mlflow.runs import Run

_SPREAD = frozenset(["std", "stdev", "sd", "dev", "stderr", "sem", "se"])
_OVER_FOLDS = frozenset([
    "mean", "avg", "average", "cv", "kfold", "crossval", "across", "over", "fold", "folds", "overall", "oof",
    "pooled", "aggregate", "aggregated", "all",
])  # fmt: skip
_EXTREME = frozenset(["max", "min", "best", "worst", "median"])


@dataclass(frozen=True)
class _Summary:
    """A metric of a run, and how its name says that it sums up the folds."""

    name: str
    metric: Metric
    value: float
    marked: bool
    is_spread: bool


def claims_of(run: Run, summaries: Mapping[str, float], columns: Collection[str]) -> tuple[Claim, ...]:
    """Return the claims among the metrics of a run whose folds have these columns."""
    found = [summary for name, value in summaries.items() if (summary := _summary(name, value, columns)) is not None]
    # A mean that says so comes first, so that the spread goes with it.
    means = sorted((one for one in found if not one.is_spread), key=lambda one: not one.marked)
    spreads = {one.metric: one.value for one in reversed(found) if one.is_spread}
    claims: dict[tuple[Metric, float], Claim] = {}
    for one in means:
        if (one.metric, one.value) not in claims:
            spread = spreads.pop(one.metric, None)
            claims[one.metric, one.value] = _claim(run, one, spread)
    return tuple(claims.values())


def _summary(name: str, value: float, columns: Collection[str]) -> _Summary | None:
    if not is_finite(value):
        return None
    words = name.lower().replace("average_precision", "ap").split("_")
    if _EXTREME.intersection(words) and name not in columns:
        return None
    if _is_doubtful(name.lower(), columns):
        return None
    if (metric := find_metric(name)) is not None:
        return _Summary(name, metric, value, marked=False, is_spread=False)
    bare = [word for word in words if word not in _SPREAD | _OVER_FOLDS]
    marked, is_spread = len(bare) < len(words), not _SPREAD.isdisjoint(words)
    metric = metric_of("_".join(bare))
    # A test_f1 beside folds with val_f1 was measured elsewhere.
    if metric is None or not (marked or name in columns or find_metric("_".join(bare)) is not None):
        return None
    return _Summary(name, metric, value, marked, is_spread)


def _is_doubtful(name: str, columns: Collection[str]) -> bool:
    """Tell whether a name may mean the area under the curve of precision, or the mean precision of the folds."""
    if not any(text in name for text in ("average_precision", "avg_precision")):
        return False
    keys = {metric_key(column) for column in columns}
    return "avg_precision" in name or ("precision" in keys and "ap" not in keys)


def _claim(run: Run, summary: _Summary, spread: float | None) -> Claim:
    percent = "%" if summary.metric.high == 1 and 1 < summary.value <= 100 else ""
    numbers = [summary.value] if spread is None else [summary.value, spread]
    text = " ± ".join(f"{number:.{places([number])}f}{percent}" for number in numbers)
    where = f"metric {summary.name} of MLflow run {run.name or run.id}"
    try:
        return Claim(summary.metric, Printed.parse(text), where=where)
    except InputError as error:
        raise InputError(f"{error.message} ({where})") from None
