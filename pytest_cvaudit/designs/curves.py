"""Expectations along a line of designs or classifiers: what the papers' figures show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_cvaudit.designs.bias import MAIN, Simulation, expectations
from pytest_cvaudit.designs.design import Classifier, Design
from pytest_cvaudit.designs.risk import empty_fold_risk, risk_in
from pytest_cvaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_cvaudit.designs.design import Expectation

#: The five of Forman & Scholz.
FIVE = MAIN[:5]


@dataclass(frozen=True)
class Curves:
    """The expectation of each aggregation at each place."""

    x: tuple[float, ...]
    values: dict[str, tuple[Expectation | None, ...]]
    true_f: tuple[float, ...]

    def bias(self, name: str) -> list[float]:
        """Relative bias in percent; NaN where undefined."""
        return [float("nan") if one is None else 100 * one.relative_bias for one in self.values[name]]

    def spread(self, name: str) -> list[float]:
        """Standard deviation relative to the true F, in percent; NaN where undefined."""
        pairs = zip(self.values[name], self.true_f, strict=True)
        return [float("nan") if one is None else 100 * one.sd / true for one, true in pairs]


def over_positives(
    design: Design, rates: tuple[float, float], positives: Iterable[int], simulation: Simulation
) -> Curves:
    """The same instances, folds, precision and recall with other numbers of positives."""
    places = [(float(number), replace(design, positives=number), rates) for number in positives]
    return _curves(places, simulation)


def over_f(design: Design, rates: Sequence[tuple[float, float]], simulation: Simulation) -> Curves:
    """The same design for classifiers with other precisions and recalls."""
    return _curves([(2 * p * r / (p + r), design, (p, r)) for p, r in rates], simulation)


def _curves(places: list[tuple[float, Design, tuple[float, float]]], simulation: Simulation) -> Curves:
    """Go along the line, leaving out what no classifier can be."""
    kept, found = [], []
    for x, design, rates in places:
        classifier = Classifier(*rates, design.positives, design.negatives)
        try:
            classifier.check()
        except InputError:
            continue
        kept.append((x, classifier.f1))
        found.append(expectations(design, classifier, FIVE, simulation))
    return Curves(
        tuple(x for x, _ in kept),
        {name: tuple(one[name] for one in found) for name in FIVE},
        tuple(true for _, true in kept),
    )


def risk_over_positives(design: Design, positives: Iterable[int], trials: int = 1) -> list[float]:
    """The chance of an empty fold at least once in so many unstratified trials."""
    return [risk_in(trials, empty_fold_risk(design.sizes, number)) for number in positives]
