"""scikit-learn: the dict of ``cross_validate`` as a table, and ``cv_results_`` of the searches."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cvaudit.readers.conventions.derived import strings, with_columns
from pytest_cvaudit.readers.formats.json_claims import claim_of
from pytest_cvaudit.readers.metric_columns import is_split, is_validated, metric_of, pointed
from pytest_cvaudit.readers.roles import is_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from pytest_cvaudit.model import Claim
    from pytest_cvaudit.readers.formats import Source

_RESULT = re.compile(r"(?:test|train)_.+|fit_time|score_time|estimator|indices|unnamed: 0|index|", re.IGNORECASE)
_MEAN = re.compile(r"mean_test_(.+)")


def with_row_as_fold(source: Source) -> Source:
    """Number the rows of what ``cross_validate`` returned: without a fold column, each row is the next fold."""
    names = source.columns
    if not is_validated(names) or any(is_named(name, "fold") for name in names):
        return source
    others = [name for name in names if not _RESULT.fullmatch(name)]

    def numbers(frame: pd.DataFrame) -> Mapping[str, Sequence[str]]:
        # Below other columns, such as the model, the folds begin anew.
        count = frame.groupby(others, sort=False).cumcount() if others else range(len(frame))
        return {"fold": [str(number) for number in count]}

    return with_columns(source, ["fold"], others or [names[0]], numbers)


def with_candidates(source: Source, score: str | None) -> Source:
    """Take each candidate of a search for an experiment, with its mean over the splits as a claim."""
    if "params" not in source.columns or not any(is_split(name) for name in source.columns):
        return source
    params = strings(source, "params").tolist()
    if len(set(params)) != len(params) or source.found.by:
        return source
    by = ("params",) if len(params) > 1 else ()
    claims: dict[tuple[str, ...], list[Claim]] = {(one,)[: len(by)]: [] for one in params}
    for name in source.columns:
        match = _MEAN.fullmatch(name)
        metric = metric_of((score or "") if match[1] == "score" else match[1]) if match else None
        if match is None or metric is None:
            continue
        spread = name.replace("mean_", "std_", 1)
        spreads = _numbers(source, spread) if spread in source.columns else [None] * len(params)
        for one, mean, deviation in zip(params, _numbers(source, name), spreads, strict=True):
            if (claim := claim_of(metric, mean, deviation, f"column '{name}'")) is not None:
                claims[(one,)[: len(by)]].append(claim)
    found = replace(source.found, by=by, claims={part: tuple(of) for part, of in claims.items() if of})
    return replace(source, found=found)


def _numbers(source: Source, name: str) -> Sequence[str]:
    return pointed(strings(source, name).tolist())
