"""What a program declares in memory: the protocol's entries and the claims, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.model.arrays import label_text, label_texts
from pytest_cvaudit.model.claim import Claim
from pytest_cvaudit.model.experiment import Protocol

#: Entries that are about numbers without a log have no use beside folds.
_WITHOUT_LOG = ("supports", "datasets")
_PROTOCOL = tuple(name for name in Protocol.__dataclass_fields__ if name not in _WITHOUT_LOG)
_COUNTS = ("folds", "repeats", "instances", "positives", "k")
_FLAGS = ("stratified", "calibrated")


def declared(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Check what is declared about the design, and bring it into the form of a `Protocol`."""
    found: dict[str, Any] = {}
    for key, value in entries.items():
        if key not in _PROTOCOL:
            raise InputError(f"unknown protocol entry '{key}'{suggestion(key, _PROTOCOL)}")
        if key in _COUNTS and (isinstance(value, bool) or not (isinstance(value, int | np.integer) and value > 0)):
            raise InputError(f"protocol entry '{key}' must be a positive whole number, not {value!r}")
        if key in _FLAGS and not isinstance(value, bool | np.bool_):
            raise InputError(f"protocol entry '{key}' must be True or False, not {value!r}")
        found |= _entry(key, value)
    return found


def _entry(key: str, value: Any) -> dict[str, Any]:
    if key == "positive":
        return {key: label_text(value)}
    if key == "labels" and isinstance(value, Mapping):
        return {key: label_texts(value), **_entry("frequencies", value)}
    if key == "labels":
        return {key: label_texts(value)}
    if key == "frequencies":
        shares = {label_text(label): float(share) for label, share in value.items()}
        return {key: {label: share / sum(shares.values()) for label, share in shares.items()}}
    if key in _COUNTS:
        return {key: int(value)}
    if key in _FLAGS:
        return {key: bool(value)}
    return {key: str(value)}


def read_claims(claims: Mapping[str, object] | Iterable[object]) -> tuple[Claim, ...]:
    """Read claims: texts such as ``f1 = 0.69``, pairs of a metric and its value, or `Claim` objects."""
    pairs = claims.items() if isinstance(claims, Mapping) else claims
    return tuple(_claim(each) for each in pairs)


def _claim(claim: object) -> Claim:
    if isinstance(claim, Claim):
        return claim
    if isinstance(claim, str):
        return Claim.parse(claim)
    if isinstance(claim, tuple | list) and len(claim) == 2:
        return Claim.parse(f"{claim[0]} = {claim[1]}")
    raise InputError(f"{claim!r} is not a claim; write it as 'f1 = 0.69' or ('f1', 0.69)")
