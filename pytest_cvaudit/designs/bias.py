"""What each aggregation of F is expected to give for a design: exact by enumeration, else by simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_cvaudit.aggregations.measures import f_beta, f_of, precision, recall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Outcomes less likely than this do not change any digit that is shown.
_NEGLIGIBLE = 1e-17
_BLOCK = 20_000


class Fold(NamedTuple):
    """The size of a test fold, by class."""

    positives: int
    negatives: int


@dataclass(frozen=True)
class Classifier:
    """A classifier with a known true precision and recall on data with this many positives and negatives."""

    precision: float
    recall: float
    positives: int
    negatives: int

    @property
    def f1(self) -> float:
        """The true F1."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)

    @property
    def false_positive_rate(self) -> float:
        """The rate that makes the precision what it is."""
        wrong = self.positives * self.recall * (1 - self.precision) / self.precision
        return min(1.0, wrong / self.negatives)


@dataclass(frozen=True)
class Expectation:
    """What an aggregation gives on average over many test sets, against the true F."""

    expectation: float
    relative_bias: float
    sd: float
    method: str
    mc_error: float | None = None


class _Law(NamedTuple):
    """The joint law of (TP, FP): their values and the probability of each pair."""

    tp: Floats
    fp: Floats
    chance: Floats


def _binomial(n: int, p: float) -> tuple[Floats, Floats]:
    from scipy.stats import binom

    low, high = (int(binom.ppf(q, n, p)) for q in (_NEGLIGIBLE, 1 - 1e-16))
    values = np.arange(max(0, low - 1), min(n, high + 2) + 1)
    return values.astype(np.float64), np.asarray(binom.pmf(values, n, p), dtype=np.float64)


def _law(fold: Fold, classifier: Classifier) -> _Law:
    tp, tp_chance = _binomial(fold.positives, classifier.recall)
    fp, fp_chance = _binomial(fold.negatives, classifier.false_positive_rate)
    return _Law(tp[:, None], fp[None, :], tp_chance[:, None] * fp_chance[None, :])


def expected(folds: Sequence[Fold], classifier: Classifier, aggregation: str, seed: int = 0) -> Expectation | None:
    """The expectation of one aggregation of F1 over folds of these sizes; None for an aggregation without one."""
    if aggregation == "tp_fp":
        total = Fold(sum(fold.positives for fold in folds), sum(fold.negatives for fold in folds))
        mean, second = _moments(total, classifier, 0.0)[:2]
        return _exact(mean, second - mean**2, classifier)
    if aggregation in ("avg", "avg_one"):
        moments = [_moments(fold, classifier, 1.0 if aggregation == "avg_one" else 0.0) for fold in folds]
        mean = sum(moment.mean for moment in moments) / len(folds)
        variance = sum(moment.second - moment.mean**2 for moment in moments) / len(folds) ** 2
        return _exact(mean, variance, classifier)
    if aggregation == "avg_skip":
        return _skip(folds, classifier)
    if aggregation in ("pr_re", "pr_re_skip"):
        return _simulated(folds, classifier, aggregation == "pr_re_skip", seed)
    return None


class _Moments(NamedTuple):
    mean: float
    second: float
    kept_mean: float
    kept_second: float
    kept: float


def _moments(fold: Fold, classifier: Classifier, undefined: float) -> _Moments:
    """Mean and mean square of a fold's F, over all outcomes and over those where precision and recall are defined."""
    law = _law(fold, classifier)
    f = np.broadcast_to(f_beta(law.tp, law.fp, fold.positives - law.tp, 1.0), law.chance.shape)
    f = np.where(np.isnan(f), undefined, f)
    kept = np.broadcast_to((law.tp + law.fp > 0) & (fold.positives > 0), law.chance.shape)
    chance = law.chance / law.chance.sum()
    return _Moments(
        float((chance * f).sum()), float((chance * f * f).sum()), float((chance * f * kept).sum()),
        float((chance * f * f * kept).sum()), float((chance * kept).sum()),
    )  # fmt: skip


def _skip(folds: Sequence[Fold], classifier: Classifier) -> Expectation | None:
    """The mean over the folds that are defined, given that one is: exact by the law of how many others are defined."""
    known: dict[Fold, _Moments] = {fold: _moments(fold, classifier, 0.0) for fold in set(folds)}
    moments = [known[fold] for fold in folds]
    some = 1 - float(np.prod([1 - moment.kept for moment in moments]))
    if some <= 0:
        return None
    mean = second = 0.0
    for i, one in enumerate(moments):
        others = _how_many([moment.kept for j, moment in enumerate(moments) if j != i])
        sizes = np.arange(1, len(others) + 1)
        mean += one.kept_mean * float((others / sizes).sum())
        second += one.kept_second * float((others / sizes**2).sum())
        for j, two in enumerate(moments):
            if j > i:
                rest = _how_many([moment.kept for m, moment in enumerate(moments) if m not in (i, j)])
                weight = float((rest / np.arange(2, len(rest) + 2) ** 2).sum())
                second += 2 * one.kept_mean * two.kept_mean * weight
    mean, second = mean / some, second / some
    return _exact(mean, second - mean**2, classifier)


def _how_many(chances: Sequence[float]) -> Floats:
    """The law of the number of successes among independent trials with these chances."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return law


def _exact(mean: float, variance: float, classifier: Classifier) -> Expectation:
    return Expectation(mean, mean / classifier.f1 - 1, float(np.sqrt(max(0.0, variance))), "exact")


def _simulated(
    folds: Sequence[Fold], classifier: Classifier, skip: bool, seed: int, runs: int = 100_000
) -> Expectation:
    generator = np.random.default_rng(seed)
    positives, negatives = (np.array(column) for column in zip(*folds, strict=True))
    values = []
    for start in range(0, runs, _BLOCK):
        shape = (min(_BLOCK, runs - start), len(folds))
        tp = generator.binomial(positives, classifier.recall, shape)
        fp = generator.binomial(negatives, classifier.false_positive_rate, shape)
        p, r = precision(tp, fp), recall(tp, positives - tp)
        kept = ~np.isnan(p) & ~np.isnan(r) if skip else np.ones(shape, dtype=bool)
        number = kept.sum(axis=1)
        means = [np.where(kept, np.nan_to_num(rate), 0).sum(axis=1)[number > 0] / number[number > 0] for rate in (p, r)]
        values.append(f_of(means[0], means[1], 1.0))
    sample = np.concatenate(values)
    mean, sd = float(sample.mean()), float(sample.std(ddof=1))
    return Expectation(mean, mean / classifier.f1 - 1, sd, "simulation", sd / float(np.sqrt(len(sample))))
