"""Claims: the numbers that an experiment is said to have reached."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model.metrics import Metric, metric
from pytest_cvaudit.model.printed import Printed

_CLAIM = re.compile(r"^\s*(?P<metric>[^=:\[\]]+?)\s*(?:\[(?P<label>[^\[\]]+)\])?\s*[=:]\s*(?P<value>\S.*?)\s*$")


@dataclass(frozen=True)
class Claim:
    """One printed number: its metric and digits, how and over what it was made if that is said, and where it stands."""

    metric: Metric
    printed: Printed
    aggregation: str | None = None
    label: str | None = None
    folds: int | None = None
    where: str | None = None
    line: int | None = None

    def __post_init__(self) -> None:
        """Refuse a value that the metric cannot take."""
        if not self.metric.low <= self.printed.value <= self.metric.high:
            hint = f"; write {self.printed.digits}% if it is a percentage" if 1 < self.printed.digits <= 100 else ""
            low, high = f"{self.metric.low:g}", f"{self.metric.high:g}"
            raise InputError(f"claim '{self}' lies outside {low}..{high}{hint}")

    @classmethod
    def parse(cls, text: str, line: int | None = None) -> Claim:
        """Read a claim written as ``f1 = 0.69``, or ``f1[setosa] = 0.97`` if it is about one label."""
        match = _CLAIM.match(text)
        if match is None:
            raise InputError(f"'{text}' is not a claim; write it as 'f1 = 0.69'", line=line)
        label = match["label"].strip() if match["label"] else None
        return cls(metric(match["metric"]), Printed.parse(match["value"]), label=label, line=line)

    @property
    def name(self) -> str:
        """The metric's name, with the label or the k that the claim is about."""
        name = self.metric.name if self.metric.k is None else f"precision_at_{self.metric.k}"
        return f"{name}[{self.label}]" if self.label is not None else name

    def __str__(self) -> str:
        """Write the claim as in a manifest."""
        return f"{self.name} = {self.printed}"
