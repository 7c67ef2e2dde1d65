"""All tables of a small design, in blocks: what the search leaves open is decided by looking at each of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.forensics.studies.many import many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_cvaudit.forensics.design import Design
    from pytest_cvaudit.forensics.exact import Counts
    from pytest_cvaudit.model import Metric

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: The instances of every class in one fold; two classes are positives and negatives.
FoldShape = tuple[int, ...]
#: One way to deal the classes out to the folds: shapes and how many folds have each.
Deal = tuple[tuple[FoldShape, int], ...]

#: A design with more tables or more folds in them than this is not enumerated, nor one with more ways to deal it out.
_MOST_TABLES, _MOST_FOLDS, _MOST_STEPS = 2_000_000, 8_000_000, 20_000
_LONGEST = 100
_BLOCK = 1 << 17


@dataclass(frozen=True)
class Everything:
    """All tables of a design up to the order of folds, and what an aggregation says of many of them, in floats."""

    count: int
    blocks: Callable[[], Iterator[Ints]]
    values: Callable[[Metric, str, Ints], Floats]


@lru_cache(maxsize=8)
def all_tables(design: Design) -> Everything | None:
    """All tables of a binary design, if they are few enough."""
    if design.known is not None:
        deals: list[Deal] | None = [tuple(Counter(design.known).items())]
    else:
        deals = all_deals((design.positives, design.negatives), design.folds, design.stratified)
    count = 0 if deals is None else count_tables(deals, design.folds, lambda shape: (shape[0] + 1) * (shape[1] + 1))
    if deals is None or not count:
        return None
    return Everything(count, lambda: blocks_of(deals, design.folds, _cells), many)


def table_of(row: Ints) -> tuple[Counts, ...]:
    """One table of a block as plain counts."""
    return tuple((tp, fp, fn, tn) for tp, fp, fn, tn in row.reshape(-1, 4).tolist())


def _cells(shape: FoldShape) -> Ints:
    tp, fp = (axis.ravel() for axis in np.meshgrid(*(np.arange(count + 1) for count in shape), indexing="ij"))
    return np.stack([tp, fp, shape[0] - tp, shape[1] - fp], axis=1)


def all_deals(supports: Sequence[int], folds: int, stratified: bool) -> list[Deal] | None:
    """Every way to deal the classes out to folds of which none is empty; nothing where there are too many."""
    shapes = _shapes(supports, folds, stratified) if folds <= _LONGEST else None
    if shapes is None:
        return None
    found: list[Deal] = []
    # Shapes are taken in order, each for as many folds as it can have.
    waiting: list[tuple[int, int, tuple[int, ...], Deal]] = [(0, folds, tuple(supports), ())]
    for _ in range(_MOST_STEPS):
        if not waiting:
            return found
        at, left, rest, deal = waiting.pop()
        if left == 0:
            if not any(rest):
                found.append(deal)
            continue
        if at == len(shapes):
            continue
        shape = shapes[at]
        most = min([left, *(have // need for have, need in zip(rest, shape, strict=True) if need)])
        for count in range(most + 1):
            after = tuple(have - count * need for have, need in zip(rest, shape, strict=True))
            waiting.append((at + 1, left - count, after, (*deal, (shape, count)) if count else deal))
    return None


def _shapes(supports: Sequence[int], folds: int, stratified: bool) -> list[FoldShape] | None:
    """The shapes that a fold may have."""
    size, larger = divmod(sum(supports), folds)
    if stratified:
        options = [range(support // folds, support // folds + 1 + (support % folds > 0)) for support in supports]
    else:
        options = [range(min(support, size + (larger > 0)) + 1) for support in supports]
    if prod(map(len, options)) > _MOST_STEPS:
        return None
    sizes = (size, size + 1) if larger else (size,)
    return [shape for shape in product(*options) if any(shape) and (stratified or sum(shape) in sizes)]


def count_tables(deals: Sequence[Deal], folds: int, cells: Callable[[FoldShape], int]) -> int:
    """How many tables there are; zero where they are too many."""
    total = 0
    for deal in deals:
        total += prod(comb(cells(shape) + count - 1, count) for shape, count in deal)
        if total > min(_MOST_TABLES, _MOST_FOLDS // folds):
            return 0
    return total


def blocks_of(deals: Sequence[Deal], folds: int, cells: Callable[[FoldShape], Ints]) -> Iterator[Ints]:
    """Yield the tables, those of small deals joined to larger blocks."""
    most = max(1, _BLOCK // folds)
    waiting: list[Ints] = []
    for deal in deals:
        for part in _tables(deal, cells, most):
            waiting.append(part)
            if sum(map(len, waiting)) >= most:
                yield np.concatenate(waiting)
                waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _tables(deal: Deal, cells: Callable[[FoldShape], Ints], most: int) -> Iterator[Ints]:
    parts = [cells(shape) for shape, _ in deal]
    chosen = [_multisets(len(part), count) for part, (_, count) in zip(parts, deal, strict=True)]
    sizes = [len(rows) for rows in chosen]
    for start in range(0, prod(sizes), most):
        places = np.unravel_index(np.arange(start, min(start + most, prod(sizes))), sizes)
        yield np.concatenate([part[rows[at]] for part, rows, at in zip(parts, chosen, places, strict=True)], axis=1)


def _multisets(size: int, count: int) -> Ints:
    """All choices of so many cells, with repetitions, up to their order."""
    chosen: Ints = np.arange(size)[:, None]
    for _ in range(count - 1):
        last = chosen[:, -1]
        more = size - last
        step = np.arange(int(more.sum())) - np.repeat(np.cumsum(more) - more, more)
        chosen = np.column_stack([np.repeat(chosen, more, axis=0), np.repeat(last, more) + step])
    return chosen
