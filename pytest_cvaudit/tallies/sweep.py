"""One pass over a curve in sorted order that adds up every measure asked for.

Positives come first among equal scores, so a sweep that ignores ties yields the best order; levels with several rows
then correct the other sums. The maxima of F1 and MCC are looked for only in blocks that can hold them: both grow with
true positives and fall with false ones, so a block's best conceivable point bounds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .blocks import Block, plan
from .keys import ONE, Run, count_negatives, likelihood
from .measures import MEASURES, Totals, f1_at, kappa_at, level_terms, mcc_at
from .threads import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from .arrays import Floats, Ints, Keys

_ORDERED = frozenset({"auc", "ap", "max_f1", "max_mcc", "auk"})
_ONE_KEY = ~((np.float64(1).view(np.uint64) << ONE) | ONE)
_MAXIMA = frozenset({"max_f1", "max_mcc"})
# Rows between marks, the places where the bounds of F1 and MCC are taken.
MARK = 1 << 10


@dataclass
class Scratch:
    """Memory that a walk uses for every block: on threads, the allocator would return and fault it in each time."""

    def __init__(self, rows: int) -> None:
        """Make room for blocks of so many rows."""
        self.merged, self.alike = np.empty(rows, np.uint64), np.empty(rows, np.uint64)
        self.above, self.below = np.empty(rows), np.empty(rows)
        self.steps = np.arange(1.0, rows + 1)


@dataclass
class _Walk:
    """A sweep over some consecutive blocks: where it stands, and the marks it has passed."""

    positives: int
    negatives: int
    which: AbstractSet[str]
    tp: int
    ranked: int
    scratch: Scratch
    totals: Totals = field(default_factory=Totals)
    marks: list[tuple[Ints, Ints]] = field(default_factory=list)

    def step(self, tp: Ints, rows: Ints) -> None:
        """Move past a block, given the positives and the rows up to each of its marks."""
        self.marks.append((tp + self.tp, rows + self.ranked))
        self.tp += int(tp[-1])
        self.ranked += int(rows[-1])


def sweep_runs(
    runs: Sequence[Run], positives: int, negatives: int, which: AbstractSet[str] = MEASURES, threads: int = 1
) -> Totals:
    """Sweep sorted runs, merging them block by block."""
    totals = Totals()
    plans = [plan([run.keys for run in runs if run.below is below]) for below in (False, True)]
    blocks = [Block(part, index) for part in plans for index in range(part.blocks)]
    if blocks and not _ORDERED.isdisjoint(which):
        size = -(-len(blocks) // threads)
        spans = [blocks[start : start + size] for start in range(0, len(blocks), size)]
        room = max((block.rows for block in blocks if not block.single), default=0)
        walks, tp, ranked = [], 0, 0
        for span, (pos, rows) in zip(spans, [*spread(_count, spans[:-1], threads), (0, 0)], strict=True):
            walks.append((_Walk(positives, negatives, which, tp, ranked, Scratch(room)), span))
            tp, ranked = tp + pos, ranked + rows
        spread(lambda job: _walk(*job), walks, threads)
        for walk, _ in walks:
            totals.add(walk.totals)
        _find_maxima(totals, [walk for walk, _ in walks], blocks)
    _add_sums(totals, runs, which)
    return totals


def sweep_levels(scores: Floats, pos: Ints, neg: Ints, which: AbstractSet[str] = MEASURES) -> Totals:
    """Sweep distinct scores in descending order with their counts."""
    positives, negatives = int(pos.sum()), int(neg.sum())
    tp, ranked = np.cumsum(pos), np.cumsum(pos + neg)
    terms = level_terms(tp - pos, ranked - pos - neg, pos, neg)
    totals = Totals(
        # Python integers, since the pairs of more than 3e9 rows exceed 64 bits.
        lost=sum(terms.lost.tolist()),
        tied=sum(terms.tied.tolist()),
        ap=float(terms.ap.sum()),
        ap_low=float(terms.ap_low.sum()),
        ap_high=float(terms.ap_high.sum()),
    )
    if len(pos):
        totals.f1 = float(f1_at(tp, ranked, positives).max())
        totals.mcc = max(0.0, float(mcc_at(tp, ranked, positives, negatives).max()))
    if "auk" in which:
        kappa = kappa_at(np.append(0, tp), np.append(0, ranked), positives, negatives)
        totals.area = trapezoids(kappa, np.append(0, ranked - tp))
    if len(scores) and scores[0] <= 1 and scores[-1] >= 0:
        if "brier" in which:
            totals.squares = float(pos @ (1 - scores) ** 2 + neg @ scores**2)
        if "log_loss" in which:
            yes, no = likelihood(scores, True), likelihood(scores, False)
            totals.logs = -float(pos @ np.log(yes) + neg @ np.log(no))
    return totals


def level_blocks(runs: Sequence[Run]) -> Iterator[tuple[Keys, bool, Ints, Ints]]:
    """Yield blocks of levels in descending score order: a key of each, its sign, positives and negatives."""
    for below in (False, True):
        part = plan([run.keys for run in runs if run.below is below])
        for block in (Block(part, index) for index in range(part.blocks)):
            if block.single:
                pos, neg = block.level()
                yield block.slices()[0][:1], below, np.array([pos]), np.array([neg])
            else:
                keys = block.keys()
                ends, tp = level_ends(keys)
                gained = np.diff(tp, prepend=0)
                yield keys[ends], below, gained, np.diff(ends, prepend=-1) - gained


def level_ends(keys: Keys) -> tuple[Ints, Ints]:
    """Return the last row of every level of sorted keys and the positives up to there."""
    last = np.ones(len(keys), bool)
    np.greater(keys[1:] ^ keys[:-1], ONE, out=last[:-1])
    tp = np.cumsum((keys & ONE) ^ ONE, dtype=np.int64)
    return (np.arange(len(keys)), tp) if last.all() else (np.flatnonzero(last), tp[last])


def _count(blocks: Sequence[Block]) -> tuple[int, int]:
    """Count the positives and the rows of blocks."""
    slices = [keys for block in blocks for keys in block.slices()]
    rows = sum(map(len, slices))
    return rows - sum(map(count_negatives, slices)), rows


def _walk(walk: _Walk, blocks: Sequence[Block]) -> None:
    """Add the terms of blocks."""
    for block in blocks:
        if block.single:
            _pass_level(walk, *block.level())
        else:
            _pass_keys(walk, block.keys(walk.scratch.merged))


def _pass_keys(walk: _Walk, keys: Keys) -> None:
    """Add the terms of a block of sorted keys."""
    which, totals, scratch = walk.which, walk.totals, walk.scratch
    places = np.flatnonzero((keys.astype(np.uint8) & 1) == 0)
    pos, rows = len(places), len(keys)
    totals.lost += int(places.sum()) + pos * (walk.ranked - walk.tp) - pos * (pos - 1) // 2
    if "ap" in which:
        precisions = np.add(scratch.steps[:pos], walk.tp, out=scratch.above[:pos])
        precisions /= np.add(places, walk.ranked + 1.0, out=scratch.below[:pos])
        best = float(precisions.sum())
        totals.ap += best
        totals.ap_low += best
        totals.ap_high += best
    alike = np.bitwise_xor(keys[1:], keys[:-1], out=scratch.alike[: rows - 1])
    if pos and rows > 1 and alike.min() <= 1:
        _correct_ties(walk, places, np.flatnonzero(alike <= 1))
    if "auk" in which:
        ends, tp = level_ends(keys)
        _add_area(walk, tp, ends + 1)
    marks = np.append(np.arange(MARK, rows, MARK), rows)
    walk.step(np.searchsorted(places, marks), marks)


def _correct_ties(walk: _Walk, places: Ints, tied: Ints) -> None:
    """Correct the sums of a block whose positives are at `places` for rows that tie with the next row."""
    breaks = np.flatnonzero(np.diff(tied) > 1)
    first = tied[np.append(0, breaks + 1)]
    stop = tied[np.append(breaks, len(tied) - 1)] + 2
    tp, after = _positives_before(places, first), _positives_before(places, stop)
    some = np.flatnonzero(after > tp)
    first, stop, tp, after = first[some], stop[some], tp[some], after[some]
    pos = after - tp
    neg = stop - first - pos
    walk.totals.tied += int(pos @ neg)
    if "ap" not in walk.which or not pos.size:
        return
    # Members are the positives of tied levels, numbered within the block.
    member = np.arange(int(pos.sum())) + (tp - np.cumsum(pos) + pos).repeat(pos)
    best = float(walk.scratch.above[member].sum())
    worst = (member + (walk.tp + 1)) / (places[member] + (walk.ranked + 1) + neg.repeat(pos))
    together = pos * ((after + walk.tp) / (stop + walk.ranked))
    walk.totals.ap += float(together.sum()) - best
    walk.totals.ap_low += float(worst.sum()) - best


def _positives_before(places: Ints, rows: Ints) -> Ints:
    """Return how many of the ascending places are before each row."""
    if len(rows) * 32 < len(places):
        return np.searchsorted(places, rows)
    flags = np.zeros(max(int(places[-1]) + 1, int(rows[-1])) + 1, np.int64)
    flags[places + 1] = 1
    return np.asarray(np.cumsum(flags, out=flags)[rows])


def _pass_level(walk: _Walk, pos: int, neg: int) -> None:
    """Add the terms of one level that is larger than a block."""
    totals = walk.totals
    counts = (np.array([value], np.int64) for value in (walk.tp, walk.ranked, pos, neg))
    terms = level_terms(*counts)
    totals.lost += pos * (walk.ranked - walk.tp)
    totals.tied += pos * neg
    totals.ap += float(terms.ap[0])
    totals.ap_low += float(terms.ap_low[0])
    totals.ap_high += float(terms.ap_high[0])
    tp, rows = np.array([pos]), np.array([pos + neg])
    _add_area(walk, tp, rows)
    walk.step(tp, rows)


def _add_area(walk: _Walk, tp: Ints, rows: Ints) -> None:
    """Add the area under kappa of a block, given the positives and the rows up to the end of each level."""
    tp, rows = np.append(0, tp), np.append(0, rows)
    kappa = kappa_at(tp + walk.tp, rows + walk.ranked, walk.positives, walk.negatives)
    walk.totals.area += trapezoids(kappa, rows - tp)


def trapezoids(kappa: Floats, false: Ints) -> float:
    """Return the area under kappa over false positives."""
    return float((np.diff(false) * (kappa[1:] + kappa[:-1])).sum()) / 2


def _find_maxima(totals: Totals, walks: Sequence[_Walk], blocks: Sequence[Block]) -> None:
    """Find the best thresholds for F1 and MCC, looking only between marks whose bound exceeds the best so far."""
    marks = [mark for walk in walks for mark in walk.marks]
    counts = np.array([len(tp) for tp, _ in marks])
    tp, ranked = (np.concatenate([[0], *column]) for column in zip(*marks, strict=True))
    false = ranked - tp
    stops = np.cumsum(counts)
    starts = stops - counts
    for name in walks[0].which & _MAXIMA:
        measure = partial(_at, name, walks[0])
        best = float(measure(tp[np.append(0, stops)], ranked[np.append(0, stops)]).max())
        bounds = measure(tp[1:], tp[1:] + false[:-1])
        tops = np.maximum.reduceat(bounds, starts)
        for index in np.argsort(-tops).tolist():
            if tops[index] <= best:
                break
            start = starts[index]
            hopeful = np.flatnonzero(bounds[start : stops[index]] > best)
            if blocks[index].single or not hopeful.size:
                continue
            left, right = ranked[[start + hopeful[0], start + hopeful[-1] + 1]] - ranked[start]
            keys = blocks[index].keys()
            ends, inside = level_ends(keys[left:right])
            if right < len(keys) and keys[right] ^ keys[right - 1] <= ONE:
                ends, inside = ends[:-1], inside[:-1]
            if len(ends):
                above = tp[start + hopeful[0]]
                best = max(best, float(measure(inside + above, ends + (ranked[start] + left + 1)).max()))
        setattr(totals, name.removeprefix("max_"), best)


def _at(name: str, walk: _Walk, tp: Ints, ranked: Ints) -> Floats:
    """Return the measure at thresholds."""
    if name == "max_f1":
        return f1_at(tp, ranked, walk.positives)
    return mcc_at(tp, ranked, walk.positives, walk.negatives)


def _add_sums(totals: Totals, runs: Sequence[Run], which: AbstractSet[str]) -> None:
    """Add the sums that need no order, if all scores lie in [0, 1]."""
    if not runs or any(run.below or run.keys[0] < _ONE_KEY for run in runs):
        return
    if "brier" in which:
        totals.squares = sum(run.squares for run in runs)
    if "log_loss" in which:
        totals.logs = sum(run.logs for run in runs)
