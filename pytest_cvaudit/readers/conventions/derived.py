"""Columns that are worked out of others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.readers.formats import Found, Kind, Source

    Derive = Callable[[pd.DataFrame], Mapping[str, Sequence[str]]]


def with_columns(
    source: Source, names: Sequence[str], of: Sequence[str], derive: Derive, found: Found | None = None
) -> Source:
    """Return the source with more columns, derived from the texts of others when they are asked for."""

    def load(kinds: Mapping[str, Kind]) -> pd.DataFrame:
        own = {name: kind for name, kind in kinds.items() if name not in names}
        frame = source.load(own or {source.columns[0]: "category"})
        if len(own) < len(kinds):
            derived = derive(source.load(dict.fromkeys(of, "category")).astype("str"))
            for name in names:
                if name in kinds:
                    frame[name] = pd.Series(list(derived[name]), index=frame.index, dtype="str")
        return frame[list(kinds)]

    columns = (*(name for name in source.columns if name not in names), *names)
    return replace(source, columns=columns, load=load, found=found or source.found)


def strings(source: Source, name: str) -> NDArray[np.object_]:
    """Return a column's texts without surrounding space."""
    return np.array([str(text).strip() for text in source.load({name: "category"})[name].astype("str")], dtype=object)


def distinct(source: Source, name: str) -> set[str]:
    """Return a column's different texts without surrounding space."""
    column = pd.Categorical(source.load({name: "category"})[name])
    return {str(text).strip() for text in column.categories}
