"""Forensics: from printed numbers and the design alone to the aggregations that can have made them."""

from pytest_cvaudit.forensics.classes import Classes
from pytest_cvaudit.forensics.datasets import Datasets
from pytest_cvaudit.forensics.declared import declared_design
from pytest_cvaudit.forensics.design import Design
from pytest_cvaudit.forensics.explain import contradiction, possible_values
from pytest_cvaudit.forensics.repeats import Repeats
from pytest_cvaudit.forensics.solve import ClaimFit, Solution, Witness, solve

__all__ = [
    "ClaimFit", "Classes", "Datasets", "Design", "Repeats", "Solution", "Witness", "contradiction", "declared_design",
    "possible_values", "solve",
]  # fmt: skip
