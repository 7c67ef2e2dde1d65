"""Beside mlscorecheck on what it can test: the same answer, or a proof that ours is right."""

from __future__ import annotations

import random
import warnings
from fractions import Fraction
from math import lcm

import numpy as np
import pytest

from pytest_cvaudit.forensics import Design, solve
from pytest_cvaudit.model.claim import Claim
from tests.forensics import brute
from tests.forensics.test_small import printed

LINEAR = {"accuracy": "acc", "recall": "sens", "specificity": "spec", "balanced_accuracy": "bacc"}
POOLED = LINEAR | {"precision": "ppv", "f1": "f1", "mcc": "mcc", "kappa": "kappa"}


def problem(seed):
    """A design with known folds, a kind of aggregation, and claims of a real table, half of them moved."""
    rng = random.Random(seed)
    pooled = rng.random() < 0.4
    k = rng.randint(2, 4)
    folds = [(rng.randint(1, 10), rng.randint(2, 25)) for _ in range(k)]
    if rng.random() < 0.5:
        folds = [folds[0]] * (k - 1) + [(folds[0][0] + rng.randint(0, 1), folds[0][1] + rng.randint(0, 1))]
    positives, negatives = (tuple(column) for column in zip(*folds, strict=True))
    design = Design(sum(positives) + sum(negatives), sum(positives), k, False, positives, negatives)
    quality = rng.random()
    table = []
    for p, n in folds:
        tp, fp = sum(rng.random() < quality for _ in range(p)), sum(rng.random() < 0.2 for _ in range(n))
        table.append((tp, fp, p - tp, n - fp))
    decimals = rng.randint(2, 4)
    scores = {}
    names = POOLED if pooled else LINEAR
    chosen = rng.sample(sorted(names), rng.randint(1, 3))
    if not pooled and not {"accuracy", "balanced_accuracy"} & set(chosen):
        # On recall or specificity alone it raises an exception.
        chosen.append("accuracy")
    for metric in chosen:
        number = brute.value(metric, way_of(metric, pooled), table)
        if number is None:
            continue
        moved = float(number) + (rng.choice([-3, -1, 1, 2, 20]) * 10.0**-decimals if rng.random() < 0.3 else 0)
        scores[metric] = printed(min(1.0, max(0.0, moved)), decimals, False)
    return design, pooled, scores, decimals


def way_of(metric, pooled):
    return "avg" if not pooled else "tp_fp" if metric == "f1" else "pooled"


def theirs(design, pooled, scores, decimals):
    """Tell whether mlscorecheck finds the scores consistent."""
    binary = pytest.importorskip("mlscorecheck.check.binary")
    names = POOLED if pooled else LINEAR
    folds = [{"p": p, "n": n} for p, n in zip(design.fold_positives, design.fold_negatives, strict=True)]
    arguments = {
        "dataset": {"p": design.positives, "n": design.negatives},
        "folding": {"folds": folds},
        "scores": {names[metric]: float(text) for metric, text in scores.items()},
        "eps": 0.5 * 10.0**-decimals,
    }
    with warnings.catch_warnings():
        # Its solver's package warns of its own next version.
        warnings.simplefilter("ignore")
        if pooled:
            return not binary.check_1_dataset_kfold_som(**arguments)["inconsistency"]
        return not binary.check_1_dataset_known_folds_mos(**arguments, verbosity=0)["inconsistency"]


def ours(design, pooled, scores):
    claims = []
    for metric, text in scores.items():
        claim = Claim.parse(f"{metric} = {text}")
        claims.append(Claim(claim.metric, claim.printed, aggregation=way_of(metric, pooled)))
    return solve(claims, design, seconds=60, truncation=False)


def proven_impossible(design, pooled, scores):
    """Enumerate apart from the package: all totals, or all sums of half of the folds against all of the other half."""
    windows = {metric: brute.interval(text, False) for metric, text in scores.items()}
    if pooled:
        p, n = design.positives, design.negatives
        return not any(
            all(brute.inside(brute.score(metric, (tp, fp, p - tp, n - fp)), windows[metric]) for metric in scores)
            for tp in range(p + 1)
            for fp in range(n + 1)
        )
    folds = list(zip(design.fold_positives, design.fold_negatives, strict=True))
    scale = 2 * lcm(*(p * n * (p + n) for p, n in folds))
    parts = []
    for p, n in folds:
        cells = [(tp, fp, p - tp, n - fp) for tp in range(p + 1) for fp in range(n + 1)]
        parts.append([[int(brute.score(metric, cell) * scale) for metric in scores] for cell in cells])
    low, high = ([Fraction(window[end]) * design.folds * scale for window in windows.values()] for end in (0, 1))
    low, high = (
        [-(-end.numerator // end.denominator) for end in low],
        [end.numerator // end.denominator for end in high],
    )
    half = (len(parts) + 1) // 2
    left, right = sums(parts[:half]), sums(parts[half:])
    right = right[np.argsort(right[:, 0].astype(float), kind="stable")]
    keys = right[:, 0].astype(float)
    for one in left:
        first = max(0, int(np.searchsorted(keys, float(low[0] - one[0]))) - 2)
        last = int(np.searchsorted(keys, float(high[0] - one[0]), "right")) + 2
        near = right[first:last] + one
        if ((near >= low) & (near <= high)).all(axis=1).any():
            return False
    return True


def sums(parts):
    """All distinct sums of one vector from each part, in whole numbers of any size."""
    found = {tuple([0] * len(parts[0][0]))} if parts else {(0,)}
    for part in parts:
        found = {tuple(a + b for a, b in zip(one, two, strict=True)) for one in found for two in part}
    return np.array(sorted(found), dtype=object)


def compare(seed):
    """Compare one problem; True if both say the same."""
    design, pooled, scores, decimals = problem(seed)
    if not scores:
        return True
    solution, consistent = ours(design, pooled, scores), theirs(design, pooled, scores, decimals)
    assert solution.verdict in ("unique", "impossible"), (seed, solution)
    possible = solution.verdict == "unique"
    if possible:
        for metric, text in scores.items():
            number = brute.value(metric, way_of(metric, pooled), solution.witness.folds)
            assert brute.inside(number, brute.interval(text, False)), (seed, solution)
        shapes = sorted((tp + fn, fp + tn) for tp, fp, fn, tn in solution.witness.folds)
        assert shapes == sorted(zip(design.fold_positives, design.fold_negatives, strict=True)), (seed, solution)
    elif consistent:
        assert proven_impossible(design, pooled, scores), (seed, design, scores)
    return possible == consistent


@pytest.mark.parametrize("start", [0, 10])
def test_a_few_answers_are_those_of_mlscorecheck(start):
    assert sum(compare(seed) for seed in range(start, start + 10)) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100, 400, 50))
def test_three_hundred_answers_are_those_of_mlscorecheck(start):
    same = sum(compare(seed) for seed in range(start, start + 50))
    print(f"the same answer in {same} of 50")
    assert same >= 45
