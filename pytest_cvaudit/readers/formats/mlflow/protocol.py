"""The design that the parameters and tags of a run tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from pytest_cvaudit.model import Protocol
from pytest_cvaudit.readers.roles import squashed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_cvaudit.readers.formats.mlflow.runs import Run

Said = TypeVar("Said")

_FOLDS = frozenset([
    "nsplits", "nsplit", "nfolds", "nfold", "numfolds", "numsplits", "folds", "kfolds", "kfold", "cv", "cvfolds",
    "cvsplits",
])  # fmt: skip
_REPEATS = frozenset(["nrepeats", "numrepeats", "cvrepeats", "repeats"])
_SPLITTER = frozenset([
    "cv", "splitter", "cvsplitter", "cvstrategy", "cvtype", "cvmethod", "cvname", "cvscheme", "kfold", "kfoldtype",
    "splitstrategy", "split",
])  # fmt: skip
_STRATIFIED = frozenset(["stratified", "stratify", "cvstratified"])
_INSIDE = {"folds": re.compile(r"n_splits=(\d+)"), "repeats": re.compile(r"n_repeats=(\d+)")}
_UNSTRATIFIED = re.compile(
    r"(?:non|un|not)[\s_\-]?stratified|^(?!.*stratified).*(?<![a-z])(?:repeated)?k-?fold(?![a-z])", re.IGNORECASE
)


def protocol_of(runs: Sequence[Run]) -> Protocol:
    """Return the design on which all the runs agree."""
    return Protocol(
        folds=_agreed({declared_folds(run) for run in runs}),
        repeats=_agreed({_number(run, _REPEATS, "repeats") for run in runs}),
        stratified=_agreed({_stratified(run) for run in runs}),
    )


def _agreed(values: set[Said]) -> Said | None:
    return values.pop() if len(values) == 1 else None


def declared_folds(run: Run) -> int | None:
    """Return the number of folds, if the run tells just one."""
    return _number(run, _FOLDS, "folds")


def has_epochs(run: Run) -> bool:
    """Tell whether a model was trained step by step."""
    return any("epoch" in name.lower() or squashed(name) == "maxsteps" for name, _ in _said(run))


def _said(run: Run) -> Iterator[tuple[str, str]]:
    yield from run.params.items()
    yield from ((name, text) for name, text in run.tags.items() if not name.startswith("mlflow."))


def _number(run: Run, names: frozenset[str], inside: str) -> int | None:
    found: set[int] = set()
    for name, text in _said(run):
        if squashed(name) in names and text.strip().isdecimal():
            found.add(int(text))
        elif squashed(name) in _SPLITTER and (match := _INSIDE[inside].search(text)):
            found.add(int(match[1]))
    number = _agreed(found)
    return number if number is not None and number > 1 else None


def _stratified(run: Run) -> bool | None:
    found: set[bool] = set()
    for name, text in _said(run):
        if squashed(name) in _STRATIFIED and text.strip().lower() in ("true", "false"):
            found.add(text.strip().lower() == "true")
        elif squashed(name) in _SPLITTER:
            plain = _UNSTRATIFIED.search(text) is not None
            found |= {not plain} if plain or "stratified" in text.lower() else set()
    return _agreed(found)
