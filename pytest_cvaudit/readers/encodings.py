"""True and predicted labels that are written in different ways, so that right predictions would count as wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_cvaudit.model.labels import sorted_labels
from pytest_cvaudit.readers.table import listing

if TYPE_CHECKING:
    from pytest_cvaudit.readers.table import Table

_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?")
_WORDS = frozenset({"true", "false", "yes", "no"})


def refuse_other_encoding(
    table: Table, columns: tuple[str, str], true: set[str], guessed: set[str], declared: set[str]
) -> None:
    """Refuse predictions in another code than the truth, unless the labels in doubt are declared."""
    truth, predicted = columns
    only_guessed = guessed - true - declared
    if not only_guessed:
        return
    spelled = {_spelled(label): label for label in sorted_labels(true)}
    for label in sorted_labels(only_guessed):
        if (other := spelled.get(_spelled(label))) is not None:
            raise table.error(
                f"'{label}' in column '{predicted}' and '{other}' in column '{truth}' may be one label or two; write"
                f" it in one way, or declare both under labels:"
            )
    if (len(true) > 1 and not true & guessed) or _are_shifted(true, guessed):
        other = "the predicted labels seem to be in another code"
        what = other if true & guessed else "no predicted label is a true one"
        raise table.error(
            f"{what}: column '{truth}' has {listing(sorted_labels(true))},"
            f" column '{predicted}' has {listing(sorted_labels(guessed))}; write them in one way, or declare labels:"
        )


def refuse_spellings(table: Table, name: str, labels: set[str], declared: set[str]) -> None:
    """Refuse ``True`` and ``TRUE`` in one column; of other words, capitals may tell labels apart."""
    seen: dict[str, str] = {}
    for label in sorted_labels(labels - declared):
        if (lower := label.lower()) in _WORDS and (other := seen.setdefault(lower, label)) != label:
            raise table.error(f"'{other}' and '{label}' in column '{name}' are one label; write it in one way")


def _spelled(label: str) -> str:
    return f"{float(label):g}" if _NUMBER.fullmatch(label) else label.casefold()


def _are_shifted(true: set[str], guessed: set[str]) -> bool:
    """Tell whether one code counts from 1 and the other from 0, or one has -1 for the other's 0."""
    if len(true) < 2 or not all(map(_INTEGER.fullmatch, true | guessed)):
        return False
    ours, theirs = ({int(label) for label in labels} for labels in (true, guessed))
    if {frozenset(ours), frozenset(theirs)} == {frozenset({-1, 1}), frozenset({0, 1})}:
        return True
    return any({number + shift for number in ours} == theirs for shift in (-1, 1))
