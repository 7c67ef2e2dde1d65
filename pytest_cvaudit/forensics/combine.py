"""Several claims, each by any of several aggregations: which combinations have a table?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.case import Case
from pytest_cvaudit.forensics.everything import table_of
from pytest_cvaudit.forensics.exact import prints

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.design import Design
    from pytest_cvaudit.forensics.everything import Everything
    from pytest_cvaudit.forensics.exact import Bounds, Counts
    from pytest_cvaudit.model import Metric

FITS, CANNOT, UNDECIDED = "fits", "cannot", "undecided"
#: The part of the time after which digits that were cut off are thought of, if rounding has led to no table.
ROUNDING_SHARE = 0.8
#: With more combinations than this, pairs are screened first to leave most of them out.
_MANY = 40
#: Combinations that are tried for one aggregation at first; every level tries four times as many.
_CHOICES = 2
#: So many tables are looked at before any search, more only after a first one; floats are trusted so far.
_FEW_TABLES, _FLOAT_ERROR = 30_000, 1e-13
Choice = tuple[tuple[int, str], ...]


@dataclass
class Found:
    """An answer per claim and aggregation, and one table with the aggregations by which it prints the claims."""

    answers: list[dict[str, str]]
    table: tuple[Counts, ...] | None = None
    ways: tuple[str, ...] = ()

    @property
    def impossible(self) -> bool:
        """Tell whether no aggregation of some claim is left."""
        return any(all(answer == CANNOT for answer in answers.values()) for answers in self.answers)

    @property
    def open(self) -> bool:
        """Tell whether some aggregation is not answered."""
        return any(UNDECIDED in answers.values() for answers in self.answers)

    def unless_printed_otherwise(self, either: Found) -> Found:
        """Keep a refutation only where numbers that are rounded or cut off, ``either`` way, are refuted too.

        Where a table is known this is settled: nobody needs to think of digits that were cut off.
        """
        if self.table is not None:
            return self
        answers = [
            {way: CANNOT if refuted[way] == CANNOT else UNDECIDED if answer == CANNOT else answer
             for way, answer in answers.items()}
            for answers, refuted in zip(self.answers, either.answers, strict=True)
        ]  # fmt: skip
        return Found(answers)

    @classmethod
    def merged(cls, several: Sequence[Found]) -> Found:
        """What fits in one of several findings fits; what is undecided in one and fits in none is undecided."""
        rank = {CANNOT: 0, UNDECIDED: 1, FITS: 2}
        best = next((each for each in several if each.table is not None), several[0])
        answers = [
            {way: max((each.answers[at][way] for each in several), key=lambda answer: rank[answer]) for way in ways}
            for at, ways in enumerate(best.answers)
        ]
        return cls(answers, best.table, best.ways)


class Combiner:
    """Works on the combinations with growing effort until every aggregation is answered or the time is up.

    Where ``everything`` is given, what a first search leaves open is decided by looking at all tables.
    """

    def __init__(
        self,
        claims: Sequence[tuple[Metric, tuple[str, ...], Bounds]],
        design: Design,
        deadline: float,
        everything: Everything | None = None,
    ) -> None:
        self.claims, self.design, self.deadline, self.everything = claims, design, deadline, everything
        #: Whether one table is enough, whatever else is left open.
        self.any_table = False
        self.answers: dict[tuple[int, str], str] = {}
        self.cases: dict[Choice, Case] = {}
        self.table: tuple[Counts, ...] | None = None
        self.ways: tuple[str, ...] = ()

    def run_until(self, early: float) -> Found:
        """Answer until an earlier time, and go on to the deadline only if a table is known by then."""
        late, self.deadline = self.deadline, early
        found = self.run()
        self.deadline = late
        return self.run() if found.open and found.table is not None else found

    def find(self) -> Found:
        """Answer only until some table is found."""
        self.any_table = True
        self._try_plain()
        return self.run()

    def run(self) -> Found:
        """Answer for every aggregation of every claim."""
        # A claim's ways are screened alone first, for a part of the time: what falls there leaves fewer combinations.
        start = time.monotonic()
        screening = start + (self.deadline - start) / 3
        for one in self._waiting():
            case = self._case((one,))
            case.screen(screening if len(self.claims) > 1 else self.deadline)
            if case.impossible:
                self.answers[one] = CANNOT
            elif case.table is not None and len(self.claims) == 1:
                self._mark(case.table, (one,))
            if not self._waiting():
                break
        if self._waiting():
            self._try_plain()
        self._search()
        hopeless = self._hopeless()
        answers = [
            {way: CANNOT if hopeless else self.answers.get((at, way), UNDECIDED) for way in ways}
            for at, (_, ways, _) in enumerate(self.claims)
        ]
        return Found(answers, self.table, self.ways)

    def _waiting(self) -> list[tuple[int, str]]:
        """The aggregations that are still to be answered; none once nothing more is asked."""
        if self._hopeless() or (self.any_table and self.table is not None):
            return []
        everything = ((at, way) for at, (_, ways, _) in enumerate(self.claims) for way in ways)
        return [one for one in everything if one not in self.answers]

    def _search(self) -> None:
        start = time.monotonic()
        enough = start + (self.deadline - start) / 3
        if self.everything is not None and self.everything.count <= _FEW_TABLES:
            self._look_at_all(self.everything)
        level = 0
        while self._waiting() and time.monotonic() < self.deadline:
            for one in self._waiting():
                if one in self._waiting() and not (self.everything and level == 0 and time.monotonic() > enough):
                    self._work(one, level)
            if self.everything is not None and level == 0:
                self._look_at_all(self.everything)
            level += 1

    def _look_at_all(self, everything: Everything) -> None:
        """Look at every table; what none of them prints cannot be."""
        if not self._waiting():
            return
        for block in everything.blocks():
            if not self._look_at(block, everything):
                return
        self.answers |= dict.fromkeys(self._waiting(), CANNOT)

    def _look_at(self, block: NDArray[np.int64], everything: Everything) -> bool:
        """Try the tables of a block that seem to print all claims; tell whether there is reason and time to go on."""
        hits: dict[tuple[int, str], NDArray[np.bool_]] = {}
        for at, (metric, ways, within) in enumerate(self.claims):
            low, high = float(within[0]) - _FLOAT_ERROR, float(within[1]) + _FLOAT_ERROR
            here = np.zeros(len(block), np.bool_)
            for way in ways:
                if self.answers.get((at, way)) != CANNOT:
                    if time.monotonic() > self.deadline:
                        return False
                    values = everything.values(metric, way, block)
                    hits[at, way] = (values >= low) & (values <= high)
                    here |= hits[at, way]
            # Only the tables that print the claims so far are looked at for the next.
            block, hits = block[here], {one: hit[here] for one, hit in hits.items()}
        for one, hit in hits.items():
            for index in np.flatnonzero(hit).tolist():
                if one not in self._waiting() or time.monotonic() > self.deadline:
                    break
                self._try(table_of(block[index]))
        return bool(self._waiting()) and time.monotonic() < self.deadline

    def _try(self, table: tuple[Counts, ...]) -> None:
        """Mark what a table prints if it prints every claim."""
        printing = [
            [way for way in ways if self._prints(metric, way, table, within)] for metric, ways, within in self.claims
        ]
        if all(printing):
            self._mark(table, tuple((at, ways[0]) for at, ways in enumerate(printing)))

    def _prints(self, metric: Metric, way: str, table: tuple[Counts, ...], within: Bounds) -> bool:
        return prints(metric, way, table, within)

    def _try_plain(self) -> None:
        """Try the combinations that people use: every claim averaged, or every claim pooled, as far as that is open."""
        for names in (("avg",), ("pooled", "tp_fp")):
            choice = []
            for at, (_, ways, _) in enumerate(self.claims):
                left = [way for way in ways if self.answers.get((at, way)) != CANNOT]
                choice += [(at, next((way for way in left if way in names), left[0]))] if left else []
            if len(choice) < len(self.claims) or len(choice) < 2:
                return
            case = self._case(tuple(choice))
            if case.open:
                case.work(0, self.deadline)
            if case.table is not None:
                self._mark(case.table, tuple(choice))

    def _hopeless(self) -> bool:
        """Tell whether some claim has no aggregation left, which leaves none to the others either."""
        return any(
            all(self.answers.get((at, way)) == CANNOT for way in ways) for at, (_, ways, _) in enumerate(self.claims)
        )

    def _work(self, one: tuple[int, str], level: int) -> None:
        left = False
        # The first few combinations often hold a table; only where many must be tried do pairs pay.
        for count, choice in enumerate(self._choices(one, pairs=level > 0)):
            if time.monotonic() > self.deadline or count >= _CHOICES * 4**level:
                return
            case = self._case(choice)
            if case.open:
                case.work(level, self.deadline)
            if case.table is not None:
                self._mark(case.table, choice)
                return
            left |= not case.impossible
        if not left and time.monotonic() < self.deadline:
            self.answers[one] = CANNOT

    def _choices(self, one: tuple[int, str], pairs: bool) -> Iterator[Choice]:
        """The combinations that hold one aggregation of one claim, the likeliest first; perhaps screened by pairs."""
        options: list[list[str]] = []
        size = 1
        for at, (_, ways, _) in enumerate(self.claims):
            left = [one[1]] if at == one[0] else [way for way in ways if self.answers.get((at, way)) != CANNOT]
            left.sort(key=lambda way, at=at: self.answers.get((at, way)) != FITS)  # type: ignore[misc]
            size *= len(left)
            options.append(left)
        places = sorted(product(*(range(len(left)) for left in options)), key=sum)
        for each in places:
            choice = tuple((at, options[at][place]) for at, place in enumerate(each))
            if not pairs or size <= _MANY or not self._pair_refuted(choice, one):
                yield choice

    def _pair_refuted(self, choice: Choice, one: tuple[int, str]) -> bool:
        for other in choice:
            if other != one:
                case = self._case(tuple(sorted((one, other))))
                case.screen(self.deadline)
                if case.impossible:
                    return True
        return False

    def _case(self, choice: Choice) -> Case:
        if choice not in self.cases:
            parts = [(self.claims[at][0], way, self.claims[at][2]) for at, way in choice]
            self.cases[choice] = Case(parts, self.design)
        return self.cases[choice]

    def _mark(self, table: tuple[Counts, ...], choice: Choice) -> None:
        """Note every aggregation by which the table prints a claim: it fits together with the others."""
        if self.table is None:
            self.table, self.ways = table, tuple(way for _, way in choice)
        for at, (metric, ways, within) in enumerate(self.claims):
            for way in ways:
                if self._prints(metric, way, table, within):
                    self.answers[at, way] = FITS
