"""JSON and JSON Lines: records, with every number kept as the text it was written with."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.json_arrays import with_classes, with_instances
from pytest_cvaudit.readers.formats.json_shapes import EXPERIMENT, NEEDED, Rows, find_rows, lifted
from pytest_cvaudit.readers.formats.json_text import Lines, cell_text, decoded
from pytest_cvaudit.readers.formats.source import Found, Source, open_text, reading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pytest_cvaudit.readers.formats.json_text import Record


def read_json(path: Path, shown: str) -> Source:
    """Read a JSON file that holds folds in one of the usual shapes, with the means beside them as claims."""
    with reading(path, shown), open_text(path) as stream:
        text = stream.read()
    if _is_lines(text):
        return read_json_lines(path, shown)
    try:
        document = decoded(text, shown)
        rows = find_rows(document, shown)
    except InputError as error:
        raise error.at(shown) from None
    lines = Lines(text)
    missing = with_instances(rows, lambda row: lines.of(rows.paths[row]), shown)
    with_classes(rows, document)
    by = _telling_apart([words for words, _ in rows.groups])
    claims = {tuple(words[name].strip() for name in by): claims for words, claims in rows.groups if claims}
    found = Found(by=by, claims=claims if len(rows.groups) < 2 or by else {}, missing=missing)
    return _source(rows.records, shown, lambda row: lines.of(rows.paths[row]), found)


def _is_lines(text: str) -> bool:
    """Tell whether there is an object on each of the first two lines, which no single JSON value has."""
    first, _, rest = text.strip().partition("\n")
    second = rest.lstrip().partition("\n")[0]
    return all(line.startswith("{") and line.rstrip().endswith("}") for line in (first, second))


def read_json_lines(path: Path, shown: str) -> Source:
    """Read a file with a JSON record on each line."""
    records: list[Record] = []
    lines: list[int] = []
    with reading(path, shown), open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                records.append(_record(line, shown, number))
                lines.append(number)
    rows = Rows(records, [(number,) for number in lines])
    missing = with_instances(rows, lines.__getitem__, shown)
    return _source(rows.records, shown, lambda row: int(rows.paths[row][0]), Found(missing=missing))


def _record(line: str, shown: str, number: int) -> Record:
    value = decoded(line, shown, number)
    if not isinstance(value, dict):
        raise InputError('each line must be a JSON object such as {"fold": 0, "f1": 0.5}', shown, number)
    try:
        return lifted(value)
    except InputError as error:
        raise error.at(shown, number) from None


def _source(records: list[Record], shown: str, line: Callable[[int], int], found: Found | None = None) -> Source:
    if not any(records):
        raise InputError(f"no records in the file; {NEEDED}", shown)
    columns = tuple(dict.fromkeys(name for record in records for name in record))
    frame = pd.DataFrame(
        {name: pd.Series(_texts([record.get(name) for record in records]), dtype="str") for name in columns}
    )
    return Source(shown, columns, lambda kinds: frame[list(kinds)], line, ragged=True, found=found or Found())


def _texts(values: list[Any]) -> list[str]:
    # Mostly all are texts already, and there may be many.
    return values if set(map(type, values)) == {str} else [cell_text(value) for value in values]


def _telling_apart(groups: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the fewest words beside the lists of folds that tell them apart."""
    if len(groups) < 2:
        return ()
    names = [name for name in groups[0] if all(name in words for words in groups)]
    names.sort(key=lambda name: name != EXPERIMENT)
    for size in (1, 2, 3):
        for chosen in combinations(names, size):
            if len({tuple(words[name] for name in chosen) for words in groups}) == len(groups):
                return chosen
    return ()
