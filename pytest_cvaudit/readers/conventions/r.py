"""R: caret's saved predictions, and prediction tables of mlr3."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cvaudit.readers.conventions.derived import distinct, with_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from pytest_cvaudit.readers.formats import Source

_RESAMPLE = "Resample"
_OF_REPEAT = re.compile(r"(Fold\d+)\.(Rep\d+)")
_MLR3 = {"row_ids", "truth", "response"}


def with_caret_resamples(source: Source) -> Source:
    """Part caret's ``Fold01.Rep2`` into the fold and the repeat."""
    if not {_RESAMPLE, "obs"} <= set(source.columns) or "Repeat" in source.columns:
        return source
    if not all(_OF_REPEAT.fullmatch(text) for text in distinct(source, _RESAMPLE)):
        return source

    def parts(frame: pd.DataFrame) -> Mapping[str, Sequence[str]]:
        found = [text.strip().split(".") for text in frame[_RESAMPLE]]
        return {_RESAMPLE: [fold for fold, _ in found], "Repeat": [repeat for _, repeat in found]}

    return with_columns(source, [_RESAMPLE, "Repeat"], [_RESAMPLE], parts)


def with_mlr3_roles(source: Source) -> Source:
    """Name mlr3's columns: ``response`` is the prediction, ``iteration`` the fold."""
    names = set(source.columns)
    if not names >= _MLR3:
        return source
    roles = {"id": "row_ids", "truth": "truth", "predicted": "response"}
    if "iteration" in names and "fold" not in names:
        roles["fold"] = "iteration"
    return replace(source, found=replace(source.found, columns={**roles, **source.found.columns}))
