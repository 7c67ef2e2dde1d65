"""Writes claims on several classes as sums: over classes, over the folds of classes, and over whole folds."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.cells import MOST_CELLS, Cells, cells_of
from pytest_cvaudit.forensics.design import Design, Group, Split
from pytest_cvaudit.forensics.exact import squared
from pytest_cvaudit.forensics.forms import excess, pooled_form
from pytest_cvaudit.forensics.rows import Curve, Row, System, summand
from pytest_cvaudit.forensics.studies.blocks import FOLD_MEANS, POOLED
from pytest_cvaudit.forensics.studies.class_tables import class_tables
from pytest_cvaudit.forensics.studies.class_values import Subject, base_of
from pytest_cvaudit.forensics.studies.many import many_folds
from pytest_cvaudit.forensics.studies.parts import Draft, demand_row, listed, placed, shared_cells
from pytest_cvaudit.forensics.totals import region
from pytest_cvaudit.model.metrics import find_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.exact import Bounds
    from pytest_cvaudit.forensics.studies.classes import Classes
    from pytest_cvaudit.forensics.studies.parts import Demand, FullTable
    from pytest_cvaudit.model import Metric

    Floats = NDArray[np.float64]

_SLACK = 1e-9
#: Rows that say which totals have a confusion matrix slow the search down; with many classes most totals have one, and
#: the judge knows.
_FEW_CLASSES, _FEW_CELLS = 3, 2000
_THINNED = 40_000


def over_classes(classes: Classes, demands: Sequence[Demand]) -> Draft | None:
    """Write what totals decide: one cell of true and false positives per class."""
    n, supports = classes.instances, classes.supports
    about: dict[int, list[tuple[Metric, Bounds]]] = {}
    for metric, way, within in demands:
        if isinstance(metric, Subject) and metric.label is not None and way in POOLED:
            about.setdefault(metric.label, []).append((metric, within))
    cells = [_cells(support, n, tuple(about.get(at, ()))) for at, support in enumerate(supports)]
    split = Split(tuple(Group(1, ((support, n - support),)) for support in supports))
    others = tuple(n - support for support in supports)
    design = Design(n * len(supports), n, len(supports), False, supports, others)
    system = System(split, cells, design)
    _row(system, "predicted", [(c.tp + c.fp).astype(np.float64) for c in cells], Fraction(n), Fraction(n), 1)
    if len(supports) <= _FEW_CLASSES or sum(len(c.tp) for c in cells) <= _FEW_CELLS:
        _errors_elsewhere(system)
    said = [_pooled(system, classes, *demand) for demand in demands]
    return Draft(placed(system, lambda table: table), all(said)) if any(said) else None


def _cells(support: int, instances: int, claims: tuple[tuple[Metric, Bounds], ...]) -> Cells:
    """The totals of a class that its own claims allow."""
    if not claims:
        return _all_cells(support, instances)
    found = region(claims, Design(instances, support, 1, stratified=False))
    widths = found.high - found.low + 1
    if found.empty or widths.sum() > MOST_CELLS:
        return _all_cells(support, instances)
    tp = np.repeat(found.tp, widths)
    start = np.cumsum(widths) - widths
    fp = np.arange(len(tp)) - np.repeat(start - found.low, widths)
    return Cells(np.full(len(tp), support), np.full(len(tp), instances - support), tp, fp, complete=True)


@lru_cache(maxsize=32)
def _all_cells(support: int, instances: int) -> Cells:
    cells = cells_of(Split((Group(1, ((support, instances - support),)),)), support, instances)[0]
    if cells.complete:
        return cells
    # Nothing is proven by a part of the cells, so that a few of them serve the search as well and faster.
    some = np.random.default_rng(4).choice(len(cells.tp), min(_THINNED, len(cells.tp)), replace=False)
    return Cells(cells.positives[some], cells.negatives[some], cells.tp[some], cells.fp[some], complete=False)


def _errors_elsewhere(system: System) -> None:
    """Demand that the false positives of every class are misses of the others."""
    missed = [(c.positives - c.tp).astype(np.float64) for c in system.cells]
    for at, cells in enumerate(system.cells):
        values = [-cells.fp.astype(np.float64) if at == other else part for other, part in enumerate(missed)]
        _row(system, f"errors of {at}", values, Fraction(0), None, 1)


def _pooled(system: System, classes: Classes, metric: Metric, way: str, within: Bounds) -> bool:
    """Write a demand on totals, if it is one."""
    base = way.partition("@")[0]
    n = classes.instances
    if isinstance(metric, Subject) and metric.label is not None:
        if way not in POOLED:
            return False
        values = system.cells[metric.label].values(metric)
        near = (values >= float(within[0]) - _SLACK) & (values <= float(within[1]) + _SLACK)
        system.allowed[metric.label] = system.allowed[metric.label] & near
    elif base not in ("pooled", "tp_fp", "of_means"):
        return False
    elif _is_accuracy(metric, base):
        low, high = within if metric.name != "error" else (1 - within[1], 1 - within[0])
        _row(system, "tp", [c.tp.astype(np.float64) for c in system.cells], n * low, n * high, 1)
    elif metric.name == "kappa":
        _kappa(system, classes, within)
    elif metric.average == "weighted":
        _weighted(system, classes, metric, base, within)
    else:
        system.add(base_of(metric), "pr_re" if base == "of_means" else "avg", within)
    return True


def _is_accuracy(metric: Metric, base: str) -> bool:
    """Tell whether a pooled average is the accuracy under another name."""
    weighted_recall = metric.average == "weighted" and metric.base == "recall" and base == "tp_fp"
    return metric.name in ("accuracy", "error") or metric.average == "micro" or weighted_recall


def _kappa(system: System, classes: Classes, within: Bounds) -> None:
    """Kappa is a fraction of two sums over classes, so that each bound is a bound on one sum."""
    n = classes.instances
    for name, bound, sign in (("above", within[0], 1), ("below", within[1], -1)):
        weight = float(1 - bound)
        values = [
            (sign * (float(n) * c.tp - weight * c.positives * (c.tp + c.fp))).astype(np.float64) for c in system.cells
        ]
        end = sign * bound * n * n
        _row(system, f"kappa {name} {bound}", values, end, None, None)


def _weighted(system: System, classes: Classes, metric: Metric, base: str, within: Bounds) -> None:
    count = len(classes.supports)
    shares = [count * support / classes.instances for support in classes.supports]

    def values(name: str) -> list[Floats]:
        measure = find_metric(name)
        assert measure is not None
        return [w * np.nan_to_num(c.values(measure)) for w, c in zip(shares, system.cells, strict=True)]

    if base == "tp_fp":
        name = metric.base or "recall"
        _row(system, f"weighted {name}", values(name), count * within[0], count * within[1], None)
        return
    for name in ("precision", "recall"):
        _row(system, f"weighted {name}", values(name), Fraction(0), Fraction(count), None)
    curve = Curve("weighted precision", "weighted recall", None, squared(metric.beta or 1.0), within)
    system.curves.append(curve)


def over_folds(classes: Classes, demands: Sequence[Demand]) -> Draft | None:
    """Write sums over the folds of every class, without saying which folds are the same: this can only refute."""
    n, k = classes.instances, classes.folds
    groups = tuple(Group(k, classes.shapes(label)) for label in range(len(classes.labels)))
    split = Split(groups)
    count = len(classes.labels)
    system = System(split, shared_cells(split, n, n), Design(n * count, n, k * count, stratified=False))
    _row(system, "predicted", [(c.tp + c.fp).astype(np.float64) for c in system.cells], Fraction(n), Fraction(n), 1)
    for label, support in enumerate(classes.supports):
        if len(groups[label].shapes) > 1:
            own = _only(system, label, lambda cells: cells.positives)
            _row(system, f"of {label}", own, Fraction(support), Fraction(support), 1)
    said = [_summed(system, classes, *demand) for demand in demands]
    return Draft(placed(system, lambda table: table), whole=False) if any(said) else None


def _only(system: System, label: int, value: Callable[[Cells], NDArray[np.int64] | Floats]) -> list[Floats]:
    return [
        value(cells).astype(np.float64) if at == label else np.zeros(len(cells.tp))
        for at, cells in enumerate(system.cells)
    ]


def _summed(system: System, classes: Classes, metric: Metric, way: str, within: Bounds) -> bool:
    """Write a demand as a sum over the folds of the classes, if it is one."""
    base, _, where = way.partition("@")
    n, k, count = classes.instances, classes.folds, len(classes.labels)
    if isinstance(metric, Subject) and metric.label is not None:
        return _summed_of_label(system, classes, metric, metric.label, way, within)
    if _is_accuracy(metric, base) and base in ("pooled", "tp_fp", "avg_weighted"):
        return _pooled(system, classes, metric, "tp_fp", within)
    if base not in ("avg", "avg_zero"):
        return False
    if _is_accuracy(metric, base):
        low, high = within if metric.name != "error" else (1 - within[1], 1 - within[0])
        values = [c.tp / np.maximum(1, c.positives + c.negatives) for c in system.cells]
        _row(system, "accuracy avg", values, k * low, k * high, None)
    elif metric.average == "weighted":
        measure = base_of(metric)
        values = []
        for support, cells in zip(classes.supports, system.cells, strict=True):
            size = np.maximum(1, cells.positives + cells.negatives)
            share = cells.positives / size if where == "fold" else np.full(len(size), support / n)
            values.append(share * np.nan_to_num(cells.values(measure)))
        _row(system, f"{metric.name} {way}", values, k * within[0], k * within[1], None)
    else:
        values = [np.nan_to_num(cells.values(base_of(metric))) for cells in system.cells]
        _row(system, f"{metric.name} {way}", values, k * count * within[0], k * count * within[1], None)
    return True


def _summed_of_label(system: System, classes: Classes, metric: Metric, label: int, way: str, within: Bounds) -> bool:
    key = f"{metric.name} {way} of {label}"
    design = Design(classes.instances, classes.supports[label], classes.folds, stratified=False)
    if way in POOLED:
        form = pooled_form(metric, design)
        if form is None:
            return False
        for name, bound, sign in (("above", within[0], 1), ("below", within[1], -1)):
            above = excess(form, bound)
            values = _only(system, label, _linear(sign * float(above.tp), sign * float(above.fp)))
            _row(system, f"{key} {name}", values, Fraction(-sign * above.constant), None, None)
        return True
    if way not in FOLD_MEANS:
        return False
    total = {"avg_weighted": design.instances, "avg_weighted_positives": design.positives}.get(way, classes.folds)
    values = _only(system, label, lambda c: summand(metric, way, c))
    _row(system, key, values, total * within[0], total * within[1], None)
    return True


def _linear(tp: float, fp: float) -> Callable[[Cells], Floats]:
    return lambda cells: tp * cells.tp + fp * cells.fp


def over_fold_tables(classes: Classes, demands: Sequence[Demand]) -> Draft | None:
    """Write means over folds over the tables that whole folds may have, in one arrangement of the classes."""
    if all(not way.startswith("avg") for _, way, _ in demands):
        return None
    parts = class_tables(classes.supports, classes.folds)
    folds = [np.array(part.tables, np.int64) for part in parts]
    rows: dict[str, Row] = {}
    allowed = [np.ones(len(part.tables), np.bool_) for part in parts]
    whole = True
    for metric, way, within in demands:
        found = _over_tables(classes, folds, metric, way, within)
        whole &= bool(found)
        for row in found:
            allowed = [mask & ~np.isnan(part) for mask, part in zip(allowed, row.values, strict=True)]
            row.values = [np.nan_to_num(part) for part in row.values]
            rows[f"{len(rows)}"] = row
    return Draft(listed(parts, rows, allowed, _flat), whole, proves=classes.regular) if rows else None


def _over_tables(
    classes: Classes, folds: Sequence[NDArray[np.int64]], metric: Metric, way: str, within: Bounds
) -> list[Row]:
    """Write a demand as sums over whole folds, if that can be; NaN where a fold leaves it undefined."""
    n, k, base = classes.instances, classes.folds, way.partition("@")[0]
    if way.startswith("avg") and way not in ("avg_skip", "avg_nan", "avg_weighted", "avg_weighted_positives"):
        return [Row([many_folds(metric, way, part, classes.supports) for part in folds], k * within[0], k * within[1])]
    if isinstance(metric, Subject) and metric.label is not None:
        form = pooled_form(metric, Design(n, classes.supports[metric.label], k, stratified=False))
        if way not in POOLED or form is None:
            return []
        rows = []
        for bound, sign in ((within[0], 1), (within[1], -1)):
            tp, fp, constant = excess(form, bound)
            own = [part[:, metric.label] for part in folds]
            values = [sign * (float(tp) * counts[:, 0] + float(fp) * counts[:, 1]) for counts in own]
            rows.append(Row(values, Fraction(-sign * constant), None))
        return rows
    if _is_accuracy(metric, base):
        low, high = within if metric.name != "error" else (1 - within[1], 1 - within[0])
        return [Row([part[:, :, 0].sum(axis=1).astype(np.float64) for part in folds], n * low, n * high, 1)]
    if base in POOLED and (metric.base == "recall" or metric.name == "balanced_accuracy"):
        shares = 1.0 / (len(classes.supports) * np.array(classes.supports, np.float64))
        return [Row([part[:, :, 0] @ shares for part in folds], *within)]
    return []


def _flat(tables: list[FullTable]) -> FullTable:
    return tuple(counts for fold in tables for counts in fold)


def _row(
    system: System, key: str, values: list[Floats], low: Fraction | None, high: Fraction | None, scale: int | None
) -> None:
    demand_row(system.rows, key, Row(values, low, high, scale))
