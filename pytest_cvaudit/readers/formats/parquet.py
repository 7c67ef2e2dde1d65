"""Parquet, through pyarrow when it is installed."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.arrow import Unsuitable, gathered, is_text, suits
from pytest_cvaudit.readers.formats.source import Kind, Source, reading

if TYPE_CHECKING:
    from collections.abc import Mapping
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

    schema = pq.read_schema(path)
    names = [name for name, kind in kinds.items() if kind == "category" and is_text(schema.field(name).type)]
    quick = {name: k for name, k in kinds.items() if name in names or suits(k, schema.field(name).type)}
    parts: dict[str, pd.Series] = {}
    if quick:
        with suppress(Unsuitable):
            parts = gathered(quick, pq.read_table(path, columns=list(quick), read_dictionary=names))
    rest = [name for name in kinds if name not in parts]
    if rest:
        parts |= _whole(pq.read_table(path, columns=rest))
    return pd.DataFrame({name: parts[name] for name in kinds}, copy=False)


def _whole(table: Any) -> dict[str, pd.Series]:
    import pyarrow as pa

    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True, split_blocks=True)
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if pa.types.is_nested(kind):
            frame[name] = ["" if cell is None else json.dumps(cell, default=str) for cell in table[name].to_pylist()]
    return {name: frame[name] for name in table.column_names}
