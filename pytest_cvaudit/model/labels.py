"""Labels: the order people list them in, and which of two is the positive one by convention."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Pairs that everybody reads as (negative, positive), in lower case.
_CONVENTIONS = (("0", "1"), ("-1", "1"), ("false", "true"), ("no", "yes"), ("neg", "pos"), ("negative", "positive"))
_INTEGER = re.compile(r"[+-]?\d+")
_DIGITS = re.compile(r"(\d+)")


def conventional_positive(labels: Iterable[str]) -> str | None:
    """Return the positive one of two labels where a convention settles it, or nothing."""
    spelled = {label.strip().lower(): label for label in labels}
    for negative, positive in _CONVENTIONS:
        if spelled.keys() == {negative, positive}:
            return spelled[positive]
    return None


def label_order(label: str) -> tuple[object, ...]:
    """A key that sorts numbers by value, before words, and ``c2`` before ``c10``."""
    if _INTEGER.fullmatch(label):
        return (0, int(label), label)
    parts = _DIGITS.split(label)
    return (1, tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part), label)


def sorted_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct labels in the order that a person would list them."""
    return tuple(sorted(set(labels), key=label_order))
