"""The folds that runs of MLflow stand for: nested runs, metrics named after folds, or the steps of metrics."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model.labels import label_order
from pytest_cvaudit.readers.formats.mlflow.names import fold_in, is_known, numbered, plain, without_fold
from pytest_cvaudit.readers.formats.mlflow.protocol import declared_folds, has_epochs
from pytest_cvaudit.readers.roles import squashed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_cvaudit.readers.formats.mlflow.runs import Point, Run, RunStore

_FOLD = frozenset([
    "fold", "foldindex", "foldidx", "foldid", "foldnumber", "foldnum", "foldno", "foldname", "cvfold",
    "cvfoldindex", "outerfold", "testfold",
])  # fmt: skip
_REPEAT = frozenset(["repeat", "repeatindex", "repeatidx", "repeatid", "repetition", "rep", "cvrepeat"])
_REPEAT_NAME = re.compile(r"(?:^|(?<=[_/. \-]))rep(?:eat|etition)?[_/. #=\-]*(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class FoldRow:
    """One fold: the values of its metrics, or why there are none."""

    fold: str
    repeat: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    info: str = ""
    run: Run | None = None


@dataclass(frozen=True)
class Folds:
    """The folds of one experiment, and what the run that sums them up says of all of them."""

    run: Run
    rows: tuple[FoldRow, ...]
    summaries: Mapping[str, float]


def nested(run: Run, children: Sequence[Run], shown: str) -> Folds | None:
    """Take the runs inside a run for folds, if they name folds."""
    folds = _folds_of(children, shown)
    if not folds:
        return None
    by_cell: defaultdict[tuple[str, str | None], list[Run]] = defaultdict(list)
    without = []
    for child in children:
        if child.id in folds:
            by_cell[folds[child.id], _repeat_of(child, shown)].append(child)
        else:
            without.append(child)
    if not _is_numbering(fold for fold, _ in by_cell):
        for child in without:
            if child.finished and any(map(is_known, map(plain, child.metrics))):
                raise InputError(
                    f"run {child} in run {run} says no fold, and the others do not number 0, 1, 2, … without it;"
                    " give it a tag 'fold', or delete it",
                    shown,
                )
    rows = [_row(fold, repeat, _one(fold, runs, shown)) for (fold, repeat), runs in by_cell.items()]
    # Nobody can tell which fold it was to be.
    rows += [_row(child.name or child.id, _repeat_of(child, shown), child) for child in without if not child.finished]
    return Folds(run, tuple(sorted(rows, key=_order)), {plain(name): value for name, value in run.metrics.items()})


def _order(row: FoldRow) -> tuple[object, ...]:
    return label_order(row.repeat or ""), label_order(row.fold)


def _folds_of(children: Sequence[Run], shown: str) -> dict[str, str]:
    """Return the fold of each run that has one; a name helps out where only other runs have a parameter or tag."""
    said = {child.id: fold for child in children if (fold := _said(child, "fold", _FOLD, shown)) is not None}
    named = {child.id: fold for child in children if (fold := fold_in(child.name)) is not None}
    if not said:
        return named
    # Runs may be named from 1 and their folds counted from 0.
    shifts = {int(named[key]) - int(fold) for key, fold in said.items() if key in named and fold.isdecimal()}
    if len(shifts) == 1:
        shift = shifts.pop()
        said = {key: str(int(fold) - shift) for key, fold in named.items()} | said
    return said


def _said(run: Run, what: str, names: frozenset[str], shown: str) -> str | None:
    texts = {text.strip() for names_of in (run.params, run.tags) for name, text in names_of.items() if _is(name, names)}
    if not texts:
        numbers = {value for name, value in run.metrics.items() if _is(name, names)}
        texts = {str(int(value)) for value in numbers if value.is_integer()}
    if len(texts) > 1:
        first, second = sorted(texts)[:2]
        raise InputError(f"run {run} says {what} '{first}' and '{second}'; correct its parameters or tags", shown)
    text = texts.pop() if texts else ""
    return (fold_in(text) or text) or None


def _is(name: str, names: frozenset[str]) -> bool:
    return squashed(name) in names


def _repeat_of(run: Run, shown: str) -> str | None:
    said = _said(run, "repeat", _REPEAT, shown)
    match = _REPEAT_NAME.search(run.name)
    return said or (match[1] if match else None)


def _is_numbering(folds: Iterable[str]) -> bool:
    texts = set(folds)
    if not all(text.isdecimal() for text in texts):
        return False
    numbers = sorted(map(int, texts))
    return numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _one(fold: str, runs: Sequence[Run], shown: str) -> Run:
    """Return the run that counts: of several attempts the one that finished."""
    finished = [run for run in runs if run.finished]
    if len(finished) > 1:
        raise InputError(
            f"fold '{fold}' has two finished runs, {finished[0]} and {finished[1]};"
            " delete one, or tell repeats apart with a tag 'repeat'",
            shown,
        )
    return finished[0] if finished else runs[-1]


def _row(fold: str, repeat: str | None, run: Run) -> FoldRow:
    metrics = {plain(name): value for name, value in run.metrics.items()}
    known = [name for name in metrics if is_known(name)]
    if not run.finished:
        after = f" although it logged {', '.join(known)}" if known else ""
        return FoldRow(fold, repeat, {}, f"its run {run.name or run.id} is {run.status}{after}", run)
    return FoldRow(fold, repeat, metrics, "" if known else f"its run {run.name or run.id} logged no metric", run)


def named_after_folds(run: Run) -> Folds | None:
    """Take metrics such as ``fold_0_f1`` apart."""
    rows: dict[str, FoldRow] = {}
    summaries = {}
    for name, value in run.metrics.items():
        parts = numbered(name)
        if parts is None:
            summaries[plain(name)] = value
        elif is_known(parts[1]):
            row = rows.setdefault(parts[0], FoldRow(parts[0]))
            rows[parts[0]] = replace(row, metrics={**row.metrics, parts[1]: value})
    found = _with_unfinished(run, sorted(rows.values(), key=_order))
    return Folds(run, found, summaries) if len(rows) > 1 else None


def _with_unfinished(run: Run, rows: Sequence[FoldRow]) -> tuple[FoldRow, ...]:
    """Add the folds that a run did not come to; of an unknown number, one that stands for them."""
    declared = declared_folds(run)
    if run.finished or len(rows) == declared:
        return tuple(rows)
    info = f"run {run.name or run.id} is {run.status}"
    names = [row.fold for row in rows]
    first = 0 if "0" in names else 1
    lost = [str(first + i) for i in range(declared or 0) if str(first + i) not in names] or [f"after {names[-1]}"]
    return (*rows, *(FoldRow(fold, info=info) for fold in lost))


def as_steps(run: Run, store: RunStore, *, sure: bool) -> Folds | None:
    """Take the steps of metrics for folds, where they can be nothing else or the user says so."""
    points = {name: store.history(run, name) for name in run.metrics}
    curves = {name: found for name, found in points.items() if len({point.step for point in found}) > 1}
    columns = {name: column for name in curves if is_known(column := without_fold(name) or plain(name))}
    if not columns:
        return None
    if not sure:
        said = {name: column for name, column in columns.items() if without_fold(name) is not None}
        if not said and not _all_have_a_step_per_fold(run, curves.values()):
            name = next(iter(columns))
            raise InputError(
                f"metric '{name}' of run {run} has {len({point.step for point in curves[name]})} steps, which may be"
                " folds or epochs; if they are folds, add ?fold=step to the address (with &uri=… after it)",
                store.shown,
            )
        columns = said or columns
    values: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for name, column in columns.items():
        for point in curves[name]:
            before = values[point.step].get(column, point.value)
            if repr(before) != repr(point.value):
                raise InputError(
                    f"metric '{name}' of run {run} has two values at step {point.step}, {before:g} and {point.value:g}",
                    store.shown,
                )
            values[point.step][column] = point.value
    rows = _with_unfinished(run, [FoldRow(str(step), metrics=values[step]) for step in sorted(values)])
    return Folds(run, rows, {plain(name): value for name, value in run.metrics.items() if name not in curves})


def _all_have_a_step_per_fold(run: Run, curves: Iterable[Sequence[Point]]) -> bool:
    folds = declared_folds(run)
    if folds is None or has_epochs(run):
        return False
    numberings = (set(range(folds)), set(range(1, folds + 1)))
    return all({point.step for point in points} in numberings for points in curves)
