"""Reading a log: find the files, see what they hold, and read each experiment in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.conventions import understood
from pytest_cvaudit.readers.counts import read_counts
from pytest_cvaudit.readers.formats import inline_table, open_address, open_source
from pytest_cvaudit.readers.join import joined
from pytest_cvaudit.readers.matrices import has_matrix, read_matrices
from pytest_cvaudit.readers.metric_columns import has_splits, wide_columns
from pytest_cvaudit.readers.paths import are_listed, find_files, fold_of_paths, path_columns, show
from pytest_cvaudit.readers.prediction_columns import decide, kinds
from pytest_cvaudit.readers.predictions import read_predictions
from pytest_cvaudit.readers.recorded import read_recorded
from pytest_cvaudit.readers.roles import Roles
from pytest_cvaudit.readers.scores import read_long, read_splits, read_wide, unknown_metrics
from pytest_cvaudit.readers.spec import Log
from pytest_cvaudit.readers.summary import is_summary, read_summary
from pytest_cvaudit.readers.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_cvaudit.model import Protocol
    from pytest_cvaudit.readers.formats import Found, Source
    from pytest_cvaudit.readers.spec import LogSpec

    Parts = dict[tuple[str, ...], Log]
    ReadPart = Callable[[Table], Log]

_NEEDED = (
    "a row per instance with true and predicted labels or scores (y_true, y_pred, y_score),"
    " a row per fold with counts (tp, fp, fn, tn), or with metrics (f1, auc, …)"
)


def read_log(spec: LogSpec, protocol: Protocol) -> Parts:
    """Read a log; the keys are the values of the columns ``by``, or ``()`` without them."""
    if (recorded := read_recorded(spec, protocol, completed)) is not None:
        return {(): recorded}
    table, fold = _open(spec)
    given, found = spec, table.found
    spec, protocol = _with_found(spec, found), completed(protocol, found.protocol)
    if spec.by and found.missing:
        lost = found.missing[0]
        message = f"fold '{lost.cell.fold}' has no predictions, and of which experiment is not clear; give each a file"
        raise InputError(f"{message} of its own", table.path, lost.line)
    roles = Roles(table, spec, fold)
    if is_summary(table, roles):
        return read_summary(table, spec)
    table, read = _reader(table, roles, spec, protocol)
    parts = table.split(spec.by)
    logs = {key: _with_found_beside(read(part), part, found, given) for key, part in parts.items()}
    if not any(log.predictions or log.counts or log.scores or log.missing for log in logs.values()):
        raise table.error(f"no metric in it is known ({unknown_metrics(table, roles)})")
    if given.select and not given.by and len(logs) == 1:
        return {(): next(iter(logs.values()))}  # the format's own split is of no use for a part that was selected
    return logs


def completed(declared: Protocol, found: Protocol) -> Protocol:
    """Fill what is not declared with what the log itself tells."""
    return replace(found, **{name: value for name, value in vars(declared).items() if value is not None})


def _with_found(spec: LogSpec, found: Found) -> LogSpec:
    own = tuple(name for name in found.by if name not in spec.select)
    return replace(spec, columns={**found.columns, **spec.columns}, by=spec.by or own)


def _with_found_beside(log: Log, part: Table, found: Found, given: LogSpec) -> Log:
    """Add what the format found beside the rows of a part: its claims, and the folds without a result."""
    whole = not given.by and not given.select
    named = {missing.cell for missing in log.missing}
    missing = tuple(one for one in found.missing if one.cell not in named)
    key = _key(part, found.by) if found.claims and (found.by or whole) else None
    claims = () if key is None else found.claims.get(key, ())
    return replace(log, claims=claims, protocol=found.protocol, missing=log.missing + missing)


def _key(part: Table, by: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the values that a part has in the columns of the format's own split, if one each."""
    columns = [part.names(name) for name in by]
    if any(len(column.categories) != 1 for column in columns):
        return None
    return tuple(str(column.categories[0]) for column in columns)


def _open(spec: LogSpec) -> tuple[Table, str | None]:
    if spec.sources:
        return _table(spec.sources, spec), None
    if spec.table is not None:
        return _table([inline_table(spec.table, spec.location.path, spec.location.line)], spec), None
    if len(spec.paths) == 1 and (source := open_address(spec.paths[0], spec.base)) is not None:
        return _table([source], spec), None
    paths = find_files(spec)
    sources = [open_source(path, show(path)) for path in paths]
    table = _table(sources, spec, path_columns(paths))
    if not are_listed(spec):
        table.together = tuple(table.of_paths)
    return table, fold_of_paths(paths)


def _table(sources: Sequence[Source], spec: LogSpec, of_paths: Mapping[str, Sequence[str]] | None = None) -> Table:
    metric = spec.columns.get("metric")
    table = Table([understood(source, metric) for source in joined(sources, spec)], of_paths)
    if len(sources) > 1:
        # What one of several files claims is not about all of them.
        missing = tuple(one for source in sources for one in source.found.missing)
        table.found = replace(table.found, claims={}, missing=missing)
    return table


def _reader(table: Table, roles: Roles, spec: LogSpec, protocol: Protocol) -> tuple[Table, ReadPart]:
    """Return the selected rows, and how to read a part of them, by what the columns can mean."""
    files = table.paths
    if roles.metric_name is not None and not has_splits(table):
        table.require(roles.metric_name, "columns: metric")
    instances = roles.has("truth") and (roles.has("predicted") or roles.has("score") or bool(roles.class_scores()))
    counts = roles.has("tp", "fp") or has_matrix(table, roles)
    tables = counts or has_splits(table) or roles.has("metric", "value")
    if instances and not tables:
        return _predictions(table, roles, spec, protocol)
    table.prefetch(dict.fromkeys(table.columns, "category"))
    table = table.selected(spec.select)
    if counts:

        def read(part: Table) -> Log:
            counts, missing = (read_counts if roles.has("tp", "fp") else read_matrices)(part, roles, protocol)
            if roles.has("label") or not wide_columns(part, roles):
                return Log(counts=counts, missing=missing, files=files)
            scores, more = read_wide(part, roles)
            if scores is None and counts is not None:
                more = ()  # metrics that are blank in every fold were not measured; the folds have their counts
            failed = {fold.cell for fold in missing}
            missing += tuple(fold for fold in more if fold.cell not in failed)
            return Log(counts=counts, scores=scores, missing=missing, files=files)

        return table, read
    scores = read_splits if has_splits(table) else read_long if roles.has("metric", "value") else read_wide
    if scores is read_wide and not wide_columns(table, roles):
        if roles.has("truth"):
            return _predictions(table, roles, spec, protocol)
        if "test_score" in table.columns:
            raise roles.ask("column 'test_score' does not say of what", "accuracy", "test_score")
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
