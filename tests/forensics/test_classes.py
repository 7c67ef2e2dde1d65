"""Tables of several classes from printed numbers and supports alone, against all tables of small designs."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics import Classes, contradiction, solve
from pytest_cvaudit.model.claim import Claim
from tests.forensics import brute
from tests.forensics.studies import Oracle, printed

AVERAGES = tuple(f"{kind}_{base}" for kind in ("macro", "micro", "weighted") for base in ("f1", "precision", "recall"))
POOLED = {"macro": "tp_fp@train", "micro": "tp_fp@train", "weighted": "tp_fp@test"}


def compositions(total, parts):
    for bars in combinations(range(total + parts - 1), parts - 1):
        ends = (-1, *bars, total + parts - 1)
        yield tuple(b - a - 1 for a, b in pairwise(ends))


def counts(matrix):
    """(tp, fp, fn, tn) of every class of a confusion matrix with true classes as rows."""
    size, total = range(len(matrix)), sum(map(sum, matrix))
    found = []
    for c in size:
        tp, true, predicted = matrix[c][c], sum(matrix[c]), sum(matrix[r][c] for r in size)
        found.append((tp, predicted - tp, true - tp, total - true - predicted + tp))
    return tuple(found)


def fold_tables(shape):
    rows = [list(compositions(count, len(shape))) for count in shape]
    return sorted({counts(matrix) for matrix in product(*rows)})


def average(name, fold, weights, of_means=False):
    kind, base = name.split("_", 1) if "_" in name else ("", name)
    correct, size = sum(c[0] for c in fold), sum(fold[0])
    if name == "accuracy" or kind == "micro":
        return Fraction(correct, size)
    if name == "kappa":
        expected = Fraction(sum((c[0] + c[2]) * (c[0] + c[1]) for c in fold), size * size)
        return None if expected == 1 else (Fraction(correct, size) - expected) / (1 - expected)
    if name == "balanced_accuracy":
        kind, base = "macro", "recall"

    def mean(measure):
        scores = [brute.score(measure, one) or Fraction(0) for one in fold]
        return sum(w * s for w, s in zip(weights, scores, strict=True)) / sum(weights)

    if of_means:
        p, r = mean("precision"), mean("recall")
        b2 = Fraction(base[1:]) ** 2
        return (1 + b2) * p * r / (b2 * p + r) if p + r else Fraction(0)
    return mean(base)


def value(labels, folds_wanted):
    size = len(labels)

    def of(name, way, table):
        folds = [table[at : at + size] for at in range(0, len(table), size)]
        total = tuple(tuple(map(sum, zip(*one, strict=True))) for one in zip(*folds, strict=True))
        if "[" in name:
            metric, label = name.rstrip("]").split("[")
            at = labels.index(label)
            pooled = way in ("tp_fp", "pooled")
            return brute.value(metric, way, [fold[at] for fold in ([total] if pooled else folds)])
        base, _, where = way.partition("@")
        ones, supports = [1] * size, [c[0] + c[2] for c in total]
        weighted = name.startswith("weighted")
        if not base.startswith("avg"):
            return average(name, total, supports if weighted else ones, base == "of_means")
        assert len(folds) == folds_wanted
        each = []
        for fold in folds:
            here = [c[0] + c[2] for c in fold] if where == "fold" else supports
            each.append(average(name, fold, here if weighted else ones, base == "avg_of_means"))
        return brute.mean(each)

    return of


def ways(name):
    if "[" in name:
        return brute.ways(name.split("[")[0])
    if name == "kappa":
        return ("pooled",)
    if name == "accuracy":
        return brute.TABLE_WAYS
    kind, base = name.split("_", 1)
    of_means = kind != "micro" and base.startswith("f")
    if kind == "weighted":
        names = ("tp_fp@test", "avg@test", "avg@fold")
        return names + (("of_means@test", "avg_of_means@test", "avg_of_means@fold") if of_means else ())
    pooled, averaged = ("train", "test", "test_union"), ("train", "test", "fold", "fold_union")
    found = []
    for one, two in (("tp_fp", "avg"), ("of_means", "avg_of_means")) if of_means else (("tp_fp", "avg"),):
        found += [f"{one}@{where}" for where in pooled] + [f"{two}@{where}" for where in averaged]
    return tuple(found)


def oracle(supports, folds):
    """All tables of a stratified design whose supports the folds divide."""
    labels = tuple("abcd"[: len(supports)])
    one = fold_tables([support // folds for support in supports])
    tables = [sum(several, ()) for several in combinations_with_replacement(one, folds)]
    return Oracle(Classes(labels, tuple(supports), folds, True), tables, value(labels, folds), ways)


NAMES = (*AVERAGES, "accuracy", "macro_f2", "f1[a]", "precision[b]", "recall[b]", "npv[a]")


@pytest.mark.parametrize(("supports", "folds"), [((2, 2, 2), 2), ((4, 2), 2), ((3, 3, 2), 1), ((3, 3), 3)], ids=str)
def test_one_claim_equals_brute_force(supports, folds):
    against, rng = oracle(supports, folds), random.Random(f"{supports}")
    for _ in range(5):
        claims, true = against.random_claims(rng, [n for n in NAMES if "[" not in n], 1)
        against.check(claims, true)


@pytest.mark.parametrize(("supports", "folds"), [((2, 2, 2), 2), ((4, 2), 2), ((3, 3, 2), 1), ((3, 3), 3)], ids=str)
def test_several_claims_are_never_judged_wrongly(supports, folds):
    against, rng = oracle(supports, folds), random.Random(f"several{supports}")
    for _ in range(3):
        claims, true = against.random_claims(rng, NAMES, rng.choice([1, 2]))
        if claims:
            against.check(claims, true, exact=False, seconds=0.4)


@pytest.mark.parametrize(("supports", "folds"), [((2, 2, 2), 2), ((2, 4), 2), ((3, 2, 2), 1), ((3, 3), 3)], ids=str)
def test_small_designs_are_decided(supports, folds):
    against, rng = oracle(supports, folds), random.Random(f"decided{supports}")
    for _ in range(5):
        claims, true = against.random_claims(rng, NAMES, rng.choice([1, 2, 3]))
        if claims:
            against.check(claims, true, seconds=8)


@pytest.mark.parametrize("claims", [
    ((4, 2, 2), 2, [("f1[a]", "0.5714")]), ((1, 2, 3), 1, [("precision[a]", "0.90")]),
    ((4, 2, 2), 2, [("f1[a]", "0.003")]), ((4, 2, 2), 2, [("macro_precision", "0.0833"), ("weighted_f1", "0.1481")]),
], ids=str)  # fmt: skip
def test_nothing_of_a_small_design_stays_undecided(claims):
    supports, folds, texts = claims
    oracle(supports, folds).check([(name, text, ways(name)) for name, text in texts], true=False, seconds=5)


def _uneven(supports, folds, stratified):
    """All tables of two folds or three, however the classes may be dealt out to them."""
    labels, found = tuple("abc"), set()
    for shapes in combinations_with_replacement(list(product(*(range(s + 1) for s in supports))), folds):
        sums, sizes = tuple(map(sum, zip(*shapes, strict=True))), [sum(shape) for shape in shapes]
        spread = max(max(column) - min(column) for column in zip(*shapes, strict=True))
        even = spread <= 1 if stratified else max(sizes) - min(sizes) <= 1
        if sums == supports and even and min(sizes) > 0:
            found |= {tuple(sorted(folds)) for folds in product(*(fold_tables(shape) for shape in shapes))}
    study = Classes(labels, supports, folds, stratified)
    return Oracle(study, [sum(table, ()) for table in sorted(found)], value(labels, folds), ways)


@pytest.mark.parametrize(
    ("supports", "stratified"), [((3, 2, 2), True), ((2, 3, 1), True), ((2, 2, 1), False), ((1, 3, 3), True)], ids=str
)
def test_claims_on_classes_that_folds_share_unevenly_are_decided(supports, stratified):
    against, rng = _uneven(supports, 2, stratified), random.Random(f"uneven{supports}{stratified}")
    for names in (("f1[a]", "precision[a]", "npv[a]"), ("f1[a]", "recall[b]", "precision[c]")):
        for _ in range(3):
            claims, _ = against.random_claims(rng, names, rng.choice([1, 2]))
            if claims:
                solution = against.check(claims, true=False, seconds=8)
                if solution.witness is not None and len(solution.witness.folds) == 6:
                    folds = [solution.witness.folds[at : at + 3] for at in (0, 3)]
                    assert sum(sorted(folds), ()) in set(against.tables)


def test_weighted_recall_is_the_accuracy_beside_other_claims_too():
    against = oracle((4, 2), 2)
    weighted = ("tp_fp@test", "avg@test", "avg@fold")
    claims = [("weighted_precision", "0.22", weighted), ("weighted_recall", "0.33", weighted)]
    against.check([*claims, ("recall[b]", "0.50", ("avg_skip",))], true=True)


@pytest.mark.parametrize("supports", [(4, 3, 2), (5, 4), (2, 2, 1, 1)], ids=str)
def test_totals_taken_together_equal_brute_force(supports):
    against, rng = oracle(supports, 1), random.Random(f"totals{supports}")
    pooled = {name: ways(name)[0] for name in (*NAMES, "kappa")}
    for _ in range(5):
        claims, true = against.random_claims(rng, (*NAMES, "kappa"), 3)
        against.check([(name, text, (pooled[name],)) for name, text, _ in claims], true=False)
        del true


def draw(rng, supports, folds):
    """A random result, dealt out to folds in turn."""
    quality, size = rng.random(), len(supports)
    truth = [c for c, support in enumerate(supports) for _ in range(support)]
    guess = [c if rng.random() < quality else rng.randrange(size) for c in truth]
    fold = [at % folds for at in range(len(truth))]
    matrices = [
        [[sum(t == r and g == c and f == here for t, g, f in zip(truth, guess, fold, strict=True)) for c in range(size)]
         for r in range(size)]
        for here in range(folds)
    ]  # fmt: skip
    return truth, guess, sum((counts(matrix) for matrix in matrices), ())


@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    st.integers(0, 10**6), st.lists(st.integers(3, 60), min_size=2, max_size=6), st.integers(1, 5), st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_true_claims_are_never_impossible(seed, supports, decimals, truncate, stratified):
    rng = random.Random(seed)
    folds = rng.randint(1, min(5, min(supports)))
    labels = tuple("abcdef"[: len(supports)])
    study = Classes(labels, tuple(supports), folds, stratified)
    _, _, table = draw(rng, supports, folds)
    names = rng.sample((*AVERAGES, "accuracy", "f1[a]", "precision[b]", "mcc[a]", "recall[b]"), rng.choice([1, 1, 2]))
    claims, made = [], []
    for name in names:
        if name.startswith("mcc"):
            continue
        way = rng.choice([way for way in ways(name) if stratified or "@fold" not in way])
        number = value(labels, folds)(name, way, table)
        if number is not None:
            claims.append(Claim.parse(f"{name} = {printed(number, decimals, truncate)}"))
            made.append(way)
    if not claims:
        return
    solution = solve(claims, study, seconds=0.25)
    assert solution.verdict != "impossible", (study, table, claims, made)
    for fit, way in zip(solution.claims, made, strict=True):
        assert truncate or fit.aggregations[way] != "cannot", (study, table, claims, made)


@pytest.mark.parametrize("seed", range(5))
def test_values_equal_scikit_learn_and_their_claims_fit(seed):
    rng = random.Random(seed)
    supports = [rng.randint(5, 40) for _ in range(rng.randint(2, 6))]
    labels = tuple("abcdef"[: len(supports)])
    truth, guess, table = draw(rng, supports, 1)
    study = Classes(labels, tuple(supports), 1, True)
    scores = {
        "f1": lambda kind: sk.f1_score(truth, guess, average=kind, zero_division=0),
        "precision": lambda kind: sk.precision_score(truth, guess, average=kind, zero_division=0),
        "recall": lambda kind: sk.recall_score(truth, guess, average=kind, zero_division=0),
    }
    for name in AVERAGES:
        kind, base = name.split("_")
        claim = Claim.parse(f"{name} = {scores[base](kind):.3f}")
        exact = study.value(study.subject(claim), POOLED[kind], table)
        assert float(exact[1]) == pytest.approx(scores[base](kind), abs=1e-12)
    claims = [Claim.parse(f"accuracy = {sk.accuracy_score(truth, guess):.3f}")]
    claims += [Claim.parse(f"f1[{labels[1]}] = {scores['f1'](None)[1]:.3f}")]
    claims += [Claim.parse(f"macro_f1 = {scores['f1']('macro'):.3f}")]
    chance_corrected = Claim.parse(f"kappa = {sk.cohen_kappa_score(truth, guess):.3f}")
    exact = study.value(study.subject(chance_corrected), "pooled", table)
    assert float(exact[1]) == pytest.approx(sk.cohen_kappa_score(truth, guess), abs=1e-12)
    assert solve([chance_corrected], study).claims[0].aggregations["pooled"] == "fits"
    balanced = Claim.parse(f"balanced_accuracy = {sk.balanced_accuracy_score(truth, guess):.3f}")
    assert solve([balanced], study).claims[0].aggregations["pooled"] == "fits"
    declared = [Claim(c.metric, c.printed, aggregation=way, label=c.label)
                for c, way in zip(claims, ("pooled", "tp_fp", "tp_fp@train"), strict=True)]  # fmt: skip
    solution = solve(declared, study, seconds=20)
    assert solution.verdict == "unique"
    assert [key["label"] for key in solution.witness.keys] == list(labels)
    assert Counter(truth) == {c: fold[0] + fold[2] for c, fold in enumerate(solution.witness.folds)}
    assert sum(fp for _, fp, _, _ in solution.witness.folds) == sum(fn for _, _, fn, _ in solution.witness.folds)


def test_a_contradiction_between_accuracy_and_macro_f1():
    iris = Classes(("setosa", "versicolor", "virginica"), (50, 50, 50), 10, True)
    claims = [Claim.parse(text) for text in ("accuracy = 0.9533", "macro_f1 = 0.9732", "f1[setosa] = 1.00")]
    assert solve(claims, iris, seconds=10).verdict == "impossible"
    assert contradiction(claims, iris, 20) == tuple(claims[:2])


def test_ten_classes_are_decided():
    study = Classes(tuple("abcdefghij"), (60, 50, 40, 30, 30, 20, 20, 15, 10, 5), 10, False)
    claim = Claim.parse("macro_f1 = 0.7123")
    declared = Claim(claim.metric, claim.printed, aggregation="tp_fp@train")
    accuracy = Claim.parse("accuracy = 0.75")
    assert (
        solve([declared, Claim(accuracy.metric, accuracy.printed, aggregation="pooled")], study, seconds=20).verdict
        == "unique"
    )
    beyond = Claim.parse("accuracy = 0.30")
    against = [
        Claim(Claim.parse("macro_recall = 0.95").metric, Claim.parse("macro_recall = 0.95").printed, "tp_fp@train")
    ]
    assert solve([*against, beyond], study, seconds=20).verdict == "impossible"


def test_an_uneven_design_is_never_judged_wrongly():
    labels, supports = ("a", "b", "c"), (3, 2, 2)
    halves = list(product((1, 2), (1,), (1,)))
    tables = [one + two for one in fold_tables(halves[0]) for two in fold_tables(halves[1])]
    against = Oracle(Classes(labels, supports, 2, True), tables, value(labels, 2), ways)
    rng = random.Random(5)
    for _ in range(3):
        claims, true = against.random_claims(rng, AVERAGES, 1)
        against.check(claims, true, exact=False, seconds=0.2)


def test_where_a_fold_may_lack_a_class_nothing_is_claimed_of_the_labels_of_a_fold():
    study = Classes(("a", "b", "c"), (50, 30, 4), 10, False)
    fit = solve([Claim.parse("macro_f1 = 0.9999")], study, seconds=0.5).claims[0]
    assert fit.aggregations["avg@fold"] == "undecided"
    assert "avg@fold" in fit.reason
    exact = np.unique([fit.aggregations[way] for way in ("tp_fp@train", "tp_fp@test")])
    assert len(exact) == 1


@pytest.mark.parametrize("wrong", [((5,), 2), ((5, 0), 2), ((2, 2), 9)])
def test_supports_that_cannot_be_are_refused(wrong):
    with pytest.raises(InputError):
        Classes(tuple("abc"[: len(wrong[0])]), *wrong, True)
