"""Everything that can be said about a design and a classifier, in one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cvaudit.designs.bias import ALL, MAIN, Simulation, expectations
from pytest_cvaudit.designs.risk import design_risk, risk_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_cvaudit.designs.design import Classifier, Design, Expectation


@dataclass(frozen=True)
class Profile:
    """The expectation of every aggregation, and the risk of an empty fold."""

    design: Design
    classifier: Classifier
    aggregations: Mapping[str, Expectation | None]
    simulation: Simulation
    empty_fold_risk: float
    trials: int | None = None

    @property
    def empty_fold_risk_trials(self) -> float | None:
        """The risk over all trials, if some were asked for."""
        return None if self.trials is None else risk_in(self.trials, self.empty_fold_risk)


def profile(design: Design, classifier: Classifier, simulation: Simulation, trials: int | None = None) -> Profile:
    """Work out what a design promises for a classifier."""
    classifier.check()
    risk = design_risk(design)
    found = expectations(design, classifier, _telling(design, risk), simulation)
    return Profile(design, classifier, found, simulation, risk, trials)


def _telling(design: Design, risk: float) -> tuple[str, ...]:
    """The aggregations that differ for this design from those before them."""
    differs = {
        "avg_nan": risk > 0,
        "avg_weighted": len(set(design.sizes)) > 1,
        "avg_weighted_positives": not design.stratified or design.positives % design.folds > 0,
    }
    return tuple(name for name in ALL if name in MAIN or differs[name])
