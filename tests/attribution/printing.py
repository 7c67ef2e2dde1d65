"""How papers print numbers: rounded half up or half to even, or cut off, with or without a percent sign."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from hypothesis import strategies as st

ROUNDINGS = {"half up": ROUND_HALF_UP, "half even": ROUND_HALF_EVEN, "cut off": ROUND_DOWN}


@dataclass(frozen=True)
class Style:
    """A way to print: decimals of the fraction, how it is rounded, and whether as a percentage."""

    decimals: int
    rounding: str
    percent: bool = False

    def show(self, value: float) -> str:
        """Print a value, without the sign of a zero."""
        exact, places = (Decimal(value) * 100, self.decimals - 2) if self.percent else (Decimal(value), self.decimals)
        digits = exact.quantize(Decimal(1).scaleb(-places), rounding=ROUNDINGS[self.rounding])
        return f"{abs(digits) if digits == 0 else digits}{'%' if self.percent else ''}"

    @property
    def cuts(self) -> bool:
        return self.rounding == "cut off"


STYLES = st.builds(Style, st.integers(2, 4), st.sampled_from(sorted(ROUNDINGS)), st.booleans())
