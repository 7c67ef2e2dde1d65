"""Tables without folds: a row per experiment with means, and mostly deviations. They are claims, and no evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.model import find_metric, metric
from pytest_cvaudit.readers.formats.json_claims import claim_of, mean_or_spread
from pytest_cvaudit.readers.metric_columns import has_splits, metric_of, parsed, pointed
from pytest_cvaudit.readers.reasons import is_empty
from pytest_cvaudit.readers.repeated import telling_apart
from pytest_cvaudit.readers.roles import is_named
from pytest_cvaudit.readers.spec import Log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.model import Claim
    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.spec import LogSpec
    from pytest_cvaudit.readers.table import Table

_OTHER_SHAPES = ("truth", "tp", "fp", "matrix")
_MOST_ROWS = 1000


def is_summary(table: Table, roles: Roles) -> bool:
    """Tell whether a table has no folds, and its metrics are means by their names or by a deviation in every cell."""
    if roles.fold_of_paths is not None or roles.has("fold") or has_splits(table) or roles.has("metric", "value"):
        return False
    if any(roles.has(role) for role in _OTHER_SHAPES):
        return False
    columns = _metric_columns(table)
    if not columns or not 0 < len(table) <= _MOST_ROWS:
        return False
    return all(named or _has_spread(table, name) for name, named in columns.items())


def _metric_columns(table: Table) -> dict[str, bool]:
    """Return the columns of means, and whether their name says so."""
    named = {name: kind for name in table.columns if (kind := mean_or_spread(name)) is not None}
    means = {name: True for name, (kind, _) in named.items() if kind != "spread"}
    return means | {name: False for name in table.columns if name not in named and metric_of(name) is not None}


def _has_spread(table: Table, name: str) -> bool:
    values = [parsed(text) for text in _pointed(table, name) if not is_empty(text)]
    return bool(values) and all(value is not None and value.spread is not None for value in values)


def _pointed(table: Table, name: str) -> Sequence[str]:
    return pointed([str(text) for text in table.text(name).categories])


def read_summary(table: Table, spec: LogSpec) -> dict[tuple[str, ...], Log]:
    """Read the claims of each row."""
    files, columns = table.paths, _metric_columns(table)
    table = table.selected(spec.select)
    spreads = {kind[1]: name for name in table.columns if (kind := mean_or_spread(name)) and kind[0] == "spread"}
    points = {
        name: dict(zip(table.text(name).categories, _pointed(table, name), strict=True))
        for name in (*columns, *spreads.values())
    }
    by = spec.by or _by(table, [*columns, *spreads.values()])
    logs = {}
    for key, part in table.split(by).items():
        if len(part) > 1:
            first, second = (part.place(row)[1] for row in (0, 1))
            raise part.error(
                f"lines {first} and {second} are means of what seems to be the same experiment; tell them apart with"
                f" by: [NAME], or name the fold column with columns: {{fold: NAME}} ({part.seen()})",
                1,
            )
        texts = {name: texts[part.texts(name)[0]] for name, texts in points.items()}
        logs[key] = Log(claims=tuple(_claims(part, texts, columns, spreads)), files=files)
    return logs


def _claims(part: Table, texts: dict[str, str], columns: dict[str, bool], spreads: dict[str, str]) -> list[Claim]:
    found = []
    for name, named in columns.items():
        text = texts[name]
        if is_empty(text):
            continue
        kind = mean_or_spread(name) if named else None
        about = metric_of(name) if kind is None else find_metric(kind[1]) or metric(kind[1].removesuffix("_score"))
        spread = texts[spreads[kind[1]]] if kind is not None and kind[1] in spreads else None
        claim = None if about is None else claim_of(about, text, spread, f"column '{name}'", is_mean=named)
        if claim is None:
            raise part.error(
                f"'{part.texts(name)[0]}' in column '{name}' is not a value of {about.name if about else name}", 0
            )
        found.append(claim)
    return found


def _by(table: Table, used: list[str]) -> tuple[str, ...]:
    """Return the columns of words that tell the rows apart."""
    if len(table) < 2:
        return ()
    words = [name for name in table.columns if name not in used and not is_named(name, "n", "positives", "negatives")]
    rows = {name: table.text(name).codes for name in words if not _are_numbers(table, name)}
    found = telling_apart(rows, table.text(used[0]).codes * 0)
    if not found:
        raise table.error(f"no column tells the rows apart, and there is no fold column ({table.seen()})")
    return found


def _are_numbers(table: Table, name: str) -> bool:
    return all(parsed(text) is not None for text in _pointed(table, name))
