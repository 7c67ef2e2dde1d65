"""Every named way from fold results to one number; the names are those of the project's fact sheet."""

from pytest_cvaudit.aggregations.confusion import Confusion, confusion
from pytest_cvaudit.aggregations.labels import LabelSets
from pytest_cvaudit.aggregations.table import Aggregates, NotComputable
from pytest_cvaudit.aggregations.values import MetricTable, PerFold, Value, cell_name, name_folds

__all__ = [
    "Aggregates",
    "Confusion",
    "LabelSets",
    "MetricTable",
    "NotComputable",
    "PerFold",
    "Value",
    "cell_name",
    "confusion",
    "name_folds",
]
