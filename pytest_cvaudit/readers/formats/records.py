"""JSON and JSON Lines: records, with every number kept as the text it was written with."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.source import Source, open_text, reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Record = dict[str, Any]

# Numbers stay text: 0.60 is not 0.6, and a label 1 is the label "1".
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
_SPACE = re.compile(r"[ \t\n\r]*")
_SHAPES = "a list of records, an object with one list of records, or one record per line (.jsonl) is needed"


def read_json(path: Path, shown: str) -> Source:
    """Read a JSON file that holds one list of records, perhaps inside an object or one per object of a list."""
    with reading(path, shown), open_text(path) as stream:
        text = stream.read()
    document = Document(text, shown)
    return _source(document.records, shown, lambda row: document.lines[row])


def read_json_lines(path: Path, shown: str) -> Source:
    """Read a file with a JSON record on each line."""
    records: list[Record] = []
    lines: list[int] = []
    with reading(path, shown), open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                records.append(_record(line, shown, number))
                lines.append(number)
    return _source(records, shown, lines.__getitem__)


def _record(line: str, shown: str, number: int) -> Record:
    try:
        value = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}", shown, number) from error
    except RecursionError:
        raise InputError("not a log: JSON nested too deeply", shown, number) from None
    if not isinstance(value, dict):
        raise InputError('each line must be a JSON object such as {"fold": 0, "f1": 0.5}', shown, number)
    return value


def _source(records: list[Record], shown: str, line: Callable[[int], int]) -> Source:
    if not any(records):
        raise InputError(f"no records in the file; {_SHAPES}", shown)
    columns = tuple(dict.fromkeys(name for record in records for name in record))
    frame = pd.DataFrame(
        {name: pd.Series([_text(record.get(name)) for record in records], dtype="str") for name in columns}
    )
    return Source(shown, columns, lambda kinds: frame[list(kinds)], line, ragged=True)


def _text(value: object) -> str:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, (list, dict)) else str(value)


@dataclass(frozen=True)
class Document:
    """A JSON text, the records in it, and the lines they begin on."""

    text: str
    path: str

    @cached_property
    def _value(self) -> Any:
        try:
            return _DECODER.decode(self.text)
        except json.JSONDecodeError as error:
            raise InputError(f"not JSON: {error.msg} at column {error.colno}", self.path, error.lineno) from error
        except RecursionError:
            raise InputError("not a log: JSON nested too deeply", self.path) from None

    @cached_property
    def records(self) -> list[Record]:
        """The records of the list that was found."""
        return self._find(self._value)

    def _find(self, value: Any) -> list[Record]:
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            nested = sorted({name for item in value for name in _record_lists(item)})
            if not nested:
                return value
            self._only(nested)
            return [record for item in value for record in _inner(item, nested[0])]
        if isinstance(value, dict):
            nested = _record_lists(value)
            if nested:
                self._only(nested)
                return _inner(value, nested[0])
            record = {name: item for name, item in value.items() if not isinstance(item, (list, dict))}
            if record:
                return [record]
        raise InputError(f"no records in the file; {_SHAPES}", self.path)

    def _only(self, names: list[str]) -> None:
        if len(names) > 1:
            both = " and ".join(f"'{name}'" for name in names)
            raise InputError(f"lists of records under {both}; put the one to audit into a file of its own", self.path)

    @cached_property
    def lines(self) -> list[int]:
        """The line that each record begins on."""
        return [self.text.count("\n", 0, position) + 1 for position in self._positions(_skip(self.text, 0))]

    def _positions(self, start: int) -> list[int]:
        if self.text[start] == "[":
            items = list(_items(self.text, start))
            nested = [self._inner_positions(position) for _, position in items]
            return [p for inner in nested for p in inner] if any(nested) else [position for _, position in items]
        return self._inner_positions(start) or [start]

    def _inner_positions(self, start: int) -> list[int]:
        lists = _record_lists(_DECODER.raw_decode(self.text, start)[0])
        members = {name: position for name, position in _items(self.text, start) if name in lists}
        return [position for begin in members.values() for _, position in _items(self.text, begin)]


def _record_lists(record: Record) -> list[str]:
    return [
        name
        for name, value in record.items()
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
    ]


def _inner(outer: Record, name: str) -> list[Record]:
    # Words around the list (model, task) tell experiments apart; numbers there (n, auc) are not about a fold.
    words = {key: value for key, value in outer.items() if isinstance(value, str) and not _is_number(value)}
    return [{**words, **record} for record in outer.get(name, [])]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _items(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Give the (name and) position of each value of the array or object that begins at ``start``."""
    keyed, position = text[start] == "{", _skip(text, start + 1)
    while text[position] not in "]}":
        name = ""
        if keyed:
            name, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        yield name, position
        position = _skip(text, _DECODER.raw_decode(text, position)[1])
        if text[position] == ",":
            position = _skip(text, position + 1)
