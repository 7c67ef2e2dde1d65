"""The expected macro-F1 of two classes whose recalls are fixed, after Van Asch's section 7."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cvaudit.designs.bias import expectations
from pytest_cvaudit.designs.design import Classifier, Design

if TYPE_CHECKING:
    from collections.abc import Iterable


def limit_macro_f1(share: float, recall_a: float, recall_b: float) -> float:
    """Equation 31: macro-F1 where every count is what is expected; `share` is that of class A."""
    odds = (1 - share) / share
    f_a = recall_a / (1 + recall_a + (1 - recall_b) * odds)
    return f_a + recall_b * odds / (1 - recall_a + (1 + recall_b) * odds)


def expected_macro_f1(
    design: Design, recall_a: float, recall_b: float, names: Iterable[str] = ("tp_fp", "avg")
) -> dict[str, float]:
    """The exact expectation of macro-F1 for a design whose positives are class A, aggregated in each of these ways."""
    names = tuple(names)
    mirror = replace(design, positives=design.negatives)
    found = []
    for one, recall, other in ((design, recall_a, recall_b), (mirror, recall_b, recall_a)):
        classifier = Classifier.of_rates(recall, 1 - other, one.positives, one.negatives)
        found.append(expectations(one, classifier, names))
    values = {name: [one[name] for one in found] for name in names}
    return {name: sum(one.expectation for one in pair if one) / 2 for name, pair in values.items() if all(pair)}
