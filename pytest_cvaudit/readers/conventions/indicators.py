"""Multi-label tables with a column of zeros and ones for each label, true and predicted."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from pytest_cvaudit.readers.conventions.derived import distinct, with_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from pytest_cvaudit.readers.formats import Source

_TRUE = re.compile(r"(?:y_)?(?:true|truth|actual|gold)[_.](?P<label>.+)", re.IGNORECASE)
_PREDICTED = re.compile(r"(?:y_)?(?:pred|predicted|prediction)[_.](?P<label>.+)", re.IGNORECASE)
_FLAGS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
TRUTH, PREDICTED = "y_true", "y_pred"


def with_label_sets(source: Source) -> Source:
    """Gather ``true_a, true_b, pred_a, pred_b`` into the sets of labels that they mark."""
    true, predicted = (_by_label(pattern, source.columns) for pattern in (_TRUE, _PREDICTED))
    if len(true) < 2 or true.keys() != predicted.keys() or {TRUTH, PREDICTED} & set(source.columns):
        return source
    names = [*true.values(), *predicted.values()]
    if not all(text.lower() in _FLAGS for name in names for text in distinct(source, name)):
        return source

    def sets(frame: pd.DataFrame) -> Mapping[str, Sequence[str]]:
        return {TRUTH: _sets(frame, true), PREDICTED: _sets(frame, predicted)}

    return with_columns(source, [TRUTH, PREDICTED], names, sets)


def _by_label(pattern: re.Pattern[str], names: Iterable[str]) -> dict[str, str]:
    return {match["label"]: name for name in names if (match := pattern.fullmatch(name))}


def _sets(frame: pd.DataFrame, columns: Mapping[str, str]) -> list[str]:
    flags = {label: [_FLAGS[text.strip().lower()] for text in frame[name]] for label, name in columns.items()}
    return [json.dumps([label for label in columns if flags[label][row]]) for row in range(len(frame))]
