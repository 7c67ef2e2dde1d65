"""Cells that hold several labels: with a separator, or as lists."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.readers.table import is_blank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    Parse = Callable[[str], tuple[str, ...]]

_LIST = re.compile(r"\[(.*)\]", re.DOTALL)
_QUOTES = "'\""


def set_parser(columns: Sequence[pd.Categorical], separator: str | None) -> Parse | None:
    """Return how to read a cell of these columns as several labels, or nothing if each holds a single one."""
    if separator is not None:
        return lambda text: _split(text, separator)
    texts = [str(text) for column in columns for text in column.categories if not is_blank(str(text))]
    return listed if texts and all(_LIST.fullmatch(text) for text in texts) else None


def some_list(column: pd.Categorical) -> int | None:
    """Return a row that holds a list, or nothing."""
    lists = [i for i, text in enumerate(column.categories) if _LIST.fullmatch(str(text))]
    return int(np.isin(column.codes, lists).argmax()) if lists else None


def _split(text: str, separator: str | None) -> tuple[str, ...]:
    parts = [] if is_blank(text) else text.split(separator)
    return tuple(part.strip().strip(_QUOTES) for part in parts if part.strip())


def listed(text: str) -> tuple[str, ...]:
    """Read a list of labels as JSON, Python or numpy write it; what is no list holds none."""
    match = _LIST.fullmatch(text)
    if match is None:
        return ()
    if any(quote in text for quote in _QUOTES):
        for read in (json.loads, ast.literal_eval):
            try:
                return tuple(str(item) for item in read(text))
            except (ValueError, SyntaxError, TypeError):
                continue
    return _split(match[1], "," if "," in match[1] else None)


def is_indicator(sets: Sequence[tuple[str, ...]]) -> bool:
    """Tell whether the lists look like rows of zeros and ones, a place per label, rather than lists of labels."""
    lengths = {len(labels) for labels in sets}
    return len(lengths) == 1 and lengths.pop() > 1 and {label for labels in sets for label in labels} == {"0", "1"}


def label_counts(column: pd.Categorical, parse: Parse, labels: Sequence[str]) -> NDArray[np.uint8]:
    """Count how often each row lists each label."""
    position = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(column.categories), len(labels)), dtype=np.uint8)
    for row, text in enumerate(column.categories):
        for label in parse(str(text)):
            counts[row, position[label]] += 1
    rows: NDArray[np.uint8] = counts[column.codes]
    return rows
