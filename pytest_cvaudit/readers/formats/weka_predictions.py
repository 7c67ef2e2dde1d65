"""WEKA's predictions (``-p``, ``-classifications`` or the Explorer), as CSV or plain text."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.source import Found, Source, bare_suffix, open_text, reading
from pytest_cvaudit.readers.formats.weka_summary import summary_claims
from pytest_cvaudit.readers.roles import is_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_LAST = "(?:prediction|distribution)"
_HEADER = re.compile(
    rf"^\s*inst#(?:([,;])actual\1predicted\1error\1{_LAST}|\s+actual\s+predicted\s+error\s+{_LAST})(.*)$"
)
_PLAIN = re.compile(
    r"^\s*(?P<inst>\d+)\s+(?P<actual>(?:\d+:|\?).*?)\s+(?P<predicted>(?:\d+:|\?).*?)\s+(?P<error>\+\s+)?"
    r"(?P<numbers>[*\d.,eE-]+)\s*(?:\((?P<extra>.*)\))?\s*$"
)
_CHANCE = re.compile(r"\*?(?:\d+\.?\d*|\.\d+)(?:[eE]-?\d+)?")
_CLASS = re.compile(r"(\d+):(.*)", re.DOTALL)
#: How far to look for the header: in a table it is on top, in other text a whole model may come before it.
_TOP, _FAR = 20, 200_000
_FOLD, _TEST_SET = "fold", "test_set"


@dataclass(frozen=True)
class Row:
    """One prediction as it is printed."""

    line: int
    inst: int
    actual: str
    predicted: str
    wrong: bool
    numbers: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def is_tested(self) -> bool:
        """Tell whether the true class is known; where it is not, WEKA evaluates nothing."""
        return self.actual.partition(":")[2] != "?" and self.actual != "?"


def is_weka_predictions(path: Path) -> bool:
    """Tell whether a text has the header that WEKA puts above predictions."""
    try:
        with open_text(path) as stream:
            lines = islice(stream, _TOP if bare_suffix(path) == ".csv" else _FAR)
            return any(map(_header, lines))
    except (OSError, EOFError, ValueError):
        return False


def read_weka_predictions(path: Path, shown: str) -> Source:
    """Read the predictions; the folds are where ``inst#`` begins again, and scores are told by label."""
    with reading(path, shown), open_text(path) as stream:
        lines = stream.read().splitlines()
    rows, names, after = _rows(lines, shown)
    labels = _labels(rows, shown)
    tested = [row for row in rows if row.is_tested]
    if not tested:
        raise InputError("the true class of every instance is unknown", shown, rows[0].line)
    table = {name: [row.extra[at] for row in tested] for at, name in enumerate(names)}
    table |= {"actual": [labels[_index(row.actual)] for row in tested]}
    table |= {"predicted": [labels[_index(row.predicted)] for row in tested]}
    scores = _scores(tested, labels)
    table |= {f"score_{label}": column for label, column in scores.items()}
    columns = {"truth": "actual", "predicted": "predicted"} | {f"score_{label}": f"score_{label}" for label in scores}
    if (sets := _test_sets(rows)) is not None and not any(is_named(name, "fold") for name in names):
        fold = _FOLD if _are_folds(sets) else _TEST_SET
        table[fold] = [str(number) for row, number in zip(rows, sets, strict=True) if row.is_tested]
    frame = pd.DataFrame({name: pd.Series(column, dtype="str") for name, column in table.items()})
    found = Found(columns, claims={(): summary_claims(after, tuple(labels.values()))})
    places = [row.line for row in tested]
    return Source(shown, tuple(table), lambda kinds: frame[list(kinds)], places.__getitem__, found=found)


def _header(line: str) -> re.Match[str] | None:
    return _HEADER.match(line)


def _rows(lines: Sequence[str], shown: str) -> tuple[list[Row], tuple[str, ...], Sequence[str]]:
    """Return the predictions, the names of the attributes printed beside them, and the text below."""
    headers = [(number, match) for number, line in enumerate(lines, 1) if (match := _header(line))]
    if len(headers) > 1:
        raise InputError(
            "predictions of several runs are in one file; put each into a file of its own", shown, headers[1][0]
        )
    if not headers:
        raise InputError(
            "text is read only if WEKA printed it: no line 'inst# actual predicted error prediction' in it", shown
        )
    found: list[Row] = []
    top, header = headers[0]
    delimiter = header[1]
    names, width = _beside(header[2], delimiter)
    for number, line in enumerate(lines[top:], top + 1):
        if not line.strip(" ,;\t"):
            break
        row = _plain(line, number) if delimiter is None else _delimited(line, number, delimiter, width)
        if row is None or len(row.extra) != len(names) or not _is_consistent(row, (found or [row])[0]):
            raise InputError("not a prediction as WEKA prints it: inst#, actual, predicted, error, …", shown, number)
        found.append(row)
    if not found:
        raise InputError("no predictions below the header", shown, top)
    return found, names, lines[top + len(found) :]


def _is_consistent(row: Row, first: Row) -> bool:
    """Tell whether the numbers are probabilities, as many as in the first row, with the star at the predicted class."""
    starred = [str(at + 1) for at, text in enumerate(row.numbers) if text.startswith("*")]
    return (
        all(_CHANCE.fullmatch(text) and float(text.removeprefix("*")) <= 1 for text in row.numbers)
        and len(row.numbers) == len(first.numbers)
        and (len(row.numbers) == 1 or starred == [_index(row.predicted)])
    )


def _beside(rest: str, delimiter: str | None) -> tuple[tuple[str, ...], int]:
    """Return the names of the attributes printed beside the predictions, and how many numbers each prediction has."""
    if delimiter is None:
        inner = rest.strip().removeprefix("(").removesuffix(")")
        return tuple(_fields(inner, ",")) if inner else (), 1
    names = _fields(rest, delimiter)[1:] if rest.strip() else []
    width = next((at for at, name in enumerate(names) if name.strip()), len(names))
    return tuple(name.strip() for name in names[width:]), 1 + width


def _fields(text: str, delimiter: str) -> list[str]:
    quote = "'" if "'" in text else '"'
    return next(csv.reader([text], delimiter=delimiter, quotechar=quote, escapechar="\\"), [])


def _plain(line: str, number: int) -> Row | None:
    match = _PLAIN.match(line)
    if match is None:
        return None
    extra = tuple(_fields(match["extra"], ",")) if match["extra"] else ()
    numbers = tuple(match["numbers"].split(","))
    return Row(number, int(match["inst"]), match["actual"], match["predicted"], bool(match["error"]), numbers, extra)


def _delimited(line: str, number: int, delimiter: str, width: int) -> Row | None:
    fields = [field.strip() for field in _fields(line, delimiter)]
    if len(fields) < 4 + width or not fields[0].isdecimal():
        return None
    inst, actual, predicted, error, *rest = fields
    return Row(number, int(inst), actual, predicted, error == "+", tuple(rest[:width]), tuple(rest[width:]))


def _index(text: str) -> str:
    return text.partition(":")[0]


def _labels(rows: Iterable[Row], shown: str) -> dict[str, str]:
    """Name the classes by their number; where two are cut off to the same name, the number stays in it."""
    found: dict[str, str] = {}
    for row in rows:
        for text in (row.actual, row.predicted) if row.is_tested else (row.predicted,):
            match = _CLASS.fullmatch(text)
            if match is None or match[2] == "?":
                raise InputError(
                    f"'{text}' is no class as WEKA prints it (such as 2:good); only classifications are audited",
                    shown,
                    row.line,
                )
            name = match[2].strip().removeprefix("'").removesuffix("'").replace("\\'", "'")
            if found.setdefault(match[1], name) != name:
                raise InputError(f"class {match[1]} is called '{found[match[1]]}' and '{name}'", shown, row.line)
        if row.is_tested and row.wrong != (_index(row.actual) != _index(row.predicted)):
            raise InputError("the mark + of an error does not agree with the two classes", shown, row.line)
    ordered = dict(sorted(found.items(), key=lambda item: int(item[0])))
    twice = len(set(ordered.values())) < len(ordered)
    return {index: f"{index}:{name}" if twice else name for index, name in ordered.items()}


def _scores(rows: Sequence[Row], labels: dict[str, str]) -> dict[str, list[str]]:
    """Return the scores of each label; one probability is of the predicted class, and of two the other has the rest."""
    if len(rows[0].numbers) > 1:
        return {
            labels[str(at + 1)]: [row.numbers[at].removeprefix("*") for row in rows]
            for at in range(len(rows[0].numbers))
            if str(at + 1) in labels
        }
    sure = [Decimal(row.numbers[0].removeprefix("*")) for row in rows]
    # Below one half there must be a third class, though it was never met.
    if len(labels) != 2 or min(sure) < Decimal("0.5"):
        return {}
    return {
        label: [str(p if _index(row.predicted) == index else 1 - p) for row, p in zip(rows, sure, strict=True)]
        for index, label in labels.items()
    }


def _test_sets(rows: Sequence[Row]) -> list[int] | None:
    """Number the stretches in which ``inst#`` runs on from 1; None where it does anything else."""
    if rows[0].inst != 1 or any(two.inst not in (1, one.inst + 1) for one, two in pairwise(rows)):
        return None
    number, found = 0, []
    for row in rows:
        number += row.inst == 1
        found.append(number)
    return found


def _are_folds(sets: Sequence[int]) -> bool:
    """Tell whether the stretches can be the folds of a cross-validation, which are of one size up to an instance."""
    sizes = pd.Series(sets).value_counts()
    return len(sizes) > 1 and int(sizes.max() - sizes.min()) <= 1
