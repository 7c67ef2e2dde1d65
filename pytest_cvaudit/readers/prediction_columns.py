"""What the columns of a log with a row per instance mean, decided once for the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cvaudit.model.labels import conventional_positive, sorted_labels
from pytest_cvaudit.readers.class_scores import class_score_columns, is_named_after_label
from pytest_cvaudit.readers.encodings import refuse_other_encoding, refuse_spellings
from pytest_cvaudit.readers.multilabel import is_indicator, set_parser, some_list
from pytest_cvaudit.readers.roles import squashed
from pytest_cvaudit.readers.table import is_blank, is_fractional, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from pytest_cvaudit.model import Protocol
    from pytest_cvaudit.readers.formats import Kind
    from pytest_cvaudit.readers.multilabel import Parse
    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.spec import LogSpec
    from pytest_cvaudit.readers.table import Table

_SEPARATORS = "|;,"
_YES_NO = frozenset({"0", "1", "true", "false", "yes", "no", "+", "-"})


@dataclass(frozen=True)
class PredictionColumns:
    """The columns of a log of predictions; one score speaks for the positive label, or each label has its own."""

    truth: str
    predicted: str | None
    score: str | None
    class_scores: Mapping[str, str]
    labels: tuple[str, ...]
    parse: Parse | None
    protocol: Protocol

    def positive(self, labels: Iterable[str]) -> str | None:
        """Return the positive one of the labels: the declared one, or by convention for the part or the whole table."""
        known = set(labels)
        pairs = (conventional_positive(known | {other}) for other in self.labels)
        return self.protocol.positive or conventional_positive(known) or next(filter(None, pairs), None)


def kinds(table: Table, roles: Roles, spec: LogSpec) -> dict[str, Kind]:
    """Return the columns that reading predictions will need, so that a text file is parsed once."""
    named = [name for name in roles.free if is_named_after_label(name)]
    numbers: list[str] = [*named, *roles.used("score"), *roles.class_scores().values()]
    names = [*roles.used("fold", "repeat", "truth", "predicted", "set"), *spec.by, *spec.select]
    marks = [name for role in ("id", "hash") if (name := roles.optional(role)) is not None]
    wanted: dict[str, Kind] = dict.fromkeys(marks, "str")
    wanted |= dict.fromkeys(numbers, "float64")
    wanted |= dict.fromkeys(names, "category")
    return {name: kind for name, kind in wanted.items() if name in table.columns}


def decide(table: Table, roles: Roles, spec: LogSpec, protocol: Protocol) -> PredictionColumns:
    """Say what the columns mean, or ask."""
    truth = roles.find("truth")
    if truth is None:
        raise roles.ask("no column holds the true labels", "truth", "NAME")
    fractions = [
        name
        for name in roles.candidates("predicted")
        if is_fractional(table.names(name)) and not labels_of([table.names(name)], None) <= set(protocol.labels or ())
    ]
    if "predicted" in roles.given and fractions:
        raise roles.ask(f"column '{fractions[0]}' holds fractions, not labels", "score", fractions[0])
    predicted = roles.one("predicted", [name for name in roles.candidates("predicted") if name not in fractions])
    columns = [table.names(name) for name in (truth, predicted) if name is not None]
    parse = set_parser(columns, spec.separator)
    seen = labels_of(columns, parse)
    if parse is None:
        _refuse_doubtful_labels(table, roles, truth, predicted, protocol)
    elif is_indicator([parse(str(text)) for column in columns for text in column.categories]):
        raise table.error(f"column '{truth}' holds rows of zeros and ones; write the labels' names instead")
    labels = sorted_labels([*seen, *(protocol.labels or ())])
    if protocol.positive is not None and protocol.positive not in labels:
        raise table.error(
            f"positive label '{protocol.positive}' never occurs in column '{truth}'; labels are {listing(labels)}"
        )
    class_scores: Mapping[str, str] = {}
    score = roles.given.get("score")
    if score is None:
        class_scores = class_score_columns(table, roles, labels, [truth, predicted or ""])
        table.prefetch(dict.fromkeys(class_scores.values(), "float64"))
    if class_scores and not roles.class_scores() and len(class_scores) < len(labels):
        others = [name for name in roles.candidates("score") if name not in class_scores.values()]
        roles.one("score", [*class_scores.values(), *others][: 2 if others else 0])
    if score is None and not class_scores:
        score = roles.one("score", [*roles.candidates("score"), *fractions])
    if predicted is None and score is None and not class_scores:
        raise roles.ask("no column holds predicted labels or scores", "predicted", "NAME")
    return PredictionColumns(truth, predicted, score, class_scores, labels, parse, protocol)


def labels_of(columns: Iterable[pd.Categorical], parse: Parse | None) -> set[str]:
    """Collect the labels that occur in the columns."""
    texts = {str(text) for column in columns for text in column.categories}
    if parse is None:
        return {text for text in texts if not is_blank(text)}
    return {label for text in texts for label in parse(text)}


def _refuse_doubtful_labels(table: Table, roles: Roles, truth: str, predicted: str | None, protocol: Protocol) -> None:
    for name in (truth, predicted):
        if name is not None and (row := some_list(table.names(name))) is not None:
            raise table.error(
                f"a list of labels in column '{name}'; every true and predicted cell must be one, or none", row
            )
    column = table.names(truth)
    declared = set(protocol.labels or ())
    true = labels_of([column], None)
    guessed = labels_of([table.names(predicted)], None) if predicted is not None else set()
    if is_fractional(column) and not true <= declared:
        raise roles.ask(
            f"column '{truth}' holds fractions, not labels (if they are labels, declare labels: [{min(true)}, …])",
            "truth", "NAME",
        )  # fmt: skip
    if (joint := _joint_labels(true | guessed, declared)) is not None:
        raise table.error(
            f"'{joint[0]}' in column '{truth}' may be one label or several; if several, say separator: '{joint[1]}', if"
            f" one, declare it under labels:"
        )
    if "truth" not in roles.given and squashed(truth) == "correct" and {text.lower() for text in true} <= _YES_NO:
        raise roles.ask(
            f"column '{truth}' may be the true label, or say whether the prediction was right", "truth", "NAME"
        )
    refuse_spellings(table, truth, true, declared)
    if predicted is not None:
        refuse_other_encoding(table, (truth, predicted), true, guessed, declared)


def _joint_labels(labels: set[str], declared: set[str]) -> tuple[str, str] | None:
    """Return a label that is made of others, as ``a|b`` is beside ``a``, and what stands between them."""
    seen: dict[str, set[str]] = {separator: set() for separator in _SEPARATORS}
    for label in sorted(labels - declared):
        for separator in _SEPARATORS:
            parts = {part.strip() for part in label.split(separator)}
            if separator in label and (parts & labels or (separator != "," and parts & seen[separator])):
                return label, separator
            seen[separator] |= parts
    return None
