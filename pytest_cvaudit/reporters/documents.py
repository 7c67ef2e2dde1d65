"""The two documents that every format is made from: what ``check`` found, and what ``report`` shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cvaudit.aggregations import NotComputable, confusion
from pytest_cvaudit.aggregations.values import repeats_of
from pytest_cvaudit.designs import Fold, sentence
from pytest_cvaudit.from_scores import REBUILT
from pytest_cvaudit.model import Finding, Status, metric

if TYPE_CHECKING:
    from pytest_cvaudit.aggregations import Aggregates, MetricTable
    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.engine import Audit, Audited

VERSION = 1
#: With more folds nobody reads the sentence about bias.
_MOST_FOLDS = 100
#: A larger confusion matrix is left out.
_MOST_LABELS = 100
_FOLD_METRICS = ("precision", "recall", "f1", "auc")


def check_document(audit: Audit) -> dict[str, Any]:
    """What a check found: findings, outcomes and their counts."""
    return {
        "version": VERSION,
        "findings": [_finding(finding) for finding in audit.findings],
        "outcomes": [
            {"experiment": o.experiment, "code": o.code, "status": str(o.status), "reason": o.reason}
            for o in audit.outcomes
        ],
        "summary": {str(status): audit.count(status) for status in Status},
    }


def report_document(audit: Audit) -> dict[str, Any]:
    """What a report shows: per experiment its folds, every aggregation of every metric, its claims and findings."""
    return {"version": VERSION, "experiments": [_experiment(one) for one in audit.audited]}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": str(finding.severity),
        "confidence": finding.confidence,
        "experiment": finding.experiment,
        "claim": finding.claim,
        "fold": finding.fold,
        "label": finding.label,
        "message": finding.message,
        "evidence": plain(dict(finding.evidence)),
        "tip": finding.tip,
        "location": {"path": finding.location.path, "line": finding.location.line},
        "fingerprint": finding.fingerprint,
        "suppressed": finding.suppressed is not None,
        "reason": finding.suppressed,
    }


def _experiment(audited: Audited) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": audited.experiment.name,
        "evidence": str(audited.experiment.evidence),
        "folds": _folds(audited),
        "metrics": {name: _metric(table) for name, table in audited.aggregates.shown()},
        "claims": [_claim(attribution) for attribution in audited.attributions],
        "findings": [_finding(finding) for finding in audited.findings],
    }
    if audited.rebuilt:
        document["note"] = REBUILT
    rows = audited.experiment.predictions
    found = confusion(rows) if rows is not None and 2 < len(rows.labels) <= _MOST_LABELS else None
    if found is not None:
        # Rows add up to gold occurrences, columns to predicted ones; in multi-label data the cells differ.
        table = {"by_row": found.by_row.tolist(), "by_column": found.by_column.tolist()}
        document["confusion"] = {"labels": list(found.labels), **table}
    return document


def bias_note(audited: Audited) -> str | None:
    """Say how far the mean of per-fold F is expected from the truth for folds of these sizes."""
    tallies = audited.aggregates.tallies
    if tallies is None or tallies.counts is None or tallies.positive is None or not tallies.knows_negatives:
        return None
    cells, label = repeats_of(tallies.cells)[0], tallies.positive
    tp, fp, fn = (int(getattr(tallies.counts, part)[:, label].sum()) for part in ("tp", "fp", "fn"))
    if not tp or not 2 <= len(cells) <= _MOST_FOLDS:
        return None
    positives = tallies.gold[cells, label].tolist()
    folds = [Fold(number, size - number) for number, size in zip(positives, tallies.n[cells].tolist(), strict=True)]
    return sentence(folds, tp / (tp + fp), tp / (tp + fn))


def _folds(audited: Audited) -> list[dict[str, Any]]:
    """The fold table: counts of the positive label where there is one, and the measures per fold."""
    aggregates, tallies, experiment = audited.aggregates, audited.aggregates.tallies, audited.experiment
    per_fold = {name: _per_fold(aggregates, name) for name in _FOLD_METRICS}
    rows: list[dict[str, Any]] = []
    for cell in experiment.cells:
        row: dict[str, Any] = {"repeat": cell.repeat, "fold": cell.fold, "n": None, "positives": None}
        row |= dict.fromkeys(("tp", "fp", "fn", "tn"))
        if tallies is not None:
            index, positive = tallies.cells.index(cell), tallies.positive
            row["n"] = int(tallies.n[index]) if tallies.knows_negatives else None
            row["positives"] = int(tallies.gold[index, positive]) if positive is not None else None
            if tallies.counts is not None and positive is not None:
                row |= {part: int(getattr(tallies.counts, part)[index, positive]) for part in ("tp", "fp", "fn", "tn")}
                row["tn"] = row["tn"] if tallies.knows_negatives else None
        elif experiment.scores is not None:
            index = experiment.scores.cells.index(cell)
            row["n"] = experiment.scores.n[index] if experiment.scores.n else None
            row["positives"] = experiment.scores.positives[index] if experiment.scores.positives else None
        rows.append(row | {name: values.get(cell) for name, values in per_fold.items()})
    return rows


def _per_fold(aggregates: Aggregates, name: str) -> dict[Any, float | None]:
    try:
        table = aggregates.of(metric(name))
    except NotComputable:
        return {}
    return {cell: plain(float(value)) for cell, value in zip(table.cells, table.per_fold.value, strict=True)}


def _metric(table: MetricTable) -> dict[str, Any]:
    undefined = {name: value.reason for name, value in table.values.items() if value.value is None}
    if table.best.value is None:
        # The metric's own name answers "why is there no recommended value?" without knowing which aggregation that is.
        undefined[table.metric.name] = table.best.reason
    intervals = {
        name: [value.low, value.high]
        for name, value in table.values.items()
        if value.value is not None and value.low < value.high
    }
    spreads = {name: value.spread for name, value in table.values.items() if value.spread is not None}
    return {
        "recommended": table.recommended,
        "values": {name: value.value for name, value in table.values.items()},
        "undefined": undefined,
        "same": {name: value.alias_of for name, value in table.values.items() if value.alias_of is not None},
        "intervals": intervals,
        "sd_over_repeats": spreads,
    }


def _claim(attribution: Attribution) -> dict[str, Any]:
    claim, best = attribution.claim, attribution.recommended
    return {
        "metric": claim.metric.name,
        "printed": claim.printed.text,
        "verdict": attribution.verdict,
        "matches": list(attribution.matches),
        "recommended": best.value if best is not None else None,
        "delta": attribution.delta,
        "name": claim.name,
        "label": claim.label,
        "aggregation": claim.aggregation,
        "recommended_aggregation": attribution.recommended_name,
        "single_folds": list(attribution.single_folds),
        "nearest": [{"aggregation": name, "value": value} for name, value in attribution.nearest],
        "truncated": attribution.truncated,
        "spread": None if attribution.spread is None else list(attribution.spread),
        "where": claim.where,
        "line": claim.line,
        "reason": attribution.reason,
    }


def plain(value: Any) -> Any:
    """Turn numpy values into plain ones and undefined numbers into None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
