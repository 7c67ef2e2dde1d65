"""Which class each column of scores speaks for, where that is not said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model.arrays import Labels, joined_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_cvaudit.model import Protocol
    from pytest_cvaudit.model.folds import Fold


def named_by_training(fold: Fold) -> Fold:
    """Name the columns of a fold after its training labels if there are as many; refuse what no class can fit."""
    columns = _columns(fold)
    if columns is None:
        return fold
    if fold.classes is None and fold.truth.sets is None and len(fold.trained) == columns:
        return replace(fold, classes=tuple(fold.trained))
    names = joined_names(_parts([fold])) if fold.classes is None else fold.classes
    # Other folds may add classes that this one lacks, but none that it has will go.
    if columns < len(names) or (fold.classes is not None and columns > len(names)):
        raise InputError(f"fold {fold.cell.fold}: {_misfit(columns, names)}")
    return fold


def named_by_all(folds: Sequence[Fold], protocol: Protocol) -> list[Fold]:
    """Name the columns after the declared labels where those that occur are too few; refuse what neither fits."""
    if all(fold.classes is not None or _columns(fold) is None for fold in folds):
        return list(folds)
    parts = _parts(folds)
    seen = joined_names(parts)
    every = joined_names([*parts, Labels(protocol.labels or ())])
    return [_named(fold, seen, every) for fold in folds]


def _named(fold: Fold, seen: tuple[str, ...], every: tuple[str, ...]) -> Fold:
    columns = _columns(fold)
    if fold.classes is not None or columns in (None, len(seen)):
        return fold
    if columns == len(every):
        return replace(fold, classes=every)
    raise InputError(f"{_misfit(columns, every)}, or declare all there are: protocol(labels=…)")


def _columns(fold: Fold) -> int | None:
    return None if fold.score is None or fold.score.ndim == 1 else int(fold.score.shape[1])


def _parts(folds: Iterable[Fold]) -> list[Labels]:
    return [part for fold in folds for part in (fold.truth, fold.predicted) if part is not None]


def _misfit(columns: int | None, names: tuple[str, ...]) -> str:
    how = "name the classes in the order of the columns: classes=…"
    return f"y_score has {columns} columns for {len(names)} classes ({', '.join(names)}); {how}"
