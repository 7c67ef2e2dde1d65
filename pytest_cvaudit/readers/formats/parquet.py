"""Parquet, through pyarrow when it is installed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.source import Kind, Source, reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd


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
        table = pq.read_table(path, columns=list(kinds))
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
        for name, kind in zip(table.column_names, table.schema.types, strict=True):
            if pa.types.is_nested(kind):
                frame[name] = [
                    "" if cell is None else json.dumps(cell, default=str) for cell in table[name].to_pylist()
                ]
        return frame

    return Source(shown, columns, load, lambda row: row + 1)
