"""Pooled measures as fractions of two linear forms in the total true and false positives."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from pytest_cvaudit.forensics.exact import squared

if TYPE_CHECKING:
    from pytest_cvaudit.forensics.design import Design
    from pytest_cvaudit.model import Metric

Number = int | Fraction


class Form(NamedTuple):
    """The linear form tp · TP + fp · FP + constant."""

    tp: Number
    fp: Number
    constant: Number


def pooled_form(metric: Metric, design: Design) -> tuple[Form, Form] | None:
    """Give numerator and denominator of a pooled measure; nothing for MCC, which has a root."""
    p, n, all_ = design.positives, design.negatives, design.instances
    if metric.beta is not None:
        square = squared(metric.beta)
        return Form(1 + square, 0, 0), Form(1, 1, square * p)
    forms: dict[str, tuple[Form, Form]] = {
        "accuracy": (Form(1, -1, n), Form(0, 0, all_)),
        "error": (Form(-1, 1, p), Form(0, 0, all_)),
        "precision": (Form(1, 0, 0), Form(1, 1, 0)),
        "recall": (Form(1, 0, 0), Form(0, 0, p)),
        "specificity": (Form(0, -1, n), Form(0, 0, n)),
        "npv": (Form(0, -1, n), Form(-1, -1, all_)),
        "balanced_accuracy": (Form(n, -p, p * n), Form(0, 0, 2 * p * n)),
        "kappa": (Form(2 * n, -2 * p, 0), Form(n - p, n - p, p * all_)),
    }
    return forms.get(metric.name)


def excess(form: tuple[Form, Form], bound: Fraction) -> Form:
    """The form that is at least zero exactly where the fraction is at least the bound."""
    top, bottom = form
    return Form(top.tp - bound * bottom.tp, top.fp - bound * bottom.fp, top.constant - bound * bottom.constant)
