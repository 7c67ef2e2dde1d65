"""Which columns hold which metric: one column each, one per split, or a column of names beside a column of values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Printed, find_metric
from pytest_cvaudit.model.metrics import normalise
from pytest_cvaudit.readers.reasons import is_empty
from pytest_cvaudit.readers.table import with_points

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_cvaudit.model import Metric
    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Table

_PREFIX = re.compile(r"^(?:test|eval|val|validation)_")
_SUMMARY = re.compile(r"^(?:mean|std|sd|avg|rank|train)_")
# Other brackets say the unit, an interval or the data; an average is part of the metric's name.
_BRACKETED = re.compile(
    r"_?(?:score_)?\(_?(?P<average>macro|micro|weighted|lfb)(?:_?(?:avg|average|averaged))?_?\)(?=_|$)"
)
_NUMBER = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?")
_SPLIT = re.compile(r"^split(\d+)_test_(.+)$")


def metric_of(name: str) -> Metric | None:
    """Return the metric that a column or a log entry is named after, or nothing."""
    text = spelled(name)
    bare = _PREFIX.sub("", text)
    if _SUMMARY.match(text) or _SUMMARY.match(bare):
        return None
    return find_metric(bare) or find_metric(bare.removesuffix("_score"))


def spelled(name: str) -> str:
    """Bring a metric's name into its one spelling, also where the average stands in brackets, as in ``F1 (macro)``."""
    return _BRACKETED.sub(r"_\g<average>", normalise(name))


def key(metric: Metric) -> str:
    """Return the name under which values of a metric are kept."""
    return metric.name if metric.k is None else f"precision_at_{metric.k}"


def wide_columns(table: Table, roles: Roles) -> dict[str, str]:
    """Return the column of each metric that has one."""
    found: dict[str, list[str]] = {}
    for role, name in roles.given.items():
        if (metric := find_metric(role)) is not None:
            found[key(metric)] = [name]
    given = set(found)
    # With a column per fold, the metric that the user names is the column of their values.
    named = [name for name in roles.used("metric") if "metric" in roles.given and not roles.has("value")]
    for name in (*roles.free, *named):
        metric = metric_of(name)
        if metric is not None and key(metric) not in given and not (metric.name == "error" and _is_text(table, name)):
            found.setdefault(key(metric), []).append(name)
    return {metric: roles.one(metric, names) or "" for metric, names in found.items()}


def _is_text(table: Table, name: str) -> bool:
    return any(not is_empty(str(text)) and parsed(str(text)) is None for text in table.text(name).categories)


def parsed(text: str) -> Printed | None:
    """Return the printed number that a cell holds, or nothing."""
    try:
        return Printed.parse(text)
    except InputError:
        return None


def pointed(texts: Sequence[str]) -> Sequence[str]:
    """Write the decimal commas of a column as points, also those of spreads, where they can be nothing else."""
    numbers = [number for text in texts for number in _NUMBER.findall(text)]
    return texts if with_points(numbers) == numbers else [text.replace(",", ".") for text in texts]


def is_split(name: str) -> bool:
    """Tell whether a column holds one split's values, as ``split0_test_f1`` does."""
    return _SPLIT.match(name) is not None


def is_validated(names: Collection[str]) -> bool:
    """Tell whether columns are those that scikit-learn's ``cross_validate`` returns."""
    return {"fit_time", "score_time"}.issubset(names) and any(name.startswith("test_") for name in names)


def has_splits(table: Table) -> bool:
    """Tell whether the table is in the manner of scikit-learn's ``cv_results_``."""
    return any(map(is_split, table.columns))


def split_columns(table: Table, roles: Roles) -> dict[str, dict[str, str]]:
    """Return metric → split → column of a table in the manner of scikit-learn's ``cv_results_``."""
    found: dict[str, dict[str, str]] = {}
    unnamed: list[str] = []
    for name in table.columns:
        if match := _SPLIT.match(name):
            metric = metric_of(roles.metric_name or "") if match[2] == "score" else metric_of(match[2])
            if metric is not None:
                found.setdefault(key(metric), {})[match[1]] = name
            elif match[2] == "score":
                unnamed.append(name)
    if unnamed and not found:
        raise table.error(
            f"column '{unnamed[0]}' does not say of what; name it with columns: {{metric: accuracy}}",
            remedy={"columns": {"metric": "accuracy"}},
        )
    return found
