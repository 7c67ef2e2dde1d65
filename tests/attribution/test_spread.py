"""Which kind of spread the ± of a claim is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from aggregations.experiments import FORMAN_SCHOLZ, Log, aggregates, counts_experiment, examples, random_log, shapes
from aggregations.oracle import Row, defined, filled
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_cvaudit.attribution import attribute
from pytest_cvaudit.model import Cell, Claim, Experiment, FoldScores, Printed

if TYPE_CHECKING:
    from pytest_cvaudit.aggregations import Aggregates

KINDS = {
    "sd_n-1": lambda x: np.std(x, ddof=1),
    "sd_n": np.std,
    "standard error": lambda x: np.std(x, ddof=1) / np.sqrt(len(x)),
    "95% half-width (normal)": lambda x: stats.norm.ppf(0.975) * np.std(x, ddof=1) / np.sqrt(len(x)),
    "95% half-width (t)": lambda x: stats.t.ppf(0.975, len(x) - 1) * np.std(x, ddof=1) / np.sqrt(len(x)),
    "2 sd_n": lambda x: 2 * np.std(x),
}
FORMS = ("{0:.4f} ± {1:.4f}", "{0:.4f} (+/- {1:.4f})", "{0:.4f}±{1:.4f}")


def spread_of(known, name, value, spread, form=FORMS[0]):
    return attribute(Claim.parse(f"{name} = {form.format(value, spread)}"), known).spread


@examples(80)
@given(shape=shapes(), name=st.sampled_from(["f1", "recall", "mcc", "auc", "accuracy"]), form=st.sampled_from(FORMS))
def test_spread_over_folds(shape, name, form):
    log = random_log(shape, scored=True)
    known, oracle = aggregates(log.experiment()), log.oracle()
    values = oracle.per_fold(name).values()
    if shape.repeats > 1 or len(defined(values)) < 2:
        return
    # The plain mean fills in zeros for precision, recall and F; other measures are averaged where they are defined.
    sample = filled(values, 0) if name in ("f1", "recall") else defined(values)
    for kind, size in KINDS.items():
        assert f"{kind} over folds" in spread_of(known, name, np.mean(sample), size(sample), form), kind


@examples(40)
@given(shape=shapes(repeats=st.integers(2, 3)), name=st.sampled_from(["accuracy", "f1", "brier"]))
def test_spread_over_repeats(shape, name):
    log = random_log(shape, scored=True)
    known = aggregates(log.experiment())
    best = known.of_claim(Claim.parse(f"{name} = 0.5")).best
    if best.value is None:
        return
    for kind, size in KINDS.items():
        assert f"{kind} over repeats" in spread_of(known, name, best.value, size(best.per_repeat)), kind
    assert best.spread == pytest.approx(np.std(best.per_repeat, ddof=1), abs=1e-12)


def test_percent_sign_holds_for_the_spread_too():
    known = aggregates(counts_experiment(FORMAN_SCHOLZ[1]))
    sample = [1, 8 / 9, 8 / 21, 1 / 2]
    for text in ("{0:.1f} ± {1:.1f}%", "{0:.1f}% ± {1:.1f}%", "{0:.1f} ± {1:.1f} %"):
        found = spread_of(known, "f1", 100 * np.mean(sample), 100 * np.std(sample), text)
        assert found == ("sd_n over folds",), text


def test_no_spread_is_claimed():
    assert attribute(Claim.parse("f1 = 0.69"), aggregates(counts_experiment(FORMAN_SCHOLZ[1]))).spread is None


def test_no_kind_of_spread_fits():
    assert spread_of(aggregates(counts_experiment(FORMAN_SCHOLZ[1])), "f1", 0.6925, 0.9) == ()


def check_every_kind(known: Aggregates, name: str, sample: list[float]) -> None:
    """The mean of the sample is claimed with every kind of spread of the sample."""
    found = {kind: spread_of(known, name, np.mean(sample), size(sample)) for kind, size in KINDS.items()}
    assert not [kind for kind, kinds in found.items() if f"{kind} over folds" not in kinds], found


def two_classes(*folds: tuple[str, ...]) -> Log:
    """Folds of pairs such as ``ab``: a was true, b was predicted."""
    rows = (Row("0", str(fold), (pair[0],), (pair[1],)) for fold, pairs in enumerate(folds) for pair in pairs)
    return Log(tuple(rows), ("a", "b"), "a")


def test_skipped_folds_are_not_in_the_spread():
    """In the second table of Forman & Scholz the fold without predictions is left out of the mean and of its spread."""
    check_every_kind(aggregates(counts_experiment(FORMAN_SCHOLZ[2])), "f1", [2 / 3, 1, 1])


def test_spread_of_balanced_accuracy_over_the_classes_present():
    log = two_classes(("aa", "ab", "bb", "bb"), ("aa", "ab"), ("bb", "aa", "ab"))
    check_every_kind(aggregates(log.experiment()), "balanced_accuracy", [0.75, 0.5, 0.75])


def test_undefined_folds_counted_as_one_are_ones_in_the_spread():
    log = two_classes(("aa", "ab"), ("bb", "bb"), ("aa", "ba"))
    check_every_kind(aggregates(log.experiment()), "f1", [2 / 3, 1, 2 / 3])


@examples(60)
@given(st.lists(st.floats(0.05, 0.95), min_size=3, max_size=10), st.sampled_from(sorted(KINDS)))
def test_spread_of_printed_folds_allows_for_their_lost_digits(values, kind):
    printed = tuple(Printed.parse(f"{value:.3f}") for value in values)
    cells = tuple(Cell(str(index)) for index in range(len(values)))
    known = aggregates(Experiment("e", scores=FoldScores(cells, {"auc": printed})))
    found = attribute(Claim.parse(f"auc = {np.mean(values):.3f} ± {KINDS[kind](values):.3f}"), known)
    assert "avg" in found.matches
    assert f"{kind} over folds" in found.spread
