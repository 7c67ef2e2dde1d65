"""The tables of one cross-validation: all of them where they are few, else a sample of every quality."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.case import some_split
from pytest_cvaudit.forensics.design import splits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.forensics.design import Design, Group, Shape, Split
    from pytest_cvaudit.forensics.exact import Counts

_MOST, _SAMPLE = 6000, 1500


@lru_cache(maxsize=32)
def tables_of(design: Design) -> tuple[tuple[tuple[Counts, ...], ...], bool]:
    """The tables of a design up to the order of its folds, and whether these are all."""
    families = splits(design)
    if sum(_count(split) for split in families) <= _MOST:
        return tuple(table for split in families for table in _all(split, design)), True
    return tuple(_sample(design)), False


def _count(split: Split) -> int:
    total = 1
    for group in split.groups:
        cells = sum((p + 1) * (n + 1) for p, n in group.shapes)
        total *= comb(cells + group.count - 1, group.count)
        if total > _MOST:
            break
    return total


def _all(split: Split, design: Design) -> Iterator[tuple[Counts, ...]]:
    options = [list(combinations_with_replacement(_cells(group), group.count)) for group in split.groups]
    for choice in product(*options):
        table = tuple(fold for part in choice for fold in part)
        if not split.free or sum(tp + fn for tp, _, fn, _ in table) == design.positives:
            yield table


def _cells(group: Group) -> list[Counts]:
    return [
        (tp, fp, positives - tp, negatives - fp)
        for positives, negatives in group.shapes
        for tp in range(positives + 1)
        for fp in range(negatives + 1)
    ]


def _sample(design: Design) -> list[tuple[Counts, ...]]:
    random = np.random.default_rng(3)
    found: dict[tuple[Counts, ...], None] = {}
    for at in range(_SAMPLE):
        folds = some_split(design) if at % 2 or design.stratified else _random_split(design, random)
        hit, alarm = random.random(), random.random() ** 3
        if random.random() < 0.25:
            alarm = 0.0
        drawn = [(random.binomial(p, hit), random.binomial(n, alarm), p, n) for p, n in folds]
        found[tuple((int(tp), int(fp), int(p - tp), int(n - fp)) for tp, fp, p, n in drawn)] = None
    return list(found)


def _random_split(design: Design, random: np.random.Generator) -> list[Shape]:
    if design.known is not None:
        return list(design.known)
    sizes = [sum(shape) for shape in some_split(design)]
    positives = random.multivariate_hypergeometric(sizes, design.positives)
    return [(int(p), size - int(p)) for p, size in zip(positives, sizes, strict=True)]
