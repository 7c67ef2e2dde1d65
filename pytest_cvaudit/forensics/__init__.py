"""Forensics: from printed numbers and the design alone to the aggregations that can have made them."""

from pytest_cvaudit.forensics.declared import declared_design
from pytest_cvaudit.forensics.design import Design
from pytest_cvaudit.forensics.explain import contradiction, possible_values
from pytest_cvaudit.forensics.solve import ClaimFit, Solution, Witness, solve
from pytest_cvaudit.forensics.studies.classes import Classes
from pytest_cvaudit.forensics.studies.datasets import Datasets
from pytest_cvaudit.forensics.studies.repeats import Repeats

__all__ = [
    "ClaimFit", "Classes", "Datasets", "Design", "Repeats", "Solution", "Witness", "contradiction", "declared_design",
    "possible_values", "solve",
]  # fmt: skip
