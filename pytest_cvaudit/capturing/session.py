"""A capture: what runs while it is open is recorded, named and listed; what cannot be recorded is said."""

from __future__ import annotations

import json
import os
import re
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self
from weakref import ref

import numpy as np

from pytest_cvaudit.capturing.evidence import NotCaptured, captured
from pytest_cvaudit.capturing.hooks import hearing, unknown_internals
from pytest_cvaudit.capturing.listing import WEIGHTS, Entry, drop_listing, refuse_foreign, write_listing
from pytest_cvaudit.capturing.naming import estimator_name, scored_metrics
from pytest_cvaudit.capturing.writing import write_log
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import shown
from pytest_cvaudit.model import Claim
from pytest_cvaudit.recording import SUFFIX

if TYPE_CHECKING:
    from types import TracebackType

    from pytest_cvaudit.capturing.places import Place
    from pytest_cvaudit.capturing.runs import Run


def capture(folder: str | os.PathLike[str] = "cvaudit-runs") -> Capture:
    """Record the cross-validations that run in a ``with`` block, and list them in a manifest in the folder."""
    return Capture(Path(folder))


class Capture:
    """An open capture; ``entries`` is what was captured so far, ``missed`` what was not, with how often."""

    def __init__(self, folder: Path, *, listing: bool = True) -> None:
        """Capture into a folder; without a listing somebody else writes the manifest."""
        self.folder = folder
        self.entries: list[Entry] = []
        self.missed: dict[str, int] = {}
        #: Whose cross-validations these are: a test's id; without one they are named after the file that calls.
        self.subject: str | None = None
        self._listing = listing
        self._numbers: dict[str, int] = {}
        self._splits: list[tuple[str, ref[Any]]] = []
        self._stack = ExitStack()
        self._lock = Lock()
        #: A process that the user's code forks has this object too, and would write to the same files.
        self._process = os.getpid()

    def __enter__(self) -> Self:
        """Begin to listen."""
        refuse_foreign(self.folder)
        if problem := unknown_internals():
            self.missed[f"anything: {problem}"] = 1
        self._stack.enter_context(hearing(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening and write the manifest."""
        self._stack.close()
        if self._listing:
            self.write_listing()

    def write_listing(self) -> None:
        """Write the manifest, or say why an edited one is kept."""
        if (self.entries or self.folder.is_dir()) and (kept := write_listing(self.folder, self.entries)):
            self.missed[kept] = 1

    def claim(
        self,
        metric: str,
        value: object,
        *,
        aggregation: str | None = None,
        label: str | None = None,
        experiment: str | None = None,
    ) -> None:
        """Claim a number of the last captured cross-validation, or of a named one; pass text to keep its digits."""
        claim = Claim.parse(f"{metric} = {value}")
        names = [entry.name for entry in self.entries]
        if not names:
            raise InputError(f"'{claim}' is claimed, but no cross-validation was captured yet")
        if experiment is not None and experiment not in names:
            raise InputError(f"'{claim}' is claimed of '{experiment}', which was not captured (but {', '.join(names)})")
        at = len(names) - 1 if experiment is None else names.index(experiment)
        said = {"metric": metric, "value": str(value), "aggregation": aggregation, "label": label}
        text = json.dumps({key: text for key, text in said.items() if text is not None}, ensure_ascii=False)
        self.entries[at] = replace(self.entries[at], claims=(*self.entries[at].claims, text))

    def take(self, run: Run) -> None:
        """Record a finished cross-validation; whatever goes wrong here must not reach the user's code."""
        if os.getpid() != self._process:
            return
        try:
            with self._lock:
                self._record(run)
        except (NotCaptured, InputError) as reason:
            self.miss(run.place, str(reason))
        except Exception as error:
            if os.environ.get("CVAUDIT_DEBUG"):
                raise
            self.miss(run.place, f"internal error ({type(error).__name__}: {error}); set CVAUDIT_DEBUG=1 to see it")

    def miss(self, place: Place, reason: str) -> None:
        """Note what was not captured."""
        self._miss(_line(place, reason), 1)

    def split(self, place: Place, reason: str, test: Any) -> None:
        """Note splits that may never be captured, until a captured cross-validation turns out to use them."""
        line = _line(place, reason)
        self._miss(line, 1)
        if isinstance(test, np.ndarray):
            self._splits.append((line, ref(test)))

    def _miss(self, line: str, times: int) -> None:
        self.missed[line] = self.missed.get(line, 0) + times
        if self.missed[line] < 1:
            del self.missed[line]

    def _record(self, run: Run) -> None:
        for line in [line for line, test in self._splits if test() is not None and test() is run.tasks[0].test]:
            self._miss(line, -1)
        found = captured(run)
        name = self._name(run)
        log = f"{_file_name(name)}{SUFFIX}"
        if not self.entries:
            drop_listing(self.folder)
        write_log(self.folder / log, found)
        remarks = [f"{run.place} {run.place.entry}, {found.design.shown}"]
        if run.candidates > 1:
            remarks.append(f"the best of {run.candidates} candidates: {run.parameters}; the others are not kept")
        if run.weighted:
            remarks.append(f"scored with {WEIGHTS}")
        remarks = [" ".join(remark.split()) for remark in remarks]
        self.entries.append(Entry(name, log, tuple(remarks), scored_metrics(run.scorer), weighted=run.weighted))

    def _name(self, run: Run) -> str:
        whose = self.subject or Path(run.place.path).stem
        name = f"{whose}-{estimator_name(run.estimator)}"
        self._numbers[name] = self._numbers.get(name, 0) + 1
        return f"{name}-{self._numbers[name]}"

    def summary(self) -> list[str]:
        """What was captured, and one line for everything that was not."""
        return summary(self.folder, self.entries, self.missed)


def summary(folder: Path, entries: list[Entry], missed: dict[str, int]) -> list[str]:
    """What was captured, and one line for everything that was not."""
    number = f"{len(entries)} cross-validation{'' if len(entries) == 1 else 's'}"
    rows = [f"captured {number} in {shown(folder)}"]
    rows += [f"claims not checked: {one.name}: scored with {WEIGHTS}" for one in entries if one.weighted and one.claims]
    for line, times in missed.items():
        rows.append(f"not captured: {line}{f' ({times} times)' if times > 1 else ''}")
    return rows


def _line(place: Place, reason: str) -> str:
    return f"{place}: {place.entry}: {reason}"


def _file_name(name: str) -> str:
    """A file's name that every system takes; names that lose something to it keep a checksum."""
    plain = name.replace(":", "--").replace("/", "--")
    safe = re.sub(r"[^\w.\-]+", "-", plain, flags=re.ASCII).strip("-.")[:150]
    return safe if safe == plain else f"{safe}-{sha256(name.encode()).hexdigest()[:8]}"


def entries_from(values: list[dict[str, Any]]) -> list[Entry]:
    """Entries that came from another process as plain values."""
    return [Entry(**{key: _tuples(value) for key, value in one.items()}) for one in values]


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value
