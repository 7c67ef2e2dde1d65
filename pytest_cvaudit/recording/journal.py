"""A recording as a whole: sessions that begin and end, the folds, claims and protocol between, and what is missing."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from uuid import uuid4

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell, Claim, MissingFold, Protocol, sorted_cells
from pytest_cvaudit.recording.codec import PARQUET, PLAIN, decode, decode_head, encode, fold_name, is_fold
from pytest_cvaudit.recording.columns import named_by_all
from pytest_cvaudit.recording.single_file import SUFFIX
from pytest_cvaudit.recording.storage import open_storage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_cvaudit.model.folds import Fold
    from pytest_cvaudit.recording.storage import Storage

_BEGIN, _END, _FAIL, _CLAIM, _PROTOCOL, _SKIP = "_begin-", "_end-", "_fail-", "_claim-", "_protocol-", "_skip-"
_UNCLOSED = "the recording was not closed: its process was killed, or is still running"
_SOMEWHERE = "?"


@dataclass
class Journal:
    """Writes a session of a recording; copies of it in other processes write to the same session."""

    storage: Storage
    session: str
    resuming: bool = False

    @classmethod
    def begin(
        cls, path: Path, *, overwrite: bool, append: bool, resume: bool, durable: bool, about: Mapping[str, Any]
    ) -> Journal:
        """Begin a recording, or a further session of it; who resumes answers for the sessions that never ended."""
        storage, session = open_storage(path, durable=durable), f"{time.time_ns():020d}-{uuid4().hex[:8]}"
        unfinished: list[str] = []
        try:
            storage.create()
        except FileExistsError:
            if not storage.exists() or not (append or overwrite or resume):
                raise InputError(_refusal(storage), str(path)) from None
            if overwrite:
                storage.clear()
            names = storage.names()
            # One that was only appended to may still be at work elsewhere: it has to end by itself.
            unfinished = sorted(_sessions(names, _BEGIN) - _sessions(names, _END)) if resume else []
        journal = cls(storage, session, resume)
        journal._put(_BEGIN + session, {**about, "continues": unfinished})
        return journal

    def fold(self, fold: Fold) -> bool:
        """Write a fold; False if it is there already."""
        self._check_open()
        suffix, data = encode(fold, self.session)
        name, other = fold_name(fold.cell), PLAIN if suffix == PARQUET else PARQUET
        if self.storage.has(name + other):
            return False
        return self.storage.put(name + suffix, data, take_over=self.resuming)

    def has(self, cell: Cell) -> bool:
        """Tell whether a fold is there."""
        return any(self.storage.has(fold_name(cell) + suffix) for suffix in (PARQUET, PLAIN))

    def skip(self, cell: Cell, what: str, reason: str | None) -> None:
        """Note a fold that has no result."""
        self._note(_SKIP, {"fold": cell.fold, "repeat": cell.repeat, "what": what, "reason": reason})

    def claim(self, claim: Mapping[str, Any]) -> None:
        """Write a claim."""
        self._note(_CLAIM, claim)

    def protocol(self, declared: Mapping[str, Any]) -> None:
        """Write what is declared about the design."""
        self._note(_PROTOCOL, declared)

    def end(self) -> None:
        """End the session: what is there now is all."""
        folds = sorted(name for name in self.storage.names() if is_fold(name))
        self.storage.durable = True
        self._put(_END + self.session, {"folds": folds})

    def fail(self, why: str) -> None:
        """End the session with an error: something is missing."""
        self._put(_FAIL + self.session, {"why": why})

    def _check_open(self) -> None:
        if any(self.storage.has(f"{kind}{self.session}.json") for kind in (_END, _FAIL)):
            raise InputError("the recording was closed already", str(self.storage.path))

    def _note(self, kind: str, values: Mapping[str, Any]) -> None:
        self._check_open()
        self._put(f"{kind}{time.time_ns():020d}-{uuid4().hex[:8]}", {**values, "session": self.session})

    def _put(self, name: str, values: Mapping[str, Any]) -> None:
        self.storage.put(f"{name}.json", json.dumps(values, ensure_ascii=False).encode())


def _sessions(names: Iterable[str], kind: str) -> set[str]:
    return {name.removeprefix(kind).removesuffix(".json") for name in names if name.startswith(kind)}


def _refusal(storage: Storage) -> str:
    if not storage.exists():
        return _in_the_way(storage.path)
    names = storage.names()
    finished = bool(names) and _sessions(names, _BEGIN) <= _sessions(names, _END)
    folds = sum(map(is_fold, names))
    what = f"{'a finished' if finished else 'an unfinished'} recording with {folds} fold{'' if folds == 1 else 's'}"
    how = "append=True to add to it" if finished else "resume=True to go on with it"
    return f"holds {what}; pass overwrite=True to replace it, or {how}"


def _in_the_way(path: Path) -> str:
    above = next((each for each in path.parents if each.exists() and not each.is_dir()), None)
    if above is not None:
        return f"cannot be written: {above.name} is a file, not a folder"
    if path.is_dir() and path.suffix == SUFFIX:
        return f"is a folder; a recording called *{SUFFIX} is one file"
    if path.is_dir():
        return "the folder is not empty and holds no recording; give the recording a folder of its own"
    return "there is a file, which is no recording; give the recording another path"


@dataclass
class Recording:
    """What a recording tells; ``design`` holds the splitter and the seed, ``about`` an entry for each session."""

    folds: list[Fold] = field(default_factory=list)
    claims: tuple[Claim, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)
    missing: tuple[MissingFold, ...] = ()
    design: dict[str, Any] = field(default_factory=dict)
    about: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class _Entries:
    folds: dict[str, Fold] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    notes: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    writers: set[str] = field(default_factory=set)

    def of(self, kind: str) -> dict[str, dict[str, Any]]:
        """The notes of a kind, in the order of writing."""
        return dict(sorted(self.notes.get(kind, {}).items()))


def read_recording(path: Path, shown: str) -> Recording:
    """Read a recording, whole or not."""
    found = _entries(path, shown)
    folds = list(found.folds.values())
    protocol = _declared(found)
    try:
        for fold in folds[1:]:
            fold.check_like(folds[0])
        folds = named_by_all(folds, protocol)
    except InputError as error:
        raise error.at(shown) from None
    design: dict[str, Any] = {}
    for declared in found.of(_PROTOCOL).values():
        design |= {name: declared[name] for name in ("splitter", "seed") if name in declared}
    missing = [*_skipped(found), *_unsplit(found, protocol, design), *_lost(found), *_unfinished(found, protocol)]
    if not folds and not missing:
        missing.append(MissingFold(Cell(_SOMEWHERE), "no fold was recorded"))
    claims = tuple(_claim(values) for values in found.of(_CLAIM).values())
    about = list(found.of(_BEGIN).values())
    return Recording(folds, claims, protocol, tuple({one.cell: one for one in missing}.values()), design, about)


def check_columns(path: Path, shown: str) -> None:
    """Refuse columns of scores that the classes recorded so far, by all processes, do not fit."""
    try:
        found = _entries(path, shown, decode_head)
    except InputError:
        return  # it is damaged, or needs what is not installed here: whoever reads it is told
    try:
        named_by_all(list(found.folds.values()), _declared(found))
    except InputError as error:
        raise error.at(shown) from None


def _declared(found: _Entries) -> Protocol:
    protocol = Protocol()
    for declared in found.of(_PROTOCOL).values():
        protocol = replace(protocol, **_fields(declared))
    return protocol


def _entries(path: Path, shown: str, read: Callable[[str, bytes], tuple[Fold, str]] = decode) -> _Entries:
    found = _Entries()
    for name, data in open_storage(path).entries():
        if data is None:
            found.lost.append(name)
        elif is_fold(name):
            try:
                fold, session = read(name, data)
            except InputError as error:
                raise InputError(f"{error.path}: {error.message}", shown) from None
            found.folds[name] = fold
            found.writers.add(session)
        elif name.endswith(".json"):
            kind, dash, key = name.removesuffix(".json").partition("-")
            try:
                found.notes.setdefault(kind + dash, {})[key] = json.loads(data)
            except ValueError:
                raise InputError(f"{name}: damaged", shown) from None
    return found


def _fields(declared: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in declared.items() if name in Protocol.__dataclass_fields__}
    return {name: tuple(value) if name == "labels" and value else value for name, value in known.items()}


def _claim(values: Mapping[str, Any]) -> Claim:
    claim = Claim.parse(f"{values['metric']} = {values['value']}")
    return replace(
        claim, aggregation=values.get("aggregation"), label=values.get("label"), folds=values.get("folds"),
        where=values.get("where"),
    )  # fmt: skip


def _skipped(found: _Entries) -> Iterator[MissingFold]:
    have = {fold.cell for fold in found.folds.values()}
    for values in found.of(_SKIP).values():
        cell = Cell(values["fold"], values["repeat"])
        if cell not in have:
            yield MissingFold(cell, values["what"], values["reason"])


def _unsplit(found: _Entries, protocol: Protocol, design: Mapping[str, Any]) -> Iterator[MissingFold]:
    """Splits that the splitter promised, where no declared number of folds says the same."""
    splits = design.get("splitter", {}).get("splits")
    have = {fold.cell.fold for fold in found.folds.values()} | {each["fold"] for each in found.of(_SKIP).values()}
    if protocol.folds is None and splits is not None and len(have) < splits:
        absent = [str(number) for number in range(splits) if str(number) not in have]
        for fold in absent if have <= set(map(str, range(splits))) else [_SOMEWHERE]:
            yield MissingFold(Cell(fold), f"the splitter makes {splits} splits, and this one was not recorded")


def _lost(found: _Entries) -> Iterator[MissingFold]:
    """Folds whose writing was cut off, or whose file is gone."""
    listed = {name for end in found.of(_END).values() for name in end["folds"]}
    for name in sorted(listed - found.folds.keys()):
        yield MissingFold(_cell(name), "it was recorded, and is not there any more")
    cut = [name for name in found.lost if not name.startswith("_")]
    for name in cut:
        if name not in found.folds:
            yield MissingFold(_cell(name), "its recording was cut off: the process was killed while writing")


def _cell(name: str) -> Cell:
    """The cell that an entry is named after."""
    repeat, comma, fold = name.removesuffix(PARQUET).removesuffix(PLAIN).partition(",fold=")
    return Cell(unquote(fold), unquote(repeat.removeprefix("repeat="))) if comma else Cell(_SOMEWHERE)


def _unfinished(found: _Entries, protocol: Protocol) -> list[MissingFold]:
    """What a session that did not end well may have left out."""
    begun, ends = found.of(_BEGIN), found.of(_END)
    continued = {before for begin in begun.values() for before in begin["continues"]}
    cells = sorted_cells(fold.cell for fold in found.folds.values())
    failures = [fail["why"] for session, fail in found.of(_FAIL).items() if session not in continued]
    if failures:
        return _absent(cells, protocol, "the recording ended with an error", failures[-1])
    listed = {name for end in ends.values() for name in end["folds"]}
    if not begun or ({*begun, *found.writers} - ends.keys() - continued) or found.folds.keys() - listed:
        return _absent(cells, protocol, _UNCLOSED, None)
    return []


def _absent(cells: tuple[Cell, ...], protocol: Protocol, what: str, reason: str | None) -> list[MissingFold]:
    """The declared folds that are not there; where that cannot be told, one that stands for whatever is missing."""
    by_repeat: dict[str, set[str]] = {}
    for cell in cells:
        by_repeat.setdefault(cell.repeat, set()).add(cell.fold)
    names = {cell.fold for cell in cells}
    first = 0 if "0" in names else 1 if str(protocol.folds) in names else None
    numbers = [] if first is None else [str(first + number) for number in range(protocol.folds or 0)]
    absent = [
        Cell(number, repeat)
        for repeat, folds in by_repeat.items()
        for number in numbers
        if names <= set(numbers) and number not in folds
    ]
    absent = absent or [Cell(_SOMEWHERE, cells[-1].repeat if cells else "0")]
    return [MissingFold(cell, what, reason) for cell in absent]
