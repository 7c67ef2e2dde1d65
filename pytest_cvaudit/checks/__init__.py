"""The checks, one function per rule card, each registered by its code when its module is imported."""

from pytest_cvaudit.checks import claims, folds, labels, point, ranking
from pytest_cvaudit.checks.registry import CHECKS, Hit, Irrelevant, Result, Subject, Unsure, check, run

__all__ = [
    "CHECKS", "Hit", "Irrelevant", "Result", "Subject", "Unsure", "check", "claims", "folds", "labels", "point",
    "ranking", "run",
]  # fmt: skip
