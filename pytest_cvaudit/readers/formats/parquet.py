"""Parquet, through pyarrow when it is installed."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.arrow import BATCH, Unsuitable, gathered, is_text, suits
from pytest_cvaudit.readers.formats.source import Kind, Source, reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


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

    types = pq.read_schema(path)
    names = [name for name, kind in kinds.items() if kind == "category" and is_text(types.field(name).type)]
    with pq.ParquetFile(path, read_dictionary=names) as file:
        schema = file.schema_arrow
        quick = {name: kind for name, kind in kinds.items() if suits(kind, schema.field(name).type)}
        groups = [file.metadata.row_group(at).num_rows for at in range(file.metadata.num_row_groups)]
    batches = partial(_batches, path, names, list(quick))
    try:
        parts = gathered(quick, [(sum(groups[:at]), partial(batches, at)) for at in range(len(groups))], sum(groups))
    except Unsuitable:
        parts = {}
    rest = [name for name in kinds if name not in parts]
    if rest:
        parts |= _whole(pq.read_table(path, columns=rest))
    return pd.DataFrame({name: parts[name] for name in kinds}, copy=False)


def _batches(path: Path, names: list[str], columns: list[str], group: int) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, read_dictionary=names) as file:
        alone = file.metadata.num_row_groups == 1
        yield from file.iter_batches(BATCH, [group], columns, use_threads=alone)


def _whole(table: Any) -> dict[str, pd.Series]:
    import pyarrow as pa

    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True, split_blocks=True)
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if pa.types.is_nested(kind):
            frame[name] = ["" if cell is None else json.dumps(cell, default=str) for cell in table[name].to_pylist()]
    return {name: frame[name] for name in table.column_names}
