"""Every aggregation of every metric equals the brute-force oracle on random experiments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_cvaudit.model import metric

from .experiments import (
    AVERAGES,
    Log,
    Shape,
    aggregates,
    differences,
    examples,
    expected,
    label_shapes,
    random_log,
    shapes,
)


def check_against_oracle(log: Log, **protocol) -> None:
    """Compare every value, undefined ones included, and the values per fold."""
    kwargs = {"declared" if name == "labels" else name: value for name, value in protocol.items()}
    oracle, known = log.oracle(**kwargs), aggregates(log.experiment(**protocol))
    for name in log.metrics():
        table = known.of(metric(name))
        found = {way: value.value for way, value in table.values.items()}
        assert not differences(found, expected(oracle, name)), name
        assert all(value.reason for value in table.values.values() if value.value is None), name
        if name.split("_")[0] not in AVERAGES:
            cells = [(cell.repeat, cell.fold) for cell in table.cells]
            folds = {cell: None if np.isnan(v) else v for cell, v in zip(cells, table.per_fold.value, strict=True)}
            assert not differences(folds, oracle.per_fold(name)), name


@examples(170)
@given(label_shapes())
def test_single_label_experiments(shape):
    check_against_oracle(random_log(shape))


@examples(165)
@given(label_shapes())
def test_multi_label_experiments(shape):
    check_against_oracle(random_log(shape, multi=True))


@examples(165)
@given(shapes())
def test_scored_experiments(shape):
    check_against_oracle(random_log(shape, scored=True))


@examples(40)
@given(label_shapes(), st.booleans(), st.data())
def test_declared_labels_and_frequencies(shape, multi, data):
    log = random_log(shape, multi=multi)
    chosen = data.draw(st.sets(st.sampled_from(log.labels), min_size=1), label="declared labels")
    shares = {label: data.draw(st.integers(1, 9), label=label) / 10 for label in sorted(chosen)}
    protocol = {"labels": tuple(sorted(chosen)), "frequencies": shares}
    for some in (protocol, {"labels": protocol["labels"]}, {"frequencies": shares}):
        check_against_oracle(log, **some)


@pytest.mark.parametrize("scored", [False, True])
def test_hundreds_of_rows(scored):
    check_against_oracle(random_log(Shape(7, 10, 6, 2, 30, style="rounded"), scored=scored))
