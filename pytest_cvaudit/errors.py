"""The one exception that a user's bad input raises: a single line with file and line number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Remedy = Mapping[str, Mapping[str, str] | tuple[str, ...]]


@dataclass
class InputError(Exception):
    """Input that cannot be audited as it is; shown as ``path:line: message`` with exit code 2.

    ``remedy`` is what to write into the manifest, such as ``{"by": ("model",)}``, where one thing suggests itself.
    """

    message: str
    path: str | None = None
    line: int | None = None
    remedy: Remedy = field(default_factory=dict)

    def __str__(self) -> str:
        """Render the error as the single line that the user sees."""
        place = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        return f"{place}: {self.message}" if place else self.message

    def at(self, path: str, line: int | None = None) -> InputError:
        """Return the error with a place, keeping the one it already has."""
        return replace(self, path=self.path or path, line=self.line if self.path else (self.line or line))

    def named_in(self, path: str, line: int | None) -> InputError:
        """Return an error about a whole file with the line that names the file, which may be what is wrong."""
        if self.line is not None or line is None or self.path == path:
            return self
        return replace(self, message=f"{self.message} (the log of {path}:{line})")


def suggestion(word: str, known: Iterable[str]) -> str:
    """Say which known word was probably meant, or nothing."""
    close = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
