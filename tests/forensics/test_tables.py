"""The reference tables from the summary alone, against an enumeration of all tables with the claimed totals."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from pytest_cvaudit.forensics import Design, contradiction, possible_values, solve
from pytest_cvaudit.model.claim import Claim
from tests.forensics import brute

TABLES = {
    1: ((3, 0, 0, 373), (4, 1, 0, 371), (4, 13, 0, 359), (3, 5, 1, 367)),
    2: ((2, 0, 2, 372), (0, 0, 4, 372), (4, 0, 0, 372), (4, 0, 0, 372)),
}
DESIGNS = {1: Design(1504, 15, 4, True), 2: Design(1504, 16, 4, True)}
SPLITS = {
    1: [((4, 372),) * 3 + ((3, 373),), ((4, 373), (4, 372), (4, 372), (3, 372))],
    2: [((4, 372),) * 4],
}
F_WAYS = ("tp_fp", "avg", "avg_skip", "avg_one", "pr_re", "pr_re_skip")


def claim(metric, number, decimals, way=None):
    parsed = Claim.parse(f"{metric} = {float(number):.{decimals}f}")
    return Claim(parsed.metric, parsed.printed, aggregation=way)


@pytest.mark.parametrize("table", [1, 2])
@pytest.mark.parametrize("decimals", [2, 3, 4])
@pytest.mark.parametrize("way", F_WAYS)
def test_f_alone(table, decimals, way):
    design, number = DESIGNS[table], brute.value("f1", way, TABLES[table])
    solution = solve([claim("f1", number, decimals)], design)
    answers = solution.claims[0].aggregations
    assert answers[way] == "fits"
    bounds = brute.interval(f"{float(number):.{decimals}f}", False)
    p = design.positives
    totals = any(
        brute.inside(brute.score("f1", (tp, fp, p - tp, 0)), bounds) for tp in range(p + 1) for fp in range(1505 - p)
    )
    assert answers["tp_fp"] == ("fits" if totals else "cannot")
    for other in F_WAYS[1:]:
        if answers[other] == "cannot":
            assert not any(reachable(split, other, bounds) for split in SPLITS[table])
        else:
            declared = solve([claim("f1", number, decimals, other)], design)
            assert brute.inside(brute.value("f1", other, declared.witness.folds), bounds)


def half(one, two):
    """For all cells of two folds: folds judged, and sums of recall, precision and F (of judged folds only)."""
    columns = []
    for p, n in (one, two):
        tp, fp = (axis.ravel() for axis in np.meshgrid(np.arange(p + 1), np.arange(n + 1), indexing="ij"))
        precision = np.divide(tp, tp + fp, out=np.zeros(len(tp)), where=tp + fp > 0)
        # Recall of such a fold is zero when nothing was predicted, so all sums serve both policies.
        columns.append(np.stack([tp + fp > 0, tp / p, precision, 2 * tp / (tp + fp + p)], axis=1))
    sums = (columns[0][:, None, :] + columns[1][None, :, :]).reshape(-1, 4)
    return np.unique(np.round(sums, 12), axis=0)


@cache
def halves(split):
    return half(*split[:2]), half(*split[2:])


def reachable(split, way, bounds):
    """Whether some table of the split has its F within the bounds: two folds meet the other two, by sorting."""
    low, high = (float(end) for end in bounds)
    one, two = halves(split)
    for count_one in (0, 1, 2):
        for count_two in (0, 1, 2):
            folds = count_one + count_two if way.endswith("_skip") else 4
            left, right = one[one[:, 0] == count_one], two[two[:, 0] == count_two]
            if folds == 0:
                continue
            if way.startswith("avg"):
                if meets(left[:, 3], right[:, 3], folds * low, folds * high):
                    return True
                continue
            for recall_one in np.unique(left[:, 1]):
                for recall_two in np.unique(right[:, 1]):
                    recall = (recall_one + recall_two) / folds
                    if recall == 0:
                        continue
                    ends = [recall * f / (2 * recall - f) if 2 * recall > f else np.inf for f in (low, high)]
                    precisions = [side[side[:, 1] == r][:, 2] for side, r in ((left, recall_one), (right, recall_two))]
                    if ends[0] < np.inf and meets(*precisions, folds * ends[0], folds * ends[1]):
                        return True
    return False


def meets(one, two, low, high):
    two = np.sort(two)
    return bool((np.searchsorted(two, high + 1e-10 - one, "right") > np.searchsorted(two, low - 1e-10 - one)).any())


def statistics(folds):
    """Per choice of cells: the sums that every aggregation needs."""
    tp, fp, p, n = (np.stack([fold[at] for fold in folds]).astype(float) for at in range(4))
    predicted = tp + fp
    precision = np.divide(tp, predicted, out=np.zeros_like(tp), where=predicted > 0)
    recall, f1, judged = tp / p, 2 * tp / (tp + fp + p), predicted > 0
    count = judged.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):

        def of_means(one, two):
            return np.where(one + two > 0, 2 * one * two / (one + two), 0.0)

        skipped = [np.where(judged, part, 0).sum(axis=0) / count for part in (f1, precision, recall)]
        f = {
            "tp_fp": 2 * tp.sum(axis=0) / (tp + fp + p).sum(axis=0), "avg": f1.mean(axis=0), "avg_one": f1.mean(axis=0),
            "avg_skip": skipped[0], "pr_re": of_means(precision.mean(axis=0), recall.mean(axis=0)),
            "pr_re_skip": np.where(count > 0, of_means(skipped[1], skipped[2]), np.nan),
        }  # fmt: skip
    right = (tp + n - fp).sum(axis=0) / (p + n).sum(axis=0)
    mean_right = ((tp + n - fp) / (p + n)).mean(axis=0)
    others = {
        "recall": {"pooled": tp.sum(axis=0) / p.sum(axis=0), "avg": recall.mean(axis=0)},
        "specificity": {"pooled": 1 - fp.sum(axis=0) / n.sum(axis=0), "avg": 1 - (fp / n).mean(axis=0)},
        "accuracy": {"pooled": right, "avg": mean_right},
    }
    return {"f1": f, **others}


def enumerated(split, most_fp):
    """All choices of cells for a split with at most so many false positives, equal folds in order."""
    shapes = sorted(set(split))
    parts = []
    for shape in shapes:
        cells = [(tp, fp, *shape) for tp in range(shape[0] + 1) for fp in range(most_fp + 1)]
        several = [
            c for c in combinations_with_replacement(cells, split.count(shape)) if sum(x[1] for x in c) <= most_fp
        ]
        parts.append(np.array(several))
    grid = np.meshgrid(*(np.arange(len(part)) for part in parts), indexing="ij")
    folds = [
        part[index.ravel()][:, at].T for part, index in zip(parts, grid, strict=True) for at in range(part.shape[1])
    ]
    keep = sum(fold[1] for fold in folds) <= most_fp
    return [fold[:, keep] for fold in folds]


CASES = [(2, decimals, beside) for decimals in (2, 3, 4) for beside in (
    ("specificity",), ("recall", "specificity"), ("accuracy", "recall", "specificity"))]  # fmt: skip


@pytest.mark.parametrize(("table", "decimals", "beside"), CASES)
@pytest.mark.parametrize("way", F_WAYS)
def test_f_beside_other_claims(table, decimals, beside, way):
    design, folds = DESIGNS[table], TABLES[table]
    texts = {"f1": f"{float(brute.value('f1', way, folds)):.{decimals}f}"}
    texts |= {metric: f"{float(brute.value(metric, 'pooled', folds)):.{decimals}f}" for metric in beside}
    expected = {metric: set() for metric in texts}
    # Specificity rounds to one, so few false positives are left to enumerate.
    most_fp = int((1488 * 0.5 * 10**-decimals) + 1)
    for split in SPLITS[table]:
        values = statistics(enumerated(split, most_fp))
        hits = {}
        for metric, text in texts.items():
            low, high = (float(end) for end in brute.interval(text, False))
            hits[metric] = {
                name: (value >= low - 1e-12) & (value <= high + 1e-12) for name, value in values[metric].items()
            }
        every = np.logical_and.reduce([np.logical_or.reduce(list(each.values())) for each in hits.values()])
        for metric, each in hits.items():
            expected[metric] |= {name for name, hit in each.items() if (hit & every).any()}
    solution = solve([Claim.parse(f"{metric} = {text}") for metric, text in texts.items()], design, seconds=20)
    for fit in solution.claims:
        names = expected[fit.claim.metric.name]
        for name, answer in fit.aggregations.items():
            if fit.claim.metric.name == "f1" or name in ("pooled", "avg"):
                # Folds of one shape: weighted means and means without undefined folds are other names for the mean.
                first = fit.aliases.get(name, name)
                assert answer == ("fits" if first in names else "cannot"), (name, solution)
    reprints(solution)


def reprints(solution):
    assert solution.witness is not None
    for fit, way in zip(solution.claims, solution.witness.aggregations, strict=True):
        number = brute.value(fit.claim.metric.name, way, solution.witness.folds)
        assert brute.inside(number, brute.interval(str(fit.claim.printed), False))


@pytest.mark.parametrize("decimals", [2, 3, 4])
@pytest.mark.parametrize("way", ["avg", "pr_re", "tp_fp"])
def test_table_1_beside_all_three_is_never_refuted(decimals, way):
    folds = TABLES[1]
    claims = [claim("f1", brute.value("f1", way, folds), decimals)]
    claims += [
        claim(metric, brute.value(metric, "pooled", folds), decimals)
        for metric in ("accuracy", "recall", "specificity")
    ]
    solution = solve(claims, DESIGNS[1], seconds=20)
    assert solution.claims[0].aggregations[way] == "fits"
    assert "undecided" not in solution.claims[0].aggregations.values()
    reprints(solution)


def test_the_smallest_contradiction():
    design = DESIGNS[2]
    claims = [Claim.parse(text) for text in ("recall = 0.6250", "f1 = 0.7692", "specificity = 0.5", "recall = 0.6875")]
    assert contradiction(claims, design) == (claims[0], claims[3])
    assert contradiction(claims[:2], design) == ()
    alone = Claim.parse("accuracy = 0.99603")
    assert contradiction([claims[0], alone], design) == (alone,)


def test_the_nearest_possible_values():
    alone = Claim.parse("accuracy = 0.99603")
    assert possible_values(alone, [], DESIGNS[2], "pooled") == ["0.99601"]
    recall = Claim.parse("recall = 64.0%")
    assert possible_values(recall, [], DESIGNS[2], "pooled") == ["62.5%", "68.7%"]
    assert possible_values(Claim.parse("recall = 63%"), [], DESIGNS[2], "pooled") == ["63%", "62%", "69%", "56%"]


@pytest.mark.parametrize("seed", range(12))
def test_the_nearest_possible_values_are_those_of_brute_force(seed):
    rng = random.Random(seed)
    design = rng.choice([Design(10, 4, 1, False), Design(9, 3, 2, True), Design(8, 3, 2, False)])
    metric, decimals = rng.choice(["recall", "precision", "f1", "accuracy"]), rng.choice([3, 4, 5])
    unit = Fraction(1, 10**decimals)
    values = {brute.value(metric, way, table) for way in brute.ways(metric) for table in brute.tables(design)} - {None}
    while True:
        asked = rng.randrange(10**decimals + 1)
        distances = {abs(value / unit - asked) - Fraction(1, 2): value for value in values}
        if min(distances) > 13:
            break
    possible = possible_values(Claim.parse(f"{metric} = {asked / 10**decimals:.{decimals}f}"), [], design, seconds=20)
    below = max((value for value in values if value < asked * unit), default=None)
    above = min((value for value in values if value > asked * unit), default=None)
    found = sorted(map(Fraction, possible))
    wanted = [value for value in (below, above) if value is not None]
    assert len(found) == len(wanted)
    assert all(abs(one - two) <= unit / 2 for one, two in zip(found, wanted, strict=True)), (possible, wanted)
