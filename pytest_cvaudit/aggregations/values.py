"""What an aggregation yields: a number with its feasible interval, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.model import Cell, Metric

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Values closer than this are one value that two aggregations share.
SAME = 1e-12


class Span(NamedTuple):
    """A value and the interval it may lie in once lost digits are allowed for; NaN is undefined."""

    value: float
    low: float
    high: float


def point(value: float) -> Span:
    """Return a value that is known exactly."""
    return Span(value, value, value)


UNDEFINED = point(float("nan"))

#: One way to turn the cells of one repeat (their indices) into one number.
Way = Callable[["Ints"], Span]


@dataclass(frozen=True)
class PerFold:
    """A measure in every cell: value, feasible interval, and why it is undefined where it is NaN."""

    value: Floats
    low: Floats
    high: Floats
    why: Sequence[str]

    @classmethod
    def exact(cls, value: Floats, why: Sequence[str] | str) -> PerFold:
        """Wrap values that are known exactly."""
        reasons = [why] * len(value) if isinstance(why, str) else why
        return cls(value, value, value, reasons)

    def each(self, reduce: Callable[[Floats], float]) -> Span:
        """Apply one reduction to the values and to both ends of their intervals."""
        return Span(reduce(self.value), reduce(self.low), reduce(self.high))


@dataclass(frozen=True)
class Value:
    """What one aggregation gives: a value in its interval, or a reason: undefined, or unknown for want of evidence."""

    value: float | None
    low: float = float("nan")
    high: float = float("nan")
    reason: str | None = None
    folds: tuple[str, ...] = ()
    per_repeat: tuple[float, ...] = ()
    alias_of: str | None = None
    unknown: bool = False

    @property
    def spread(self) -> float | None:
        """The standard deviation over repeats, where there are several."""
        return float(np.std(self.per_repeat, ddof=1)) if len(self.per_repeat) > 1 else None


@dataclass(frozen=True)
class MetricTable:
    """Every aggregation of one metric, in canonical order, with the values per fold that they start from."""

    metric: Metric
    recommended: str
    values: Mapping[str, Value]
    per_fold: PerFold
    cells: tuple[Cell, ...]
    label: str | None = None
    per_fold_of: Mapping[str, PerFold] = field(default_factory=dict)

    @property
    def best(self) -> Value:
        """The recommended aggregation's value."""
        return self.values[self.recommended]

    def starting_from(self, name: str) -> list[PerFold]:
        """The values per fold that an aggregation, or another name for it, starts from."""
        alike = (name, *(other for other, value in self.values.items() if value.alias_of == name))
        return [self.per_fold_of[one] for one in alike if one in self.per_fold_of] or [self.per_fold]

    def canonical(self, name: str) -> str:
        """The first name of an aggregation's value."""
        return self.values[name].alias_of or name

    def distinct(self) -> dict[str, Value]:
        """The defined aggregations, each value under its first name only."""
        return {name: v for name, v in self.values.items() if v.value is not None and v.alias_of is None}


def cell_name(cell: Cell, cells: Sequence[Cell]) -> str:
    """Name a cell for a person: the repeat only where there are several."""
    several = any(other.repeat != cell.repeat for other in cells)
    return f"repeat {cell.repeat} fold {cell.fold}" if several else f"fold {cell.fold}"


def name_folds(names: Sequence[str], most: int = 6) -> str:
    """Join fold names for a sentence, cutting a long list short."""
    if len(names) > 1 and all(name.startswith("fold ") for name in names):
        names = [f"folds {names[0][5:]}", *(name[5:] for name in names[1:])]
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def repeats_of(cells: Sequence[Cell]) -> list[Ints]:
    """Group the indices of the cells by repeat."""
    groups: dict[str, list[int]] = {}
    for index, cell in enumerate(cells):
        groups.setdefault(cell.repeat, []).append(index)
    return [np.array(indices, dtype=np.int64) for indices in groups.values()]


def evaluate(
    ways: Mapping[str, Way],
    per_fold: PerFold,
    cells: tuple[Cell, ...],
    needs: Mapping[str, str] | None = None,
    per_fold_of: Mapping[str, PerFold] | None = None,
) -> dict[str, Value]:
    """Evaluate every way within each repeat, then average over repeats; ``<way>_all`` takes all repeats as one.

    ``needs`` says what evidence a way would need where a missing value means that the log cannot tell; ``per_fold_of``
    holds the values per fold that a way starts from, where they are not the usual ones.
    """
    groups = repeats_of(cells)
    values: dict[str, Value] = {}

    def combined(name: str, spans: list[Span]) -> Value:
        return _combine(spans, (per_fold_of or {}).get(name, per_fold), cells, (needs or {}).get(name))

    for name, way in ways.items():
        values[name] = combined(name, [way(group) for group in groups])
    if len(groups) > 1:
        everything = np.arange(len(cells))
        for name, way in ways.items():
            base, at, labels = name.partition("@")
            values[f"{base}_all{at}{labels}"] = combined(name, [way(everything)])
    return values


def _combine(spans: list[Span], per_fold: PerFold, cells: tuple[Cell, ...], needs: str | None) -> Value:
    if not spans or any(np.isnan(span.value) for span in spans):
        undefined = [index for index in range(len(cells)) if np.isnan(per_fold.value[index])]
        names = tuple(cell_name(cells[index], cells) for index in undefined)
        if needs:
            return Value(None, reason=needs, unknown=True)
        return Value(None, reason=_reason(undefined, names, per_fold), folds=names)
    value, low, high = (float(np.mean(column)) for column in zip(*spans, strict=True))
    return Value(value, low, high, per_repeat=tuple(span.value for span in spans))


def _reason(undefined: list[int], names: tuple[str, ...], per_fold: PerFold) -> str:
    if not undefined:
        return "undefined on the totals"
    by_reason: dict[str, list[str]] = {}
    for index, name in zip(undefined, names, strict=True):
        by_reason.setdefault(per_fold.why[index], []).append(name)
    parts = [f"{name_folds(folds)} {'has' if len(folds) == 1 else 'have'} {why}" for why, folds in by_reason.items()]
    return "; ".join(parts)


def mark_aliases(values: Mapping[str, Value], families: Callable[[str], str]) -> dict[str, Value]:
    """Mark an aggregation that yields the same number as an earlier one of its family as another name for it."""
    marked: dict[str, Value] = {}
    for name, value in values.items():
        first = next(
            (
                other
                for other, known in marked.items()
                if known.alias_of is None and families(other) == families(name) and _same(known, value)
            ),
            None,
        )
        marked[name] = replace(value, alias_of=first) if first else value
    return marked


def _same(one: Value, two: Value) -> bool:
    if one.value is None or two.value is None:
        return False
    pairs = ((one.value, two.value), (one.low, two.low), (one.high, two.high))
    return all(abs(a - b) <= SAME for a, b in pairs)


def stem(name: str) -> str:
    """The family of an aggregation's name: ``avg`` of ``avg_skip`` and of ``avg@fold``."""
    base = name.split("@")[0]
    for family in ("avg_of_means", "of_means", "tp_fp", "pr_re", "pooled", "merge", "avg"):
        if base == family or base.startswith(f"{family}_"):
            return family
    return base


def one_family(name: str) -> str:
    """For measures that are means over instances: every aggregation is of the same kind."""
    del name
    return "mean"
