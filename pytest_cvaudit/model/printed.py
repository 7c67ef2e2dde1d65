"""Printed values: a number as a paper shows it, and the set of numbers that print so."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from pytest_cvaudit.errors import InputError

# As many digits as a double can have; nobody prints other numbers, and arithmetic with them fails.
_NUMBER = r"[+-]?(?:\d{1,300}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?0*\d{1,3})?"
_GREATEST = Decimal("1e300")
_PRINTED = re.compile(
    rf"^\s*(?P<value>{_NUMBER})\s*(?P<percent>%)?"
    rf"(?:\s*\(?\s*(?:±|\+/-|\+-|\\pm)\s*(?P<spread>{_NUMBER})\s*(?P<spread_percent>%)?\s*\)?\s*(?P<last_percent>%)?"
    # In brackets alone a whole number is something else: a count of folds, or digits of uncertainty.
    r"|\s+\(\s*(?P<bracketed>\d*\.\d+)\s*(?P<bracketed_percent>%)?\s*\))?\s*$"
)
#: Slack for the float arithmetic that made a value; far below any printed digit.
SLACK = 1e-12


@dataclass(frozen=True)
class Interval:
    """A closed interval of numbers; an exact one leaves no room for float noise."""

    low: float
    high: float
    exact: bool = False

    def meets(self, low: float, high: float | None = None) -> bool:
        """Tell whether some number of [low, high] lies in the interval, up to float noise."""
        high = low if high is None else high
        slack = 0.0 if self.exact else SLACK * max(1.0, abs(self.low), abs(self.high))
        return high >= self.low - slack and low <= self.high + slack


def _below(bound: Decimal) -> float:
    """The largest float under a bound: 0.6 is 0.59999999999999998 to the program that cuts it off, 1.0 is 1."""
    nearest = float(bound)
    return nearest if Decimal(nearest) < bound else math.nextafter(nearest, 0.0)


@dataclass(frozen=True)
class Printed:
    """A number with the digits it was printed with; ``0.60`` is not ``0.6``."""

    text: str
    digits: Decimal
    percent: bool = False
    spread: Printed | None = None

    @classmethod
    def parse(cls, text: str) -> Printed:
        """Read a printed number such as ``0.69``, ``58%``, ``0.485 (+/- 0.021)`` or ``0.71 (0.02)``."""
        match = _PRINTED.match(text)
        if match is None:
            raise InputError(f"'{text.strip()}' is not a printed number (such as 0.69, 58% or 0.69 ± 0.02)")
        percent = any(match[name] for name in ("percent", "last_percent", "spread_percent", "bracketed_percent"))
        spread = None
        if digits := match["spread"] or match["bracketed"]:
            spread = cls(digits + ("%" if percent else ""), Decimal(digits), percent)
        found = cls(text.strip(), Decimal(match["value"]), percent, spread)
        for number in (found, spread):
            if number is not None and max(abs(number.digits), number.unit) > _GREATEST:
                raise InputError(f"'{number}' is too large for a printed number")
        return found

    @property
    def scale(self) -> Decimal:
        """The factor that turns the digits into the value."""
        return Decimal("0.01") if self.percent else Decimal(1)

    @cached_property
    def value(self) -> float:
        """The printed number itself, a percentage as a fraction."""
        return float(self.digits * self.scale)

    @cached_property
    def unit(self) -> Decimal:
        """One unit of the last printed digit, as a fraction."""
        exponent = self.digits.as_tuple().exponent
        return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0) * self.scale

    @cached_property
    def rounded(self) -> Interval:
        """The numbers that print so by rounding, whichever way halves are rounded."""
        value, half = self.digits * self.scale, self.unit / 2
        return Interval(float(value - half), float(value + half))

    @cached_property
    def truncated(self) -> Interval:
        """The numbers that print so when the further digits are cut off."""
        value = self.digits * self.scale
        if value == 0:
            end = _below(self.unit)
            return Interval(-end, end, exact=True)
        end = _below(abs(value) + self.unit)
        return Interval(float(value), end, exact=True) if value > 0 else Interval(-end, float(value), exact=True)

    def show(self, value: float) -> str:
        """Print another value with the same number of digits and the same percent sign."""
        decimals = max(0, -int(self.unit.scaleb(0).normalize().adjusted()) - (2 if self.percent else 0))
        return f"{value * 100:.{decimals}f}%" if self.percent else f"{value:.{decimals}f}"

    def __str__(self) -> str:
        """Give back the text as it was printed."""
        return self.text
