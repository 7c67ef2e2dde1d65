"""What is undefined says so: with a reason that names the folds that are to blame, and only those."""

from __future__ import annotations

import pytest
from hypothesis import given

from pytest_cvaudit.aggregations import cell_name
from pytest_cvaudit.model import metric

from .experiments import Log, aggregates, counts_experiment, examples, label_shapes, random_log, shapes, table_of
from .oracle import Row


def check_reasons(log: Log, names: list[str]) -> None:
    oracle, known = log.oracle(), aggregates(log.experiment())
    for name in names:
        table = known.of(metric(name))
        for way, value in table.values.items():
            if value.value is not None or not way.startswith(("avg", "pr_re")):
                continue
            blamed = oracle.undefined(name, way)
            allowed = {cell_name(cell, table.cells) for cell in table.cells if (cell.repeat, cell.fold) in blamed}
            where = f"{name} {way}: {value.reason}"
            assert value.folds, where
            assert set(value.folds) <= allowed, where
            if "skip" not in way and "nan" not in way and "positives" not in way:
                assert set(value.folds) == allowed, where


@examples(40)
@given(label_shapes())
def test_point_measures_name_the_undefined_folds(shape):
    check_reasons(random_log(shape), ["f1", "precision", "recall", "balanced_accuracy", "mcc", "kappa"])


@examples(40)
@given(shapes())
def test_ranking_measures_name_the_undefined_folds(shape):
    check_reasons(random_log(shape, scored=True), ["auc", "ap", "max_mcc", "r_precision", "brier", "precision_at_3"])


@examples(40)
@given(label_shapes())
def test_label_averages_name_the_undefined_folds(shape):
    check_reasons(random_log(shape, multi=True), ["macro_f1", "micro_precision", "lfb_recall", "weighted_f1"])


def test_skipping_every_fold_names_the_folds_without_predictions():
    nothing = {"1": (0, 0, 3, 9), "0": (9, 3, 0, 0)}
    value = table_of(counts_experiment([nothing, nothing]), "f1").values["avg_skip"]
    assert value.value is None
    assert value.folds == ("fold 1", "fold 2")


def test_a_fold_without_gold_labels_is_named_and_no_other():
    rows = [Row("0", "1", ("a",), ("a",)), Row("0", "2", (), ("a",)), Row("0", "3", ("b",), ("b",))]
    value = table_of(Log(tuple(rows), ("a", "b"), "a", multi=True).experiment(), "macro_f1").values["avg@fold"]
    assert value.value is None
    assert value.folds == ("fold 2",)


def test_two_folds_are_not_called_a_single_one():
    rows = (Row("0", "1", ("a",), ("a",)), Row("0", "2", (), ("a",)))
    table = table_of(Log(rows, ("a", "b"), "a", multi=True).experiment(), "macro_f1")
    trained, own = table.values["avg@train"], table.values["avg@fold"]
    assert trained.value is None and trained.folds == ("fold 1",)
    assert "single fold" not in trained.reason
    assert own.value is None and own.folds == ("fold 2",)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "mcc", "kappa", "f1", "macro_f1"])
def test_a_fold_without_instances_is_undefined_without_a_warning(name):
    folds = [{"1": (1, 1, 3, 9), "0": (9, 3, 1, 1)}, {"1": (0, 0, 0, 0), "0": (0, 0, 0, 0)}]
    table = table_of(counts_experiment(folds), name)
    assert table.best.value is not None
