"""Large CSV files through pyarrow, several times quicker; whatever is unusual is left to the patient parser."""

from __future__ import annotations

import mmap
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pytest_cvaudit.readers.formats.arrow import BATCH, Unsuitable, gathered, shares_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_cvaudit.readers.formats.source import Kind

#: How people write that there is no number.
NOT_A_NUMBER = ("", "nan", "NaN", "NAN", "NA", "N/A", "n/a", "null", "NULL", "None")
#: From here on 0x… may be as short as the number it means.
_HEXADECIMAL = 10**12


def load_large(path: Path, delimiter: str, columns: tuple[str, ...], kinds: Mapping[str, Kind]) -> pd.DataFrame | None:
    """Load the asked columns; None without pyarrow, or where a row, a quote or a number is out of the ordinary."""
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return None
    text = _mapped(path)
    if not _is_plain(text):
        return None
    types = {"category": pa.string(), "float64": pa.float64(), "str": pa.string()}
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(text)),
            csv.ReadOptions(column_names=list(columns), skip_rows=1, block_size=1 << 20),
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
    values = numbers.to_numpy()
    if len(values) and max(-int(values.min()), int(values.max())) < _HEXADECIMAL:
        # No text is shorter than its number as usually written, so that equal sums mean equal lengths everywhere.
        usual = compute.sum(compute.binary_length(texts)).as_py() == _letters(values)
    else:
        usual = compute.all(compute.equal(compute.cast(numbers, pa.string()), texts)).as_py()
    return pd.Series(values if usual else texts.to_pandas(), copy=False)


def _letters(numbers: NDArray[np.int64]) -> int:
    """Count the letters of whole numbers as they are usually written."""
    total = 0
    for start in range(0, len(numbers), BATCH):
        batch = numbers[start : start + BATCH]
        total += len(batch) + int(np.count_nonzero(batch < 0))
        size = np.abs(batch)
        total += sum(int(np.count_nonzero(size >= 10**power)) for power in range(1, len(str(size.max()))))
    return total


def _mapped(path: Path) -> mmap.mmap:
    """Map a file into memory, all of it at once where the system can: page by page takes longer than to look at it."""
    with path.open("rb") as file:
        if hasattr(mmap, "MAP_POPULATE"):
            return mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE | mmap.MAP_POPULATE, prot=mmap.PROT_READ)
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _is_plain(text: mmap.mmap) -> bool:
    """Tell whether the header is the first line and no field is quoted."""
    return text.find(b'"') < 0 and not text[: text.find(b"\n") + 1].isspace()
