"""Studies of several parts (repeats, data sets, classes): one search for whatever each writes its claims as."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from pytest_cvaudit.forensics.case import Case
from pytest_cvaudit.forensics.combine import Combiner
from pytest_cvaudit.forensics.exact import lies
from pytest_cvaudit.forensics.match import Matcher
from pytest_cvaudit.forensics.pieces import refuted_in_pieces
from pytest_cvaudit.forensics.sample import Sampler
from pytest_cvaudit.forensics.search import exhaust, small

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_cvaudit.forensics.combine import Choice
    from pytest_cvaudit.forensics.everything import Everything
    from pytest_cvaudit.forensics.exact import Bounds, Surd
    from pytest_cvaudit.forensics.problem import Problem
    from pytest_cvaudit.forensics.studies.parts import Demand, Draft, FullTable
    from pytest_cvaudit.model import Claim, Metric

#: Seconds for a first look at the relaxation, work of an exhaustive search and seconds of random search by level.
_SCREEN = 0.25
_WORK = (2e5, 4e6, 1e7)
_LOOK = (0.1, 0.6, 1.0)
_THOROUGH = 2


class Study(ABC):
    """What is known of an experiment that is more than one binary cross-validation."""

    @abstractmethod
    def names(self, claim: Claim) -> dict[str, str]:
        """Map the aggregations that a claim may come from to the first that is always equal; empty if unknown."""

    @abstractmethod
    def drafts(self, demands: Sequence[Demand]) -> Iterator[Draft]:
        """Write the demands, or as many as can be, in every way that is known."""

    @abstractmethod
    def value(self, metric: Metric, way: str, table: FullTable) -> Surd | None:
        """Compute one aggregation of a full table exactly."""

    @abstractmethod
    def keys(self, table: FullTable) -> tuple[dict[str, str | int], ...]:
        """Say of every entry of a full table where it belongs."""

    def subject(self, claim: Claim) -> Metric:
        """What a claim measures."""
        return claim.metric

    def unjudged(self, claim: Claim) -> tuple[str, ...]:
        """The aggregations that a claim may come from as well, but that are never judged."""
        del claim
        return ()

    def every_table(self) -> Everything | None:
        """All full tables of the study, if they are few enough to look at each."""
        return None

    def prints(self, metric: Metric, way: str, table: FullTable, within: Bounds) -> bool:
        """Tell whether an aggregation of a full table is defined and lies within the bounds."""
        return lies(self.value(metric, way, table), within)


class StudyCase(Case):
    """Every claim of a study made by one given aggregation: the drafts are refuted or searched."""

    def __init__(self, demands: Sequence[Demand], study: Study) -> None:
        self.demands, self.study = demands, study
        self.table: FullTable | None = None
        self.impossible = False
        self.searches: list[_Search] | None = None

    def judge(self, table: Sequence[tuple[int, int, int, int]]) -> bool:
        """Tell whether a full table meets every demand."""
        return all(self.study.prints(metric, way, tuple(table), within) for metric, way, within in self.demands)

    def screen(self, deadline: float) -> None:
        """Write the drafts; refute or search at once what is small."""
        if self.searches is not None or time.monotonic() > deadline:
            return
        searches = []
        for draft in self.study.drafts(self.demands):
            if draft.refutes:
                self.searches, self.impossible = [], True
                return
            if time.monotonic() > deadline:
                return
            if draft.problem is not None and not draft.problem.hopeless:
                searches.append(_Search(draft, draft.problem, self))
        self.searches = searches
        for search in searches:
            search.start(min(deadline, time.monotonic() + _SCREEN))
            self._note(search)
            if not self.open:
                return

    def work(self, level: int, deadline: float) -> None:
        """Put the effort of a level into every draft."""
        self.screen(deadline)
        for search in self.searches or ():
            if time.monotonic() > deadline or not self.open:
                return
            search.work(min(level, _THOROUGH), deadline)
            self._note(search)

    def _note(self, search: _Search) -> None:
        self.table, self.impossible = search.table or self.table, search.impossible or self.impossible


class _Search:
    """The search within one draft."""

    def __init__(self, draft: Draft, problem: Problem, case: StudyCase) -> None:
        self.draft, self.problem, self.case = draft, problem, case
        self.table: FullTable | None = None
        self.impossible = False
        self.searched = -1
        self.over = False
        self.finders: list[Sampler | Matcher] = []

    def start(self, deadline: float) -> None:
        """Search a small problem, relax a large one."""
        if self.draft.whole and small(self.problem):
            self._exhaust(0, deadline)
        if not self.over:
            self._refute(deadline)

    def work(self, level: int, deadline: float) -> None:
        """Refute, look at random, search everything, as far as the level goes."""
        if level == _THOROUGH and not self.over:
            self._refute(deadline)
        if self.over or not self.draft.whole:
            return
        self._look(level, deadline)
        if self.table is None:
            self._exhaust(level, deadline)

    def _refute(self, deadline: float) -> None:
        if self.draft.proves and self.problem.complete and refuted_in_pieces(self.problem, deadline):
            self.over = self.impossible = True

    def _look(self, level: int, deadline: float) -> None:
        if self.problem.hopeless:
            return
        if not self.finders:
            self.finders = [kind(self.problem, self.case.judge) for kind in (Sampler, Matcher)]
        for finder in self.finders if level != 1 else self.finders[::-1]:
            if self.table is None:
                self.table = finder.run(min(deadline, time.monotonic() + _LOOK[level] / 2))

    def _exhaust(self, level: int, deadline: float) -> None:
        if level <= self.searched:
            return
        self.searched = level
        answer = exhaust(self.problem, self.case.judge, _WORK[level], deadline)
        self.table, self.over = answer.table, answer.proven
        self.impossible = answer.proven and self.draft.proves


class StudyCombiner(Combiner):
    """Combines the aggregations of a study's claims."""

    def __init__(self, claims: Sequence[tuple[Metric, tuple[str, ...], Bounds]], study: Study, deadline: float) -> None:
        super().__init__(claims, None, deadline, study.every_table())  # type: ignore[arg-type]
        self.study = study

    def _case(self, choice: Choice) -> Case:
        if choice not in self.cases:
            demands = [(self.claims[at][0], way, self.claims[at][2]) for at, way in choice]
            self.cases[choice] = StudyCase(demands, self.study)
        return self.cases[choice]

    def _prints(self, metric: Metric, way: str, table: FullTable, within: Bounds) -> bool:
        return self.study.prints(metric, way, table, within)
