"""What WEKA's Explorer prints below its predictions: the summary of the test, as claims."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_cvaudit.model import Claim, Printed, metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Not the MCC and the area under precision and recall: of one class, and by another interpolation.
_COLUMNS = {"Precision": "precision", "Recall": "recall", "F-Measure": "f1", "ROC Area": "auc"}
_CORRECT = re.compile(r"^Correctly Classified Instances\s+[\d.]+\s+([\d.]+)\s*%")
_KAPPA = re.compile(r"^Kappa statistic\s+(-?[\d.]+)\s*$")
_DETAILS = "=== Detailed Accuracy By Class ==="
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WEIGHTED = "Weighted Avg."
_TRAINING = re.compile(r"^=== .*training", re.IGNORECASE)


def summary_claims(lines: Sequence[str], labels: Sequence[str]) -> tuple[Claim, ...]:
    """Return the numbers of the summary, if there is just one and it is not of the training data."""
    if sum(bool(_CORRECT.match(line)) for line in lines) != 1 or any(map(_TRAINING.match, lines)):
        return ()
    return tuple(_claims(lines, labels))


def _claims(lines: Sequence[str], labels: Sequence[str]) -> Iterator[Claim]:
    for line in lines:
        if match := _CORRECT.match(line):
            yield Claim(metric("accuracy"), Printed.parse(f"{match[1]}%"), where="Summary")
        elif match := _KAPPA.match(line):
            yield Claim(metric("kappa"), Printed.parse(match[1]), where="Summary")
    start = next((at for at, line in enumerate(lines) if line.strip() == _DETAILS), len(lines))
    below = [line for line in lines[start + 1 :] if line.strip()]
    names = re.split(r"\s{2,}", below[0].strip()) if below else []
    if names[-1:] != ["Class"]:
        return
    for line in below[1:]:
        weighted = line.startswith(_WEIGHTED)
        values = line.removeprefix(_WEIGHTED).split(maxsplit=len(names) - 1)
        label = None if weighted else values[-1].strip().strip("'")
        if len(values) < len(names) - weighted or not (weighted or label in labels):
            return
        for name, value in zip(names, values, strict=False):
            if name in _COLUMNS and _NUMBER.fullmatch(value):
                known = f"weighted_{_COLUMNS[name]}" if weighted else _COLUMNS[name]
                yield Claim(metric(known), Printed.parse(value), label=label, where="Detailed Accuracy By Class")
        if weighted:
            return
