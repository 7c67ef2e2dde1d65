"""Numbers that stand beside a list of folds: their means, with deviations where given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Claim, Printed, find_metric
from pytest_cvaudit.model.metrics import LABELS, normalise
from pytest_cvaudit.readers.metric_columns import metric_of, spelled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pytest_cvaudit.model import Metric
    from pytest_cvaudit.readers.formats.json_text import Record

_MEAN = "mean|avg|average"
_SPREAD = "std|sd|stdev|std_dev"
_OF_FOLDS = r"(?:(?:fold|folds|cv|test|val|validation|eval|oof|score|metric)_)*"
_BEFORE = re.compile(rf"(?P<kind>{_MEAN}|{_SPREAD})_{_OF_FOLDS}(?P<metric>.+)")
_AFTER = re.compile(rf"{_OF_FOLDS}(?P<metric>.+?)(?:_(?:fold|folds|cv))?_(?P<kind>{_MEAN}|{_SPREAD})")
_KIND = re.compile(rf"{_OF_FOLDS}(?P<kind>{_MEAN}|{_SPREAD})s?(?:_(?:metrics|scores|values|results))?")
#: Averages, but not over folds.
_OTHER_MEAN = re.compile(r"avg_precision|.*(?:macro|micro|weighted)_(?:avg|average)")
_SIDES = {"test": frozenset(["test", "holdout"]), "validation": frozenset(["val", "valid", "validation"])}
_SUMMARY = frozenset(["summary", "aggregate", "aggregated", "aggregates", "overall", "statistics", "stats", "averages"])


def claims_beside(group: Record, where: str, columns: Collection[str] = ()) -> tuple[Claim, ...]:
    """Return the means of known metrics among the values of an object that holds folds with these columns."""
    named = ((kind, name, text) for written, kind, name, text in _named(group) if not _is_elsewhere(written, columns))
    values = {(kind, name): text for kind, name, text in named}
    found = []
    for (kind, name), text in values.items():
        metric = _metric(name)
        if metric is None or kind != "mean":
            continue
        spread = values.get(("spread", name))
        if (claim := claim_of(metric, text, spread, f"mean {name} in {where}", is_mean=True)) is not None:
            found.append(claim)
    return tuple(found)


def mean_or_spread(name: str) -> tuple[str, str] | None:
    """Tell of a name such as ``mean_f1``, ``f1_std`` or ``mean_test_f1`` what it is, and of which metric."""
    text = spelled(name.replace(".", "_"))
    if _metric(text) is not None or _OTHER_MEAN.fullmatch(text):
        return None
    for pattern in (_BEFORE, _AFTER):
        if (match := pattern.fullmatch(text)) and _metric(match["metric"]) is not None:
            return _kind(match["kind"]), match["metric"]
    return None


def claim_of(metric: Metric, text: str, spread: str | None, where: str, *, is_mean: bool = False) -> Claim | None:
    """Make a claim of a written value, in percent where it can be nothing else; None if it is no value of the metric.

    What is called a mean says how it was made of the folds, but not over which labels.
    """
    try:
        printed = Printed.parse(text)
        percent = "%" if metric.high == 1 and 1 < printed.digits <= 100 and not printed.percent else ""
        beside = f" ± {spread}" if spread is not None and printed.spread is None and _is_number(spread) else ""
        value = Printed.parse(f"{text}{beside}{percent}")
        return Claim(metric, value, aggregation="avg" if is_mean and metric.family != LABELS else None, where=where)
    except InputError:
        return None


def _is_elsewhere(name: str, columns: Collection[str]) -> bool:
    """Tell whether a name such as ``mean_test_f1`` stands beside folds that have only a ``val_f1``, or the reverse."""
    said, there = _sides(name), set().union(*(_sides(column) for column in columns if metric_of(column)))
    return len(said) == 1 and bool(there) and said.isdisjoint(there)


def _sides(name: str) -> set[str]:
    words = set(normalise(name).split("_"))
    return {side for side, of_side in _SIDES.items() if not words.isdisjoint(of_side)}


def _named(group: Record) -> Iterator[tuple[str, str, str, str]]:
    """Give name, kind, metric and text of every mean and deviation, in the object and in its summaries."""
    for name, value in group.items():
        text = normalise(name)
        if isinstance(value, str) and (named := mean_or_spread(name)) is not None:
            yield name, *named, value
        elif isinstance(value, dict) and (match := _KIND.fullmatch(text)):
            for inner, number in _scalars(value):
                named = mean_or_spread(inner)
                yield inner, _kind(match["kind"]), normalise(inner) if named is None else named[1], number
        elif isinstance(value, dict) and (text in _SUMMARY or _metric(text) is not None):
            yield from _of_summary(text, value)


def _of_summary(outer: str, summary: Record) -> Iterator[tuple[str, str, str, str]]:
    if outer not in _SUMMARY:
        for kind, number in _scalars(summary):
            if match := _KIND.fullmatch(normalise(kind)):
                yield outer, _kind(match["kind"]), outer, number
        return
    yield from _named(summary)


def _scalars(value: Record) -> Iterator[tuple[str, str]]:
    return ((name, item) for name, item in value.items() if isinstance(item, str))


def _kind(word: str) -> str:
    return "mean" if word in _MEAN.split("|") else "spread"


def _metric(name: str) -> Metric | None:
    text = spelled(name)
    return find_metric(text) or find_metric(text.removesuffix("_score"))


def _is_number(value: Any) -> bool:
    try:
        return float(value) >= 0
    except (TypeError, ValueError):
        return False
