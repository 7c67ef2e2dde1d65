"""What each aggregation of F1 is expected to give for a design: exact by enumeration, else by simulation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cvaudit.designs import exact
from pytest_cvaudit.designs.design import Classifier, Design, Expectation, Fold
from pytest_cvaudit.designs.moments import fold_moments, outcomes
from pytest_cvaudit.designs.simulation import Control, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_cvaudit.designs.exact import MeanSd, Split

#: As many repeats as a default simulation makes, and as many folds as it deals in all.
_REPEATS, _DEALT = 100_000, 20_000_000
#: The ways with an exact form over a split; `tp_fp` needs the totals only, and `pr_re` has none that is known.
_EXACT: dict[str, Callable[[Split], MeanSd | None]] = {
    "avg": exact.mean_of_folds,
    "avg_skip": exact.mean_of_defined,
    "avg_one": lambda split: exact.mean_of_folds(split, undefined=1.0),
    "avg_nan": lambda split: exact.mean_of_defined(split, only_f=True),
    "avg_weighted": lambda split: exact.mean_of_folds(split, weight="size"),
    "avg_weighted_positives": lambda split: exact.mean_of_folds(split, weight="positives"),
}
_DEFINED_ONLY = ("avg_skip", "avg_nan")
#: What varies with what has to be simulated, and is undefined just as often.
_CONTROLS = {"pr_re": "avg", "pr_re_skip": "avg_skip"}
#: The five of Forman & Scholz, and what scikit-learn's `zero_division=1` makes.
MAIN = ("tp_fp", "avg", "pr_re", "avg_skip", "pr_re_skip", "avg_one")
ALL = (*MAIN, "avg_nan", "avg_weighted", "avg_weighted_positives")


@dataclass(frozen=True)
class Simulation:
    """How to simulate what has no exact form; a control with an exact expectation makes the error far smaller."""

    repeats: int = _REPEATS
    seed: int = 0
    controlled: bool = True


def default_repeats(folds: int) -> int:
    """How often to simulate a design with so many folds: a second or so."""
    return max(1_000, min(_REPEATS, _DEALT // folds))


def expectations(
    design: Design | Sequence[Fold],
    classifier: Classifier,
    names: Iterable[str] = MAIN,
    simulation: Simulation | None = None,
) -> dict[str, Expectation | None]:
    """The expectation of each named aggregation of F1; None for one that is never defined."""
    names, simulation = tuple(names), simulation or Simulation()
    found: dict[str, Expectation | None] = {}
    if "tp_fp" in names:
        _put(found, "tp_fp", _totals(design, classifier), classifier)
    wanted = [name for name in names if name in _EXACT]
    wanted += [control for name, control in _CONTROLS.items() if name in names and simulation.controlled]
    split = _split(design, classifier) if wanted else None
    if split is not None:
        for name in dict.fromkeys(wanted):
            if name not in _DEFINED_ONLY or split.folds <= exact.MOST_FOLDS:
                _put(found, name, _EXACT[name](split), classifier)
    rest = [name for name in names if name not in found]
    if rest:
        known = {name: (control, found.get(control)) for name, control in _CONTROLS.items() if simulation.controlled}
        controls = {name: Control(control, one.expectation) for name, (control, one) in known.items() if one}
        found |= simulate(design, classifier, rest, simulation.repeats, simulation.seed, controls)
    return {name: found[name] for name in names}


def _put(found: dict[str, Expectation | None], name: str, moments: MeanSd | None, classifier: Classifier) -> None:
    if moments is not None:
        found[name] = Expectation(moments.mean, moments.mean / classifier.f1 - 1, moments.sd, "exact")


def _totals(design: Design | Sequence[Fold], classifier: Classifier) -> MeanSd | None:
    """The F of the totals, which no split changes."""
    if isinstance(design, Design):
        total = Fold(design.positives, design.negatives)
    else:
        total = Fold(sum(fold.positives for fold in design), sum(fold.negatives for fold in design))
    if outcomes(total, classifier) > exact.MOST_OUTCOMES:
        return None
    moments = fold_moments(total, classifier)
    return exact.mean_sd(moments.f, moments.f_squared)


def _split(design: Design | Sequence[Fold], classifier: Classifier) -> Split | None:
    if not isinstance(design, Design):
        return exact.known_split(Counter(design), classifier)
    known = design.known_folds()
    return exact.random_split(design, classifier) if known is None else exact.known_split(known, classifier)


def expected(folds: Sequence[Fold], classifier: Classifier, aggregation: str, seed: int = 0) -> Expectation | None:
    """The expectation of one of the main aggregations of F1 over folds of these sizes; None for any other."""
    if aggregation not in MAIN:
        return None
    return expectations(folds, classifier, [aggregation], Simulation(seed=seed))[aggregation]


def sentence(
    folds: Sequence[Fold], precision: float, recall: float, aggregation: str = "avg", *, design: str = "your design"
) -> str | None:
    """Say what an aggregation is expected to do for folds of these sizes if the pooled precision and recall are true.

    None where that cannot be told: nothing found, no negatives, an aggregation without a known expectation.
    """
    positives, negatives = sum(fold.positives for fold in folds), sum(fold.negatives for fold in folds)
    if not (precision > 0 and recall > 0 and positives and negatives):
        return None
    found = expected(folds, Classifier(precision, recall, positives, negatives), aggregation)
    return None if found is None else in_words(aggregation, found, design)


def in_words(aggregation: str, found: Expectation, design: str) -> str:
    """One sentence about an expected bias."""
    size = f"{abs(found.relative_bias):.1%}".replace("%", " %")
    if size == "0.0 %":
        return f"for {design} F_{aggregation} is expected to be right (within 0.05 %)"
    way = "below" if found.relative_bias < 0 else "above"
    return f"for {design} F_{aggregation} is expected {size} {way} the truth"
