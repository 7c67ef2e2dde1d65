"""Poorer evidence: counts without true negatives, predictions outside the label set, repeats of unequal content."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from pytest_cvaudit.aggregations import NotComputable
from pytest_cvaudit.model import Cell, Experiment, FoldCounts, Predictions, Protocol

from .experiments import FORMAN_SCHOLZ, Log, counts_experiment, differences, expected, table_of
from .oracle import Row


def counts_without_negatives(*rows: tuple[int, int, int]) -> Experiment:
    """Folds of which only tp, fp and fn of the positive label are logged."""
    tp, fp, fn = (np.array(column, dtype=np.int64)[:, None] for column in zip(*rows, strict=True))
    cells = tuple(Cell(str(index + 1)) for index in range(len(rows)))
    return Experiment("counts", counts=FoldCounts(cells, ("positive",), tp, fp, fn))


SMALL = counts_without_negatives((5, 1, 2), (1, 1, 3))


def test_counts_without_negatives_give_the_same_f():
    bare = counts_without_negatives(*(fold["positive"][:3] for fold in FORMAN_SCHOLZ[2]))
    full = table_of(counts_experiment(FORMAN_SCHOLZ[2]), "f1").values
    for way, value in table_of(bare, "f1").values.items():
        if way != "avg_weighted":
            assert value.value == full[way].value, way


@pytest.mark.parametrize("name", ["f1", "precision", "recall"])
def test_fold_sizes_are_not_invented(name):
    weighted = table_of(SMALL, name).values.get("avg_weighted")
    assert weighted is None or weighted.value is None, "without tn the size of a fold is not known"


@pytest.mark.parametrize("name", ["specificity", "accuracy", "mcc", "kappa", "balanced_accuracy"])
def test_what_needs_negatives_is_not_computable(name):
    with pytest.raises(NotComputable, match="tn"):
        table_of(SMALL, name)


@pytest.mark.parametrize("name", ["macro_f1", "micro_f1", "weighted_f1", "lfb_recall"])
def test_one_label_alone_has_no_average_over_labels(name):
    with pytest.raises(NotComputable):
        table_of(SMALL, name)


def test_predictions_outside_the_label_set_are_a_class_of_their_own():
    truth, predicted = np.array([0, 1, 0, 1, 1, 0]), np.array([0, 1, -1, -1, 1, 1])
    rows = Predictions((Cell("1"),), np.zeros(6, dtype=int), ("0", "1"), truth, predicted)
    experiment = Experiment("outside", Protocol(positive="1"), predictions=rows)
    wanted = {"mcc": matthews_corrcoef(truth, predicted), "kappa": cohen_kappa_score(truth, predicted)}
    for name, value in wanted.items():
        assert table_of(experiment, name).values["pooled"].value == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("name", ["macro_f1", "micro_recall", "weighted_f1", "lfb_f1"])
def test_label_sets_are_those_of_the_repeat(name):
    """The second repeat tests other instances (a run that broke off), so it has other labels."""
    first = [("1", "a", "a"), ("1", "b", "a"), ("1", "b", "b"), ("2", "a", "b"), ("2", "b", "b"), ("2", "a", "a")]
    second = [("1", "a", "a"), ("1", "c", "c"), ("2", "a", "c"), ("2", "c", "c")]
    runs = {"0": first, "1": second}
    rows = tuple(Row(repeat, fold, (gold,), (said,)) for repeat, run in runs.items() for fold, gold, said in run)
    log = Log(rows, ("a", "b", "c"), "a")
    found = {way: value.value for way, value in table_of(log.experiment(), name).values.items()}
    within = {way: value for way, value in expected(log.oracle(), name).items() if "_all" not in way}
    assert not differences({way: found[way] for way in within}, within)
