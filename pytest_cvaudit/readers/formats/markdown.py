"""Markdown: logs with a heading per fold (``# FOLD 01``), and pipe tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.json_text import cell_text
from pytest_cvaudit.readers.formats.source import Source, open_text, reading
from pytest_cvaudit.readers.metric_columns import metric_of, parsed
from pytest_cvaudit.readers.roles import is_named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_HEADING = re.compile(r"(#+)\s*(.*?)[\s#:*]*$")
_FOLD = re.compile(r"\**(?:outer |cv |test )?(?:fold|split)[\s:#_-]*(\d\w*)(?:\s*(?:of|/)\s*\d+)?\**", re.IGNORECASE)
_ENTRY = re.compile(r"[#>*+\s-]*([A-Za-z][\w @./-]*?(?:\([\w -]+\))?)[\s*`]*[:=][\s*`]*(\S.*?)[\s*`]*$")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_CLASS = re.compile(r"(?:predicted|prediction|pred|actual|true|truth|class|label)\s*:?\s*", re.IGNORECASE)
_MATRIX = "confusion_matrix"
NEEDED = "a heading such as '# FOLD 01' for each fold, or a table with a fold column, is needed"


@dataclass(frozen=True)
class Grid:
    """A pipe table: its header, its rows, and the line of each."""

    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    line: int


def read_markdown(path: Path, shown: str) -> Source:
    """Read the folds of a Markdown file."""
    lines = _lines(path, shown)
    sections = _sections(lines)
    if sections:
        return _of_sections(lines, sections, shown)
    return _of_grid(_one(_grids(lines, 0, len(lines), shown), shown), shown)


def is_markdown_log(path: Path) -> bool:
    """Tell whether a Markdown file is a log, and not just text."""
    try:
        lines = _lines(path, path.name)
        grids = _grids(lines, 0, len(lines), path.name)
    except InputError:
        return False
    return bool(_sections(lines)) or any(_has_fold(grid) for grid in grids)


def _lines(path: Path, shown: str) -> list[str]:
    with reading(path, shown), open_text(path) as stream:
        return stream.read().splitlines()


def _sections(lines: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the folds that have a heading, each with the lines from it to the next heading of its rank."""
    headings = [(i, len(match[1]), match[2]) for i, line in enumerate(lines) if (match := _HEADING.match(line))]
    found = []
    for at, (start, rank, title) in enumerate(headings):
        if match := _FOLD.fullmatch(title):
            later = (i for i, other, _ in headings[at + 1 :] if other <= rank)
            found.append((match[1], start, next(later, len(lines))))
    return found


def _of_sections(lines: Sequence[str], sections: Sequence[tuple[str, int, int]], shown: str) -> Source:
    records: list[dict[str, str]] = []
    for fold, start, end in sections:
        record = {"fold": fold}
        for number, line in enumerate(lines[start + 1 : end], start + 2):
            match = _ENTRY.match(line)
            if match and _is_entry(line, match[1]) and parsed(match[2]) is not None:
                if match[1] in record:
                    raise InputError(f"fold '{fold}' has '{match[1]}' twice", shown, number)
                record[match[1]] = match[2]
        matrices = [text for grid in _grids(lines, start, end, shown) if (text := _matrix(grid)) is not None]
        if len(matrices) > 1:
            raise InputError(
                f"fold '{fold}' has {len(matrices)} confusion tables; keep the one to audit", shown, start + 1
            )
        records.append(record | dict.fromkeys([_MATRIX] * len(matrices), "".join(matrices)))
    columns = tuple(dict.fromkeys(name for record in records for name in record))
    frame = pd.DataFrame({name: pd.Series([r.get(name, "") for r in records], dtype="str") for name in columns})
    return Source(shown, columns, lambda kinds: frame[list(kinds)], lambda row: sections[row][1] + 1, ragged=True)


def _is_entry(line: str, name: str) -> bool:
    # Of names with brackets only metrics are of use; others, such as times, may well be there twice.
    return not line.lstrip().startswith(("|", "!")) and ("(" not in name or metric_of(name) is not None)


def _matrix(grid: Grid) -> str | None:
    """Write a confusion table, true labels in rows, as its labels and counts; None if the table is something else."""
    header = [_CLASS.sub("", name) for name in grid.header[1:]]
    names = [_CLASS.sub("", row[0]) for row in grid.rows]
    counts = [row[1:] for row in grid.rows]
    if header != names or len(names) < 2 or not all(cell.isdecimal() for row in counts for cell in row):
        return None
    turned = "pred" in " ".join(row[0] for row in grid.rows).lower() and "pred" not in " ".join(grid.header[1:]).lower()
    rows = [list(column) for column in zip(*counts, strict=True)] if turned else counts
    return cell_text({"labels": names, "matrix": rows})


def _grids(lines: Sequence[str], start: int, end: int, shown: str) -> list[Grid]:
    found = []
    for at in range(start + 1, end):
        if "|" not in lines[at] or not _RULE.fullmatch(lines[at].strip()) or "|" not in lines[at - 1]:
            continue
        header, rows, numbers = _cells(lines[at - 1]), [], []
        for number in range(at + 1, end):
            if "|" not in lines[number]:
                break
            row = _cells(lines[number])
            if len(row) != len(header):
                raise InputError(f"the row has {len(row)} cells for {len(header)} columns", shown, number + 1)
            rows.append(row)
            numbers.append(number + 1)
        found.append(Grid(header, rows, numbers, at))
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip().strip("*`").strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _has_fold(grid: Grid) -> bool:
    return any(is_named(name, "fold") for name in grid.header)


def _one(grids: Sequence[Grid], shown: str) -> Grid:
    chosen = [grid for grid in grids if _has_fold(grid)] or grids
    if len(chosen) != 1:
        lines = " and ".join(str(grid.line) for grid in chosen)
        seen = (
            f"tables in lines {lines}; put the one to audit into a file of its own" if chosen else f"no log: {NEEDED}"
        )
        raise InputError(seen, shown)
    return chosen[0]


def _of_grid(grid: Grid, shown: str) -> Source:
    columns = tuple(name or f"Unnamed: {i}" for i, name in enumerate(grid.header))
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the header has column '{twice}' twice; rename one", shown, grid.line)
    frame = pd.DataFrame(grid.rows, columns=list(columns), dtype="str")
    return Source(shown, columns, lambda kinds: frame[list(kinds)], grid.lines.__getitem__)
