"""MLflow: ``mlflow:<experiment or run>`` with its folds, and what the run above them claims."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.mlflow.address import Target, find_target, open_store, split_options
from pytest_cvaudit.readers.formats.mlflow.artifacts import FOLD, REPEAT, open_artifact, tables_of
from pytest_cvaudit.readers.formats.mlflow.claims import claims_of
from pytest_cvaudit.readers.formats.mlflow.folds import Folds, as_steps, named_after_folds, nested
from pytest_cvaudit.readers.formats.mlflow.names import is_count, is_known, places, written
from pytest_cvaudit.readers.formats.mlflow.protocol import protocol_of
from pytest_cvaudit.readers.formats.source import Found, Source
from pytest_cvaudit.readers.table import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_cvaudit.model import Claim
    from pytest_cvaudit.readers.formats.mlflow.runs import Run, RunStore

_RUN, _INFO = "run_name", "info"


def read_mlflow(rest: str, base: Path, address: str) -> Source:
    """Read the folds of a run, or of every run of an experiment that has some."""
    name, options = split_options(rest, address)
    shown = address.partition("?")[0]
    store = open_store(options.get("uri"), base, shown)
    target = find_target(name, store)
    if target.artifact is not None:
        return _with_claims(target.only(store), target.artifact, store, target)
    sure = options.get("fold") == "step"
    found, doubts = _every_folds(target, store, sure=sure)
    if found:
        return _source(found, address)
    tables = [(run, table) for run in target.tops for table in _tables(run, target, store)]
    if len(tables) == 1:
        return _with_claims(*tables[0], store, target)
    if doubts:
        raise doubts[0]
    if tables:
        names = listing(f"mlflow:{run.id}/{table}" for run, table in tables)
        raise InputError(f"no metric is about a fold, and several tables are logged; name one of {names}", shown)
    raise InputError(
        f"no folds in '{name}': neither nested runs with a tag 'fold', nor metrics such as fold_0_f1, nor a logged"
        f" table ({_seen(target)})",
        shown,
    )


def _every_folds(target: Target, store: RunStore, *, sure: bool) -> tuple[list[Folds], list[InputError]]:
    """Return the folds of the runs and of those nested in them, and what kept runs from being read."""
    children = target.children()
    found: list[Folds] = []
    failed: list[Folds] = []
    doubts: list[InputError] = []
    waiting = list(target.tops)
    while waiting:
        run = waiting.pop(0)
        folds = nested(run, children.get(run.id, []), store.shown)
        if folds is None or not any(row.metrics for row in folds.rows):
            folds = named_after_folds(run) or folds
        if folds is None:
            waiting += children.get(run.id, [])
            try:
                folds = as_steps(run, store, sure=sure)
            except InputError as error:
                doubts.append(error)
        if folds is not None and any(is_known(name) for row in folds.rows for name in row.metrics):
            found.append(folds)
        elif folds is not None:
            failed.append(folds)
            doubts.append(InputError(f"no fold of run {run} has a metric: {folds.rows[0].info}", store.shown))
    # Beside runs with results, one that lost every fold is an experiment too.
    return found and [*found, *failed], doubts


def _source(found: Sequence[Folds], address: str) -> Source:
    """Write the folds as one table."""
    _refuse_mixture(found, address)
    names = _names([folds.run for folds in found])
    rows = [(name, row) for name, folds in zip(names, found, strict=True) for row in folds.rows]
    table: dict[str, list[str]] = {}
    if len(found) > 1:
        table[_RUN] = [name for name, _ in rows]
    table[FOLD] = [row.fold for _, row in rows]
    if any(row.repeat is not None for _, row in rows):
        table[REPEAT] = [row.repeat or "0" for _, row in rows]
    for metric in dict.fromkeys(name for _, row in rows for name in row.metrics if is_known(name)):
        table[metric] = [text for folds in found for text in _column(folds, metric)]
    table[_INFO] = [row.info for _, row in rows]
    frame = pd.DataFrame(table, dtype="str")
    by = (_RUN,) if len(found) > 1 else ()
    claims: dict[tuple[str, ...], tuple[Claim, ...]] = {
        (name,) if by else (): claims_of(
            folds.run, folds.summaries, {column for row in folds.rows for column in row.metrics}
        )
        for name, folds in zip(names, found, strict=True)
    }
    roles = {FOLD: FOLD, **({REPEAT: REPEAT} if REPEAT in table else {})}
    protocol = protocol_of([_with_common_params(folds) for folds in found])
    return Source(
        address, tuple(table), lambda kinds: frame[list(kinds)], lambda _: None,
        found=Found(roles, by, claims, protocol),
    )  # fmt: skip


def _refuse_mixture(found: Sequence[Folds], address: str) -> None:
    """Refuse runs of which only some log counts: in one table the others would seem to have lost theirs."""
    found = [folds for folds in found if any(row.metrics for row in folds.rows)]
    counting = [any(is_count(name) for row in folds.rows for name in row.metrics) for folds in found]
    if any(counting) and not all(counting):
        without = found[counting.index(False)].run
        raise InputError(
            f"some runs log counts and some, such as {without}, do not; audit them one by one as mlflow:<run id>",
            address,
        )


def _names(runs: Iterable[Run]) -> list[str]:
    """Name the runs, with ids where names are not enough."""
    every = list(runs)
    often = Counter(run.name for run in every)
    return [run.name if run.name and often[run.name] == 1 else f"{run.name}-{run.id[:8]}".strip("-") for run in every]


def _column(folds: Folds, name: str) -> list[str]:
    values = [row.metrics.get(name) for row in folds.rows]
    numbers = [value for value in values if value is not None]
    decimals = 0 if is_count(name) and all(map(float.is_integer, numbers)) else places(numbers)
    return [written(value, decimals) for value in values]


def _with_common_params(folds: Folds) -> Run:
    """Return the run with what all its folds say of the design too."""
    runs = [row.run for row in folds.rows if row.run is not None and row.run.finished]
    common = dict(set.intersection(*(set(run.params.items()) for run in runs))) if runs else {}
    return replace(folds.run, params={**common, **folds.run.params})


def _with_claims(run: Run, artifact: str, store: RunStore, target: Target) -> Source:
    """Open a logged table; what the run claims goes with it."""
    folds = nested(run, target.children().get(run.id, []), store.shown) or named_after_folds(run)
    source = open_artifact(run, artifact, store, folds)
    summaries = folds.summaries if folds else run.metrics
    columns = {column for row in folds.rows for column in row.metrics} if folds else set()
    claims = claims_of(run, summaries, columns)
    found = replace(source.found, claims={(): claims}, protocol=protocol_of([run]))
    return replace(source, found=found)


def _tables(run: Run, target: Target, store: RunStore) -> list[str]:
    """Return the tables that a run logged, or that all its folds did."""
    folds = nested(run, target.children().get(run.id, []), store.shown)
    runs = [row.run for row in folds.rows if row.run is not None and row.run.finished] if folds else []
    common = set.intersection(*(set(tables_of(one, store)) for one in runs)) if runs else set()
    return tables_of(run, store) or sorted(common)


def _seen(target: Target) -> str:
    """Say what was there instead."""
    metrics = listing(dict.fromkeys(name for run in target.tops for name in run.metrics))
    return f"{len(target.runs)} runs; metrics: {metrics or 'none'}"
