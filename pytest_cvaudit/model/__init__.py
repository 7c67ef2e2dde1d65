"""The nouns of the audit: experiments, claims, printed numbers, metrics and outcomes; no file and no arithmetic."""

from pytest_cvaudit.model.claim import Claim
from pytest_cvaudit.model.experiment import (
    Cell,
    DataSet,
    Evidence,
    Experiment,
    FoldCounts,
    FoldScores,
    Location,
    MissingFold,
    Predictions,
    Protocol,
    TrainingRows,
    sorted_cells,
)
from pytest_cvaudit.model.metrics import Metric, find_metric, metric
from pytest_cvaudit.model.outcome import Finding, Outcome, Severity, Status
from pytest_cvaudit.model.printed import Interval, Printed

__all__ = [
    "Cell", "Claim", "DataSet", "Evidence", "Experiment", "Finding", "FoldCounts", "FoldScores", "Interval", "Location",
    "Metric", "MissingFold", "Outcome", "Predictions", "Printed", "Protocol", "Severity", "Status", "TrainingRows",
    "find_metric", "metric", "sorted_cells",
]  # fmt: skip
