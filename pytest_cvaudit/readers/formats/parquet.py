"""Parquet, through pyarrow when it is installed."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.arrow import Unsuitable, gathered, is_text, suits
from pytest_cvaudit.readers.formats.source import Kind, Source, reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_cvaudit.readers.formats.arrow import Share

#: Rows to read at least in one go.
_PART = 1 << 19
#: Row groups to look at in the footer.
_MOST_GROUPS = 100


def read_parquet(path: Path, shown: str) -> Source:
    """Read a Parquet file; its lines are row numbers, from 1."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError("reading Parquet needs pyarrow: pip install 'pytest-cvaudit[parquet]'", shown) from error
    try:
        with reading(path, shown):
            columns = tuple(pq.read_schema(path).names)
    except pa.ArrowException as error:
        raise InputError(f"not a Parquet file: {str(error).splitlines()[0]}", shown) from error

    def load(kinds: Mapping[str, Kind]) -> pd.DataFrame:
        try:
            with reading(path, shown):
                return _load(path, kinds)
        except pa.ArrowException as error:
            raise InputError(f"damaged Parquet file: {str(error).splitlines()[0]}", shown) from error

    return Source(shown, columns, load, lambda row: row + 1)


def _load(path: Path, kinds: Mapping[str, Kind]) -> pd.DataFrame:
    import pyarrow.parquet as pq

    footer = pq.read_metadata(path)
    schema = footer.schema.to_arrow_schema()
    names = [name for name, kind in kinds.items() if kind == "category" and is_text(schema.field(name).type)]
    quick = {name: k for name, k in kinds.items() if name in names or suits(k, schema.field(name).type)}
    parts: dict[str, pd.Series] = {}
    if quick:
        with suppress(Unsuitable):
            shares = partial(_shares, path, footer, quick, names)
            whole = [name for name, kind in quick.items() if kind == "category" and name not in names]
            parts = gathered(quick, footer.num_rows, shares, _expected(footer, whole))
    rest = [name for name in kinds if name not in parts]
    if rest:
        parts |= _whole(pq.read_table(path, columns=rest))
    return pd.DataFrame({name: parts[name] for name in kinds}, copy=False)


def _expected(footer: Any, columns: list[str]) -> dict[str, list[str]]:
    """Return the whole numbers of columns that have, by the footer, all from the lowest to the highest, in order.

    Without it, where rows are sorted by fold, the threads would number the folds as they meet them.
    """
    places = {footer.schema.column(at).path: at for at in range(footer.num_columns)}
    found = {}
    for name in columns:
        ends: set[int] = set()
        for group in range(min(footer.num_row_groups, _MOST_GROUPS)):
            statistics = footer.row_group(group).column(places[name]).statistics
            if statistics is not None and statistics.has_min_max:
                ends |= {statistics.min, statistics.max}
        if all(isinstance(end, int) for end in ends) and len(ends) == max(ends, default=0) - min(ends, default=1) + 1:
            found[name] = [str(value) for value in sorted(ends)]
    return found


def _shares(path: Path, footer: Any, kinds: Mapping[str, Kind], names: list[str], threads: int) -> list[Share]:
    """Share out columns: numbers whole, to copy none, names part by part, to look at each in the cache."""
    parts: list[tuple[int, list[int]]] = []
    row, size = 0, _PART
    for group in range(footer.num_row_groups):
        if size >= _PART:
            parts.append((row, []))
            size = 0
        parts[-1][1].append(group)
        row += footer.row_group(group).num_rows
        size += footer.row_group(group).num_rows
    whole = [(0, list(range(footer.num_row_groups)))]
    numbers = [(start, groups, name) for name, k in kinds.items() if k != "category" for start, groups in whole]
    tasks = [*numbers, *((*part, name) for part in parts for name, kind in kinds.items() if kind == "category")]
    # One iterator for all: whoever is ready takes the next.
    left = iter(tasks)
    return [_tables(path, footer, names, left) for _ in range(min(threads, len(tasks)))]


def _tables(
    path: Path, footer: Any, names: list[str], tasks: Iterator[tuple[int, list[int], str]]
) -> Iterator[tuple[int, Any]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, metadata=footer, read_dictionary=names) as file:
        for start, groups, name in tasks:
            yield start, file.read_row_groups(groups, columns=[name], use_threads=False)


def _whole(table: Any) -> dict[str, pd.Series]:
    import pyarrow as pa

    frame: pd.DataFrame = table.to_pandas(
        ignore_metadata=True,
        split_blocks=True,
        integer_object_nulls=True,  # floats would round long ids
    )
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if pa.types.is_nested(kind):
            frame[name] = ["" if cell is None else json.dumps(cell, default=str) for cell in table[name].to_pylist()]
    return {name: frame[name] for name in table.column_names}
