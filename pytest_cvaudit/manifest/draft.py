"""A first manifest for logs that have none, with every guess marked as one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.model.labels import conventional_positive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_cvaudit.errors import InputError, Remedy
    from pytest_cvaudit.model import Experiment

_HEAD = """\
# Drafted by `cvaudit init`. Lines marked "guess" follow from the log alone: check them against what was done.
# Write the numbers that are claimed under `claims`, digit by digit as they are printed, then: cvaudit check {path}
experiments:
"""
_PLAIN = re.compile(r"[A-Za-z][\w./-]*")
_RESERVED = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])
_NOTE_COLUMN = 44
_SHOWN = 8


@dataclass(frozen=True)
class Draft:
    """One log as it was read: the experiments in it or why it could not be read, and the hints that were tried."""

    log: str
    experiments: Sequence[Experiment] = ()
    problem: InputError | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    positive: str | None = None

    def remedied(self, remedy: Remedy) -> Draft:
        """Take up what an error suggests, as a guess."""
        columns = remedy.get("columns")
        return replace(
            self,
            columns={**self.columns, **columns} if isinstance(columns, Mapping) else self.columns,
            by=(*self.by, *(name for name in remedy.get("by", ()) if name not in self.by)),
            also=tuple(remedy.get("also", ())),
            positive=next(iter(remedy.get("positive", ())), self.positive),
        )


def manifest_text(drafts: Iterable[Draft], path: str) -> str:
    """Write a manifest with an entry for each log."""
    taken: set[str] = set()
    return _HEAD.format(path=_one_line(path)) + "\n".join("\n".join(_entry(draft, taken)) + "\n" for draft in drafts)


def _entry(draft: Draft, taken: set[str]) -> Iterator[str]:
    if draft.problem is not None:
        yield f"  # {_one_line(draft.log)} is not read: {_one_line(draft.problem.message)}"
        return
    name = _free(_name(draft), draft.log, taken)
    taken.add(name)
    yield f"  - name: {_scalar(name)}"
    yield _line(f"log: {_scalar(draft.log)}", _summary(draft))
    if draft.columns:
        pairs = ", ".join(f"{role}: {_scalar(name)}" for role, name in draft.columns.items())
        yield _line(f"columns: {{{pairs}}}", "guess: other columns may be meant")
    if draft.by:
        also = f"; {', '.join(draft.also)} vary too" if draft.also else ""
        yield _line(f"by: [{', '.join(map(_scalar, draft.by))}]", f"guess: these tell the experiments apart{also}")
    first = draft.experiments[0] if draft.experiments else None
    if first is not None:
        yield from _protocol(first)
    yield from _claims(draft)


def _name(draft: Draft) -> str:
    """Name the entry after its log; the folders are kept, as several logs may be called alike."""
    if draft.experiments and not draft.by and len(draft.experiments) == 1 and "/" not in draft.log:
        return draft.experiments[0].name
    is_path = draft.log.startswith("./")
    path = PurePosixPath(draft.log if is_path else draft.log.partition("?")[0].rpartition(":")[2])
    return str(path.with_suffix("")) if path.name else draft.log


def _free(name: str, log: str, taken: set[str]) -> str:
    """A name that a manifest takes; logs that differ in their suffix only keep it, and then are numbered."""
    tries = (name, log, *(f"{name} {number}" for number in range(2, len(taken) + 3)))
    usable = (_one_line(each).replace("::", ":") for each in tries)
    return next(each for each in usable if each and each not in taken)


def _one_line(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _protocol(experiment: Experiment) -> Iterator[str]:
    """Write what the log suggests about the protocol; what would only repeat the log stays a comment."""
    rows, counts = experiment.predictions, experiment.counts
    labels = rows.labels if rows is not None else counts.labels if counts is not None else ()
    declared = experiment.protocol
    if len(labels) == 2:
        usual = conventional_positive(labels)
        note = "guess: by convention" if usual else f"guess: it may be {labels[0]} as well"
        yield _line(f"positive: {_scalar(declared.positive or usual or labels[-1])}", note)
    repeats = len({cell.repeat for cell in experiment.cells})
    folds = len(experiment.cells) // max(repeats, 1)
    if folds:
        yield _line(f"# folds: {declared.folds or folds}", "as logged; declare what was planned, to see lost folds")
    if repeats > 1:
        yield _line(f"# repeats: {declared.repeats or repeats}", "as logged")
    if rows is not None:
        yield _line(f"# instances: {declared.instances or len(rows.cell) // repeats}", "as logged")
        if rows.truth is not None:
            even = _looks_stratified(rows.cell, rows.truth, len(rows.cells), len(labels))
            note = "differ by at most one" if even else "differ by more than one"
            yield _line(f"# stratified: {str(even).lower()}", f"guess: the folds' class counts {note}")


def _looks_stratified(cell: np.ndarray, truth: np.ndarray, cells: int, labels: int) -> bool:
    code = cell.astype(np.int64) * labels + truth
    spread = np.ptp(np.bincount(code, minlength=cells * labels).reshape(cells, labels), axis=0)
    return bool(spread.max() <= 1)


def _claims(draft: Draft) -> Iterator[str]:
    example = "- f1 = 0.81" if len(draft.experiments) < 2 else f"- {{metric: f1, value: 0.81, for: {_part(draft)}}}"
    yield _line("claims: []", f"as printed, one per line: {example}")
    for experiment in draft.experiments[:_SHOWN]:
        for claim in experiment.claims:
            of = f" ({experiment.name})" if len(draft.experiments) > 1 else ""
            yield f"    # stands with the log and is audited anyway: {_one_line(f'{claim}{of}')}"


def _part(draft: Draft) -> str:
    return _scalar(draft.experiments[0].name.partition("/")[2]) if draft.experiments else "PART"


def _summary(draft: Draft) -> str:
    if not draft.experiments:
        return ""
    first = draft.experiments[0]
    parts = [f"{len(draft.experiments)} experiments"] if len(draft.experiments) > 1 else []
    parts += [str(first.evidence), f"{len(first.cells)} folds"]
    if first.predictions is not None:
        names = first.predictions.labels
        listed = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        parts += [f"{len(first.predictions.cell)} rows", f"labels {listed}"]
    return ", ".join(parts)


def _line(text: str, note: str) -> str:
    line = f"    {text}"
    return f"{line:<{_NOTE_COLUMN}}  # {_one_line(note)}" if note else line


def _scalar(text: str) -> str:
    plain = _PLAIN.fullmatch(text) and text.lower() not in _RESERVED
    return text if plain else json.dumps(text, ensure_ascii=False)
