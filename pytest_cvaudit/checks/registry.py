"""What a check is: a function registered by its rule's code, given what its parameter names ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import date

    from pytest_cvaudit.aggregations import Aggregates
    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Claim, Experiment, Metric, Protocol, Severity
    from pytest_cvaudit.tallies.tally import Tallies


@dataclass(frozen=True)
class Hit:
    """Something is wrong; ``severity`` can only lower the rule's own; ``line`` is one of the log's."""

    message: str
    claim: Claim | None = None
    fold: str | None = None
    label: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    severity: Severity | None = None
    line: int | None = None
    manifest_line: int | None = None


@dataclass(frozen=True)
class Unsure:
    """The evidence cannot decide; the reason says what would."""

    reason: str


@dataclass(frozen=True)
class Irrelevant:
    """The rule has nothing to say about this experiment."""

    reason: str


Result = Hit | Unsure | Irrelevant
Check = Callable[..., Iterator[Result]]

CHECKS: dict[str, Check] = {}


def check(code: str) -> Callable[[Check], Check]:
    """Register a function as the check of the rule with that code."""

    def register(function: Check) -> Check:
        if code in CHECKS:
            raise ValueError(f"two checks are registered for {code}")
        CHECKS[code] = function
        return function

    return register


@dataclass(frozen=True)
class Subject:
    """Everything a check may ask for by parameter name."""

    experiment: Experiment
    protocol: Protocol
    tallies: Tallies | None
    aggregates: Aggregates
    attributions: tuple[Attribution, ...]
    rivals: tuple[Rival, ...] = ()
    runs: int = 1
    suppressions: tuple[SuppressionUse, ...] = ()


@dataclass(frozen=True)
class Rival:
    """An experiment that this one is said to beat, and by which measure."""

    subject: Subject
    by: Metric
    line: int | None = None


@dataclass(frozen=True)
class SuppressionUse:
    """A suppression and what became of it."""

    rule: str
    where: str
    reason: str
    until: date | None
    expired: bool
    findings: int
    line: int | None = None


def run(function: Check, subject: Subject, parameters: Mapping[str, Any]) -> list[Result]:
    """Call a check with what its positional parameters name and with the rule's parameters as keywords."""
    asked = [
        name
        for name, parameter in signature(function).parameters.items()
        if parameter.kind is not Parameter.KEYWORD_ONLY
    ]
    return list(function(*(getattr(subject, name) for name in asked), **parameters))
