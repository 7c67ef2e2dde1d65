"""What a log is asked to be, and what it turned out to hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit.model import Location, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_cvaudit.model import Claim, FoldCounts, FoldScores, MissingFold, Predictions
    from pytest_cvaudit.readers.formats import Source


@dataclass(frozen=True)
class LogSpec:
    """Where the folds of an experiment are logged, and what its columns mean where their names do not tell.

    ``columns`` maps roles to column names; ``by`` names the columns that tell several experiments in one table apart,
    ``select`` keeps only the rows with these values; ``threshold`` turns scores into labels where no labels are logged.
    ``folds_from`` is a file that has the fold of each id, ``join`` one with other columns by id.
    ``sources`` are tables that are open already. ``location`` is where the log is named; for an inline ``table``, the
    line above its header.
    """

    paths: tuple[str, ...] = ()
    base: Path = field(default_factory=Path)
    table: str | None = None
    sources: tuple[Source, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    select: Mapping[str, str] = field(default_factory=dict)
    threshold: float | None = None
    separator: str | None = None
    folds_from: str | None = None
    join: str | None = None
    location: Location = field(default_factory=lambda: Location("<log>"))


@dataclass(frozen=True)
class Log:
    """The evidence in a log, the folds it mentions without a result, and the files it was read from.

    ``claims`` and ``protocol`` are what the log itself tells beside its rows.
    """

    predictions: Predictions | None = None
    counts: FoldCounts | None = None
    scores: FoldScores | None = None
    missing: tuple[MissingFold, ...] = ()
    files: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)
