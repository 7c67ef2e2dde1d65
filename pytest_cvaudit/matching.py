"""When a printed number and a computed one are the same: some number of the interval prints so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_cvaudit.aggregations import MetricTable
    from pytest_cvaudit.model import Interval, Printed


def matching(printed: Printed, spans: Mapping[str, tuple[float, float]]) -> tuple[tuple[str, ...], bool]:
    """The names whose interval meets the printed value: by rounding, or by truncation if only that fits."""

    def fitting(interval: Interval) -> tuple[str, ...]:
        return tuple(name for name, (low, high) in spans.items() if interval.meets(low, high))

    rounded = fitting(printed.rounded)
    if rounded:
        return rounded, False
    cut = fitting(printed.truncated)
    return cut, bool(cut)


def spans_of(table: MetricTable) -> dict[str, tuple[float, float]]:
    """The interval of each aggregation of a metric."""
    return {name: (value.low, value.high) for name, value in table.distinct().items()}
