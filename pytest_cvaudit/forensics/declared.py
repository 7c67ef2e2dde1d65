"""From what is declared about an experiment to the design, or the study of several parts, that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics.design import Design
from pytest_cvaudit.forensics.studies.classes import Classes
from pytest_cvaudit.forensics.studies.datasets import Datasets
from pytest_cvaudit.forensics.studies.repeats import Repeats

if TYPE_CHECKING:
    from pytest_cvaudit.forensics.studies.study import Study
    from pytest_cvaudit.model import Protocol


#: What can be judged at all within seconds.
_MOST_INSTANCES, _MOST_OF_CLASSES, _MOST_FOLDS = 10_000_000, 1_000_000, 20_000


def declared_design(protocol: Protocol) -> Design | Study | None:
    """The design that a protocol declares; nothing where it declares too little."""
    repeats = protocol.repeats or 1
    _refuse_too_large(protocol, repeats)
    if protocol.datasets is not None:
        if repeats > 1:
            raise InputError("repeats of several data sets cannot be judged by the design; log the folds")
        sets = protocol.datasets
        return Datasets([Design(one.instances, one.positives, one.folds, one.stratified) for one in sets])
    if protocol.folds is None:
        return None
    if protocol.supports is not None:
        return _classes(protocol, protocol.folds)
    if protocol.instances is None or protocol.positives is None:
        return None
    design = Design(protocol.instances, protocol.positives, protocol.folds, bool(protocol.stratified))
    return design if repeats == 1 else Repeats(design, repeats)


def _refuse_too_large(protocol: Protocol, repeats: int) -> None:
    parts = protocol.datasets or (protocol,)
    folds = repeats * sum(part.folds or 0 for part in parts)
    instances = sum(part.instances or 0 for part in parts)
    of_classes = sum((protocol.supports or {}).values())
    for number, most, what in (
        (instances, _MOST_INSTANCES, "instances"), (of_classes, _MOST_OF_CLASSES, "instances of several classes"),
        (folds, _MOST_FOLDS, "folds"),
    ):  # fmt: skip
        if number > most:
            raise InputError(f"{number:,} {what} are too many to be judged by the design (at most {most:,})")


def _classes(protocol: Protocol, folds: int) -> Classes:
    supports = protocol.supports or {}
    if protocol.instances not in (None, sum(supports.values())):
        raise InputError(f"the supports add up to {sum(supports.values())}, not to {protocol.instances} instances")
    if (protocol.repeats or 1) > 1:
        raise InputError("repeats of several classes cannot be judged by the design; log the folds")
    return Classes(tuple(supports), tuple(supports.values()), folds, bool(protocol.stratified))
