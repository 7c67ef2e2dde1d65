"""ARFF, as OpenML and WEKA write it: attribute declarations, then delimited rows."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.delimited import Fields
from pytest_cvaudit.readers.formats.source import Kind, Source, open_text, reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pandas as pd

_QUOTED = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\""""
_ATTRIBUTE = re.compile(rf"^@attribute\s+(?:{_QUOTED}|([^\s{{]+))\s*(.*)", re.IGNORECASE)
_NOMINAL = re.compile(rf"\s*(?:{_QUOTED}|([^,{{}}]*))\s*[,}}]")
_FIRST_QUOTE = re.compile(r"""(?:^|,)[ \t]*(['"])""", re.MULTILINE)
_MISSING = "?"


@dataclass(frozen=True)
class Header:
    """The declarations of an ARFF file: its attributes, with the values of the nominal ones, and the line of @data."""

    attributes: dict[str, tuple[str, ...]]
    columns: tuple[str, ...]
    line: int | None

    @classmethod
    def of(cls, lines: Iterable[str]) -> Header:
        """Read the lines down to @data, or all if there is none."""
        attributes: dict[str, tuple[str, ...]] = {}
        columns: list[str] = []
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text.lower() == "@data":
                return cls(attributes, tuple(columns), number)
            if match := _ATTRIBUTE.match(text):
                columns.append(_unquoted(match[1], match[2], match[3]))
                attributes[columns[-1]] = _values(match[4])
        return cls(attributes, tuple(columns), None)

    @classmethod
    def peek(cls, path: Path) -> Header:
        """Read the header alone; of a file that is no text, nothing."""
        try:
            with open_text(path) as stream:
                return cls.of(stream)
        except (OSError, EOFError, ValueError):
            return cls({}, (), None)


def _unquoted(*groups: str | None) -> str:
    found = next((group for group in groups if group is not None), "")
    return re.sub(r"\\(.)", r"\1", found).strip()


def _values(text: str) -> tuple[str, ...]:
    return tuple(_unquoted(*match.groups()) for match in _NOMINAL.finditer(text, 1)) if text.startswith("{") else ()


def read_arff(path: Path, shown: str) -> Source:
    """Read an ARFF file with a value for each attribute in each row."""
    with reading(path, shown), open_text(path) as stream:
        lines = stream.read().replace("\0", "").splitlines()
    header = Header.of(lines)
    if header.line is None:
        raise InputError("no @data line; an ARFF file has @attribute lines, then @data, then rows", shown)
    rows = ["" if line.lstrip().startswith("%") else line for line in lines[header.line :]]
    sparse = next((number for number, line in enumerate(rows, header.line + 1) if line.lstrip().startswith("{")), None)
    if sparse is not None:
        raise InputError("sparse ARFF rows are not read; save the file as CSV", shown, sparse)
    data = "\n".join(rows)
    quote = _FIRST_QUOTE.search(data)
    fields = Fields(
        lambda: io.StringIO(data),
        shown,
        quote=quote[1] if quote else '"',
        escape="\\",
        offset=header.line,
        has_header=False,
    )
    return _without_question_marks(fields.source(header.columns))


def _without_question_marks(source: Source) -> Source:
    def load(kinds: Mapping[str, Kind]) -> pd.DataFrame:
        frame = source.load(kinds)
        for name in frame.select_dtypes(include=["category"]):
            if _MISSING in frame[name].cat.categories:
                frame[name] = frame[name].cat.remove_categories(_MISSING)
        return frame

    return replace(source, load=load)
