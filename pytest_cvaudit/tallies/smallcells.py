"""Ranking measures of many small cells, swept side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrays import BLOCK, AnyArray, Flags, Floats, Ints, Keys
from .keys import ONE, likelihood, unpack
from .measures import MEASURES, RankingMeasures, Totals, f1_at, kappa_at, level_terms, mcc_at

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from .sorting import SortedRows


def measure_cells(rows: SortedRows, which: AbstractSet[str] = MEASURES) -> list[RankingMeasures]:
    """Return the measures of every cell, many cells per pass."""
    per_cell = 1 + rows.signed
    bounds = rows.bounds[::per_cell]
    measured: list[RankingMeasures] = []
    first = 0
    cells = len(bounds) - 1
    while first < cells:
        last = int(np.searchsorted(bounds, bounds[first] + BLOCK, side="right")) - 1
        last = min(max(last, first + 1), cells)
        measured += _measure_block(rows, first, last, which)
        first = last
    return measured


def _measure_block(rows: SortedRows, first: int, last: int, which: AbstractSet[str]) -> list[RankingMeasures]:
    """Return the measures of consecutive cells."""
    per_cell = 1 + rows.signed
    groups = rows.bounds[first * per_cell : last * per_cell + 1]
    keys = rows.keys[groups[0] : groups[-1]]
    groups = groups - groups[0]
    bounds = groups[::per_cell]
    places = np.flatnonzero((keys.astype(np.uint8) & 1) == 0)
    seen = np.searchsorted(places, bounds)
    positives, negatives = np.diff(seen), np.diff(bounds) - np.diff(seen)
    totals = [Totals() for _ in range(first, last)]
    if len(places):
        _add_ranking(totals, *_levels(keys, groups, places, bounds, seen), positives, negatives)
    if len(keys) and "auk" in which:
        _add_areas(totals, keys, groups, bounds, positives, negatives)
    if len(keys):
        _add_sums(totals, _scores(keys, groups, rows.signed), keys, bounds, which)
    counts = zip(totals, positives.tolist(), negatives.tolist(), strict=True)
    return [total.measures(pos, neg, which) for total, pos, neg in counts]


def _levels(keys: Keys, groups: Ints, places: Ints, bounds: Ints, seen: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return for levels with positives their cell, true positives and rows above, positives and negatives."""
    owner = np.repeat(np.arange(len(seen) - 1), np.diff(seen))
    final = _final(keys, groups)
    if final.all():
        ones = np.ones(len(places), np.int64)
        return owner, np.arange(len(places)) - seen[owner], places - bounds[owner], ones, ones - 1
    ends = np.flatnonzero(final)
    tp = np.searchsorted(places, ends, side="right")
    pos, sizes = np.diff(tp, prepend=0), np.diff(ends, prepend=-1)
    some = np.flatnonzero(pos)
    owner = np.searchsorted(bounds, ends[some], side="right") - 1
    pos, sizes, tp, ends = pos[some], sizes[some], tp[some], ends[some]
    return owner, tp - pos - seen[owner], ends + 1 - sizes - bounds[owner], pos, sizes - pos


def _add_ranking(
    totals: list[Totals], owner: Ints, tp: Ints, ranked: Ints, pos: Ints, neg: Ints, positives: Ints, negatives: Ints
) -> None:
    """Add the terms of levels with positives to the totals of their cells."""
    head = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    terms = level_terms(tp, ranked, pos, neg)
    tp, ranked, share, rest = tp + pos, ranked + pos + neg, positives[owner], negatives[owner]
    columns: list[AnyArray] = [np.add.reduceat(term, head) for term in terms]
    columns.append(np.maximum.reduceat(f1_at(tp, ranked, share), head))
    columns.append(np.maximum.reduceat(mcc_at(tp, ranked, share, rest), head).clip(0))
    for cell, values in zip(owner[head].tolist(), zip(*(c.tolist() for c in columns), strict=True), strict=True):
        totals[cell] = Totals(*values)


def _add_areas(totals: list[Totals], keys: Keys, groups: Ints, bounds: Ints, positives: Ints, negatives: Ints) -> None:
    """Add the area under kappa of every cell."""
    ends = np.flatnonzero(_final(keys, groups))
    owner = np.searchsorted(bounds, ends, side="right") - 1
    head = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    false = np.cumsum(keys & ONE, dtype=np.int64)[ends]
    fresh = np.diff(false, prepend=0)
    before = np.append(0, np.cumsum(negatives))[owner]
    ranked = ends + 1 - bounds[owner]
    kappa = kappa_at(ranked - (false - before), ranked, positives[owner], negatives[owner])
    previous = np.append(0.0, kappa[:-1])
    previous[head] = 0.0
    areas = np.add.reduceat(fresh * (kappa + previous) / 2, head)
    for cell, area in zip(owner[head].tolist(), areas.tolist(), strict=True):
        totals[cell].area = area


def _add_sums(totals: list[Totals], scores: Floats, keys: Keys, bounds: Ints, which: AbstractSet[str]) -> None:
    """Add the sums for the Brier score and the log loss of cells with all scores in [0, 1]."""
    filled = np.flatnonzero(np.diff(bounds))
    starts, stops = bounds[filled], bounds[filled + 1]
    fine = (scores[starts] <= 1) & (scores[stops - 1] >= 0)
    # Cells outside get no sums, so their scores only have to stay harmless.
    scores = scores if fine.all() else np.clip(scores, 0, 1)
    truth = (keys & ONE) ^ ONE
    cells = filled[fine].tolist()
    if "brier" in which:
        off = scores - truth
        for cell, value in zip(cells, np.add.reduceat(off * off, starts)[fine].tolist(), strict=True):
            totals[cell].squares = value
    if "log_loss" in which:
        logs = -np.log(likelihood(scores, truth))
        for cell, value in zip(cells, np.add.reduceat(logs, starts)[fine].tolist(), strict=True):
            totals[cell].logs = value


def _final(keys: Keys, groups: Ints) -> Flags:
    """Tell which rows are the last of their level."""
    final = np.empty(len(keys), bool)
    np.greater(keys[1:] ^ keys[:-1], ONE, out=final[:-1])
    final[groups[1:][groups[1:] > 0] - 1] = True
    return final


def _scores(keys: Keys, groups: Ints, signed: bool) -> Floats:
    """Return the score of every row."""
    scores = unpack(keys, below=False)
    if signed:
        below = np.repeat(np.arange(len(groups) - 1) % 2 == 1, np.diff(groups))
        scores[below] = unpack(keys[below], below=True)
    return scores
