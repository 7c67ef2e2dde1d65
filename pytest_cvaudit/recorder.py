"""Recorders of folds: on disk, to be audited later, and in memory, as the ``cvaudit`` fixture has it."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell, Claim, Experiment, Location, MissingFold, Protocol
from pytest_cvaudit.model.folds import Fold, assemble
from pytest_cvaudit.recording import SUFFIX, Journal, check_columns
from pytest_cvaudit.recording.calls import Calls
from pytest_cvaudit.recording.columns import named_by_all
from pytest_cvaudit.recording.design import versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from pytest_cvaudit.engine import Audit
    from pytest_cvaudit.settings import Settings

#: Suffixes of logs: whoever gives such a path does not expect a folder.
_FILES = frozenset([".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arff", ".txt", ".npz", ".npy", ".pkl", ".yaml"])
_PROGRESS_AFTER = 2.0


class Recorder(Calls):
    """Records a cross-validation in a folder, or in one file called ``*.cvrec``; what is written survives a kill.

    Copies in other processes (joblib, multiprocessing) write to the same recording; the process that began it closes
    it. A recording that is not closed is read as incomplete.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        classes: Sequence[object] | None = None,
        splitter: Any = None,
        seed: Any = None,
        overwrite: bool = False,
        append: bool = False,
        resume: bool = False,
        durable: bool = True,
        progress: bool | None = None,
    ) -> None:
        """Begin a recording; where there is one already, ``overwrite``, ``append`` or ``resume`` says what to do.

        Without ``durable`` the disk is waited for only at the end: a kill loses no more, a power failure may.
        """
        super().__init__(classes)
        self.path = Path(path).absolute()
        if self.path.suffix.lower() in _FILES:
            raise InputError(f"a recording is a folder, or a file called *{SUFFIX}", str(path))
        if overwrite + append + resume > 1:
            raise InputError("overwrite=True, append=True and resume=True exclude each other", str(path))
        about = {"versions": versions(), "process": os.getpid(), "began": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
        try:
            self._journal = Journal.begin(
                self.path, overwrite=overwrite, append=append, resume=resume, durable=durable, about=about
            )
        except InputError as error:
            raise InputError(error.message, str(path)) from None
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", str(path)) from None
        self._process: int | None = os.getpid()
        self._closed = False
        self._appending = append  # then other sessions may bring the classes that this one lacks
        self._progress = sys.stderr.isatty() if progress is None else progress
        self._shown_until, self._began = 0.0, time.monotonic()
        if splitter is not None or seed is not None:
            self.protocol(splitter=splitter, seed=seed)

    def __getstate__(self) -> dict[str, Any]:
        """Let a copy write, but not close, and keep quiet."""
        return {**self.__dict__, "_process": None, "_progress": False}

    def __enter__(self) -> Self:
        """Record within a block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the recording; after an error, as one that ended with it."""
        if kind is None:
            self.close()
        elif self._is_mine():
            with suppress(OSError):  # the error in the block is the one to be seen
                self._journal.fail(" ".join(f"{kind.__name__}: {error}".split())[:500])
            self._closed = True

    def has(self, fold: object, repeat: object = 0) -> bool:
        """Tell whether a fold is recorded, by whichever process: who resumes can leave it out."""
        return self._journal.has(Cell(str(fold), str(repeat)))

    def close(self) -> None:
        """Say that this was all; copies in other processes leave that to the process that began.

        Columns of scores that fit no classes are refused first: name them by ``protocol(labels=…)`` and close again.
        """
        if self._is_mine():
            if not self._appending:
                check_columns(self.path, str(self.path))
            self._journal.end()
            self._closed = True
            if self._progress and self._shown_until:
                sys.stderr.write("\n")

    def finish(self, settings: Settings | None = None) -> Audit:
        """Close the recording and audit it."""
        from pytest_cvaudit.engine import audit

        self.close()
        return audit([self.experiment()], settings)

    def experiment(self) -> Experiment:
        """The experiment as recorded so far, by all processes."""
        from pytest_cvaudit.manifest import experiment_from_log

        (found,) = experiment_from_log(self.path)
        if found.problem is not None:
            raise found.problem
        return found

    def _is_mine(self) -> bool:
        return self._process == os.getpid() and not self._closed

    def _add(self, fold: Fold) -> bool:
        written = self._journal.fold(fold)
        if written and self._progress:
            self._show()
        return written

    def _add_skip(self, missing: MissingFold) -> None:
        self._journal.skip(missing.cell, missing.what, missing.reason)

    def _add_claim(self, claim: Claim) -> None:
        name = "precision_at_k" if claim.metric.k is None else f"precision_at_{claim.metric.k}"
        self._journal.claim(
            {
                "metric": name if claim.metric.name == "precision_at_k" else claim.metric.name,
                "value": claim.printed.text, "aggregation": claim.aggregation, "label": claim.label,
                "folds": claim.folds, "where": claim.where,
            }
        )  # fmt: skip

    def _declare(self, entries: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        self._journal.protocol({**entries, **about})

    def _show(self) -> None:
        """Say on a terminal how far long work is."""
        now = time.monotonic()
        if now - self._began < _PROGRESS_AFTER or now - self._shown_until < 0.1:
            return
        self._shown_until = now
        of = self._design.get("folds", 0) * self._design.get("repeats", 1)
        total = f" of {of}" if of else ""
        sys.stderr.write(f"\rcvaudit: {self._number + 1}{total} folds in {self.path.name}, {now - self._began:.0f} s ")
        sys.stderr.flush()


class MemoryRecorder(Calls):
    """Collects folds and claims in memory; ``finish`` audits them."""

    def __init__(
        self, name: str, path: str = "<memory>", line: int | None = None, classes: Sequence[object] | None = None
    ) -> None:
        """Begin with nothing."""
        super().__init__(classes)
        self.name, self.path, self.line = name, path, line
        self._folds: dict[Cell, Fold] = {}
        self._missing: list[MissingFold] = []
        self._claims: list[Claim] = []

    def experiment(self) -> Experiment:
        """The experiment as recorded so far."""
        protocol = Protocol(**self._design)
        predictions, missing = None, tuple(one for one in self._missing if one.cell not in self._folds)
        if self._folds:
            predictions, protocol = assemble(named_by_all(list(self._folds.values()), protocol), protocol)
        return Experiment(
            self.name, protocol, tuple(self._claims), predictions, missing=missing,
            location=Location(self.path, self.line),
        )  # fmt: skip

    def finish(self, settings: Settings | None = None) -> Audit:
        """Audit what was recorded."""
        from pytest_cvaudit.engine import Audit, audit

        if self._claims and not self._folds:
            how = "record the folds, or run pytest with --cvaudit-capture where scikit-learn makes them"
            raise InputError(f"'{self._claims[0]}' is claimed, but no fold was recorded; {how}")
        return audit([self.experiment()], settings) if self._folds or self._missing else Audit()

    def _add(self, fold: Fold) -> bool:
        return self._folds.setdefault(fold.cell, fold) is fold

    def _add_skip(self, missing: MissingFold) -> None:
        self._missing.append(missing)

    def _add_claim(self, claim: Claim) -> None:
        self._claims.append(claim)

    def _declare(self, entries: Mapping[str, Any], about: Mapping[str, Any]) -> None:  # noqa: ARG002 (kept by fold)
        return
