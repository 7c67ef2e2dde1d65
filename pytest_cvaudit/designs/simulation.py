"""What each aggregation gives on simulated test sets: the paper's simulation, in blocks of bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from pytest_cvaudit.designs.design import Classifier, Design, Expectation, Fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

#: Repeats in a block, unless the folds are so many that an array would have more than so many numbers.
_ROWS, _BLOCK = 20_000, 4_000_000
#: Below this many positives numpy deals them out one by one sooner than fold by fold.
_FEW = 100
_MANY_INSTANCES = 1_000_000


class Control(NamedTuple):
    """An aggregation that varies with the simulated one and whose expectation is known."""

    name: str
    expectation: float


@dataclass
class Sample:
    """A mean and a variance that take up values block by block, with those of a control if there is one."""

    control: Control | None = None
    number: int = 0
    mean: Floats = field(default_factory=lambda: np.zeros(2))
    scatter: Floats = field(default_factory=lambda: np.zeros((2, 2)))

    def add(self, values: Floats, control: Floats) -> None:
        """Take up the values that are defined, and what the control is then."""
        both = np.stack([values, control])[:, ~np.isnan(values)]
        number = both.shape[1]
        if not number:
            return
        mean, total = both.mean(axis=1), self.number + number
        shift, both = mean - self.mean, both - mean[:, None]
        self.scatter += both @ both.T + np.outer(shift, shift) * (self.number * number / total)
        self.mean += shift * number / total
        self.number = total

    def expectation(self, true_f: float) -> Expectation | None:
        """The mean with its Monte-Carlo error, corrected by how far the control is off; None if never defined."""
        if self.number < 3:
            return None
        mean, squares = float(self.mean[0]), float(self.scatter[0, 0])
        sd = sqrt(squares / (self.number - 1))
        if self.control is not None and self.scatter[1, 1] > 0:
            slope = float(self.scatter[0, 1] / self.scatter[1, 1])
            mean -= slope * (float(self.mean[1]) - self.control.expectation)
            squares = max(0.0, squares - slope * float(self.scatter[0, 1]))
        error = sqrt(squares / (self.number - 2) / self.number)
        return Expectation(mean, mean / true_f - 1, sd, "simulation", error)


@dataclass(frozen=True)
class Outcome:
    """True and false positives of a block of simulated cross-validations; rows: repeats, columns: folds."""

    positives: Ints
    sizes: Ints
    tp: Ints
    fp: Ints
    _known: dict[str, Floats] = field(default_factory=dict)

    def _once(self, name: str, make: Callable[[], Floats]) -> Floats:
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]

    @property
    def predicted(self) -> Floats:
        """How many are called positive."""
        return self._once("predicted", lambda: np.add(self.tp, self.fp, dtype=np.float64))

    @property
    def f(self) -> Floats:
        """F1 with 0 for undefined."""
        return self._once("f", lambda: _share(2 * self.tp, self.predicted + self.positives))

    @property
    def precision(self) -> Floats:
        """Precision with 0 for undefined."""
        return self._once("precision", lambda: _share(self.tp, self.predicted))

    @property
    def recall(self) -> Floats:
        """Recall with 0 for undefined."""
        return self._once("recall", lambda: _share(self.tp, self.positives))

    @property
    def missing(self) -> Bools:
        """Where F is 0/0."""
        missing: Bools = (self.predicted == 0) & (self.positives == 0)
        return missing

    @property
    def kept(self) -> Floats:
        """How many folds have both precision and recall, NaN for none."""
        return self._once("kept", lambda: _some(np.count_nonzero((self.predicted > 0) & (self.positives > 0), axis=1)))


def _share(part: Ints, whole: Ints | Floats) -> Floats:
    return np.true_divide(part, np.maximum(whole, 1))


def _some(count: NDArray[np.intp]) -> Floats:
    return np.where(count > 0, count, np.nan)


def _harmonic(p: Floats, r: Floats) -> Floats:
    return 2 * p * r / np.where(p + r > 0, p + r, 1)


def _pr_re_skip(outcome: Outcome) -> Floats:
    # Precision counts 0 where it is undefined, and where only recall is; recall is 0 where precision is undefined.
    return _harmonic(outcome.precision.sum(axis=1) / outcome.kept, outcome.recall.sum(axis=1) / outcome.kept)


#: Each aggregation of a block: one value per repeat, NaN for undefined.
WAYS: dict[str, Callable[[Outcome], Floats]] = {
    "tp_fp": lambda one: _share(2 * one.tp.sum(axis=1), (one.predicted + one.positives).sum(axis=1)),
    "avg": lambda one: one.f.mean(axis=1),
    "pr_re": lambda one: _harmonic(one.precision.mean(axis=1), one.recall.mean(axis=1)),
    "avg_skip": lambda one: one.f.sum(axis=1) / one.kept,
    "pr_re_skip": _pr_re_skip,
    "avg_one": lambda one: (one.f + one.missing).mean(axis=1),
    "avg_nan": lambda one: one.f.sum(axis=1) / _some(np.count_nonzero(~one.missing, axis=1)),
    "avg_weighted": lambda one: one.f @ (one.sizes / one.sizes.sum()),
    "avg_weighted_positives": lambda one: (one.f * one.positives).sum(axis=1) / one.positives.sum(axis=-1),
}


def simulate(
    design: Design | Sequence[Fold],
    classifier: Classifier,
    names: Iterable[str],
    repeats: int,
    seed: int,
    controls: Mapping[str, Control] | None = None,
) -> dict[str, Expectation | None]:
    """Simulate cross-validations of a design, or of folds of known sizes; every aggregation sees the same ones.

    A control must be undefined in exactly the repeats in which the aggregation that it steadies is.
    """
    samples = {name: Sample((controls or {}).get(name)) for name in names}
    generator = np.random.default_rng(seed)
    deal, sizes = _dealer(design, generator)
    rows = max(1, min(_ROWS, _BLOCK // len(sizes)))
    for start in range(0, repeats, rows):
        number = min(rows, repeats - start)
        positives = deal(number)
        shape = (number, len(sizes))
        tp = generator.binomial(positives, classifier.recall, shape)
        fp = generator.binomial(sizes - positives, classifier.false_positive_rate, shape)
        outcome = Outcome(positives, sizes, tp, fp)
        for name, sample in samples.items():
            values = WAYS[name](outcome)
            sample.add(values, values if sample.control is None else WAYS[sample.control.name](outcome))
    return {name: sample.expectation(classifier.f1) for name, sample in samples.items()}


def _dealer(design: Design | Sequence[Fold], generator: np.random.Generator) -> tuple[Callable[[int], Ints], Ints]:
    """How the positives of a number of repeats are dealt to the folds, and the fold sizes."""
    if isinstance(design, Design) and not design.stratified:
        sizes = np.array(design.sizes)
        one_by_one = design.positives < _FEW and design.instances <= _MANY_INSTANCES
        method: Literal["count", "marginals"] = "count" if one_by_one else "marginals"
        return lambda number: generator.multivariate_hypergeometric(sizes, design.positives, number, method), sizes
    folds = design.stratified_folds() if isinstance(design, Design) else design
    positives, negatives = (np.array(column) for column in zip(*folds, strict=True))
    return lambda _: positives, positives + negatives
