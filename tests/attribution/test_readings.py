"""Honest numbers under a loose name are told by their name, not accused; a ± that nothing prints is told too."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import auc, f1_score, precision_recall_curve

from pytest_cvaudit.engine import audit
from pytest_cvaudit.model import Cell, Claim, Experiment, Predictions, Printed, Severity
from pytest_cvaudit.settings import load_settings

GENERATOR = np.random.default_rng(5)
FOLD = np.repeat(np.arange(5), 60)
TRUTH = (GENERATOR.random(300) < 0.35).astype(int)
SCORE = TRUTH + GENERATOR.normal(size=300)
PREDICTED = (SCORE > 0.8).astype(int)


def found(claim):
    rows = Predictions(
        tuple(Cell(str(fold)) for fold in range(5)), FOLD, ("0", "1"), TRUTH, PREDICTED, scores={"1": SCORE}
    )
    experiment = Experiment("one", claims=(Claim.parse(claim),), predictions=rows)
    (audited,) = audit([experiment], load_settings(select=("CV502", "CV503", "CV207"))).audited
    return audited.attributions[0], audited.findings


def trapezoid(truth, score):
    precision, recall, _ = precision_recall_curve(truth, score)
    return auc(recall, precision)


per_fold = [f1_score(TRUTH[fold == FOLD], PREDICTED[fold == FOLD]) for fold in range(5)]


@pytest.mark.parametrize(
    ("claim", "reading"),
    [
        (f"f1 = {f1_score(TRUTH, PREDICTED, average='macro'):.4f}", "macro_f1 (tp_fp@train"),
        (f"f1 = {f1_score(TRUTH, PREDICTED, average='weighted'):.4f}", "weighted_f1 (tp_fp@test"),
        (f"f1 = {f1_score(TRUTH, PREDICTED, pos_label=0):.4f}", "f1 of label '0' (tp_fp"),
        (f"f1 = {np.median(per_fold):.4f}", "the median over folds"),
        (f"auprc = {trapezoid(TRUTH, SCORE):.5f}", "the area under the precision–recall curve by trapezoids (merge"),
    ],
)
def test_a_loose_name_is_a_warning_that_says_which(claim, reading):
    attribution, findings = found(claim)
    assert attribution.other_reading.startswith(reading)
    assert [(finding.code, finding.severity) for finding in findings] == [("CV502", Severity.WARNING)]
    assert reading in findings[0].message


@pytest.mark.parametrize(("spread", "codes"), [("0.3", ["CV502"]), (f"{np.std(per_fold):.3f}", [])])
def test_a_spread_that_nothing_prints_is_a_warning(spread, codes):
    _, findings = found(f"f1 = {np.mean(per_fold):.4f} ± {spread}")
    assert [finding.code for finding in findings] == codes
    assert all(finding.severity is Severity.WARNING for finding in findings)


@pytest.mark.parametrize(("text", "value", "fits"), [("0.99", 1.0, False), ("0.49", 0.5, False), ("0.59", 0.6, True)])
def test_cutting_digits_off_never_prints_a_value_that_needs_no_cutting(text, value, fits):
    # 0.6 is 0.59999999999999998 to a computer; 1.0 and 0.5 are themselves.
    assert Printed.parse(text).truncated.meets(value) is fits
