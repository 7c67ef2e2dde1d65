"""ARFF, as OpenML and WEKA write it: attribute declarations, then delimited rows."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.delimited import Fields
from pytest_cvaudit.readers.formats.source import Kind, Source, open_text, reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

_ATTRIBUTE = re.compile(r"""^@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))""", re.IGNORECASE)
_FIRST_QUOTE = re.compile(r"""(?:^|,)[ \t]*(['"])""", re.MULTILINE)
_MISSING = "?"


def read_arff(path: Path, shown: str) -> Source:
    """Read an ARFF file; of an OpenML learning curve only the last sample counts."""
    with reading(path, shown), open_text(path) as stream:
        lines = stream.read().replace("\0", "").splitlines()
    header = next((number for number, line in enumerate(lines, 1) if line.strip().lower() == "@data"), None)
    if header is None:
        raise InputError("no @data line; an ARFF file has @attribute lines, then @data, then rows", shown)
    found = [match for line in lines[:header] if (match := _ATTRIBUTE.match(line.strip()))]
    columns = tuple(next(filter(None, match.groups()), "").replace("\\", "") for match in found)
    rows = ["" if line.lstrip().startswith("%") else line for line in lines[header:]]
    sparse = next((number for number, line in enumerate(rows, header + 1) if line.lstrip().startswith("{")), None)
    if sparse is not None:
        raise InputError("sparse ARFF rows are not read; save the file as CSV", shown, sparse)
    data = "\n".join(rows)
    quote = _FIRST_QUOTE.search(data)
    fields = Fields(
        lambda: io.StringIO(data),
        shown,
        quote=quote[1] if quote else '"',
        escape="\\",
        offset=header,
        has_header=False,
    )
    return _last_sample(_without_question_marks(fields.source(columns)))


def _without_question_marks(source: Source) -> Source:
    def load(kinds: Mapping[str, Kind]) -> pd.DataFrame:
        frame = source.load(kinds)
        for name in frame.select_dtypes(include=["category"]):
            if _MISSING in frame[name].cat.categories:
                frame[name] = frame[name].cat.remove_categories(_MISSING)
        return frame

    return replace(source, load=load)


def _last_sample(source: Source) -> Source:
    if "sample" not in source.columns:
        return source
    sample = source.load({"sample": "float64"})["sample"].to_numpy(dtype=float)
    keep: NDArray[np.intp] = np.flatnonzero(sample == np.nanmax(sample, initial=-np.inf))

    def load(kinds: Mapping[str, Kind]) -> pd.DataFrame:
        return source.load(kinds).iloc[keep]

    return replace(source, load=load, line=lambda row: source.line(int(keep[row])))
