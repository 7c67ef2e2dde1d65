"""Attribution: which aggregations print exactly what is claimed, and which kind of spread its ± is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import Aggregates, MetricTable, NotComputable, Value, cell_name
from pytest_cvaudit.matching import matching, spans_of
from pytest_cvaudit.model.metrics import metric
from pytest_cvaudit.readings import other_reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cvaudit.model import Claim, Printed

    Floats = NDArray[np.float64]

UNIQUE, AMBIGUOUS, UNEXPLAINED, UNCHECKABLE = "unique", "ambiguous", "unexplained", "uncheckable"
#: How many near misses an unexplained claim lists.
_NEAREST = 3
#: How many units of its last digit a claim may be off a single fold to remind of it.
_NEAR_UNITS = 2
#: Measures that are sometimes reported at the threshold that suits the test data best.
_AT_BEST = {"f1": "max_f1", "mcc": "max_mcc"}
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class Attribution:
    """What explains one claim: the aggregations that print so, else a measure in disguise, else single folds.

    ``by_tables`` says that tables of counts were searched for behind printed fold values, and found.
    """

    claim: Claim
    verdict: str
    matches: tuple[str, ...] = ()
    single_folds: tuple[str, ...] = ()
    disguise: str | None = None
    other_reading: str | None = None
    contradicts: tuple[Claim, ...] = ()
    possible: tuple[str, ...] = ()
    nearest: tuple[tuple[str, float], ...] = ()
    near_fold: tuple[str, float] | None = None
    truncated: bool = False
    spread: tuple[str, ...] | None = None
    reason: str | None = None
    by_tables: bool = False
    table: MetricTable | None = field(default=None, repr=False)

    @property
    def recommended(self) -> Value | None:
        """The value of the recommended aggregation, if the metric could be computed."""
        return self.table.best if self.table is not None else None

    @property
    def recommended_name(self) -> str | None:
        """The name of the recommended aggregation."""
        return self.table.recommended if self.table is not None else None

    @property
    def delta(self) -> float | None:
        """How far the claim lies from the recommended value."""
        best = self.recommended
        return None if best is None or best.value is None else self.claim.printed.value - best.value


def attribute(claim: Claim, aggregates: Aggregates) -> Attribution:
    """Compare a claim with every aggregation of its metric."""
    try:
        table = aggregates.of_claim(claim)
    except NotComputable as missing:
        return Attribution(claim, UNCHECKABLE, reason=str(missing))
    defined = table.distinct()
    if not defined:
        reasons = {value.reason for value in table.values.values() if value.reason}
        return Attribution(claim, UNCHECKABLE, reason="; ".join(sorted(reasons)), table=table)
    matches, truncated = matching(claim.printed, spans_of(table))
    if matches:
        verdict = UNIQUE if len(matches) == 1 else AMBIGUOUS
        return Attribution(
            claim, verdict, matches, truncated=truncated, table=table, spread=_spread(claim, table, matches)
        )
    disguise = _disguise(claim, aggregates)
    other = other_reading(claim, aggregates, table) if disguise is None else None
    folds, truncated = matching(claim.printed, _folds(table)) if disguise is None and other is None else ((), False)
    unknown = {value.reason for value in table.values.values() if value.reason and _may_be(value, claim.printed)}
    nearest = sorted(
        ((name, v.value or 0.0) for name, v in defined.items()), key=lambda item: abs(item[1] - claim.printed.value)
    )
    return Attribution(
        claim, UNCHECKABLE if unknown else UNEXPLAINED, single_folds=folds, nearest=tuple(nearest[:_NEAREST]),
        truncated=truncated, table=table, spread=_spread(claim, table, tuple(defined)),
        reason="; ".join(sorted(unknown)) or None, disguise=disguise, other_reading=other,
        near_fold=_near_fold(claim.printed, table, nearest[0][1]),
    )  # fmt: skip


def _may_be(value: Value, printed: Printed) -> bool:
    """Tell whether an aggregation that the evidence does not give could still print the claim."""
    if not value.unknown:
        return False
    bounded = not np.isnan(value.low)
    return not bounded or printed.rounded.meets(value.low, value.high) or printed.truncated.meets(value.low, value.high)


def _disguise(claim: Claim, aggregates: Aggregates) -> str | None:
    """The measure at its best threshold over the test scores, where that is what the claim prints."""
    name = _AT_BEST.get(claim.metric.name)
    if name is None:
        return None
    try:
        matches, _ = matching(claim.printed, spans_of(aggregates.of(metric(name), claim.label)))
    except NotComputable:
        return None
    return f"{name} ({' or '.join(matches)})" if matches else None


def _folds(table: MetricTable) -> dict[str, tuple[float, float]]:
    per_fold = table.per_fold
    return {
        cell_name(cell, table.cells): (float(per_fold.low[index]), float(per_fold.high[index]))
        for index, cell in enumerate(table.cells)
        if len(table.cells) > 1 and not np.isnan(per_fold.value[index])
    }


def _near_fold(printed: Printed, table: MetricTable, nearest: float) -> tuple[str, float] | None:
    """The fold that a claim all but prints, where that is nearer than any aggregation: mostly a slip in rounding."""
    values = table.per_fold.value
    if len(table.cells) < 2 or np.isnan(values).all():
        return None
    index = int(np.nanargmin(np.abs(values - printed.value)))
    value = float(values[index])
    off = abs(value - printed.value)
    if off > _NEAR_UNITS * float(printed.unit) or off >= abs(nearest - printed.value):
        return None
    return cell_name(table.cells[index], table.cells), value


def _spread(claim: Claim, table: MetricTable, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Name the kinds of spread that print as the claim's ± does; None where the claim has no ±."""
    printed = claim.printed.spread
    if printed is None:
        return None
    found: dict[str, None] = {}
    for name in names:
        for start in table.starting_from(name):
            defined = ~np.isnan(start.value)
            slack = float(np.max(start.high[defined] - start.low[defined], initial=0.0)) / 2
            for values in (start.value[defined], np.nan_to_num(start.value)):
                spans = _spreads(values, slack, table.values[name].per_repeat)
                found |= dict.fromkeys(matching(printed, spans)[0])
    return tuple(found)


def _spreads(values: Floats, slack: float, per_repeat: tuple[float, ...]) -> dict[str, tuple[float, float]]:
    """The spreads that people print: SD over folds or repeats with n or n-1, standard error, 95 % half-widths.

    If no value is off by more than ``slack``, an SD is not off by more either (times √(n/(n-1)) for n-1).
    """
    spreads: dict[str, tuple[float, float]] = {}
    for over, sample, off in (("folds", values, slack), ("repeats", np.asarray(per_repeat), slack)):
        size = len(sample)
        if size < 2:
            continue
        deviation, root = float(np.std(sample)), float(np.sqrt(size))
        sample_factor = float(np.sqrt(size / (size - 1)))
        factors = {
            "sd_n-1": sample_factor,
            "sd_n": 1.0,
            "standard error": sample_factor / root,
            "95% half-width (normal)": _NORMAL_95 * sample_factor / root,
            "95% half-width (t)": _t_quantile(size - 1) * sample_factor / root,
            "2 sd_n": 2.0,
        }
        for kind, factor in factors.items():
            spreads[f"{kind} over {over}"] = (factor * (deviation - off), factor * (deviation + off))
    return spreads


def _t_quantile(freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))
