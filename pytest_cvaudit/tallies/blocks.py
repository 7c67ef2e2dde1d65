"""Sorted runs of keys cut into blocks of whole score levels, merged one block at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .arrays import BLOCK, Ints, Keys
from .keys import LEVEL, ONE

if TYPE_CHECKING:
    from collections.abc import Sequence

# Sampled rows per block: what a block can be off its size by is a few of these shares.
_SAMPLES = 32


@dataclass(frozen=True, eq=False)
class Plan:
    """A division of sorted runs of one sign into consecutive blocks of whole levels."""

    runs: Sequence[Keys]
    cuts: Ints

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return int(self.cuts.shape[1]) - 1


class Block:
    """One block of a plan; `single` if it is one level too large to be handled row by row."""

    __slots__ = ("_index", "_plan", "rows", "single")

    def __init__(self, plan: Plan, index: int) -> None:
        """Take block number `index` of the plan."""
        self._plan, self._index = plan, index
        self.rows = int((plan.cuts[:, index + 1] - plan.cuts[:, index]).sum())
        self.single = self.rows > 2 * BLOCK and self._one_level()

    def slices(self) -> list[Keys]:
        """Return the slices of the runs that the block covers."""
        cuts = self._plan.cuts[:, self._index : self._index + 2].tolist()
        bounds = zip(self._plan.runs, cuts, strict=True)
        return [run[start:stop] for run, (start, stop) in bounds if stop > start]

    def keys(self, room: Keys | None = None) -> Keys:
        """Return the sorted keys of the block, merged into `room` if there are several runs and it is given."""
        parts = self.slices()
        if len(parts) == 1:
            return parts[0]
        merged = np.concatenate(parts, out=None if room is None else room[: self.rows])
        merged.sort()
        return merged

    def level(self) -> tuple[int, int]:
        """Return the positives and negatives of a block that is one level."""
        parts = self.slices()
        negative = (parts[0][0] & LEVEL) | ONE
        pos = sum(int(np.searchsorted(keys, negative)) for keys in parts)
        return pos, self.rows - pos

    def _one_level(self) -> bool:
        """Tell whether all keys are of one level."""
        parts = self.slices()
        level = parts[0][0] & LEVEL
        return all(part[0] & LEVEL == level and part[-1] & LEVEL == level for part in parts)


def plan(runs: Sequence[Keys]) -> Plan:
    """Divide sorted runs into blocks of about BLOCK rows that end on score levels, heavy levels being alone."""
    rows = sum(map(len, runs))
    ends = np.array([[0, len(run)] for run in runs], np.int64).reshape(len(runs), 2)
    if rows <= BLOCK:
        return Plan(runs, ends if rows else ends[:, :1])
    step = BLOCK // _SAMPLES
    sample = np.concatenate([run[step // 2 :: step] for run in runs])
    sample.sort()
    picked = sample[_SAMPLES::_SAMPLES] & LEVEL
    heavy = picked[1:][picked[1:] == picked[:-1]]
    after = heavy + np.uint64(2)
    splitters = np.unique(np.concatenate([picked, after[after > heavy]]))
    inner = np.stack([np.searchsorted(run, splitters) for run in runs])
    cuts = np.concatenate([ends[:, :1], inner, ends[:, 1:]], axis=1)
    filled = np.append(True, np.diff(cuts, axis=1).any(axis=0))
    return Plan(runs, cuts[:, filled])
