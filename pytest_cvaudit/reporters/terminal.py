"""The one place that knows how to draw text for a person: colours on a terminal, plain elsewhere."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PLAIN_WIDTH, _LEAST_WIDTH = 120, 60
STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan", "passed": "green", "inconclusive": "magenta"}


def rendered(draw: Callable[[Console], None], *, colour: bool | None = None) -> str:
    """Draw into a string, with colours if standard output is a terminal (or if asked) and NO_COLOR is not set."""
    colour = sys.stdout is not None and sys.stdout.isatty() if colour is None else colour
    colour = colour and not os.environ.get("NO_COLOR")
    buffer = io.StringIO()
    width = None if colour else _width(os.environ.get("COLUMNS", ""))
    draw(Console(file=buffer, force_terminal=colour, no_color=not colour, width=width, highlight=False, emoji=False))
    text = buffer.getvalue()
    return text if colour else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _width(columns: str) -> int:
    return max(int(columns), _LEAST_WIDTH) if columns.isdecimal() and int(columns) else _PLAIN_WIDTH


def line(console: Console, text: str = "", style: str | None = None) -> None:
    """Print one line as it is: no wrapping in a pipe, no markup from data."""
    console.print(text, style=style, markup=False, soft_wrap=True)


def table(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric_from: int = 1) -> Table:
    """Build a table whose first columns are text and whose others are numbers."""
    drawn = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, column in enumerate(columns):
        drawn.add_column(column, justify="right" if index >= numeric_from else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*map(Text, row))
    return drawn
