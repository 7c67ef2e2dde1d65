"""Aggregations that every table of a design makes equal: they are one way under several names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.forensics.design import splits
from pytest_cvaudit.forensics.exact import ways_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pytest_cvaudit.forensics.design import Design, Shape
    from pytest_cvaudit.model import Metric

#: What of a fold's shape decides whether the measure is defined there and how much it weighs; zero is undefined.
_SIZES: dict[str, Callable[[Shape], Sequence[int]]] = {
    "accuracy": lambda shape: (sum(shape),),
    "error": lambda shape: (sum(shape),),
    "recall": lambda shape: (shape[0],),
    "specificity": lambda shape: (shape[1],),
    "balanced_accuracy": lambda shape: shape,
    "kappa": lambda shape: shape,
}


def canonical(metric: Metric, design: Design) -> dict[str, str]:
    """Map every aggregation of the metric to the first one that is always equal to it in this design."""
    return equal_in({shape for split in splits(design) for group in split.groups for shape in group.shapes}, metric)


def equal_in(shapes: Collection[Shape], metric: Metric) -> dict[str, str]:
    """Map every aggregation of the metric to the first one that is always equal if all folds have such shapes."""
    names = {way: way for way in ways_of(metric)}
    equal = len({sum(shape) for shape in shapes}) == 1
    if equal:
        names["avg_weighted"] = "avg"
    if metric.is_f:
        if all(positives for positives, _ in shapes):
            names["avg_one"] = names["avg_nan"] = "avg"
            if len({positives for positives, _ in shapes}) == 1:
                names["avg_weighted_positives"] = "avg"
        return names
    if metric.name not in _SIZES:
        return names
    sizes = {tuple(_SIZES[metric.name](shape)) for shape in shapes}
    if all(min(size) > 0 for size in sizes):
        linear = metric.name != "kappa"
        first = "pooled" if linear and len(sizes) == 1 else "avg"
        names.update({way: first for way in names if way != "pooled" and (way != "avg_weighted" or equal)})
    # A fold without instances leaves the mean undefined, but not the totals.
    if metric.name in ("accuracy", "error") and all(map(sum, shapes)):
        names["avg_weighted"] = "pooled"
    return names
