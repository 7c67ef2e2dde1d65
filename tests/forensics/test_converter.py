"""The score converter: every table that prints a fold's values, and no other."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_cvaudit.forensics.folds.converter import READINGS, Fold, convert, counts_at
from pytest_cvaudit.model import Printed, metric
from tests.forensics import brute, fold_brute
from tests.forensics.test_small import printed as print_number


def fold(printed, *shapes):
    values = tuple((metric(name), Printed.parse(text)) for name, text in printed.items())
    return Fold("fold 1", values, shapes)


def tables(cells):
    return {counts_at(cells, at) for at in range(len(cells.tp))}


@st.composite
def printed_folds(draw):
    tp, fp, fn, tn = (draw(st.integers(0, 7)) for _ in range(4))
    names = draw(st.lists(st.sampled_from(brute.METRICS), min_size=1, max_size=3, unique=True))
    decimals, truncate = draw(st.integers(1, 4)), draw(st.booleans())
    values = {name: brute.score(name, (tp, fp, fn, tn)) for name in names}
    fill = draw(st.sampled_from([0, 1]))
    texts = {n: print_number(fill if v is None else v, decimals, truncate) for n, v in values.items()}
    return (tp, fp, fn, tn), texts, truncate


@settings(max_examples=100, deadline=None)
@given(printed_folds())
def test_the_tables_are_those_of_brute_force_and_the_true_one_is_among_them(example):
    true, texts, truncate = example
    shape = (true[0] + true[2], true[1] + true[3])
    for reading in READINGS:
        found = convert(fold(texts, shape), reading)
        assert found.complete
        assert tables(found) == set(fold_brute.fold_tables([shape], texts, reading))
        several = [(0, shape[1] + 1), shape, (shape[0] + 1, shape[1]), (shape[0] + 2, 0)]
        assert tables(convert(fold(texts, *several), reading)) == set(fold_brute.fold_tables(several, texts, reading))
    assert true in tables(convert(fold(texts, shape), "truncated" if truncate else "rounded"))
    assert true in tables(convert(fold(texts, shape), "either"))


def test_values_that_no_table_has():
    assert not tables(convert(fold({"precision": "0.9", "recall": "0.8", "f1": "0.5"}, (50, 100)), "either"))


def test_an_undefined_value_may_be_printed_as_zero_or_one():
    for text in ("0.000", "1.000"):
        assert (0, 0, 4, 372) in tables(convert(fold({"precision": text, "recall": "0.000"}, (4, 372))))
    assert (0, 0, 4, 372) not in tables(convert(fold({"precision": "0.500", "recall": "0.000"}, (4, 372))))


def test_several_shapes_are_all_considered():
    found = tables(convert(fold({"recall": "0.33", "specificity": "1.00"}, (3, 2), (4, 2), (6, 2))))
    assert found == {(1, 0, 2, 2), (2, 0, 4, 2)}


@pytest.mark.parametrize("name", ["precision", "accuracy", "f1", "mcc"])
def test_a_value_with_all_the_digits_of_a_float_is_that_of_its_table(name):
    true = (701, 133, 509, 219)
    text = repr(float(brute.score(name, true)))
    recall = repr(701 / 1210)
    assert tables(convert(fold({name: text, "recall": recall}, (1210, 352)))) == {true}


def test_folds_of_a_hundred_thousand_are_quick():
    start = time.process_time()
    printed = {"recall": "0.812", "precision": "0.341", "accuracy": "0.982"}
    found = convert(fold(printed, (1000, 99_000)))
    assert found.complete
    assert 0 < len(found.tp) < 100
    even = convert(fold({"recall": "0.8123", "accuracy": "0.8531"}, (50_000, 50_000)))
    assert even.complete
    assert len(even.tp)
    assert time.process_time() - start < 1.0


def test_a_fold_of_unknown_positives_is_quick():
    start = time.process_time()
    shapes = [(positives, 10_000 - positives) for positives in range(1001)]
    found = convert(fold({"precision": "0.812", "recall": "0.795", "f1": "0.803"}, *shapes))
    assert found.complete
    assert len(found.tp) > 100
    assert time.process_time() - start < 1.0


def test_too_many_tables_are_thinned_and_it_says_so():
    found = convert(fold({"accuracy": "0.9"}, (50_000, 50_000)))
    assert not found.complete
    assert len(found.tp) <= 700_000
