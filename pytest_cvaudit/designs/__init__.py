"""What a design promises before any result is seen: the risk of empty folds, the bias of each aggregation."""

from pytest_cvaudit.designs.bias import (
    ALL,
    MAIN,
    Simulation,
    default_repeats,
    expectations,
    expected,
    in_words,
    sentence,
)
from pytest_cvaudit.designs.design import Classifier, Design, Expectation, Fold, fold_sizes
from pytest_cvaudit.designs.profile import Profile, profile
from pytest_cvaudit.designs.risk import design_risk, empty_fold_risk, risk_in

__all__ = [
    "ALL",
    "MAIN",
    "Classifier",
    "Design",
    "Expectation",
    "Fold",
    "Profile",
    "Simulation",
    "default_repeats",
    "design_risk",
    "empty_fold_risk",
    "expectations",
    "expected",
    "fold_sizes",
    "in_words",
    "profile",
    "risk_in",
    "sentence",
]
