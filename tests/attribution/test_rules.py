"""Attribution at work: the audit of the published tables, and CV301 on simulated folds."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from aggregations.experiments import (
    FORMAN_SCHOLZ,
    TOLERANCE,
    Log,
    aggregates,
    counts_experiment,
    examples,
    random_log,
    shapes,
)
from aggregations.oracle import Ranking, Row
from hypothesis import given
from hypothesis import strategies as st

from pytest_cvaudit import audit
from pytest_cvaudit.checks.ranking import shift_between_folds
from pytest_cvaudit.model import Claim, Experiment, Outcome, Printed, Severity, Status, metric
from pytest_cvaudit.settings import load_settings
from pytest_cvaudit.tallies.tally import tally

if TYPE_CHECKING:
    from collections.abc import Callable

#: Table, claim, and the rule of the CV2xx that must fail.
FORMAN_SCHOLZ_RULES = [
    (1, "0.69", "CV201"), (1, "0.73", "CV202"), (1, "58%", None), (2, "89%", "CV203"), (2, "91%", "CV203"),
    (2, "77%", None), (2, "67%", "CV201"), (2, "68%", "CV202"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "printed", "code"), FORMAN_SCHOLZ_RULES)
def test_forman_scholz_claims_fail_the_right_rule(table, printed, code):
    found = audit([counts_experiment(FORMAN_SCHOLZ[table], f"f1 = {printed}")])
    errors = {one.code for one in found.findings if one.code.startswith("CV2") and one.severity is Severity.ERROR}
    assert errors == ({code} if code else set())
    statuses = {one.code: one.status for one in found.outcomes if one.code in ("CV201", "CV202", "CV203")}
    assert statuses == {other: Status.FAILED if other == code else Status.PASSED for other in statuses}


CV301 = load_settings(select=("CV301",))


def outcome_of(experiment: Experiment) -> Outcome:
    (outcome,) = audit([experiment], CV301).outcomes
    return outcome


@examples(80)
@given(shapes(repeats=st.just(1)))
def test_merged_auc_is_the_mean_over_pairs_of_folds(shape):
    log = random_log(shape, scored=True)
    folds: dict[str, tuple[list[float], list[float]]] = {}
    for row in log.rows:
        folds.setdefault(row.fold, ([], []))[row.gold == ("0",)].append(row.score)
    merged = aggregates(log.experiment()).of(metric("auc")).values["merge"].value
    total = sum(len(ups) for ups, _ in folds.values()) * sum(len(downs) for _, downs in folds.values())
    if not total:
        assert merged is None
        return
    pairs = 0.0
    for ups, _ in folds.values():
        for _, downs in folds.values():
            auc = Ranking([*((up, True) for up in ups), *((down, False) for down in downs)]).auc
            pairs += (auc or 0.0) * len(ups) * len(downs)
    assert abs(merged - pairs / total) <= TOLERANCE


def simulated(
    seed: int, folds: int, rows: int, share: float, offset: Callable[[int], float] | None = None, decimals: int = 6
) -> Log:
    """Scores of equally good models, each fold moved by an offset of its own."""
    rng = random.Random(seed)
    made = []
    for fold in range(folds):
        for _ in range(rows):
            gold = "1" if rng.random() < share else "0"
            score = round(rng.gauss(1.2 if gold == "1" else 0.0, 1.0), decimals)
            made.append(Row("0", str(fold), (gold,), (gold,), score + (offset(fold) if offset else 0.0)))
    return Log(tuple(made), ("0", "1"), "1", scored=True)


def claiming_merged(log: Log, **protocol) -> Experiment:
    """The experiment with its merged AUC claimed to three decimals."""
    value = aggregates(log.experiment()).of(metric("auc")).values["merge"].value
    return log.experiment(Claim(metric("auc"), Printed.parse(f"{value:.3f}"), aggregation="merge"), **protocol)


DESIGNS = {
    "ten folds": (10, 40, 0.5, 6),
    "rare positives": (10, 60, 0.1, 6),
    "two folds": (2, 50, 0.3, 6),
    "few rows": (5, 12, 0.4, 6),
    "tied scores": (5, 60, 0.3, 1),
    "many small folds": (20, 10, 0.5, 6),
}


@pytest.mark.parametrize(("folds", "rows", "share", "decimals"), DESIGNS.values(), ids=DESIGNS)
def test_calibrated_folds_are_not_accused(folds, rows, share, decimals):
    accused = sum(
        finding.severity is Severity.ERROR
        for seed in range(200)
        for finding in outcome_of(claiming_merged(simulated(seed, folds, rows, share, decimals=decimals))).findings
    )
    assert accused <= 2


SHIFTS = {
    "steps": lambda fold: 1.5 * fold,
    "one fold off": lambda fold: 4.0 * (fold == 0),
    "down": lambda fold: -1.0 * fold,
}


@pytest.mark.parametrize("protocol", [{}, {"calibrated": False}, {"calibrated": True}], ids=str)
@pytest.mark.parametrize("shift", SHIFTS.values(), ids=SHIFTS)
def test_shifted_folds_with_a_merged_claim_fail(shift, protocol):
    for seed in range(5):
        outcome = outcome_of(claiming_merged(simulated(seed, 5, 80, 0.4, shift), **protocol))
        assert outcome.status is Status.FAILED, outcome.reason
        (finding,) = outcome.findings
        assert finding.severity is Severity.ERROR
        assert ("declared calibrated" in finding.message) is bool(protocol.get("calibrated"))
        assert finding.evidence["within"] > finding.evidence["between"]


def test_shifted_folds_with_an_averaged_claim_pass():
    log = simulated(1, 5, 80, 0.4, SHIFTS["steps"])
    value = aggregates(log.experiment()).of(metric("auc")).values["avg"].value
    assert outcome_of(log.experiment(f"auc = {value:.3f}")).status is Status.PASSED


def test_perfectly_ranked_folds_have_no_shift():
    rows = (("1", 0.9), ("1", 0.8), ("0", 0.1), ("0", 0.2))
    made = tuple(Row("0", fold, (gold,), (gold,), score) for fold in "123" for gold, score in rows)
    log = Log(made, ("0", "1"), "1", scored=True)
    shift = shift_between_folds(tally(log.experiment()), 1)
    assert (shift.effect, shift.z) == (0, 0)
    assert not [one for one in audit([log.experiment("auc = 1.000")]).findings if one.code.startswith("CV3")]


def test_a_claim_that_one_fold_all_but_prints():
    table = counts_experiment(FORMAN_SCHOLZ[1], "f1 = 0.5")
    settings = load_settings(select=("CV502",))
    values = aggregates(table).of(metric("f1")).per_fold.value
    fold = int(values.argmax())
    (near,) = audit([counts_experiment(FORMAN_SCHOLZ[1], f"f1 = {values[fold] - 0.00015:.4f}")], settings).findings
    assert near.message.endswith(f"; fold {fold + 1} alone is nearer with {values[fold]:.6f}")
    (far,) = audit([counts_experiment(FORMAN_SCHOLZ[1], f"f1 = {values[fold] - 0.0005:.4f}")], settings).findings
    assert "alone" not in far.message
