"""Rows that were trained on beside those that were tested, where a column tells them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.readers.roles import squashed
from pytest_cvaudit.readers.table import listing

if TYPE_CHECKING:
    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Table

TRAIN = frozenset({"train", "training", "trn"})
TEST = frozenset({"test", "testing", "tst"})
_VALIDATION = frozenset({"val", "valid", "validation", "dev", "eval", "evaluation", "holdout", "oof"})
#: Values of a column named "split" that are no folds.
SUBSETS = TRAIN | TEST | _VALIDATION
_FLAGS = frozenset([
    "train", "istrain", "istraining", "intrain", "istrainset", "test", "istest", "intest", "istestset", "isval",
    "isvalid", "isvalidation", "isoof",
])  # fmt: skip
_BOOLEAN = frozenset(["0", "1", "true", "false", "yes", "no", "t", "f"])


def without_training(table: Table, roles: Roles) -> tuple[Table, Table | None]:
    """Part the tested rows from the training rows; without rows for testing, those for validation are tested."""
    _refuse_flags(table, roles)
    name = _column(table, roles)
    if name is None:
        return table, None
    column = table.text(name)
    texts = [str(text) for text in column.categories]
    train, test, other = (
        [i for i, text in enumerate(texts) if text.lower() in words] for words in (TRAIN, TEST, _VALIDATION)
    )
    if not test and len(other) > 1:
        raise table.error(
            f"column '{name}' has {listing(texts[i] for i in other)}; say which was tested with"
            f" select: {{{name}: {texts[other[0]]}}}"
        )
    if not test and not other:
        raise table.error(f"column '{name}' has training rows and none that were tested ({listing(texts)})")
    tested, trained = (np.flatnonzero(np.isin(column.codes, side)) for side in (test or other, train))
    return table.take(tested), table.take(trained) if len(trained) else None


def _column(table: Table, roles: Roles) -> str | None:
    """Return the column that tells training rows apart, or the tested ones from others."""
    folds = roles.used("fold")
    found = []
    for name in roles.candidates("set"):
        texts = {str(text).lower() for text in table.text(name).categories} if name not in folds else set()
        known, odd = texts & SUBSETS, texts - SUBSETS
        if not odd and (known & TRAIN or (known & TEST and known != known & TEST)):
            found.append(name)
        elif odd and known & TRAIN and known - TRAIN:  # with only one of the words, it may be trains and buses
            raise table.error(
                f"column '{name}' has {listing(sorted(odd))} beside {listing(sorted(known))}; say which rows were"
                f" tested with select: {{{name}: test}}"
            )
    return roles.one("set", found)


def _refuse_flags(table: Table, roles: Roles) -> None:
    """Ask about a column such as ``is_train`` that tells rows apart."""
    for name in roles.free:
        if squashed(name) in _FLAGS and name in table.columns:
            texts = [str(text) for text in table.names(name).categories]
            if len(texts) > 1 and {text.lower() for text in texts} <= _BOOLEAN:
                raise table.error(
                    f"column '{name}' seems to tell training rows from tested ones; keep the latter with"
                    f" select: {{{name}: {texts[0]}}} or select: {{{name}: {texts[1]}}}"
                )
