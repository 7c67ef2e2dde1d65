"""Reading a log: find the files, see what they hold, and read each experiment in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cvaudit.readers.counts import read_counts
from pytest_cvaudit.readers.formats import inline_table, open_address, open_source
from pytest_cvaudit.readers.metric_columns import has_splits, wide_columns
from pytest_cvaudit.readers.paths import find_files, fold_of_paths, path_columns, show
from pytest_cvaudit.readers.prediction_columns import decide, kinds
from pytest_cvaudit.readers.predictions import read_predictions
from pytest_cvaudit.readers.roles import Roles
from pytest_cvaudit.readers.scores import read_long, read_splits, read_wide, unknown_metrics
from pytest_cvaudit.readers.spec import Log
from pytest_cvaudit.readers.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_cvaudit.model import Protocol
    from pytest_cvaudit.readers.formats import Found
    from pytest_cvaudit.readers.spec import LogSpec

    Parts = dict[tuple[str, ...], Log]
    ReadPart = Callable[[Table], Log]

_NEEDED = (
    "a row per instance with true and predicted labels or scores (y_true, y_pred, y_score),"
    " a row per fold with counts (tp, fp, fn, tn), or with metrics (f1, auc, …)"
)


def read_log(spec: LogSpec, protocol: Protocol) -> Parts:
    """Read a log; the keys are the values of the columns ``by``, or ``()`` without them."""
    table, fold = _open(spec)
    spec, protocol = _with_found(spec, table.found), completed(protocol, table.found.protocol)
    roles = Roles(table, spec, fold)
    table, read = _reader(table, roles, spec, protocol)
    logs = {key: _with_claims(read(part), key, table.found) for key, part in table.split(spec.by).items()}
    if not any(log.predictions or log.counts or log.scores or log.missing for log in logs.values()):
        raise table.error(f"no metric in it is known ({unknown_metrics(table, roles)})")
    return logs


def completed(declared: Protocol, found: Protocol) -> Protocol:
    """Fill what is not declared with what the log itself tells."""
    return replace(found, **{name: value for name, value in vars(declared).items() if value is not None})


def _with_found(spec: LogSpec, found: Found) -> LogSpec:
    return replace(spec, columns={**found.columns, **spec.columns}, by=spec.by or found.by)


def _with_claims(log: Log, key: tuple[str, ...], found: Found) -> Log:
    named = {missing.cell for missing in log.missing}
    missing = tuple(one for one in found.missing if not key and one.cell not in named)
    return replace(log, claims=found.claims.get(key, ()), protocol=found.protocol, missing=log.missing + missing)


def _open(spec: LogSpec) -> tuple[Table, str | None]:
    if spec.sources:
        return Table(spec.sources), None
    if spec.table is not None:
        return Table([inline_table(spec.table, spec.location.path, spec.location.line)]), None
    if len(spec.paths) == 1 and (source := open_address(spec.paths[0], spec.base)) is not None:
        return Table([source]), None
    paths = find_files(spec)
    return Table([open_source(path, show(path)) for path in paths], path_columns(paths)), fold_of_paths(paths)


def _reader(table: Table, roles: Roles, spec: LogSpec, protocol: Protocol) -> tuple[Table, ReadPart]:
    """Return the selected rows, and how to read a part of them, by what the columns can mean."""
    files = table.paths
    if roles.metric_name is not None and not has_splits(table):
        table.require(roles.metric_name, "columns: metric")
    instances = roles.has("truth") and (roles.has("predicted") or roles.has("score") or bool(roles.class_scores()))
    tables = roles.has("tp", "fp") or has_splits(table) or roles.has("metric", "value")
    if instances and not tables:
        return _predictions(table, roles, spec, protocol)
    table.prefetch(dict.fromkeys(table.columns, "category"))
    table = table.selected(spec.select)
    if roles.has("tp", "fp"):

        def read(part: Table) -> Log:
            counts, missing = read_counts(part, roles, protocol)
            if roles.has("label") or not wide_columns(part, roles):
                return Log(counts=counts, missing=missing, files=files)
            scores, more = read_wide(part, roles)
            failed = {fold.cell for fold in missing}
            missing += tuple(fold for fold in more if fold.cell not in failed)
            return Log(counts=counts, scores=scores, missing=missing, files=files)

        return table, read
    scores = read_splits if has_splits(table) else read_long if roles.has("metric", "value") else read_wide
    if scores is read_wide and not wide_columns(table, roles):
        if roles.has("truth"):
            return _predictions(table, roles, spec, protocol)
        raise table.error(f"nothing in it can be audited ({table.seen()}); needed is {_NEEDED}")

    def read_scores(part: Table) -> Log:
        values, missing = scores(part, roles)
        return Log(scores=values, missing=missing, files=files)

    return table, read_scores


def _predictions(table: Table, roles: Roles, spec: LogSpec, protocol: Protocol) -> tuple[Table, ReadPart]:
    files = table.paths
    table.prefetch(kinds(table, roles, spec))
    selected = table.selected(spec.select)
    columns = decide(selected, roles, spec, protocol)
    return selected, lambda part: Log(predictions=read_predictions(part, roles, columns, spec.threshold), files=files)
