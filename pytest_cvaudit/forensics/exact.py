"""Judges a fold table with exact arithmetic, independently of the search: does it print what is claimed?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_cvaudit.model import Metric, Printed

#: One fold: tp, fp, fn, tn.
Counts = tuple[int, int, int, int]
Table = Sequence[Counts]
Bounds = tuple[Fraction, Fraction]
#: A sum of rational multiples of square roots of square-free numbers, by radicand; radicand 1 is the rational part.
Surd = dict[int, Fraction]

_F_WAYS = (
    "tp_fp", "avg", "avg_skip", "avg_one", "pr_re", "pr_re_skip", "avg_nan", "avg_weighted", "avg_weighted_positives",
)  # fmt: skip
_RATE_WAYS = ("pooled", "avg", "avg_skip", "avg_one", "avg_weighted")
_TABLE_WAYS = ("pooled", "avg", "avg_skip", "avg_zero", "avg_weighted")
_RATES = ("precision", "recall", "specificity", "npv")
#: Above every value below one that a table of any size in reach can have.
_BELOW_ONE = 1 - Fraction(1, 10**12)
#: Measures of the whole table, whose plain and weighted means are undefined as soon as one fold is.
WHOLE = ("accuracy", "error", "balanced_accuracy", "mcc", "kappa")


def ways_of(metric: Metric) -> tuple[str, ...]:
    """Name the aggregations of a metric that can be judged, or none."""
    if metric.is_f:
        return _F_WAYS
    if metric.name == "balanced_accuracy":
        return (*_TABLE_WAYS, "avg_present")
    return _RATE_WAYS if metric.name in _RATES else _TABLE_WAYS if metric.name in WHOLE else ()


def bounds(printed: Printed, truncated: bool = False) -> Bounds:
    """The closed interval of numbers that print so, by rounding or by truncation, as exact fractions."""
    value, unit = Fraction(printed.digits * printed.scale), Fraction(printed.unit)
    if not truncated:
        return value - unit / 2, value + unit / 2
    low, high = (value - unit if value <= 0 else value), (value + unit if value >= 0 else value)
    # To a program 0.6 may be 0.59999999999999998 and cut to 0.5, but what is perfect is 1 and never cut to 0.99.
    return -_BELOW_ONE if low == -1 else low, _BELOW_ONE if high == 1 else high


def squared(beta: float) -> Fraction:
    """The square of a beta, as it was written."""
    return Fraction(repr(beta)) ** 2


def prints(metric: Metric, way: str, table: Table, within: Bounds) -> bool:
    """Tell whether the aggregation of the table is defined and lies within the bounds."""
    return lies(aggregate(metric, way, table), within)


def lies(value: Surd | None, within: Bounds) -> bool:
    """Tell whether a value is defined and lies within the bounds."""
    return value is not None and _sign(value, within[0]) >= 0 and _sign(value, within[1]) <= 0


def aggregate(metric: Metric, way: str, table: Table) -> Surd | None:
    """Compute one aggregation of the table exactly; nothing where it is undefined."""
    if way in ("pooled", "tp_fp"):
        tp, fp, fn, tn = (sum(column) for column in zip(*table, strict=True))
        return _measure(metric)((tp, fp, fn, tn))
    if way.startswith("pr_re"):
        return _of_means(metric, table, skip=way == "pr_re_skip")
    kept: Table = table
    if metric.is_f and way == "avg_skip":
        kept = [fold for fold in table if _precision(fold) is not None and _recall(fold) is not None]
    measure = _measure(metric) if way != "avg_present" else _present
    values = [measure(fold) for fold in kept]
    if way in ("avg_skip", "avg_nan"):
        return mean([value for value in values if value is not None])
    if way in ("avg", "avg_weighted", "avg_present") and metric.name in WHOLE and None in values:
        return None
    fill = Fraction(1 if way == "avg_one" else 0)
    return mean([{1: fill} if value is None else value for value in values], _weights(way, table))


def _weights(way: str, table: Table) -> list[int] | None:
    if way == "avg_weighted":
        return [sum(fold) for fold in table]
    return [tp + fn for tp, _, fn, _ in table] if way == "avg_weighted_positives" else None


def mean(values: Sequence[Surd], weights: Sequence[int] | None = None) -> Surd | None:
    """Average values, each with its weight; nothing where there is none."""
    shares = [1] * len(values) if weights is None else weights
    if not sum(shares):
        return None
    total: Surd = {}
    for value, share in zip(values, shares, strict=True):
        for radicand, factor in value.items():
            total[radicand] = total.get(radicand, Fraction(0)) + share * factor
    return {radicand: factor / sum(shares) for radicand, factor in total.items()}


def _of_means(metric: Metric, table: Table, skip: bool) -> Surd | None:
    pairs = [(_precision(fold), _recall(fold)) for fold in table]
    if skip:
        pairs = [pair for pair in pairs if pair[0] is not None and pair[1] is not None]
    if not pairs:
        return None
    precision, recall = (
        sum((part or Fraction(0) for part in parts), Fraction(0)) / len(pairs) for parts in zip(*pairs, strict=True)
    )
    square = squared(metric.beta or 1.0)
    bottom = square * precision + recall
    return {1: Fraction(0) if bottom == 0 else (1 + square) * precision * recall / bottom}


def _ratio(top: int | Fraction, bottom: int | Fraction) -> Fraction | None:
    return None if bottom == 0 else Fraction(top) / Fraction(bottom)


def _precision(fold: Counts) -> Fraction | None:
    return _ratio(fold[0], fold[0] + fold[1])


def _recall(fold: Counts) -> Fraction | None:
    return _ratio(fold[0], fold[0] + fold[2])


def _specificity(fold: Counts) -> Fraction | None:
    return _ratio(fold[3], fold[1] + fold[3])


def _balanced(fold: Counts) -> Fraction | None:
    recall, specificity = _recall(fold), _specificity(fold)
    return None if recall is None or specificity is None else (recall + specificity) / 2


def _present(fold: Counts) -> Surd | None:
    """The mean recall over the classes that the fold has."""
    rates = [{1: rate} for rate in (_recall(fold), _specificity(fold)) if rate is not None]
    return mean(rates)


def _kappa(fold: Counts) -> Fraction | None:
    tp, fp, fn, tn = fold
    chance = (tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)
    return _ratio(sum(fold) * (tp + tn) - chance, sum(fold) ** 2 - chance)


_RATIONAL: dict[str, Callable[[Counts], Fraction | None]] = {
    "accuracy": lambda fold: _ratio(fold[0] + fold[3], sum(fold)),
    "error": lambda fold: _ratio(fold[1] + fold[2], sum(fold)),
    "precision": _precision,
    "recall": _recall,
    "specificity": _specificity,
    "npv": lambda fold: _ratio(fold[3], fold[2] + fold[3]),
    "balanced_accuracy": _balanced,
    "kappa": _kappa,
}


def _measure(metric: Metric) -> Callable[[Counts], Surd | None]:
    if metric.name == "mcc":
        return _mcc
    if metric.beta is not None:
        square = squared(metric.beta)

        def f_beta(fold: Counts) -> Fraction | None:
            top = (1 + square) * fold[0]
            return _ratio(top, top + square * fold[2] + fold[1])

        return lambda fold: _rational(f_beta(fold))
    return lambda fold: _rational(_RATIONAL[metric.name](fold))


def _rational(value: Fraction | None) -> Surd | None:
    return None if value is None else {1: value}


def _mcc(fold: Counts) -> Surd | None:
    tp, fp, fn, tn = fold
    root, radicand = 1, 1
    for margin in (tp + fp, tp + fn, tn + fp, tn + fn):
        if margin == 0:
            return None
        outside, inside = _square_free(margin)
        shared = _gcd(radicand, inside)
        root, radicand = root * outside * shared, (radicand // shared) * (inside // shared)
    return {radicand: Fraction(tp * tn - fp * fn, root * radicand)}


def _gcd(one: int, two: int) -> int:
    while two:
        one, two = two, one % two
    return one


@cache
def _square_free(number: int) -> tuple[int, int]:
    """Write a number as a² · b with b square-free."""
    outside, inside, rest, divisor = 1, 1, number, 2
    while divisor * divisor <= rest:
        power = 0
        while rest % divisor == 0:
            rest //= divisor
            power += 1
        outside, inside = outside * divisor ** (power // 2), inside * divisor ** (power % 2)
        divisor += 1
    return outside, inside * rest


def _sign(value: Surd, other: Fraction) -> int:
    """The sign of a surd minus a fraction; roots of different square-free numbers never cancel, so this ends."""
    terms = {radicand: factor for radicand, factor in value.items() if factor}
    terms[1] = terms.get(1, Fraction(0)) - other
    if not any(terms[radicand] for radicand in terms):
        return 0
    digits = 40
    while True:
        scale = 10**digits
        total = sum((factor * isqrt(radicand * scale * scale) for radicand, factor in terms.items()), Fraction(0))
        # Each root is cut by less than one unit of the scale.
        error = sum((abs(factor) for radicand, factor in terms.items() if radicand != 1), Fraction(0))
        if abs(total) > error:
            return 1 if total > 0 else -1
        digits *= 2
