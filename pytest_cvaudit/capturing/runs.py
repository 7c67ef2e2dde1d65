"""One call that cross-validates: its tasks as they pass by, and what each of them answered."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cvaudit.capturing.tasks import PREDICTING, SCORING, Kept, Recording, original

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_cvaudit.capturing.places import Place

#: How many bytes of answers a search may hold in memory; further ones are put aside on disk until the best is known.
_IN_MEMORY = 64 * 2**20
_NUMBER = 8
_NEEDED = ("train", "test", "y")


@dataclass(frozen=True)
class Task:
    """One fold of one candidate: who is trained on, who is tested."""

    train: Any
    test: Any
    candidate: int = 0


@dataclass
class Run:
    """A cross-validation while it runs, and afterwards: tasks and answers in the same order."""

    place: Place
    estimator: Any
    cv: Any
    classes: Any = None
    parameters: Any = None
    candidates: int = 1
    y: Any = None
    scorer: Any = None
    weighted: bool = False
    tasks: list[Task] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    problem: str | None = None

    def watch(self, call: Callable[[Any], list[Any]], iterable: Iterable[Any], spool: Spool | None = None) -> list[Any]:
        """Run the tasks and return the results that scikit-learn waits for."""
        results = call(self._watched(iterable, spool))
        if self.problem is None:
            self.kept = results
        return [one.result if isinstance(one, Kept) else one for one in results]

    def _watched(self, iterable: Iterable[Any], spool: Spool | None) -> Iterator[Any]:
        from sklearn.utils.parallel import delayed

        for function, args, keywords in iterable:
            name = getattr(function, "__name__", "")
            if self.problem is None:
                self.problem = self._take(name, args, keywords)
            if self.problem is None:
                aside = None if spool is None else spool.file(self.tasks[-1].test)
                yield delayed(Recording(name, aside))(*args, **keywords)
            else:
                yield function, args, keywords

    def _take(self, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> str | None:
        """Note a task; say what is wrong if it is not as expected."""
        if name not in (SCORING, PREDICTING):
            return f"its tasks are '{name}', which this version does not know"
        try:
            given = signature(original(name)).bind(*args, **keywords).arguments
        except TypeError as error:
            return f"its tasks are called in a way that this version does not know ({error})"
        if lacking := [key for key in _NEEDED if key not in given]:
            return f"its tasks do not say '{lacking[0]}'"
        self.y, self.scorer = given["y"], given.get("scorer")
        self.weighted = any(value is not None for value in (given.get("score_params") or {}).values())
        self.tasks.append(Task(given["train"], given["test"], (given.get("candidate_progress") or (0,))[0]))
        return None


class Spool:
    """A private folder for answers that are too many for the memory."""

    def __init__(self, columns: int) -> None:
        """Expect so many numbers per tested row."""
        self._columns, self._size, self._number = columns, 0, 0
        self._folder: str | None = None

    def file(self, test: Any) -> str | None:
        """The file for the next answers, or none while memory suffices."""
        self._size += len(test) * self._columns * _NUMBER
        if self._size <= _IN_MEMORY:
            return None
        self._folder = self._folder or tempfile.mkdtemp(prefix="cvaudit-")
        self._number += 1
        return str(Path(self._folder, str(self._number)))

    def remove(self) -> None:
        """Forget what was put aside."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


@dataclass
class Search:
    """A search while it runs: the runs of its rounds, of which only the best candidate is kept."""

    place: Place
    searcher: Any
    spool: Spool
    runs: list[Run] = field(default_factory=list)

    def watch(self, call: Callable[[Any], list[Any]], iterable: Iterable[Any], names: dict[str, Any]) -> list[Any]:
        """Run one round of candidates."""
        run = Run(self.place, self.searcher, names.get("cv"))
        self.runs.append(run)
        return run.watch(call, iterable, self.spool)

    def best(self) -> Run:
        """The run of the best candidate alone."""
        total = sum(1 + max((task.candidate for task in run.tasks), default=-1) for run in self.runs)
        index = getattr(self.searcher, "best_index_", None)
        found = Run(self.place, self.searcher, None, candidates=total)
        if problem := next((run.problem for run in self.runs if run.problem), None):
            found.problem = problem
        elif index is None:
            found.problem = "the search names no best candidate (several measures and refit=False)"
        else:
            self._choose(found, int(index))
        return found

    def _choose(self, found: Run, index: int) -> None:
        for run in self.runs:
            number = 1 + max(task.candidate for task in run.tasks)
            if index < number:
                chosen = [i for i, task in enumerate(run.tasks) if task.candidate == index]
                found.tasks, found.kept = [run.tasks[i] for i in chosen], [run.kept[i] for i in chosen]
                found.cv, found.y, found.scorer, found.weighted = run.cv, run.y, run.scorer, run.weighted
                found.parameters = getattr(self.searcher, "best_params_", None)
                return
            index -= number
