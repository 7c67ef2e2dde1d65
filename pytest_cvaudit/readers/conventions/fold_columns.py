"""Tables with a column per fold: ``model, fold_0, fold_1, …``, ``metric, fold_0, …``, or ``fold_0_f1, …``."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.conventions.derived import strings
from pytest_cvaudit.readers.formats.json_claims import claim_of
from pytest_cvaudit.readers.metric_columns import is_split, metric_of, parsed, pointed
from pytest_cvaudit.readers.repeated import telling_apart
from pytest_cvaudit.readers.roles import is_named
from pytest_cvaudit.readers.table import listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_cvaudit.model import Claim
    from pytest_cvaudit.readers.formats import Source

    Columns = Mapping[str, Sequence[str]]

_FOLD = re.compile(
    r"(?:(?P<before>.+?)[_ .:/\-]+)?(?:test[_ \-]?|outer[_ \-]?|cv[_ \-]?)?(?:fold|split)[_ #\-]*(?P<fold>\d+)"
    r"(?:[_ .:/\-]+(?P<after>.+))?",
    re.IGNORECASE,
)
_OF_FILE = re.compile(r"(?:[_ \-]?(?:(?:per|by)[_ \-]?fold|cv|folds?|scores?|results?|values?))+$", re.IGNORECASE)
_UNNAMED = re.compile(r"unnamed: 0|index|", re.IGNORECASE)
_MEAN = re.compile(r"(?:cv[_ ]?)?(?:mean|avg|average)", re.IGNORECASE)
_SPREAD = re.compile(r"(?:cv[_ ]?)?(?:std|sd|stdev|std[_ ]?dev)", re.IGNORECASE)
_MOST_ROWS = 1000


def with_row_per_fold(source: Source, given: str | None) -> Source:
    """Lay out a row per fold; ``given`` is the metric that the user says the values are of."""
    folds = {name: match for name in source.columns if (match := _FOLD.fullmatch(name)) and not is_split(name)}
    if len(folds) < 2 or any(map(is_split, source.columns)):
        return source
    others = [name for name in source.columns if name not in folds]
    if any(is_named(name, "fold", "truth", "predicted", "tp") for name in others):
        return source
    count = len(source.load({source.columns[0]: "category"}))
    if not 0 < count <= _MOST_ROWS:
        return source
    columns: dict[str, Sequence[str]] = {name: strings(source, name).tolist() for name in source.columns}
    # A number of instances is that of the whole data here, not of a fold.
    others = [name for name in others if not is_named(name, "n", "positives", "negatives")]
    metrics = {name: (match["before"] or match["after"] or "") for name, match in folds.items()}
    if any(match["before"] and match["after"] for match in folds.values()):
        return source
    if not any(metrics.values()):
        return _bare(source, columns, {name: match["fold"] for name, match in folds.items()}, others, given)
    cells: dict[str, dict[str, str]] = {}
    for name, match in folds.items():
        metric, of_fold = metrics[name], cells.setdefault(match["fold"], {})
        if metric_of(metric) is not None and of_fold.setdefault(metric, name) != name:
            return source
    known = list(dict.fromkeys(metric for named in cells.values() for metric in named))
    rows = [
        {**_of(columns, others, row), "fold": fold, **{m: columns[named[m]][row] if m in named else "" for m in known}}
        for row in range(count)
        for fold, named in cells.items()
    ]
    return _laid_out(source, rows, columns, others, len(cells), {}) if known else source


def _bare(source: Source, columns: Columns, folds: Mapping[str, str], others: list[str], given: str | None) -> Source:
    """Lay out columns that say no metric: a column of metrics says it, or the user, or the file's name."""
    names = [name for name in others if is_named(name, "metric") or _has_metrics(name, columns[name])]
    count = len(columns[source.columns[0]])
    if len(names) == 1:
        of_row = list(columns[names[0]])
    else:
        said = given or _OF_FILE.sub("", PurePath(source.path).name.split(".")[0])
        if names or metric_of(said) is None:
            raise InputError(
                f"columns {listing(folds)} hold the values of folds, but not of what; say which metric with"
                " columns: {metric: f1}",
                source.path,
                remedy={"columns": {"metric": "f1"}},
            )
        of_row = [said] * count
    beside = [name for name in others if name not in names]
    rows = []
    for row, said in enumerate(of_row):
        for name, fold in folds.items():
            text = columns[name][row]
            value = {"metric": said, "value": text} if names else {said: text}
            rows.append({**_of(columns, beside, row), "fold": fold, **value})
    return _laid_out(source, rows, columns, beside, len(folds), dict(enumerate(of_row)))


def _has_metrics(name: str, texts: Sequence[str]) -> bool:
    return _UNNAMED.fullmatch(name) is not None and any(metric_of(text) is not None for text in texts)


def _of(columns: Columns, names: Sequence[str], row: int) -> dict[str, str]:
    return {name: columns[name][row] for name in names}


def _laid_out(
    source: Source, rows: list[dict[str, str]], columns: Columns, others: list[str], folds: int, of: Mapping[int, str]
) -> Source:
    """Make a source of the rows; the words beside the folds tell experiments apart, and a mean is claimed."""
    frame = pd.DataFrame(rows, dtype="str")
    words = [name for name in others if not all(parsed(text) is not None for text in pointed(columns[name]))]
    count = len(rows) // folds
    by: tuple[str, ...] = ()
    if count > 1 and not source.found.by:
        codes = {name: pd.factorize(pd.Series(columns[name]))[0] for name in words}
        key = pd.factorize(pd.Series([of.get(row, "") for row in range(count)]))[0]
        by = telling_apart(codes, key) if pd.Series(key).duplicated().any() else ()
    claims: dict[tuple[str, ...], list[Claim]] = {}
    means, spreads = ([name for name in others if pattern.fullmatch(name)] for pattern in (_MEAN, _SPREAD))
    points = {name: pointed(columns[name]) for name in (*means, *spreads)}
    for row, said in of.items():
        metric = metric_of(said)
        if metric is not None and len(means) == 1:
            spread = points[spreads[0]][row] if len(spreads) == 1 else None
            claim = claim_of(metric, points[means[0]][row], spread, f"column '{means[0]}'", is_mean=True)
            claims.setdefault(tuple(columns[name][row] for name in by), []).extend([claim] if claim else [])
    found = replace(
        source.found, by=source.found.by or by, claims={part: tuple(every) for part, every in claims.items() if every}
    )
    return replace(
        source, columns=tuple(frame.columns), load=lambda kinds: frame[list(kinds)],
        line=lambda row: source.line(row // folds), found=found,
    )  # fmt: skip
