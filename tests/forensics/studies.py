"""Brute force over all full tables of a small study, and what every answer of the solver must then be."""

from __future__ import annotations

import math
from itertools import combinations

from pytest_cvaudit.forensics import solve
from pytest_cvaudit.model.claim import Claim
from tests.forensics import brute


def printed(number, decimals, truncate):
    scaled = float(number) * 10**decimals
    whole = math.trunc(scaled + math.copysign(1e-9, scaled)) if truncate else round(scaled)
    text = f"{whole / 10**decimals:.{decimals}f}"
    return text.replace("-0.", "0.") if float(text) == 0 else text


def corrupted(text, rng):
    at = rng.randrange(text.index(".") + 1, len(text))
    return text[:at] + rng.choice("0123456789") + text[at + 1 :]


class Oracle:
    """All full tables of a study; ``value(name, way, table)`` and ``ways(name)`` are written apart from the package."""

    def __init__(self, study, tables, value, ways):
        self.study, self.tables, self.value, self.ways = study, tables, value, ways
        self.known = {}

    def values(self, name, way):
        if (name, way) not in self.known:
            self.known[name, way] = [self.value(name, way, table) for table in self.tables]
        return self.known[name, way]

    def judge(self, claims, cut):
        hits = []
        for at, (name, text, allowed) in enumerate(claims):
            bounds = brute.interval(text, at in cut)
            hits.append({way: [brute.inside(v, bounds) for v in self.values(name, way)] for way in allowed})
        fitting = [set() for _ in claims]
        for index in range(len(self.tables)):
            here = [{way for way, hit in each.items() if hit[index]} for each in hits]
            if all(here):
                for known, new in zip(fitting, here, strict=True):
                    known |= new
        return fitting

    def answer(self, claims):
        for size in range(len(claims) + 1):
            results = [self.judge(claims, cut) for cut in combinations(range(len(claims)), size)]
            results = [result for result in results if all(result)]
            if results:
                return [set().union(*(result[at] for result in results)) for at in range(len(claims))]
        return [set() for _ in claims]

    def random_claims(self, rng, names, count):
        table = rng.randrange(len(self.tables))
        decimals, truncate = rng.randint(1, 4), rng.random() < 0.25
        claims, true = [], True
        for name in rng.sample(names, count):
            way = rng.choice(self.ways(name))
            number = self.values(name, way)[table]
            if number is None:
                continue
            text = printed(number, decimals, truncate)
            if rng.random() < 0.35:
                changed = corrupted(text, rng)
                low = -1 if name in ("mcc", "kappa") else 0
                if changed != text and low <= float(changed) <= 1:
                    text, true = changed, False
            declared = rng.random() < 0.3
            claims.append((name, text, (way,) if declared else self.ways(name)))
        return claims, true

    def check(self, claims, true, *, exact=True, seconds=20):
        """Answers equal brute force; where the solver is not exact, it may be undecided but never wrong."""
        solution = solve([asked(*claim) for claim in claims], self.study, seconds=seconds)
        expected = self.answer(claims)
        if not exact and solution.verdict == "undecided":
            # Truncation is looked at only once rounding is out, so that these answers are about rounding.
            expected = self.judge(claims, ())
        for fit, fitting, (_, _, allowed) in zip(solution.claims, expected, claims, strict=True):
            assert set(fit.aggregations) == set(allowed), (fit, allowed)
            for way in allowed:
                wanted = "fits" if way in fitting else "cannot"
                possible = {wanted} if exact else {wanted, "undecided"}
                assert fit.aggregations[way] in possible, (self.study, claims, way, wanted, solution)
        impossible = not all(self.answer(claims))
        assert not (true and impossible)
        if exact:
            assert (solution.verdict == "impossible") == impossible
            assert (solution.witness is None) == impossible
        assert solution.verdict != "impossible" or impossible
        self.reprints(solution)
        return solution

    def reprints(self, solution):
        if solution.witness is None:
            return
        assert len(solution.witness.keys) == len(solution.witness.folds)
        for fit, way in zip(solution.claims, solution.witness.aggregations, strict=True):
            number = self.value(fit.claim.name, way, solution.witness.folds)
            text = str(fit.claim.printed)
            assert brute.inside(number, brute.interval(text, False)) or (
                fit.truncated and brute.inside(number, brute.interval(text, True))
            ), (fit, way, solution.witness)


def asked(name, text, allowed):
    claim = Claim.parse(f"{name} = {text}")
    if len(allowed) > 1:
        return claim
    return Claim(claim.metric, claim.printed, aggregation=allowed[0], label=claim.label)
