"""The tables that Forman & Scholz and Van Asch print."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from .experiments import AVERAGES, BASES, FORMAN_SCHOLZ, Log, counts_experiment, differences, expected, table_of
from .oracle import Oracle, Row

PRINTED_BY_FORMAN_SCHOLZ = {
    1: {"tp_fp": 0.583333, "avg": 0.692460, "pr_re": 0.733618},
    2: {"tp_fp": 0.769231, "avg": 0.666667, "pr_re": 0.681818, "avg_skip": 0.888889, "pr_re_skip": 0.909091},
}


def values_of(experiment: Any, name: str) -> dict[str, float | None]:
    return {way: value.value for way, value in table_of(experiment, name).values.items()}


def exactly(values: dict[str, Fraction | None]) -> dict[str, float | None]:
    return {way: None if value is None else float(value) for way, value in values.items()}


@pytest.mark.parametrize("number", FORMAN_SCHOLZ)
def test_forman_scholz(number):
    found = values_of(counts_experiment(FORMAN_SCHOLZ[number]), "f1")
    for way, printed in PRINTED_BY_FORMAN_SCHOLZ[number].items():
        assert found[way] == pytest.approx(printed, abs=1e-6), way


@pytest.mark.parametrize("name", ["f1", "f0.5", "f2", "precision", "recall", "specificity", "accuracy"])
@pytest.mark.parametrize("number", FORMAN_SCHOLZ)
def test_forman_scholz_in_fractions(number, name):
    oracle = Oracle.from_counts(FORMAN_SCHOLZ[number], number=Fraction, positive="positive")
    found = values_of(counts_experiment(FORMAN_SCHOLZ[number]), name)
    assert not differences(found, exactly(expected(oracle, name)))


def test_forman_scholz_fractions_by_hand():
    first, second = (
        expected(Oracle.from_counts(table, number=Fraction, positive="positive"), "f1")
        for table in FORMAN_SCHOLZ.values()
    )
    assert (first["tp_fp"], first["avg"]) == (Fraction(7, 12), Fraction(349, 504))
    assert (second["tp_fp"], second["avg"], second["pr_re"]) == (Fraction(10, 13), Fraction(2, 3), Fraction(15, 22))
    assert (second["avg_skip"], second["pr_re_skip"]) == (Fraction(8, 9), Fraction(10, 11))


def single_label_fold(*counts: tuple[int, int, int]) -> dict[str, tuple[int, int, int, int]]:
    """A fold of labels c1, c2, … given by tp, fp and fn; every instance has one label."""
    n = sum(tp + fn for tp, _, fn in counts)
    return {f"c{i}": (tp, fp, fn, n - tp - fp - fn) for i, (tp, fp, fn) in enumerate(counts, 1)}


THIRD = single_label_fold((3, 2, 7), (1, 7, 9), (6, 6, 8), (6, 9, 0))
FIFTH = single_label_fold((6, 4, 4), (6, 4, 4), (6, 6, 6), (6, 2, 2))
#: Table, its counts, training frequencies, and precision and recall as printed: macro, micro, lfb.
VAN_ASCH = {
    3: (THIRD, ("0.1", "0.2", "0.3", "0.4"), ("0.406", "0.457"), ("0.4", "0.4"), ("0.395", "0.579")),
    4: (THIRD, ("0.25", "0.25", "0.35", "0.15"), ("0.406", "0.457"), ("0.4", "0.4"), ("0.416", "0.4")),
    5: (FIFTH, ("0.25", "0.25", "0.3", "0.2"), ("0.613", "0.613"), ("0.6", "0.6"), ("0.6", "0.6")),
}


@pytest.mark.parametrize("number", VAN_ASCH)
def test_van_asch_tables_3_to_5(number):
    counts, shares, *printed = VAN_ASCH[number]
    frequencies = dict(zip(counts, map(float, shares), strict=True))
    experiment = counts_experiment([counts], labels=tuple(counts), frequencies=frequencies)
    for average, pair in zip(("macro", "micro", "lfb"), printed, strict=True):
        for base, digits in zip(("precision", "recall"), pair, strict=True):
            value = values_of(experiment, f"{average}_{base}")["tp_fp@train"]
            assert float(f"{value:.3f}") == float(digits), (average, base)
    exact = dict(zip(counts, map(Fraction, shares), strict=True))
    oracle = Oracle.from_counts([counts], number=Fraction, declared=list(counts), frequencies=exact)
    for average in AVERAGES:
        for base in BASES:
            wanted = exactly(oracle.label_average(average, base))
            assert values_of(experiment, f"{average}_{base}") == pytest.approx(wanted, abs=1e-9), (average, base)


def test_van_asch_table_2():
    experiment = counts_experiment([single_label_fold((10, 10, 10), (90, 10, 10))], labels=("c1", "c2"))
    assert values_of(experiment, "macro_precision")["tp_fp@train"] == pytest.approx(0.7, abs=1e-12)
    micro = values_of(experiment, "micro_precision")["tp_fp@train"]
    assert micro == pytest.approx(100 / 120, abs=1e-12) and f"{micro:.2f}" == "0.83"


def label_sets(*rows: tuple[str, str]) -> Log:
    """A fold of multi-label rows, each its gold and its predicted labels as letters."""
    made = tuple(Row("0", "1", tuple(gold), tuple(predicted)) for gold, predicted in rows)
    return Log(made, ("A", "B", "C"), "A", multi=True)


def test_van_asch_table_6():
    log = label_sets(("A", "BC"), ("A", "A"))
    experiment = log.experiment(labels=("A", "B", "C"))
    counts = Oracle.from_rows(log.rows, log.labels, number=int).folds[0].counts
    assert counts == {"A": (1, 0, 1, 0), "B": (0, 1, 0, 1), "C": (0, 1, 0, 1)}
    precisions, recalls = (
        [table_of(experiment, name, label).values["pooled"].value for label in "ABC"]
        for name in ("precision", "recall")
    )
    assert (precisions, recalls) == ([1, 0, 0], [0.5, None, None])
    assert values_of(experiment, "macro_precision")["tp_fp@train"] == pytest.approx(1 / 3, abs=1e-12)
    assert values_of(experiment, "macro_recall")["tp_fp@train"] == pytest.approx(1 / 6, abs=1e-12)
    assert values_of(experiment, "micro_precision")["tp_fp@train"] == pytest.approx(1 / 3, abs=1e-12)
    assert values_of(experiment, "micro_recall")["tp_fp@train"] == 0.5


def test_van_asch_doubled_predictions_are_false_positives():
    experiment = label_sets(("A", "AAA")).experiment()
    assert values_of(experiment, "precision")["pooled"] == pytest.approx(1 / 3, abs=1e-12)
    assert values_of(experiment, "recall")["pooled"] == 1
    assert values_of(experiment, "accuracy")["pooled"] == 0


@pytest.mark.parametrize(("declared", "macro"), [(("c1", "c2"), 0.9), (("c1", "c2", "c3"), 0.6)])
def test_van_asch_label_set_is_the_declared_one_even_where_a_label_is_never_tested(declared, macro):
    experiment = counts_experiment([single_label_fold((9, 1, 1), (9, 1, 1))], labels=declared)
    assert values_of(experiment, "macro_f1")["tp_fp@train"] == pytest.approx(macro, abs=1e-12)


def test_frequencies_of_labels_that_are_never_tested_count_too():
    shares = {"c1": 0.4, "c2": 0.4, "c3": 0.2}
    experiment = counts_experiment([single_label_fold((9, 1, 1), (9, 1, 1))], labels=tuple(shares), frequencies=shares)
    assert values_of(experiment, "lfb_recall")["tp_fp@train"] == pytest.approx(0.72, abs=1e-12)


def test_single_label_micro_measures_are_the_accuracy():
    experiment = counts_experiment([THIRD, FIFTH])
    accuracy = values_of(experiment, "accuracy")["pooled"]
    for base in BASES:
        assert values_of(experiment, f"micro_{base}")["tp_fp@train"] == pytest.approx(accuracy, abs=1e-12)
