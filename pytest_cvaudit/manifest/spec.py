"""What a manifest says, before any log is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from pytest_cvaudit.model import Claim, Location, Metric, Protocol
    from pytest_cvaudit.readers.formats import Source


@dataclass(frozen=True)
class LogSource:
    """Where a log is and how to read it: the fields of the readers' LogSpec, without importing the readers."""

    location: Location
    paths: tuple[str, ...] = ()
    base: Path = Path()
    table: str | None = None
    sources: tuple[Source, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    select: Mapping[str, str] = field(default_factory=dict)
    threshold: float | None = None
    separator: str | None = None
    folds_from: str | None = None
    join: str | None = None


@dataclass(frozen=True)
class ClaimSpec:
    """A claim, and which part of a split log it is about."""

    claim: Claim
    part: str | None = None


@dataclass(frozen=True)
class ExperimentSpec:
    """One entry under ``experiments``; without a log there are only the protocol and the claims to audit."""

    name: str
    log: LogSource | None
    protocol: Protocol
    claims: tuple[ClaimSpec, ...]
    location: Location


@dataclass(frozen=True)
class Comparison:
    """The statement that one experiment is better than another."""

    better: str
    than: str
    by: Metric
    location: Location
    where: str | None = None


@dataclass(frozen=True)
class Suppression:
    """Findings that are accepted: a rule, globs over experiments and paths, the reason and the last day."""

    rule: str
    experiment: str
    path: str
    reason: str
    until: date | None
    location: Location


@dataclass(frozen=True)
class Manifest:
    """A whole ``cvaudit.yaml``."""

    path: str
    standard: str | None
    experiments: tuple[ExperimentSpec, ...]
    comparisons: tuple[Comparison, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    standard_line: int | None = None
