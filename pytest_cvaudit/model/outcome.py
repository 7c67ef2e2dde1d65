"""Outcomes: what a rule says about an experiment, in four states and never fewer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_cvaudit.model.experiment import Location


class Severity(IntEnum):
    """How bad a finding is."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    def __str__(self) -> str:
        """Give the severity's name as it is written in files."""
        return self.name.lower()

    @classmethod
    def of(cls, name: str) -> Severity:
        """Return the severity of that name."""
        return cls[name.upper()]


class Status(StrEnum):
    """The four states of an outcome."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: where, how sure, how much it matters, and what to do."""

    code: str
    name: str
    severity: Severity
    confidence: str
    experiment: str
    message: str
    tip: str
    location: Location
    claim: str | None = None
    fold: str | None = None
    label: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    suppressed: str | None = None

    @property
    def fingerprint(self) -> str:
        """A short hash of the content, the same wherever the line moves to."""
        content = [self.code, self.experiment, self.claim, self.fold, self.label, self.message]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Outcome:
    """The state of one rule on one experiment, with its findings or its reason."""

    experiment: str
    code: str
    name: str
    status: Status
    reason: str = ""
    findings: tuple[Finding, ...] = ()
