"""Values of one fold that contradict each other whatever its size: F of precision and recall, balanced accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.forensics.folds.converter import EITHER, may_be_substituted, within
from pytest_cvaudit.forensics.folds.means import f_of

if TYPE_CHECKING:
    from pytest_cvaudit.forensics.exact import Bounds
    from pytest_cvaudit.forensics.folds.converter import Fold
    from pytest_cvaudit.model import Metric


def contradictory(fold: Fold) -> bool:
    """Tell whether no table of any size prints the values; those that may stand for undefined ones are left out."""
    known = [(metric, printed) for metric, printed in fold.printed if not may_be_substituted(printed)]
    sure = {metric.name: within(printed, EITHER) for metric, printed in known}
    for metric, _ in fold.printed:
        implied = _implied(metric, sure)
        if metric.name in sure and implied is not None:
            low, high = sure[metric.name]
            if implied[1] < low or implied[0] > high:
                return True
    return False


def _implied(metric: Metric, sure: dict[str, Bounds]) -> Bounds | None:
    """What the other values leave to a measure."""
    precision, recall, specificity = (sure.get(name) for name in ("precision", "recall", "specificity"))
    if metric.is_f and precision is not None and recall is not None:
        return f_of(metric, precision, recall)
    if metric.name == "balanced_accuracy" and recall is not None and specificity is not None:
        return (recall[0] + specificity[0]) / 2, (recall[1] + specificity[1]) / 2
    return None
