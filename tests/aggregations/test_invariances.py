"""What must not matter: the order of rows, the names of folds and labels, and where the tallies were made."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_cvaudit.model import Cell, sorted_cells
from pytest_cvaudit.tallies.tally import Tallies, tally

from .experiments import Log, all_values, differences, examples, label_shapes, random_log, shapes
from .oracle import Row

LOGS = st.one_of(
    label_shapes().map(random_log),
    label_shapes().map(lambda shape: random_log(shape, multi=True)),
    shapes().map(lambda shape: random_log(shape, scored=True)),
)


def shuffled(log: Log, seed: int) -> Log:
    return replace(log, rows=tuple(random.Random(seed).sample(log.rows, len(log.rows))))


def with_other_folds(log: Log, seed: int) -> Log:
    """Name folds and repeats anew, so that their natural order changes."""
    rng = random.Random(seed)
    names = {name: f"{rng.choice('ab')}{rng.randrange(10**6)}-{name}" for name in {row.fold for row in log.rows}}
    repeats = {name: f"r{rng.randrange(10**6)}.{name}" for name in {row.repeat for row in log.rows}}
    return replace(log, rows=tuple(row._replace(fold=names[row.fold], repeat=repeats[row.repeat]) for row in log.rows))


def with_other_labels(log: Log, seed: int) -> Log:
    """Name labels anew, so that their order changes."""
    rng = random.Random(seed)
    names = {label: f"{rng.randrange(10**6)}{label}" for label in log.labels}

    def renamed(labels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names[label] for label in labels)

    rows = tuple(row._replace(gold=renamed(row.gold), predicted=renamed(row.predicted)) for row in log.rows)
    return replace(log, rows=rows, labels=renamed(log.labels), positive=names[log.positive])


@pytest.mark.parametrize("change", [shuffled, with_other_folds, with_other_labels], ids=lambda f: f.__name__)
@examples(25)
@given(log=LOGS, seed=st.integers(0, 2**32 - 1))
def test_same_values(change, log, seed):
    other = change(log, seed)
    assert not differences(all_values(other, other.experiment()), all_values(log, log.experiment()))


def halves(log: Log, seed: int) -> tuple[Log, Log]:
    rng = random.Random(seed)
    chosen = [rng.random() < 0.5 for _ in log.rows]
    one, two = (tuple(r for r, first in zip(log.rows, chosen, strict=True) if first is side) for side in (True, False))
    return replace(log, rows=one), replace(log, rows=two)


def levels(tallies: Tallies, label: int) -> list[list[list[float]]]:
    return [[part.tolist() for part in curve.levels()] for curve in tallies.curves[label]]


def check_same_tallies(merged: Tallies, whole: Tallies) -> None:
    assert merged.cells == whole.cells and merged.labels == whole.labels
    assert merged.positive == whole.positive
    assert merged.single_label == whole.single_label
    np.testing.assert_array_equal(merged.n, whole.n)
    np.testing.assert_array_equal(merged.gold, whole.gold)
    for part in ("tp", "fp", "fn", "tn", "n", "correct"):
        np.testing.assert_array_equal(getattr(merged.counts, part), getattr(whole.counts, part))
    assert merged.curves.keys() == whole.curves.keys()
    assert all(levels(merged, label) == levels(whole, label) for label in whole.curves)
    assert merged.decimals == whole.decimals


@examples(60)
@given(log=LOGS, seed=st.integers(0, 2**32 - 1))
def test_merged_tallies_of_halves_are_those_of_the_whole(log, seed):
    one, two = halves(log, seed)
    if not one.rows or not two.rows:
        return
    whole = log.experiment()
    merged = tally(one.experiment()).merge(tally(two.experiment()))
    check_same_tallies(replace(merged, decimals=tally(whole).decimals), tally(whole))
    assert not differences(all_values(log, whole, merged), all_values(log, whole))


def _scored(*rows: tuple[str, str, float]) -> Log:
    made = tuple(Row("0", fold, (gold,), (gold,), score) for fold, gold, score in rows)
    return Log(made, tuple(dict.fromkeys(gold for _, gold, _ in rows)), "1", scored=True)


@pytest.mark.parametrize("first", ["0", "1"])
def test_merging_parts_of_one_class_each_keeps_the_positive_label(first):
    whole = _scored(("1", "0", 0.3), ("1", "1", 0.62), ("2", "0", 0.45), ("2", "1", 0.15))
    # A part knows only the labels that it has seen.
    parts = [tuple(row for row in whole.rows if (row.gold == (first,)) is side) for side in (True, False)]
    one, two = (tally(replace(whole, rows=part, labels=part[0].gold).experiment()) for part in parts)
    merged = one.merge(two)
    assert merged.positive is not None and merged.labels[merged.positive] == "1"


def test_merging_knows_rounded_scores_where_one_part_has_fewer_digits():
    whole = _scored(("1", "0", 0.5), ("1", "1", 0.25), ("2", "0", 0.5), ("2", "1", 0.75))
    one, two = (replace(whole, rows=tuple(r for r in whole.rows if (r.score == 0.5) is half)) for half in (True, False))
    merged = tally(one.experiment()).merge(tally(two.experiment()))
    assert merged.decimals == tally(whole.experiment()).decimals == 2


def test_fold_names_that_only_look_like_digits_are_sorted():
    assert len(sorted_cells([Cell("1²"), Cell("1"), Cell("²")])) == 3
