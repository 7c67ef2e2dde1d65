"""Large CSV files through pyarrow, several times quicker; whatever is unusual is left to the patient parser."""

from __future__ import annotations

import mmap
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from pytest_cvaudit.readers.formats.arrow import Unsuitable, gathered, shares_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_cvaudit.readers.formats.source import Kind

#: How people write that there is no number.
NOT_A_NUMBER = ("", "nan", "NaN", "NAN", "NA", "N/A", "n/a", "null", "NULL", "None")


def load_large(path: Path, delimiter: str, columns: tuple[str, ...], kinds: Mapping[str, Kind]) -> pd.DataFrame | None:
    """Load the asked columns; None without pyarrow, or where a row, a quote or a number is out of the ordinary."""
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return None
    if not _is_plain(path):
        return None
    types = {"category": pa.string(), "float64": pa.float64(), "str": pa.string()}
    try:
        table = csv.read_csv(
            path,
            csv.ReadOptions(column_names=list(columns), skip_rows=1, block_size=1 << 21),
            csv.ParseOptions(delimiter=delimiter, quote_char=False),
            csv.ConvertOptions(
                include_columns=list(kinds),
                column_types={name: types[kind] for name, kind in kinds.items()},
                null_values=list(NOT_A_NUMBER),
                strings_can_be_null=False,
            ),
        )
        quick = {name: kind for name, kind in kinds.items() if kind != "str"}
        parts = gathered(quick, len(table), partial(shares_of, table.select(list(quick))))
    except (pa.ArrowException, Unsuitable):
        return None
    parts |= {name: _marks(table[name]) for name, kind in kinds.items() if kind == "str"}
    return pd.DataFrame({name: parts[name] for name in kinds}, copy=False)


def _marks(texts: Any) -> pd.Series:
    """Return texts as whole numbers if all are written just as numbers are: 7, not 07."""
    import pyarrow as pa
    from pyarrow import compute

    try:
        numbers = compute.cast(texts, pa.int64())
    except pa.ArrowInvalid:
        return pd.Series(texts.to_pandas())
    same = compute.all(compute.equal(compute.cast(numbers, pa.string()), texts)).as_py()
    return pd.Series((numbers if same else texts).to_pandas())


def _is_plain(path: Path) -> bool:
    """Tell whether the header is the first line and no field is quoted."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return text.find(b'"') < 0 and not text[: text.find(b"\n") + 1].isspace()
