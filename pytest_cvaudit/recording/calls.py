"""The calls that record, whatever keeps what they are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import wraps
from itertools import count
from typing import TYPE_CHECKING, Any, ParamSpec

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell, Claim, MissingFold
from pytest_cvaudit.model.arrays import label_text
from pytest_cvaudit.model.declared import declared, read_claims
from pytest_cvaudit.model.folds import Fold
from pytest_cvaudit.recording.columns import named_by_training
from pytest_cvaudit.recording.design import plain, splitter_about, splitter_protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

P = ParamSpec("P")


def _in_one_line(method: Callable[P, None]) -> Callable[P, None]:
    """Let a bad call show the line of the test that made it, not this file."""

    @wraps(method)
    def call(*args: P.args, **keywords: P.kwargs) -> None:
        __tracebackhide__ = True
        try:
            method(*args, **keywords)
        except InputError as error:
            raise InputError(error.message, error.path) from None
        except OSError as error:
            path = error.filename or getattr(args[0], "path", None)
            raise InputError(f"cannot be recorded: {error.strerror or error}", path and str(path)) from error
        except UnicodeEncodeError as error:
            raise InputError(f"{error.object!r} is no text that can be written as UTF-8") from None

    return call


class Calls(ABC):
    """The calls that record: they check what they are given and hand it on."""

    def __init__(self, classes: Sequence[object] | None = None) -> None:
        self.classes = classes
        self._first: Fold | None = None
        self._number = 0
        self._design: dict[str, Any] = {}

    @_in_one_line
    def fold(
        self,
        y_true: Any,
        y_pred: Any = None,
        y_score: Any = None,
        *,
        train: Any = None,
        test: Any = None,
        y_train: Any = None,
        fold: object = None,
        repeat: object = None,
        classes: Sequence[object] | None = None,
    ) -> None:
        """Record one test fold: true labels, predicted labels, and a score per instance or per instance and class.

        ``test`` and ``train`` are the ids of the instances (or masks), ``y_train`` the labels of the training set, and
        ``classes`` the labels that the columns of ``y_score`` speak for.
        """
        names = self.classes if classes is None else classes
        cell = self._cell(self._number, repeat) if fold is None else _named(fold, repeat)
        new = named_by_training(
            Fold.read(cell, y_true, y_pred, y_score, test=test, train=train, y_train=y_train, classes=names)
        )
        if self._first is not None:
            new.check_like(self._first)
        if fold is not None:
            if not self._add(new):
                raise InputError(f"fold {cell.fold} of repeat {cell.repeat} was recorded already")
        else:
            # Another process may have taken the number.
            free = (
                number for number in count(self._number) if self._add(replace(new, cell=self._cell(number, repeat)))
            )
            self._number = next(free)
        self._number += 1
        self._first = self._first or new.head()

    @_in_one_line
    def skip(self, reason: object = None, *, fold: object = None, repeat: object = None) -> None:
        """Record that a fold has no result, and why."""
        cell = self._cell(self._number, repeat) if fold is None else _named(fold, repeat)
        self._number += 1
        text = " ".join(str(reason).split()) if reason is not None else None
        self._add_skip(MissingFold(cell, "it was skipped", text))

    @_in_one_line
    def claim(
        self,
        metric: str,
        value: object,
        *,
        aggregation: str | None = None,
        label: object = None,
        folds: int | None = None,
        where: str | None = None,
    ) -> None:
        """Record a claimed number; pass it as text to keep trailing zeros."""
        text = None if label is None else label_text(label)
        claim = Claim.parse(f"{metric} = {value}")
        self._add_claim(replace(claim, aggregation=aggregation, label=text, folds=folds, where=where))

    @_in_one_line
    def claims(self, claims: Mapping[str, object] | Iterable[object]) -> None:
        """Record several claims: texts such as ``f1 = 0.69``, or metrics with their values."""
        for claim in read_claims(claims):
            self._add_claim(claim)

    @_in_one_line
    def protocol(self, *, splitter: Any = None, seed: Any = None, **entries: Any) -> None:
        """Declare the design: positive, folds, repeats, stratified, instances, labels, calibrated …"""
        found = declared(entries)
        about: dict[str, Any] = {}
        if splitter is not None:
            found = {**splitter_protocol(splitter), **found}
            about["splitter"] = splitter_about(splitter)
        if seed is not None:
            about["seed"] = plain(seed)
        self._design |= found
        self._declare(found, about)

    def _cell(self, number: int, repeat: object) -> Cell:
        folds, repeats = self._design.get("folds"), self._design.get("repeats")
        if repeat is None and folds is not None and repeats is not None:
            return Cell(str(number % folds), str(number // folds))
        return Cell(str(number), "0" if repeat is None else str(repeat))

    @abstractmethod
    def _add(self, fold: Fold) -> bool:
        """Take a fold; False if there is one of this name."""

    @abstractmethod
    def _add_skip(self, missing: MissingFold) -> None:
        """Take a fold without result."""

    @abstractmethod
    def _add_claim(self, claim: Claim) -> None:
        """Take a claim."""

    @abstractmethod
    def _declare(self, entries: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Take declarations about the design."""


def _named(fold: object, repeat: object) -> Cell:
    return Cell(str(fold), "0" if repeat is None else str(repeat))
