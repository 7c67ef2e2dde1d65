"""The pieces of the search that must lose nothing: lookup of pairs, relaxation, tangents."""

from __future__ import annotations

import random
import time
from fractions import Fraction

import numpy as np
import pytest

from pytest_cvaudit.forensics.cells import cells_of
from pytest_cvaudit.forensics.design import Design, splits
from pytest_cvaudit.forensics.exact import aggregate
from pytest_cvaudit.forensics.index import Index
from pytest_cvaudit.forensics.pieces import _Piece, _tangents, refuted_in_pieces
from pytest_cvaudit.forensics.problem import build
from pytest_cvaudit.forensics.relax import Combined, Relaxation
from pytest_cvaudit.forensics.rows import System
from pytest_cvaudit.model.metrics import find_metric


@pytest.mark.parametrize("seed", range(60))
def test_the_index_finds_exactly_the_pairs_whose_sums_fall_into_the_windows(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 5))
    scale = rng.choice([1, 3, 40, 10**6, 1 << 36], rows)
    mine, others = (rng.integers(-scale, scale + 1, (int(rng.integers(1, 120)), rows)) for _ in range(2))
    if seed % 3 == 0:
        mine[:, 0] = mine[:, -1]
    middle = mine[rng.integers(len(mine))] + others[rng.integers(len(others))]
    reach = (scale * rng.choice([0, 0.01, 0.3, 3], rows)).astype(np.int64)
    low, high = middle - reach, middle + reach
    sums = others[:, None] + mine[None]
    expected = set(zip(*np.nonzero(((sums >= low) & (sums <= high)).all(axis=2)), strict=True))
    found = [pair for a, b in Index(mine, low, high).pairs(others, low, high) for pair in zip(a, b, strict=True)]
    assert len(found) == len(set(found))
    assert set(found) == expected != set()


def test_the_index_answers_windows_that_nothing_reaches():
    vectors = np.arange(20).reshape(10, 2)
    low = high = np.array([1000, 1000])
    assert not [pair for a, b in Index(vectors, low, high).pairs(vectors, low, high) for pair in zip(a, b, strict=True)]


@pytest.mark.parametrize("seed", range(40))
def test_the_relaxation_never_excludes_a_sum_that_there_is(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 5))
    scale = rng.choice([1, 50, 1 << 34], rows)
    vectors = [
        rng.integers(-scale, scale + 1, (int(rng.integers(1, 60)), rows)) for _ in range(int(rng.integers(1, 4)))
    ]
    counts = [int(rng.integers(1, 6)) for _ in vectors]
    relaxation = Relaxation(vectors, counts)
    later = time.monotonic() + 10
    for _ in range(6):
        parts = zip(vectors, counts, strict=True)
        total = sum(part[rng.integers(len(part), size=count)].sum(axis=0) for part, count in parts)
        reach = (scale * rng.choice([0, 0.1, 1], rows)).astype(np.int64)
        factors = rng.normal(size=(2, rows)) / scale
        values = factors @ total
        combined = Combined(factors, values - 1e-9, values + 1e-9)
        assert not relaxation.refuted(total - reach, total + reach, later)
        assert not relaxation.refuted(total - reach, total + reach, later, combined)
        beyond = sum(count * part.max(axis=0) for part, count in zip(vectors, counts, strict=True)) + scale
        assert relaxation.refuted(beyond, beyond, later)


WAYS = (
    ("f1", "pr_re"), ("f1", "pr_re_skip"), ("f2", "pr_re"), ("f0.5", "pr_re_skip"), ("f1", "avg"), ("f1", "avg_skip"),
    ("mcc", "avg_skip"), ("precision", "avg_skip"), ("f1", "tp_fp"), ("kappa", "pooled"),
)  # fmt: skip


def a_problem(seed, ways, reach=Fraction(1, 10**5)):
    """A table of a random design, and the problem of finding one with about the same values."""
    rng = random.Random(seed)
    while True:
        size = rng.randint(4, 40)
        design = Design(size, rng.randint(1, size - 1), rng.randint(1, min(5, size)), rng.random() < 0.5)
        split = rng.choice(splits(design))
        shapes = [rng.choice(group.shapes) for group in split.groups for _ in range(group.count)]
        if sum(positives for positives, _ in shapes) != design.positives:
            continue
        table = []
        for positives, negatives in shapes:
            tp, fp = rng.randint(0, positives), rng.randint(0, negatives)
            table.append((tp, fp, positives - tp, negatives - fp))
        metrics = [(find_metric(name), way) for name, way in ways]
        values = [aggregate(metric, way, table) for metric, way in metrics]
        if None not in values:
            break
    system = System(split, cells_of(split, design.positives, design.negatives), design)
    for (metric, way), value in zip(metrics, values, strict=True):
        middle = sum(factor * Fraction(radicand**0.5) for radicand, factor in value.items())
        system.add(metric, way, (middle - reach, middle + reach))
    return table, system, build(system)


@pytest.mark.parametrize("seed", range(60))
def test_pieces_never_refute_a_table_that_there_is(seed):
    ways = random.Random(seed).sample(WAYS, 1 + seed % 2)
    _, _, problem = a_problem(seed, ways)
    assert not refuted_in_pieces(problem, time.monotonic() + 5)


@pytest.mark.parametrize("seed", range(60))
def test_tangents_keep_every_point_of_their_piece(seed):
    name, way = WAYS[seed % 4]
    reach = Fraction(1, 10 ** (1 + seed % 4))
    table, _, problem = a_problem(seed, [(name, way)], reach)
    kept = [(tp, fp, fn) for tp, fp, fn, _ in table if way == "pr_re" or (tp + fp and tp + fn)]
    precision = sum(tp / (tp + fp) if tp + fp else 0.0 for tp, fp, _ in kept)
    recall = sum(tp / (tp + fn) if tp + fn else 0.0 for tp, _, fn in kept)
    rng = random.Random(seed)
    for _ in range(20):
        mean = recall / len(kept)
        piece = _Piece(mean - mean * rng.random() ** 4, mean + (1 - mean) * rng.random() ** 4, len(kept))
        tangents = _tangents(problem, problem.curves, piece)
        names = {problem.curves[0].precision: precision, problem.curves[0].recall: recall}
        sums = np.array([names.get(row, 0.0) for row in problem.names]) / problem.units
        value = tangents.factors @ sums
        assert (tangents.low <= value).all()
        assert (value <= tangents.high).all()
