"""Brute force over the tables of logged folds, written apart from the package: plain loops over fractions."""

from __future__ import annotations

from itertools import combinations, product

from tests.forensics import brute


def span(text, reading):
    rounded, cut = brute.interval(text, False), brute.interval(text, True)
    if reading == "rounded":
        return rounded
    return cut if reading == "truncated" else (min(rounded[0], cut[0]), max(rounded[1], cut[1]))


def fold_prints(fold, printed, reading):
    """A defined value must lie in the interval; an undefined one is printed as zero or one."""
    for metric, text in printed.items():
        value, (low, high) = brute.score(metric, fold), span(text, reading)
        if value is None:
            present = [brute.score(m, fold) for m in ("recall", "specificity") if metric == "balanced_accuracy"]
            if float(text) not in (0, 1) and not any(s is not None and low <= s <= high for s in present):
                return False
        elif not brute.inside(value, (low, high)):
            return False
    return True


def fold_tables(shapes, printed, reading):
    return [
        fold
        for p, n in shapes
        for fold in ((tp, fp, p - tp, n - fp) for tp in range(p + 1) for fp in range(n + 1))
        if fold_prints(fold, printed, reading)
    ]


def answer(folds, totals, claims):
    """Per claim the fitting aggregations; folds are (shapes, printed), totals (positives, negatives)."""
    for reading in ("rounded", "truncated", "either"):
        tables = [
            table
            for table in product(*(fold_tables(shapes, printed, reading) for shapes, printed in folds))
            if (sum(f[0] + f[2] for f in table), sum(f[1] + f[3] for f in table)) == totals
        ]
        values = [{w: [brute.value(m, w, t) for t in tables] for w in brute.ways(m)} for m, _ in claims]
        for size in range(len(claims) + 1):
            results = [_judge(tables, values, claims, cut) for cut in combinations(range(len(claims)), size)]
            results = [result for result in results if all(result)]
            if results:
                return [set().union(*(result[at] for result in results)) for at in range(len(claims))]
    return [set() for _ in claims]


def _judge(tables, values, claims, cut):
    fitting = [set() for _ in claims]
    windows = [brute.interval(text, at in cut) for at, (_, text) in enumerate(claims)]
    for index in range(len(tables)):
        here = [
            {way for way, each in values[at].items() if brute.inside(each[index], windows[at])}
            for at in range(len(claims))
        ]
        if all(here):
            for known, new in zip(fitting, here, strict=True):
                known |= new
    return fitting
