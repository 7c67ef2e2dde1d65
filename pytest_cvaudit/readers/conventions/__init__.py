"""Conventions of well-known tools, told by the names of a table's columns, whatever file it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.readers.conventions.fold_columns import with_row_per_fold
from pytest_cvaudit.readers.conventions.indicators import with_label_sets
from pytest_cvaudit.readers.conventions.r import with_caret_resamples, with_mlr3_roles
from pytest_cvaudit.readers.conventions.sklearn import with_candidates, with_row_as_fold

if TYPE_CHECKING:
    from pytest_cvaudit.readers.formats import Source

_CONVENTIONS = (with_row_as_fold, with_caret_resamples, with_mlr3_roles, with_label_sets)


def understood(source: Source, metric: str | None = None) -> Source:
    """Add to a table what the tool that wrote it is known to mean; ``metric`` is what the user calls a bare score."""
    for convention in _CONVENTIONS:
        source = convention(source)
    return with_row_per_fold(with_candidates(source, metric), metric)
