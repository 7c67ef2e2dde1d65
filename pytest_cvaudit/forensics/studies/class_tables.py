"""The tables that folds of several classes may have: all of them where they are few, else a sample of every quality."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import combinations, pairwise, product
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.everything import Everything, all_deals, blocks_of, count_tables
from pytest_cvaudit.forensics.studies.many import many_classes
from pytest_cvaudit.forensics.studies.parts import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_cvaudit.forensics.studies.class_values import ClassFold

_MOST, _SAMPLE = 20_000, 1500


@lru_cache(maxsize=16)
def class_tables(supports: tuple[int, ...], folds: int) -> tuple[Part, ...]:
    """The folds of one arrangement in which sizes and classes differ by at most one, with their tables."""
    shapes = np.zeros((folds, len(supports)), np.int64)
    start = 0
    for label, support in enumerate(supports):
        few, more = divmod(support, folds)
        shapes[:, label] = few
        # Extra instances go round, so that the sizes of the folds stay as equal as they can be.
        shapes[[(start + at) % folds for at in range(more)], label] += 1
        start += more
    counts = Counter(tuple(shape) for shape in shapes.tolist())
    return tuple(Part(count, *_tables(shape)) for shape, count in counts.items())


def _tables(shape: Sequence[int]) -> tuple[list[ClassFold], bool]:
    if _matrices(shape) <= _MOST:
        rows = [list(_compositions(count, len(shape))) for count in shape]
        return list(dict.fromkeys(_counts(np.array(matrix)) for matrix in product(*rows))), True
    return list(dict.fromkeys(_sample(shape))), False


@lru_cache(maxsize=4)
def all_class_tables(supports: tuple[int, ...], folds: int, stratified: bool) -> Everything | None:
    """All tables of a design of several classes, if they are few enough."""
    deals = all_deals(supports, folds, stratified)
    if deals is None or sum(map(_matrices, {shape for deal in deals for shape, _ in deal})) > _MOST:
        return None
    cells = {shape: np.array(_tables(shape)[0], np.int64) for shape in {shape for deal in deals for shape, _ in deal}}
    count = count_tables(deals, folds * len(supports), lambda shape: len(cells[shape]))
    if not count:
        return None
    return Everything(
        count,
        lambda: blocks_of(deals, folds * len(supports), cells.__getitem__),
        lambda metric, way, tables: many_classes(metric, way, tables, supports),
    )


def _matrices(shape: Sequence[int]) -> int:
    """How many confusion matrices a fold may have."""
    return prod(comb(count + len(shape) - 1, count) for count in shape)


def _compositions(total: int, parts: int) -> Iterator[list[int]]:
    """All ways to write a number as an ordered sum."""
    for bars in combinations(range(total + parts - 1), parts - 1):
        ends = (-1, *bars, total + parts - 1)
        yield [right - left - 1 for left, right in pairwise(ends)]


def _sample(shape: Sequence[int]) -> Iterator[ClassFold]:
    random = np.random.default_rng(5)
    size = len(shape)
    for _ in range(_SAMPLE):
        quality = random.random()
        leaning = random.dirichlet(np.full(size, random.choice([0.3, 1.0, 5.0])))
        matrix = np.zeros((size, size), np.int64)
        for label, count in enumerate(shape):
            right = np.clip(quality + random.normal(0, 0.15), 0, 1) if random.random() < 0.9 else random.random()
            chances = (1 - right) * leaning
            chances[label] += right
            matrix[label] = random.multinomial(count, chances / chances.sum())
        yield _counts(matrix)


def _counts(matrix: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> ClassFold:
    """The counts of every class in a confusion matrix whose rows are true classes."""
    total, right = int(matrix.sum()), matrix.diagonal().tolist()
    true, predicted = matrix.sum(axis=1).tolist(), matrix.sum(axis=0).tolist()
    return tuple((tp, q - tp, p - tp, total - p - q + tp) for tp, p, q in zip(right, true, predicted, strict=True))
