"""AUC of each label against the rest, averaged over the labels: scikit-learn's, and the count of all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from pytest_cvaudit.aggregations import Aggregates, NotComputable
from pytest_cvaudit.attribution import attribute
from pytest_cvaudit.engine import audit
from pytest_cvaudit.model import Cell, Claim, Experiment, Predictions, Protocol, Status, metric
from pytest_cvaudit.tallies.tally import tally

from .experiments import examples

NAMES = ("macro_auc", "weighted_auc")


def experiment(seed, *, labels=3, folds=4, repeats=1, n=30, complete=True, shift=0.0, scored=None, claims=()):
    """Chances that are better than nothing; ``shift`` moves the scores of each fold against the others."""
    rng = np.random.default_rng(seed)
    cells = tuple(Cell(str(fold), str(repeat)) for repeat in range(repeats) for fold in range(folds))
    cell = np.repeat(np.arange(len(cells)), n)
    truth = rng.choice(labels, len(cell), p=np.arange(1, labels + 1) / np.arange(1, labels + 1).sum())
    if complete:
        truth.reshape(-1, n)[:, :labels] = np.arange(labels)
    raw = rng.normal(size=(len(cell), labels)) + 1.2 * np.eye(labels)[truth]
    chances = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    names = tuple("abcdefg"[:labels])
    scores = {name: chances[:, i] + shift * cell for i, name in enumerate(names) if scored is None or name in scored}
    rows = Predictions(cells, cell, names, truth, chances.argmax(axis=1), scores=scores)
    return Experiment("random", Protocol(), tuple(Claim.parse(text) for text in claims), predictions=rows)


def table(one, name):
    claimed = Experiment(one.name, one.protocol, (Claim.parse(f"{name} = 0.5"),), predictions=one.predictions)
    return Aggregates(claimed, tally(claimed)).of(metric(name))


def brute(rows, chosen, name, *, present=False):
    """Count the pairs of each label against the rest; None where a label that counts has none."""
    parts, weights = [], []
    for code, label in enumerate(rows.labels):
        mine, others = (rows.scores[label][chosen & side] for side in (rows.truth == code, rows.truth != code))
        weight = len(mine) if name == "weighted_auc" else int((rows.truth == code).any())
        pairs = [(x > y) + (x == y) / 2 for x in mine for y in others]
        if (present and not pairs) or not weight:
            continue
        parts.append(np.mean(pairs) if pairs else np.nan)
        weights.append(weight)
    return np.average(parts, weights=weights) if parts else np.nan


@examples(40)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 2), st.booleans())
def test_against_all_pairs(seed, labels, repeats, complete):
    one = experiment(seed, labels=labels, repeats=repeats, n=9, complete=complete)
    rows, everything = one.predictions, np.ones(len(one.predictions.cell), dtype=bool)
    for name in NAMES:
        found = table(one, name)
        each = [brute(rows, rows.cell == i, name) for i in range(len(rows.cells))]
        np.testing.assert_allclose(found.per_fold.value, each, atol=1e-12)
        wanted = {"avg": np.mean(each)}
        wanted["avg_present"] = np.mean([brute(rows, rows.cell == i, name, present=True) for i in range(len(each))])
        parts = [part[~np.isnan(part)] for part in np.split(np.array(each), repeats)]
        wanted["avg_skip"] = np.mean([part.mean() if len(part) else np.nan for part in parts])
        wanted["merge"] = np.mean(
            [brute(rows, np.isin(rows.cell, part), name) for part in np.split(np.arange(len(each)), repeats)]
        )
        if repeats > 1:
            wanted["merge_all"] = brute(rows, everything, name)
        for way, value in wanted.items():
            got = found.values[way].value
            assert (got is None) if np.isnan(value) else got == pytest.approx(value, abs=1e-12), way


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", NAMES)
def test_against_scikit_learn(seed, name):
    one = experiment(seed, labels=3 + seed % 3)
    rows, found = one.predictions, table(one, name)
    chances = np.column_stack(list(rows.scores.values()))

    def theirs(chosen):
        return roc_auc_score(rows.truth[chosen], chances[chosen], multi_class="ovr", average=name.partition("_")[0])

    np.testing.assert_allclose(found.per_fold.value, [theirs(rows.cell == i) for i in range(4)], atol=1e-12)
    assert found.values["merge"].value == pytest.approx(theirs(rows.cell >= 0), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_with_two_labels_it_is_the_auc_whether_one_or_both_are_scored(name):
    both, single = experiment(1, labels=2), experiment(1, labels=2, scored=("b",))
    plain = Aggregates(single, tally(Experiment("", Protocol(positive="b"), predictions=single.predictions)))
    auc = plain.of(metric("auc"), "b").values
    for one in (both, single):
        values = table(one, name).values
        assert [values[way].value for way in ("avg", "merge")] == pytest.approx([auc["avg"].value, auc["merge"].value])


def test_a_label_that_never_occurs_does_not_count():
    one = experiment(2)
    rows = one.predictions
    wider = Predictions(
        rows.cells, rows.cell, (*rows.labels, "z"), rows.truth, rows.predicted,
        scores={**rows.scores, "z": np.zeros(len(rows.cell))},
    )  # fmt: skip
    for name in NAMES:
        assert table(Experiment("", predictions=wider), name).best == table(one, name).best


def test_without_a_score_per_label_it_says_which_is_missing():
    with pytest.raises(NotComputable, match="needs a score per label, and none for 'c' is logged"):
        table(experiment(3, scored=("a", "b")), "weighted_auc")


@pytest.mark.parametrize("name", NAMES)
def test_a_merged_claim_is_found_out_and_judged(name):
    quiet, shifted = experiment(4, n=200), experiment(4, n=200, shift=0.4)
    for one, status in ((quiet, Status.PASSED), (shifted, Status.FAILED)):
        merged = table(one, name).values["merge"].value
        claim = Claim.parse(f"{name} = {merged:.4f}")
        claimed = Experiment(one.name, one.protocol, (claim,), predictions=one.predictions)
        assert "merge" in attribute(claim, Aggregates(claimed, tally(claimed))).matches
        outcomes = {outcome.code: outcome for outcome in audit([claimed]).outcomes}
        assert outcomes["CV301"].status is status
        if status is Status.FAILED:
            assert f"'{claim}' is merge" in outcomes["CV301"].reason


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("roc_auc_ovr", "macro_auc"),
        ("roc_auc_ovr_weighted", "weighted_auc"),
        ("Weighted avg area under ROC", "weighted_auc"),
    ],
)
def test_names(written, name):
    assert metric(written).name == name
