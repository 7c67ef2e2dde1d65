"""Brute force over all fold tables of a small design, written apart from the package: plain loops over fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from math import isqrt

F_WAYS = (
    "tp_fp", "avg", "avg_skip", "avg_one", "pr_re", "pr_re_skip", "avg_nan", "avg_weighted", "avg_weighted_positives",
)  # fmt: skip
RATE_WAYS = ("pooled", "avg", "avg_skip", "avg_one", "avg_weighted")
TABLE_WAYS = ("pooled", "avg", "avg_skip", "avg_zero", "avg_weighted")
BALANCED_WAYS = (*TABLE_WAYS, "avg_present")
RATES = ("precision", "recall", "specificity", "npv")
WHOLE = ("accuracy", "error", "balanced_accuracy", "mcc", "kappa")
METRICS = (*RATES, *WHOLE, "f1", "f2", "f0.5")


def ways(metric):
    if metric.startswith("f"):
        return F_WAYS
    if metric in RATES:
        return RATE_WAYS
    return BALANCED_WAYS if metric == "balanced_accuracy" else TABLE_WAYS


def shapes(design):
    """Every multiset of folds (positives, negatives) that the design allows."""
    k, n, p = design.folds, design.instances, design.positives
    if design.fold_positives is not None:
        return {tuple(sorted(zip(design.fold_positives, design.fold_negatives, strict=True)))}
    found = set()
    possible = [(a, b) for a in range(p + 1) for b in range(n - p + 1) if a + b > 0 or n < k]
    for folds in combinations_with_replacement(possible, k):
        positives, negatives = [f[0] for f in folds], [f[1] for f in folds]
        if sum(positives) != p or sum(negatives) != n - p:
            continue
        sizes = [sum(f) for f in folds]
        if design.stratified:
            good = max(positives) - min(positives) <= 1 and max(negatives) - min(negatives) <= 1
        else:
            good = max(sizes) - min(sizes) <= 1
        if good:
            found.add(tuple(sorted(folds)))
    return found


@cache
def tables(design):
    """Every table up to the order of folds."""
    found = set()
    for folds in shapes(design):
        cells = [[(tp, fp, p - tp, n - fp) for tp in range(p + 1) for fp in range(n + 1)] for p, n in folds]
        for table in product(*cells):
            found.add(tuple(sorted(table)))
    return sorted(found)


def div(a, b):
    return None if b == 0 else Fraction(a) / Fraction(b)


def rational_or_float(top, square):
    """top / sqrt(square), exact where the root is whole; floats elsewhere."""
    root = isqrt(square)
    return Fraction(top, root) if root * root == square else top / square**0.5


def score(metric, fold):
    tp, fp, fn, tn = fold
    n = sum(fold)
    if metric.startswith("f"):
        b2 = Fraction(metric[1:]) ** 2
        return div((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp)
    if metric == "accuracy":
        return div(tp + tn, n)
    if metric == "error":
        return div(fp + fn, n)
    if metric == "precision":
        return div(tp, tp + fp)
    if metric == "recall":
        return div(tp, tp + fn)
    if metric == "specificity":
        return div(tn, tn + fp)
    if metric == "npv":
        return div(tn, tn + fn)
    if metric == "balanced_accuracy":
        a, b = div(tp, tp + fn), div(tn, tn + fp)
        return None if a is None or b is None else (a + b) / 2
    if metric == "kappa":
        observed = div(tp + tn, n)
        if observed is None:
            return None
        expected = Fraction((tp + fp) * (tp + fn) + (tn + fp) * (tn + fn), n * n)
        return div(observed - expected, 1 - expected)
    square = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return None if square == 0 else rational_or_float(tp * tn - fp * fn, square)


def mean(values):
    return sum(values) / len(values) if values else None


def value(metric, way, table):
    if way in ("tp_fp", "pooled"):
        return score(metric, tuple(map(sum, zip(*table, strict=True))))
    both = [fold for fold in table if score("precision", fold) is not None and score("recall", fold) is not None]
    if way.startswith("pr_re"):
        kept = both if way == "pr_re_skip" else table
        if not kept:
            return None
        p, r = (mean([score(m, fold) or Fraction(0) for fold in kept]) for m in ("precision", "recall"))
        b2 = Fraction(metric[1:]) ** 2
        return Fraction(0) if b2 * p + r == 0 else (1 + b2) * p * r / (b2 * p + r)
    scores = [score(metric, fold) for fold in (both if way == "avg_skip" and metric.startswith("f") else table)]
    if way in ("avg_skip", "avg_nan"):
        return mean([s for s in scores if s is not None])
    if way == "avg_one":
        return mean([Fraction(1) if s is None else s for s in scores])
    if way == "avg_present":
        rates = [[score(m, fold) for m in ("recall", "specificity")] for fold in table]
        scores = [mean([rate for rate in pair if rate is not None]) for pair in rates]
        return None if None in scores else mean(scores)
    if way in ("avg", "avg_weighted") and metric in WHOLE and None in scores:
        return None
    if way.startswith("avg_weighted"):
        weights = [sum(fold) if way == "avg_weighted" else fold[0] + fold[2] for fold in table]
        return sum(w * (s or Fraction(0)) for w, s in zip(weights, scores, strict=True)) / sum(weights)
    return mean([Fraction(0) if s is None else s for s in scores])


def interval(text, truncated):
    digits = Decimal(text)
    unit = Fraction(Decimal(1).scaleb(digits.as_tuple().exponent))
    number = Fraction(digits)
    if not truncated:
        return number - unit / 2, number + unit / 2
    if number == 0:
        low, high = -unit, unit
    else:
        low, high = (number, number + unit) if number > 0 else (number - unit, number)
    # What is perfect is never cut to less; of other round numbers a program may have a little less.
    tiny = Fraction(1, 10**40)
    return low + tiny * (low == -1), high - tiny * (high == 1)


def inside(number, bounds):
    if number is None:
        return False
    slack = 0 if isinstance(number, Fraction) else 1e-12
    return bounds[0] - slack <= number <= bounds[1] + slack


@cache
def values_of(design, metric, way):
    return [value(metric, way, table) for table in tables(design)]


def judge(design, claims, cut):
    """Per claim the aggregations that fit together with the others; claims in ``cut`` are truncated."""
    fitting = [set() for _ in claims]
    hits = []
    for at, (metric, text, allowed) in enumerate(claims):
        bounds = interval(text, at in cut)
        hits.append({way: [inside(v, bounds) for v in values_of(design, metric, way)] for way in allowed})
    for index in range(len(tables(design))):
        here = [{way for way, hit in each.items() if hit[index]} for each in hits]
        if all(here):
            for known, new in zip(fitting, here, strict=True):
                known |= new
    return fitting


def answer(design, claims):
    """The fitting aggregations per claim: by rounding, else with as few truncated claims as possible."""
    for size in range(len(claims) + 1):
        results = [judge(design, claims, cut) for cut in combinations(range(len(claims)), size)]
        results = [result for result in results if all(result)]
        if results:
            return [set().union(*(result[at] for result in results)) for at in range(len(claims))]
    return [set() for _ in claims]
