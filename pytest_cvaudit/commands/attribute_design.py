"""The design that the options of ``cvaudit attribute`` describe: one data set or several, repeats, classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.model import DataSet, Protocol

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from pytest_cvaudit.forensics import Design
    from pytest_cvaudit.forensics.studies.study import Study
    from pytest_cvaudit.model import Claim

_NEEDED = "a design needs --instances, --positives and --folds"
_DATASET = "write it as instances=1504,positives=15,folds=4,stratified"


def design_of(options: argparse.Namespace) -> Design | Study:
    """Read the design; what does not go together is told in one line."""
    from pytest_cvaudit.forensics import declared_design

    if options.dataset:
        for name in ("instances", "positives", "folds", "repeats", "supports", "stratified"):
            if getattr(options, name):
                raise InputError(f"every --dataset has a design of its own: leave --{name} out")
        protocol = Protocol(datasets=tuple(_dataset(text) for text in options.dataset))
    else:
        names = ("folds",) if options.supports else ("instances", "positives", "folds")
        sizes = {name: whole(options, name) for name in names}
        if options.supports and options.positives:
            raise InputError("--supports stands instead of --instances and --positives")
        repeats = whole(options, "repeats") if options.repeats else None
        supports = _supports(options.supports) if options.supports else None
        protocol = Protocol(
            instances=sizes.get("instances"), positives=sizes.get("positives"), folds=sizes["folds"], repeats=repeats,
            supports=supports, stratified=options.stratified,
        )  # fmt: skip
    design = declared_design(protocol)
    if design is None:
        raise InputError(_NEEDED)
    return design


def check_labels(claims: Iterable[Claim], design: Design | Study) -> None:
    """Refuse a claim on a label that is no class of the design, where that names its classes."""
    from pytest_cvaudit.forensics import Classes

    for claim in claims:
        if isinstance(design, Classes) and claim.label is not None and claim.label not in design.labels:
            hint = suggestion(claim.label, design.labels) or f" (it has {', '.join(design.labels)})"
            raise InputError(f"'{claim.label}' is no class of --supports{hint}", "claim")


def needed(claim: Claim, design: Design | Study) -> str:
    """Say what else would have to be known of a claim that the design cannot judge."""
    from pytest_cvaudit.forensics import Design
    from pytest_cvaudit.forensics.exact import WHOLE, ways_of

    metric, log = claim.metric, "per-fold values, counts or predictions with --log"
    of_one_label = claim.label is not None and metric.name not in WHOLE and bool(ways_of(metric))
    by_classes = of_one_label or (claim.label is None and metric.average in ("macro", "micro", "weighted"))
    needs = f"--supports, or {log}" if by_classes and isinstance(design, Design) else log
    return f"cannot be judged from the design; it needs {needs}"


def whole(options: argparse.Namespace, name: str) -> int:
    """A positive whole number among the options."""
    text = getattr(options, name)
    if text is None:
        raise InputError(_NEEDED)
    return _count(text, f"--{name}")


def _count(text: str, where: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"'{text}' is not a positive whole number", where)
    return int(text)


def _supports(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in text.split(","):
        label, sign, count = (piece.strip() for piece in part.rpartition("="))
        if not sign or not label:
            raise InputError(f"'{part.strip()}' is not a class and its instances; write a=50,b=30", "--supports")
        if label in found:
            raise InputError(f"'{label}' is named twice", "--supports")
        found[label] = _count(count, "--supports")
    return found


def _dataset(text: str) -> DataSet:
    sizes: dict[str, int] = {}
    stratified = False
    for part in text.split(","):
        name, sign, count = (piece.strip() for piece in part.partition("="))
        if name == "stratified" and not sign:
            stratified = True
        elif name in ("instances", "positives", "folds") and name not in sizes:
            sizes[name] = _count(count, f"--dataset {name}")
        else:
            raise InputError(f"'{part.strip()}' is not understood; {_DATASET}", "--dataset")
    if len(sizes) < 3:
        raise InputError(f"'{text}' does not say all of a data set; {_DATASET}", "--dataset")
    return DataSet(**sizes, stratified=stratified)
