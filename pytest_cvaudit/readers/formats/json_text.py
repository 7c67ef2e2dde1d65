"""JSON as it was written: numbers stay text, and every value has a line."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_cvaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    Path = tuple[str | int, ...]

Record = dict[str, Any]


class _TwiceError(Exception):
    """An object has a key twice."""


def _object(pairs: list[tuple[str, Any]]) -> Record:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError
    return found


# 0.60 is not 0.6, and a label 1 is the label "1".
_STRICT, _DECODER = (
    json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=hook)
    for hook in (_object, None)
)
_SPACE = re.compile(r"[ \t\n\r]*")


def decoded(text: str, shown: str, line: int | None = None) -> Any:
    """Decode a JSON text; ``line`` is its line where it is one of many."""
    try:
        return _value(text)
    except _TwiceError:
        key, position = next(_twice(text))
        at = line or text.count("\n", 0, position) + 1
        raise InputError(f"an object has '{key}' twice; keep one", shown, at) from None
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} at column {error.colno}", shown, line or error.lineno) from error
    except RecursionError:
        raise InputError("not a log: JSON nested too deeply", shown, line) from None


def _value(text: str) -> Any:
    try:
        return _STRICT.decode(text)
    except _TwiceError:
        _DECODER.decode(text)  # what is no JSON further on is refused as that
        raise


def cell_text(value: object) -> str:
    """Write a value as the text of a table's cell."""
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, (list, dict)) else str(value)


@dataclass
class Lines:
    """Finds the line that a value begins on; walks the text anew, as this is for errors only."""

    text: str

    def of(self, path: Path) -> int:
        """Return the line of the value that keys and indices lead to."""
        position = self._start
        for step in path:
            members = self._members.get(position)
            if members is None:
                members = self._members[position] = dict(_items(self.text, position))
            position = members[step]
        return self.text.count("\n", 0, position) + 1

    @cached_property
    def _start(self) -> int:
        return _skip(self.text, 0)

    @cached_property
    def _members(self) -> dict[int, dict[str | int, int]]:
        return {}


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _items(text: str, start: int) -> Iterator[tuple[str | int, int]]:
    """Give the name or index, and the position, of each value of the array or object that begins at ``start``."""
    keyed, position, index = text[start] == "{", _skip(text, start + 1), 0
    while text[position] not in "]}":
        name: str | int = index
        if keyed:
            name, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        yield name, position
        index += 1
        position = _skip(text, _DECODER.raw_decode(text, position)[1])
        if text[position] == ",":
            position = _skip(text, position + 1)


def _twice(text: str) -> Iterator[tuple[str | int, int]]:
    """Give the keys that an object has twice, and where the later value begins, from the outermost object inwards."""
    level = [_skip(text, 0)]
    while level:
        inner = []
        for start in level:
            seen = set()
            for name, position in _items(text, start):
                if name in seen:
                    yield name, position
                seen.add(name)
                inner += [position] * (text[position] in "[{")
        level = inner
