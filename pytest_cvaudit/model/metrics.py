"""The metrics by their canonical names, the names people write for them, and what each needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from pytest_cvaudit.errors import InputError, suggestion

#: Metric families; an aggregation table is built per family.
COUNTS, RANKING, LABELS = "counts", "ranking", "labels"

_POINT = ("accuracy", "error", "precision", "recall", "specificity", "npv", "balanced_accuracy", "mcc", "kappa")
_CURVE = ("auc", "ap", "auk", "max_f1", "max_mcc", "r_precision", "brier", "log_loss")
#: Known by name, so that a claim about them is understood, but not computed: such a claim is uncheckable.
_NOT_COMPUTED = ("h", "ece")
_UNBOUNDED = ("log_loss",)
_SIGNED = ("mcc", "kappa", "max_mcc", "auk")
_AVERAGES = ("macro", "micro", "lfb", "weighted")
#: One label against the rest, averaged over the labels: a ranking measure, no average of point measures.
_OVER_LABELS = ("macro_auc", "weighted_auc")

ALIASES: dict[str, str] = {
    "acc": "accuracy", "predictive_accuracy": "accuracy", "classification_accuracy": "accuracy", "error_rate": "error",
    "prec": "precision", "ppv": "precision", "positive_predictive_value": "precision",
    "rec": "recall", "sensitivity": "recall", "sens": "recall", "tpr": "recall", "true_positive_rate": "recall",
    "spec": "specificity", "tnr": "specificity", "true_negative_rate": "specificity",
    "negative_predictive_value": "npv",
    "bacc": "balanced_accuracy", "balanced_acc": "balanced_accuracy", "bal_acc": "balanced_accuracy",
    "f": "f1", "f_measure": "f1", "fmeasure": "f1", "f_score": "f1", "fscore": "f1", "f1_score": "f1", "f_1": "f1",
    "f1score": "f1", "f1_measure": "f1", "dice": "f1",
    "matthews": "mcc", "matthews_corrcoef": "mcc", "matthews_correlation_coefficient": "mcc", "phi": "mcc",
    "cohen_kappa": "kappa", "cohens_kappa": "kappa", "kappa_statistic": "kappa",
    "auroc": "auc", "roc_auc": "auc", "auc_roc": "auc", "rocauc": "auc", "aucroc": "auc", "area_under_roc": "auc",
    "area_under_roc_curve": "auc", "roc_auc_score": "auc",
    "roc_auc_ovr": "macro_auc", "roc_auc_ovr_weighted": "weighted_auc",
    "average_precision": "ap", "auprc": "ap", "auc_pr": "ap", "pr_auc": "ap", "prauc": "ap",
    "average_precision_score": "ap", "area_under_prc": "ap",
    "brier_score": "brier", "brier_score_loss": "brier", "logloss": "log_loss", "neg_log_likelihood": "log_loss",
    "cross_entropy": "log_loss", "h_measure": "h", "expected_calibration_error": "ece",
    "precision_at_r": "r_precision", "rprecision": "r_precision", "p_at_k": "precision_at_k",
}  # fmt: skip
_F_BETA = re.compile(r"^f_?(?:beta_?)?(\d+(?:\.\d+)?)$")
_AT_K = re.compile(r"^(?:precision|prec|p)(?:_at_|@|_@_)(\d+)$")


@dataclass(frozen=True)
class Metric:
    """One metric: its canonical name, its family, and its F-beta, k or average over labels where it has one."""

    name: str
    family: str
    beta: float | None = None
    k: int | None = None
    average: str | None = None
    base: str | None = None
    low: float = 0.0
    high: float = 1.0
    computed: bool = True

    @property
    def is_f(self) -> bool:
        """Tell whether this is an F-measure of one label."""
        return self.family == COUNTS and self.beta is not None


def normalise(name: str) -> str:
    """Bring a metric's name into the one spelling that the tables use."""
    text = re.sub(r"[\s\-]+", "_", name.strip().lower())
    return re.sub(r"_+", "_", text).strip("_")


@cache
def find_metric(name: str) -> Metric | None:
    """Return the metric that a written name stands for, or nothing."""
    text = normalise(name)
    text = ALIASES.get(text, text)
    if text in _POINT:
        return Metric(text, COUNTS, low=-1.0 if text in _SIGNED else 0.0)
    if text in _CURVE or text in _NOT_COMPUTED:
        high = float("inf") if text in _UNBOUNDED else 1.0
        return Metric(text, RANKING, low=-1.0 if text in _SIGNED else 0.0, high=high, computed=text in _CURVE)
    if match := _F_BETA.match(text):
        beta = float(match[1])
        return Metric(f"f{beta:g}", COUNTS, beta=beta) if beta > 0 else None
    if text == "precision_at_k":
        return Metric(text, RANKING)
    if match := _AT_K.match(text):
        return Metric("precision_at_k", RANKING, k=int(match[1]))
    return _average_over_labels(text)


def _average_over_labels(text: str) -> Metric | None:
    for average in _AVERAGES:
        for rest in (text.removeprefix(f"{average}_"), text.removesuffix(f"_{average}")):
            base = None if rest == text else find_metric(rest.removeprefix("averaged_").removeprefix("avg_"))
            if base is not None and f"{average}_{base.name}" in _OVER_LABELS:
                return Metric(f"{average}_{base.name}", RANKING, base=base.name)
            if base is not None and base.family == COUNTS and (base.name in ("precision", "recall") or base.is_f):
                return Metric(f"{average}_{base.name}", LABELS, beta=base.beta, average=average, base=base.name)
    return None


def metric(name: str) -> Metric:
    """Return the metric that a written name stands for, or say that there is none."""
    found = find_metric(name)
    if found is None:
        hint = suggestion(normalise(name), known_names())
        raise InputError(f"unknown metric '{name.strip()}'{hint} (known: {', '.join(known_names())})")
    return found


def known_names() -> list[str]:
    """List the canonical metric names for messages."""
    averages = [f"{a}_{b}" for a in _AVERAGES for b in ("f1", "precision", "recall")]
    return [*_POINT, "f1", "f0.5", "f2", *_CURVE, "precision_at_k", *_NOT_COMPUTED, *averages, *_OVER_LABELS]
