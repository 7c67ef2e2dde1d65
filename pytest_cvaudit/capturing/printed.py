"""Printed numbers that look like an aggregate of a captured experiment: guesses, never accusations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TextIO

from pytest_cvaudit.aggregations import Aggregates
from pytest_cvaudit.attribution import attribute
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Claim
from pytest_cvaudit.model.metrics import find_metric
from pytest_cvaudit.tallies.tally import tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_cvaudit.model import Experiment

#: How much of the output is looked at, from its beginning; and how long a line may be.
_LIMIT, _WIDTH = 2_000_000, 400
_PLUS_MINUS = r"(?:\s*\(?\s*(?:±|\+/-|\+-)\s*\d*\.?\d+\s*%?\s*\)?)?"
#: At least two decimals, or one and a percent sign: fewer fit too much by chance.
_NUMBER = re.compile(rf"(?<![\w.\-])(?:\d*\.\d+\s*%|\d*\.\d{{2,}}){_PLUS_MINUS}(?![\w.])")


class Tee:
    """Stands before a stream, passes everything on, and remembers the beginning of it."""

    def __init__(self, stream: TextIO) -> None:
        """Stand before a stream."""
        self._stream = stream
        self._parts: list[str] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        """Be the stream in all else."""
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Pass text on."""
        if self._size < _LIMIT:
            self._parts.append(text)
            self._size += len(text)
        return self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Pass lines on."""
        for line in lines:
            self.write(line)

    @property
    def text(self) -> str:
        """What was remembered."""
        return "".join(self._parts)


def guesses(text: str, experiment: Experiment, scored: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Claims that the text may make of an experiment, with the line that prints them."""
    aggregates = Aggregates(experiment, tally(experiment))
    found: dict[str, str] = {}
    for line in text.splitlines():
        for number in _NUMBER.findall(line[:_WIDTH]):
            for metric in _metrics_in(line) or scored:
                claim = f"{metric} = {number.strip()}"
                if claim not in found and _prints(claim, aggregates):
                    found[claim] = " ".join(line.split())
    return tuple(found.items())


def only_reading(all_guesses: Iterable[tuple[tuple[str, str], ...]]) -> list[tuple[str, ...]]:
    """The guesses of each experiment that no other experiment or metric shares: one number, one meaning."""
    listed = [list(one) for one in all_guesses]
    uses: dict[tuple[str, str], int] = {}
    for one in listed:
        for claim, line in one:
            key = (claim.partition(" = ")[2], line)
            uses[key] = uses.get(key, 0) + 1
    return [tuple(claim for claim, line in one if uses[claim.partition(" = ")[2], line] == 1) for one in listed]


def _metrics_in(line: str) -> list[str]:
    """The metrics that a line names, the longest names first."""
    names: dict[str, None] = {}
    taken: set[str] = set()
    for phrase in _phrases(line):
        metric = find_metric(phrase)
        if metric is not None and not any(phrase in longer for longer in taken):
            names[metric.name] = None
            taken.add(phrase)
    return list(names)


def _phrases(line: str) -> Iterator[str]:
    words = re.findall(r"[A-Za-z][A-Za-z0-9_]*", line)
    for size in (3, 2, 1):
        for start in range(len(words) - size + 1):
            yield "_".join(words[start : start + size]).lower()


def _prints(text: str, aggregates: Aggregates) -> bool:
    try:
        return bool(attribute(Claim.parse(text), aggregates).matches)
    except InputError:
        return False
