"""A number that some aggregation prints is attributed to that aggregation; one that none prints is not."""

from __future__ import annotations

import numpy as np
import pytest
from aggregations.experiments import (
    FORMAN_SCHOLZ,
    Log,
    aggregates,
    counts_experiment,
    examples,
    label_shapes,
    random_log,
    shapes,
)
from aggregations.oracle import Row
from hypothesis import given
from hypothesis import strategies as st

from pytest_cvaudit.attribution import UNCHECKABLE, UNEXPLAINED, UNIQUE, attribute
from pytest_cvaudit.engine import audit
from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Cell, Claim, Experiment, FoldCounts, Predictions, Printed, Protocol, metric

from .printing import STYLES

LOGS = st.one_of(
    label_shapes().map(random_log),
    label_shapes().map(lambda shape: random_log(shape, multi=True)),
    shapes().map(lambda shape: random_log(shape, scored=True)),
)


@examples(200)
@given(log=LOGS, style=STYLES, data=st.data())
def test_printed_aggregation_is_among_the_matches(log, style, data):
    known = aggregates(log.experiment())
    name = data.draw(st.sampled_from(log.metrics()), label="metric")
    table = known.of(metric(name))
    defined = {way: value.value for way, value in table.values.items() if value.value is not None}
    if not defined:
        return
    way = data.draw(st.sampled_from(sorted(defined)), label="aggregation")
    found = attribute(Claim.parse(f"{name} = {style.show(defined[way])}"), known)
    if style.cuts and not found.truncated:
        # Rounding explains it by another aggregation; truncation is asked for only if nothing else fits.
        assert found.matches, (found.verdict, found.nearest)
    else:
        assert table.canonical(way) in found.matches, (found.verdict, found.matches, found.nearest)


@examples(100)
@given(log=LOGS, style=STYLES, data=st.data())
def test_numbers_far_from_every_aggregation_are_unexplained(log, style, data):
    known = aggregates(log.experiment())
    name = data.draw(st.sampled_from(log.metrics()), label="metric")
    wanted = metric(name)
    table = known.of(wanted)
    # Some values stand for an interval, and with tied scores it is a wide one.
    near = [bound for value in table.distinct().values() for bound in (value.low, value.value, value.high)]
    candidate = data.draw(st.floats(wanted.low, min(wanted.high, 2.0)), label="claim")
    inside = any(value.low - 0.03 < candidate < value.high + 0.03 for value in table.distinct().values())
    if not near or inside or min(abs(bound - candidate) for bound in near) < 0.03:
        return
    found = attribute(Claim.parse(f"{name} = {style.show(candidate)}"), known)
    unknown = any(value.unknown for value in table.values.values())
    assert found.verdict == (UNCHECKABLE if unknown else UNEXPLAINED)
    assert not found.matches and found.nearest


def test_rounding_comes_before_cutting_off():
    experiment = counts_experiment(FORMAN_SCHOLZ[1])
    rounded = attribute(Claim.parse("f1 = 0.692"), aggregates(experiment))
    cut = attribute(Claim.parse("f1 = 0.6924"), aggregates(experiment))
    assert (rounded.matches, rounded.truncated) == (("avg",), False)
    assert (cut.matches, cut.truncated) == (("avg",), True)


@pytest.mark.parametrize("text", ["-0.00", "0.00"])
def test_small_negative_numbers_that_were_cut_off(text):
    """A kappa of -0.0099 is cut off to -0.00, or to 0.00 where the sign of zero is not printed."""
    counts = {"1": (25, 26, 25, 25), "0": (25, 25, 26, 25)}
    experiment = counts_experiment([counts, counts])
    value = aggregates(experiment).of(metric("kappa")).best.value
    assert -0.01 < value < -0.005
    found = attribute(Claim.parse(f"kappa = {text}"), aggregates(experiment))
    assert found.verdict != UNEXPLAINED and "pooled" in found.matches


def test_average_precision_of_the_scores_as_logged_is_explained():
    """Tied positives share one threshold, as in scikit-learn, and lie outside of what breaking the ties would give."""
    rows = [("0", 0.95), ("1", 0.85), ("1", 0.85), ("0", 0.15)]
    made = tuple(Row("0", fold, (gold,), (gold,), score) for fold in "12" for gold, score in rows)
    experiment = Log(made, ("0", "1"), "1", scored=True).experiment()
    found = attribute(Claim.parse("ap = 0.6667"), aggregates(experiment))
    assert "avg" in found.matches, found.nearest


PREDICTIONS = Predictions(
    (Cell("1"), Cell("2")), np.array([0, 0, 1, 1]), ("0", "1"), np.array([0, 1, 0, 1]), np.array([0, 1, 1, 1])
)
ONLY_SCORES = Predictions(
    PREDICTIONS.cells, PREDICTIONS.cell, ("0", "1"), PREDICTIONS.truth, scores={"1": np.array([0.1, 0.9, 0.7, 0.8])}
)
THREE_LABELS = Predictions(
    PREDICTIONS.cells, PREDICTIONS.cell, ("a", "b", "c"), np.array([0, 1, 2, 1]), np.array([0, 1, 1, 1])
)
NO_TN = FoldCounts(
    (Cell("1"), Cell("2")), ("positive",), *(np.array([[4], [5]]), np.array([[1], [2]]), np.array([[2], [1]]))
)
UNCHECKABLE_CLAIMS = {
    "nothing is logged": (Experiment("e"), "f1 = 0.5", "logged"),
    "no scores": (Experiment("e", predictions=PREDICTIONS), "auc = 0.5", "score"),
    "no predicted labels": (Experiment("e", predictions=ONLY_SCORES), "f1 = 0.5", "predicted labels"),
    "no tn": (Experiment("e", counts=NO_TN), "specificity = 0.5", "tn"),
    "no table": (Experiment("e", counts=NO_TN), "accuracy = 0.5", "tn"),
    "no positive label": (Experiment("e", predictions=THREE_LABELS), "f1 = 0.5", "which label is positive"),
    "not computed": (Experiment("e", predictions=ONLY_SCORES), "h = 0.5", "not computed"),
    "no k": (Experiment("e", predictions=ONLY_SCORES), "precision_at_k = 0.5", "k"),
    "unknown label": (Experiment("e", predictions=THREE_LABELS), "f1", "not in the log"),
}


@pytest.mark.parametrize(("experiment", "claim", "says"), UNCHECKABLE_CLAIMS.values(), ids=UNCHECKABLE_CLAIMS)
def test_missing_evidence_makes_a_claim_uncheckable(experiment, claim, says):
    read = Claim.parse(claim) if "=" in claim else Claim(metric(claim), Printed.parse("0.5"), label="z")
    found = attribute(read, aggregates(experiment))
    assert found.verdict == UNCHECKABLE
    assert says in found.reason


def test_one_fold_without_declared_labels_cannot_say_what_training_held():
    single = Predictions(
        (Cell("1"),), np.zeros(4, dtype=int), ("a", "b", "c"), THREE_LABELS.truth, THREE_LABELS.predicted
    )
    found = attribute(Claim.parse("macro_f1 = 0.11"), aggregates(Experiment("e", predictions=single)))
    assert found.verdict == UNCHECKABLE and "training labels unknown" in found.reason
    declared = Experiment("e", Protocol(labels=("a", "b", "c")), predictions=single)
    assert attribute(Claim.parse("macro_f1 = 0.11"), aggregates(declared)).verdict == UNEXPLAINED


FORMAN_SCHOLZ_CLAIMS = [
    (1, "0.58", "tp_fp"), (1, "58%", "tp_fp"), (1, "0.69", "avg"), (1, "69%", "avg"), (1, "0.73", "pr_re"),
    (1, "73%", "pr_re"), (2, "77%", "tp_fp"), (2, "67%", "avg"), (2, "68%", "pr_re"), (2, "89%", "avg_skip"),
    (2, "91%", "pr_re_skip"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "printed", "way"), FORMAN_SCHOLZ_CLAIMS)
def test_forman_scholz_claims_are_unique(table, printed, way):
    found = attribute(Claim.parse(f"f1 = {printed}"), aggregates(counts_experiment(FORMAN_SCHOLZ[table])))
    assert (found.verdict, found.matches) == (UNIQUE, (way,))


BESIDE = (
    "fold,tn,fp,fn,tp,f1\n1,39,4,1,70,{}\n2,41,2,1,70,0.979\n3,40,2,0,72,0.9863\n4,42,0,0,72,1.0\n5,41,1,1,70,0.9859\n"
)


@pytest.mark.parametrize(
    ("first", "claim", "matched"),
    [
        # The mean of the counts' own F1 is 0.983351, that of the printed ones 0.98334.
        ("0.9655", "0.9833", True),
        ("0.9655", "0.9834", True),
        ("0.9655", "0.9832", False),
        # A value that the counts do not print is no way to make the claim.
        ("0.9600", "0.9822", False),
    ],
)
def test_a_mean_of_printed_folds_beside_their_counts(tmp_path, first, claim, matched):
    (tmp_path / "log.csv").write_text(BESIDE.format(first))
    (one,) = experiment_from_log(tmp_path / "log.csv", claims=[f"f1 = {claim}"])
    (found,) = audit([one]).audited[0].attributions
    assert ("avg" in found.matches) == matched
    assert found.table.values["avg"].value == pytest.approx(0.983351, abs=1e-6)


def test_the_only_candidate_of_a_search_claims_its_mean(tmp_path):
    (tmp_path / "search.csv").write_text(
        "mean_fit_time,params,split0_test_f1,split1_test_f1,split2_test_f1,mean_test_f1,std_test_f1\n"
        "0.1,{'C': 1},0.5,0.6,0.7,0.9,0.0816\n"
    )
    (one,) = experiment_from_log(tmp_path / "search.csv")
    (found,) = audit([one]).audited[0].attributions
    assert (one.name, found.claim.printed.value, found.verdict) == ("search", 0.9, UNEXPLAINED)
