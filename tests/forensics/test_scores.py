"""Attribution from printed fold values: every answer equals brute force, and every witness prints everything."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_cvaudit.forensics.exact import prints
from pytest_cvaudit.forensics.folds.converter import within
from pytest_cvaudit.forensics.folds.log import Totals, fold_log
from pytest_cvaudit.forensics.folds.solve import FoldEvidence, fold_contradiction, solve_folds
from pytest_cvaudit.model import Cell, Claim, FoldScores, Printed
from tests.forensics import brute, fold_brute
from tests.forensics.test_small import corrupted
from tests.forensics.test_small import printed as print_number

TABLE_1 = ((3, 0, 0, 373), (4, 1, 0, 371), (4, 13, 0, 359), (3, 5, 1, 367))
TABLE_2 = ((2, 0, 2, 372), (0, 0, 4, 372), (4, 0, 0, 372), (4, 0, 0, 372))


def evidence(printed, sizes=None, fold_positives=None, **totals):
    """Fold values as texts, one mapping per fold."""
    names = dict.fromkeys(name for fold in printed for name in fold)
    values = {name: tuple(Printed.parse(fold[name]) if name in fold else None for fold in printed) for name in names}
    cells = tuple(Cell(str(number)) for number in range(1, len(printed) + 1))
    scores = FoldScores(cells, values, tuple(sizes or ()), tuple(fold_positives or ()))
    return FoldEvidence(fold_log(scores, Totals(**totals), lambda cell: f"fold {cell.fold}"), scores)


def of_table(table, names, decimals, truncate=False, **totals):
    printed = []
    for fold in table:
        values = {name: brute.score(name, fold) for name in names}
        printed.append({n: print_number(0 if v is None else v, decimals, truncate) for n, v in values.items()})
    if totals:
        return printed, evidence(printed, **totals)
    return printed, evidence(printed, [sum(fold) for fold in table], [fold[0] + fold[2] for fold in table])


def fits(solution):
    return [{way for way, answer in fit.aggregations.items() if answer == "fits"} for fit in solution.claims]


def check_witness(solution, printed):
    """The witness prints every fold value and every claim, judged by the brute-force oracle."""
    assert solution.witness is not None
    for fold, values in zip(solution.witness.folds, printed, strict=True):
        assert fold_brute.fold_prints(fold, values, "either")
    for fit, way in zip(solution.claims, solution.witness.aggregations, strict=True):
        assert prints(fit.claim.metric, way, solution.witness.folds, within(fit.claim.printed, "either"))


@st.composite
def experiments(draw):
    """A true table, what its folds print, and claims of which some are corrupted."""
    folds = draw(st.integers(1, 3))
    counts = st.integers(0, 4 if folds < 3 else 2)
    table = [tuple(draw(counts) for _ in range(4)) for _ in range(folds)]
    positives, negatives = sum(f[0] + f[2] for f in table), sum(f[1] + f[3] for f in table)
    if not positives or not negatives or any(sum(fold) == 0 for fold in table):
        table = [(1, 1, 1, 1), *table[1:]]
        table = [fold if sum(fold) else (1, 0, 0, 1) for fold in table]
    names = draw(st.lists(st.sampled_from(brute.METRICS), min_size=1, max_size=3, unique=True))
    rng = random.Random(draw(st.integers(0, 10**6)))
    decimals, truncate, cut_log = rng.randint(1, 3), rng.random() < 0.3, rng.random() < 0.3
    claims, true = [], True
    for metric in rng.sample(brute.METRICS, rng.choice([1, 1, 2])):
        number = brute.value(metric, rng.choice(brute.ways(metric)), table)
        if number is None:
            continue
        text = print_number(number, rng.randint(1, 4), truncate)
        if rng.random() < 0.4:
            changed = corrupted(text, rng)
            if changed != text and (-1 if metric in ("mcc", "kappa") else 0) <= float(changed) <= 1:
                text, true = changed, False
        claims.append((metric, text))
    return table, names, decimals, cut_log, claims, true


@settings(max_examples=250, deadline=None)
@given(experiments())
def test_every_answer_is_that_of_brute_force(example):
    table, names, decimals, cut_log, claims, true = example
    if not claims:
        return
    printed, found = of_table(table, names, decimals, cut_log)
    shapes = [(fold[0] + fold[2], fold[1] + fold[3]) for fold in table]
    totals = (sum(p for p, _ in shapes), sum(n for _, n in shapes))
    folds = [([shape], values) for shape, values in zip(shapes, printed, strict=True)]
    solution = solve_folds([Claim.parse(f"{m} = {t}") for m, t in claims], found, seconds=30)
    expected = fold_brute.answer(folds, totals, claims)
    assert fits(solution) == expected
    assert "undecided" not in {answer for fit in solution.claims for answer in fit.aggregations.values()}
    assert (solution.verdict == "impossible") == (not all(expected))
    if true:
        assert solution.verdict != "impossible"
    if solution.verdict != "impossible":
        check_witness(solution, printed)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_declared_totals_take_the_place_of_fold_sizes(data):
    stratified = data.draw(st.booleans())
    shapes = [(2, 4), (2, 3)] if stratified else [(1, 4), (3, 2)]
    table = []
    for p, n in shapes:
        tp, fp = data.draw(st.integers(0, p)), data.draw(st.integers(0, n))
        table.append((tp, fp, p - tp, n - fp))
    positives, instances = sum(p for p, _ in shapes), sum(map(sum, shapes))
    printed, found = of_table(
        table, ["precision", "recall"], 2, instances=instances, positives=positives, stratified=stratified
    )
    possible = (
        [(p, n) for p in (2, 3) for n in (3, 4)]
        if stratified
        else [(p, size - p) for size in (instances // 2, instances // 2 + 1) for p in range(min(positives, size) + 1)]
    )
    text = print_number(brute.value("f1", data.draw(st.sampled_from(("tp_fp", "avg", "pr_re"))), table), 2, False)
    solution = solve_folds([Claim.parse(f"f1 = {text}")], found, seconds=30)
    folds = [(possible, values) for values in printed]
    assert fits(solution) == fold_brute.answer(folds, (positives, instances - positives), [("f1", text)])
    check_witness(solution, printed)


@pytest.mark.parametrize("decimals", [2, 3])
@pytest.mark.parametrize("table", [TABLE_1, TABLE_2], ids=["table 1", "table 2"])
@pytest.mark.parametrize("names", [("precision", "recall"), ("precision", "recall", "f1"), ("f1", "specificity")])
def test_the_paper_s_tables_from_their_printed_folds(table, names, decimals):
    printed, found = of_table(table, names, decimals)
    for way in brute.ways("f1"):
        text = print_number(brute.value("f1", way, table), 2, False)
        solution = solve_folds([Claim.parse(f"f1 = {text}")], found, seconds=10)
        assert solution.claims[0].aggregations[way] == "fits"
        assert "undecided" not in solution.claims[0].aggregations.values()
        check_witness(solution, printed)


def test_table_1_is_told_apart_by_three_printed_decimals():
    _, found = of_table(TABLE_1, ("precision", "recall", "f1"), 3)
    assert found.counts == TABLE_1
    for text, way in (("0.58", "tp_fp"), ("0.69", "avg"), ("0.73", "pr_re")):
        solution = solve_folds([Claim.parse(f"f1 = {text}")], found)
        assert (solution.verdict, solution.claims[0].fitting) == ("unique", (way,))
    wrong = [Claim.parse("recall = 0.93"), Claim.parse("f1 = 0.64")]
    assert solve_folds(wrong, found).verdict == "impossible"
    assert fold_contradiction(wrong, found) == (wrong[1],)


def test_an_unlogged_fp_leaves_the_totals_of_table_2_open():
    _, found = of_table(TABLE_2, ("precision", "recall", "f1"), 2)
    assert found.counts is None  # fold 2 has no hits: any number of false positives prints 0.00
    solution = solve_folds([Claim.parse("f1 = 0.77")], found)
    assert solution.claims[0].fitting == ("tp_fp",)
    (fit,) = solve_folds([Claim.parse("f1 = 0.67")], found).claims
    assert "avg" in fit.fitting


def test_a_fold_that_contradicts_itself_is_named():
    printed = [{"precision": "0.9", "recall": "0.8", "f1": "0.85"}, {"precision": "0.9", "recall": "0.8", "f1": "0.5"}]
    solution = solve_folds([Claim.parse("f1 = 0.67")], evidence(printed, [100, 100], [40, 40]))
    assert solution.verdict == "impossible"
    assert solution.broken == ("fold 2 (precision 0.9, recall 0.8, f1 0.5)",)
    unsized = solve_folds([Claim.parse("f1 = 0.67")], evidence(printed))
    assert (unsized.verdict, unsized.broken) == ("impossible", solution.broken)
    balanced = [{"recall": "0.9", "specificity": "0.8", "balanced_accuracy": "0.84"}, {"balanced_accuracy": "0.6"}]
    assert solve_folds([Claim.parse("recall = 0.9")], evidence(balanced)).broken == ()
    balanced[0]["balanced_accuracy"] = "0.71"
    assert len(solve_folds([Claim.parse("recall = 0.9")], evidence(balanced)).broken) == 1


@settings(max_examples=80, deadline=None)
@given(experiments(), st.sampled_from([0, 1]))
def test_without_sizes_no_true_way_is_ruled_out(example, fill):
    table, names, decimals, cut_log, _, _ = example
    printed = []
    for fold in table:
        values = {name: brute.score(name, fold) for name in names}
        printed.append({n: print_number(fill if v is None else v, decimals, cut_log) for n, v in values.items()})
    for metric in {*names, "f1"}:
        for way in brute.ways(metric):
            number = brute.value(metric, way, table)
            if number is not None:
                claim = Claim.parse(f"{metric} = {print_number(number, 3, cut_log)}")
                found = solve_folds([claim], evidence(printed))
                assert found.verdict != "impossible"
                # By truncation only what nothing explains by rounding is explained, so another way may stand there.
                assert cut_log or found.claims[0].aggregations.get(way, "undecided") != "cannot"


def test_without_sizes_means_are_intervals_and_totals_are_not_told():
    printed = [{"f1": "0.71"}, {"f1": "0.65"}]
    solution = solve_folds([Claim.parse("f1 = 0.68")], evidence(printed))
    answers = solution.claims[0].aggregations
    assert (answers["avg"], answers["tp_fp"], solution.verdict) == ("fits", "undecided", "undecided")
    assert solution.witness is None
    answers = solve_folds([Claim.parse("f1 = 0.80")], evidence(printed)).claims[0].aggregations
    assert answers["avg"] == "cannot"
    assert answers["tp_fp"] == "cannot"  # a ratio of totals lies between those of the parts
    answers = solve_folds([Claim.parse("recall = 0.80")], evidence(printed)).claims[0].aggregations
    assert answers == {"unknown": "undecided"}


def test_f_follows_from_precision_and_recall_without_sizes():
    printed = [{"precision": "0.80", "recall": "0.60"}, {"precision": "0.50", "recall": "0.70"}]
    f = [2 * Fraction(p) * Fraction(r) / (Fraction(p) + Fraction(r)) for p, r in (("0.8", "0.6"), ("0.5", "0.7"))]
    (fit,) = solve_folds([Claim.parse(f"f1 = {float(sum(f) / 2):.2f}")], evidence(printed)).claims
    assert fit.aggregations["avg"] == "fits"
    (fit,) = solve_folds([Claim.parse("f1 = 0.65")], evidence(printed)).claims
    assert fit.aggregations["pr_re"] == "fits"
    assert fit.aggregations["avg"] == "cannot"


def test_an_auc_is_averaged_and_its_merged_value_is_not_told():
    printed = [{"auc": text} for text in ("0.96", "0.91", "0.94", "0.87")]
    found = evidence(printed, [100] * 4, [10] * 4)
    (fit,) = solve_folds([Claim.parse("auc = 0.92")], found).claims
    assert (fit.aggregations["avg"], fit.aggregations["merge"]) == ("fits", "undecided")
    (fit,) = solve_folds([Claim.parse("auc = 0.80")], found).claims
    assert (fit.aggregations["avg"], fit.aggregations["merge"]) == ("cannot", "undecided")


def test_large_folds_at_three_decimals_are_decided():
    rng = random.Random(5)
    table = []
    for _ in range(10):
        tp, fp = rng.randint(700, 850), rng.randint(900, 1800)
        table.append((tp, fp, 1000 - tp, 99_000 - fp))
    printed, found = of_table(table, ("precision", "recall", "accuracy"), 3)
    text = print_number(brute.value("f1", "tp_fp", table), 4, False)
    solution = solve_folds([Claim.parse(f"f1 = {text}")], found, seconds=30)
    assert solution.claims[0].aggregations["tp_fp"] == "fits"
    check_witness(solution, printed)
    assert solve_folds([Claim.parse("f1 = 0.7000")], found, seconds=30).verdict == "impossible"
