"""What a design promises before any result is seen: the risk of empty folds, the bias of each aggregation."""

from pytest_cvaudit.designs.bias import Classifier, Expectation, Fold, expected
from pytest_cvaudit.designs.risk import empty_fold_risk, fold_sizes, risk_in

__all__ = ["Classifier", "Expectation", "Fold", "empty_fold_risk", "expected", "fold_sizes", "risk_in"]
