"""Forensics: from printed numbers and the design alone to the aggregations that can have made them."""

from pytest_cvaudit.forensics.design import Design
from pytest_cvaudit.forensics.explain import contradiction, possible_values
from pytest_cvaudit.forensics.solve import ClaimFit, Solution, Witness, solve

__all__ = ["ClaimFit", "Design", "Solution", "Witness", "contradiction", "possible_values", "solve"]
