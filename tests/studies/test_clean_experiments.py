"""False alarms: clean experiments give no error, and each injected pitfall gives its own code and no other error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.multiclass import OneVsRestClassifier

from pytest_cvaudit.engine import audit
from pytest_cvaudit.manifest import Comparison
from pytest_cvaudit.model import (
    Cell,
    Claim,
    Experiment,
    Location,
    Predictions,
    Protocol,
    Severity,
    TrainingRows,
    metric,
)
from pytest_cvaudit.settings import load_settings
from tests.studies.clean import auc, binary, cross_validated, f1, macro_f1, mean_rate, right_claims

CLEAN = 200


def error_codes(*experiments, **options):
    found = audit(experiments, **options)
    assert not found.problems
    return {finding.code for finding in found.findings if finding.severity is Severity.ERROR}


def codes(*experiments, **options):
    return {finding.code for finding in audit(experiments, **options).findings}


@pytest.mark.parametrize("block", range(10))
def test_clean_experiments_give_no_error(block):
    seeds = range(block * CLEAN // 10, (block + 1) * CLEAN // 10)
    for seed in seeds:
        rows = cross_validated(seed)
        found = audit([rows.experiment(right_claims(rows), instances=len(rows.truth))])
        errors = [finding.message for finding in found.findings if finding.severity is Severity.ERROR]
        assert errors == [], seed
        verdicts = {attribution.verdict for attribution in found.audited[0].attributions}
        assert verdicts <= {"unique", "ambiguous"}, seed


def binary_seeds(number=8, least_positives=20):
    """Experiments with two classes and enough positives."""
    seeds = (seed for seed in range(CLEAN) if binary(cross_validated(seed)))
    return [seed for seed in seeds if cross_validated(seed).truth.sum() >= least_positives][:number]


def without_positives(rows, fold):
    """Move the positives of a fold to the others."""
    moved = rows.fold.copy()
    there = np.flatnonzero((rows.fold == fold) & (rows.truth == 1))
    others = np.unique(rows.fold[rows.fold != fold])
    moved[there] = others[np.arange(len(there)) % len(others)]
    return replace(rows, fold=moved)


BINARY = binary_seeds()


@pytest.mark.parametrize("seed", BINARY)
def test_zero_positive_fold(seed):
    rows = without_positives(cross_validated(seed), 1)
    mean = replace(Claim.parse(f"f1 = {mean_f1(rows):.4f}"), aggregation="avg")
    assert error_codes(rows.experiment([mean], stratified=None)) == {"CV101"}
    # From the totals, an empty fold takes nothing away.
    total = f"f1 = {total_f1(rows):.4f}"
    assert "CV101" in codes(rows.experiment([total], stratified=None))


@pytest.mark.parametrize("seed", BINARY)
def test_skipped_fold(seed):
    rows = cross_validated(seed)
    kept = rows.take(rows.fold != 2)
    claims = [f"f1 = {f1_score(kept.truth, kept.predicted):.3f}"]
    assert error_codes(kept.experiment(claims, folds=len(np.unique(rows.fold)))) == {"CV103"}


@pytest.mark.parametrize("seed", BINARY)
def test_retested_instance(seed):
    rows = cross_validated(seed)
    again = rows.take(np.concatenate([np.arange(len(rows.fold)), np.flatnonzero(rows.fold == 0)[:1]]))
    again.fold[-1] = 1
    claims = [f"accuracy = {accuracy_score(again.truth, again.predicted):.3f}"]
    assert error_codes(again.experiment(claims, stratified=None)) == {"CV105"}


@pytest.mark.parametrize("seed", BINARY)
def test_untested_instance(seed):
    rows = cross_validated(seed)
    kept = rows.take(np.arange(1, len(rows.fold)))
    claims = [f"accuracy = {accuracy_score(kept.truth, kept.predicted):.3f}"]
    assert error_codes(kept.experiment(claims, instances=len(rows.fold), stratified=None)) == {"CV106"}


@pytest.mark.parametrize("seed", BINARY)
def test_declared_stratified_but_not(seed):
    rows = cross_validated(seed)
    moved = rows.fold.copy()
    moved[np.flatnonzero((rows.fold == 0) & (rows.truth == 1))[:2]] = 1
    claims = [f"f1 = {f1_score(rows.truth, rows.predicted):.3f}"]
    assert error_codes(replace(rows, fold=moved).experiment(claims)) == {"CV108"}


@pytest.mark.parametrize("seed", BINARY)
def test_more_folds_than_positives(seed):
    rows = cross_validated(seed)
    keep = np.concatenate([np.flatnonzero(rows.truth == 0), np.flatnonzero(rows.truth == 1)[:3]])
    kept = rows.take(np.sort(keep))
    claims = [f"accuracy = {accuracy_score(kept.truth, kept.predicted):.3f}"]
    assert error_codes(kept.experiment(claims, stratified=None)) == {"CV109"}


def different(seeds, wrong, right, digits=3):
    """The experiments where a pitfall changes what is printed."""
    return [s for s in seeds if f"{wrong(cross_validated(s)):.{digits}f}" != f"{right(cross_validated(s)):.{digits}f}"]


def total_f1(rows):
    return f1_score(rows.truth, rows.predicted)


def mean_f1(rows):
    return rows.per_fold(f1).mean()


def f1_of_means(rows):
    p, r = (mean_rate(rows, rate) for rate in (precision_score, recall_score))
    return 2 * p * r / (p + r)


@pytest.mark.parametrize("seed", different(BINARY, mean_f1, total_f1, 4))
def test_f_avg(seed):
    rows = cross_validated(seed)
    assert error_codes(rows.experiment([f"f1 = {mean_f1(rows):.4f}"])) == {"CV201"}


@pytest.mark.parametrize("seed", different(BINARY, f1_of_means, total_f1, 4))
def test_f_pr_re(seed):
    rows = cross_validated(seed)
    assert error_codes(rows.experiment([f"f1 = {f1_of_means(rows):.5f}"])) == {"CV202"}


def silent_fold(rows, fold=1):
    """Predict nothing positive in a fold."""
    return replace(rows, predicted=np.where(rows.fold == fold, 0, rows.predicted))


@pytest.mark.parametrize("seed", BINARY)
def test_f_skip(seed):
    rows = silent_fold(cross_validated(seed))
    kept = rows.take(np.isin(rows.fold, rows.fold[rows.predicted == 1]))
    assert error_codes(rows.experiment([f"f1 = {mean_f1(kept):.4f}"])) == {"CV203"}


@pytest.mark.parametrize("seed", BINARY)
def test_merged_auc_of_shifted_folds(seed):
    rows = cross_validated(seed)
    shifted = replace(rows, score=rows.score / (1 + rows.fold) - rows.fold * 0.3)
    claim = f"auc = {roc_auc_score(shifted.truth, shifted.score):.4f}"
    assert error_codes(shifted.experiment([claim])) == {"CV301"}
    assert error_codes(shifted.experiment([claim], calibrated=True)) == {"CV301"}
    assert error_codes(shifted.experiment([f"auc = {shifted.per_fold(auc).mean():.4f}"])) == set()


@pytest.mark.parametrize("seed", BINARY)
def test_merged_average_precision_of_shifted_folds(seed):
    rows = cross_validated(seed)
    shifted = replace(rows, score=rows.score / (1 + rows.fold) - rows.fold * 0.3)
    claim = f"ap = {average_precision_score(shifted.truth, shifted.score):.4f}"
    assert error_codes(shifted.experiment([claim])) == {"CV302"}


@pytest.mark.parametrize("seed", BINARY)
def test_threshold_chosen_on_the_test_data(seed):
    rows = cross_validated(seed)
    best = max(f1_score(rows.truth, rows.score >= level) for level in np.unique(rows.score))
    if f"{best:.4f}" in {f"{total_f1(rows):.4f}", f"{mean_f1(rows):.4f}"}:
        pytest.skip("the logged threshold is the best one")
    assert error_codes(rows.experiment([f"f1 = {best:.5f}"])) == {"CV207"}


@pytest.mark.parametrize("seed", BINARY)
def test_undefined_auc_filled(seed):
    rows = without_positives(cross_validated(seed), 1)
    kept = rows.take(rows.fold != 1)
    filled = (kept.per_fold(auc).sum() + 0.5) / len(np.unique(rows.fold))
    # That a fold has no positives is a fact of its own.
    assert error_codes(rows.experiment([f"auc = {filled:.4f}"], stratified=None)) == {"CV101", "CV303"}


@pytest.mark.parametrize("seed", BINARY)
def test_unexplained_claim(seed):
    rows = cross_validated(seed)
    claim = f"accuracy = {accuracy_score(rows.truth, rows.predicted) - 0.2171:.4f}"
    assert error_codes(rows.experiment([claim])) == {"CV502"}


@pytest.mark.parametrize("seed", BINARY)
def test_best_fold_claimed(seed):
    rows = cross_validated(seed)
    best = rows.per_fold(f1).max()
    assert error_codes(rows.experiment([f"f1 = {best:.4f}"])) == {"CV503"}


@pytest.mark.parametrize("seed", [seed for seed in range(CLEAN) if not binary(cross_validated(seed))][:8])
def test_macro_over_the_labels_of_each_fold(seed):
    rows = cross_validated(seed)
    label = rows.truth.max()
    moved = np.where((rows.fold == 1) & (rows.truth == label), 0, rows.fold)
    other = np.where((moved == 1) & (rows.predicted == label), rows.truth, rows.predicted)
    lacking = replace(rows, fold=moved, predicted=other)
    claim = lacking.per_fold(macro_f1).mean()
    assert error_codes(lacking.experiment([f"macro_f1 = {claim:.5f}"], stratified=None)) == {"CV401"}


@pytest.mark.parametrize("seed", different(BINARY, mean_f1, total_f1, 4))
def test_apples_compared_with_oranges(seed):
    rows = cross_validated(seed)
    one = rows.experiment([f"f1 = {total_f1(rows):.4f}"], name="one")
    two = rows.experiment([f"f1 = {mean_f1(rows):.4f}"], name="two")
    comparison = Comparison("one", "two", metric("f1"), Location("cvaudit.yaml", 1))
    assert "CV504" in codes(one, two, comparisons=[comparison])
    assert "CV504" not in codes(one, replace(one, name="two"), comparisons=[comparison])


def caught(code, experiment, *others, **options):
    """The pitfall's own code is there, and no other error."""
    assert code in codes(experiment, *others, **options)
    assert error_codes(experiment, *others, **options) <= {code}


def with_rows(experiment, **changes):
    return replace(experiment, predictions=replace(experiment.predictions, **changes))


@pytest.mark.parametrize("seed", BINARY)
def test_no_predicted_positives(seed):
    rows = silent_fold(cross_validated(seed))
    caught("CV102", rows.experiment([f"f1 = {total_f1(rows):.4f}"]))


@pytest.mark.parametrize("seed", BINARY)
def test_trained_on_tested_instances(seed):
    rows = cross_validated(seed)
    experiment = rows.experiment([f"f1 = {total_f1(rows):.4f}"])
    first = experiment.predictions
    seen = TrainingRows(first.cell, np.array([f"other {index}" for index in range(len(first.cell))], dtype=object))
    seen.marks[0] = first.ids[0]
    caught("CV107", with_rows(experiment, training=seen))


@pytest.mark.parametrize("seed", BINARY)
def test_twins_in_two_folds(seed):
    rows = cross_validated(seed)
    hashes = np.array([f"h{index}" for index in range(len(rows.fold))], dtype=object)
    hashes[np.flatnonzero(rows.fold == 1)[0]] = hashes[np.flatnonzero(rows.fold == 0)[0]]
    caught("CV112", with_rows(rows.experiment([f"f1 = {total_f1(rows):.4f}"]), hashes=hashes))


@pytest.mark.parametrize("seed", BINARY)
def test_undefined_f_counted_as_one(seed):
    rows = silent_fold(without_positives(cross_validated(seed), 1))
    kept = rows.take(rows.fold != 1)
    claim = (kept.per_fold(f1).sum() + 1) / len(np.unique(rows.fold))
    # That a fold has no positives is a fact of its own.
    assert error_codes(rows.experiment([f"f1 = {claim:.4f}"], stratified=None)) == {"CV101", "CV204"}


@pytest.mark.parametrize("seed", BINARY)
def test_accuracy_alone_where_one_class_has_most(seed):
    rows = cross_validated(seed)
    kept = rows.take(np.sort(np.concatenate([np.flatnonzero(rows.truth == 0), np.flatnonzero(rows.truth == 1)[:20]])))
    caught("CV206", kept.experiment([f"accuracy = {accuracy_score(kept.truth, kept.predicted):.3f}"], stratified=None))


@pytest.mark.parametrize("seed", BINARY)
def test_auc_of_hard_labels(seed):
    rows = cross_validated(seed)
    hard = replace(rows, score=rows.predicted.astype(float))
    caught("CV305", hard.experiment([f"auc = {hard.per_fold(auc).mean():.4f}"]))


@pytest.mark.parametrize("seed", BINARY)
def test_micro_beside_accuracy(seed):
    rows = cross_validated(seed)
    right = accuracy_score(rows.truth, rows.predicted)
    caught("CV404", rows.experiment([f"accuracy = {right:.4f}", f"micro_f1 = {right:.4f}"]))


@pytest.mark.parametrize("seed", BINARY)
def test_f_of_macro_precision_and_recall(seed):
    rows = cross_validated(seed)
    p, r = (rate(rows.truth, rows.predicted, average="macro") for rate in (precision_score, recall_score))
    caught("CV407", rows.experiment([f"macro_f1 = {2 * p * r / (p + r):.6f}"]))


@pytest.mark.parametrize("seed", different(BINARY, mean_f1, total_f1, 4))
def test_undeclared_aggregation_and_no_spread(seed):
    rows = cross_validated(seed)
    caught("CV501", rows.experiment([f"f1 = {total_f1(rows):.4f}"]))
    declared = replace(Claim.parse(f"f1 = {mean_f1(rows):.4f}"), aggregation="avg")
    caught("CV506", rows.experiment([declared]))


@pytest.mark.parametrize("seed", BINARY)
def test_more_digits_than_the_data_carry(seed):
    rows = cross_validated(seed)
    caught("CV508", rows.experiment([f"f1 = {total_f1(rows):.7f}"]))


@pytest.mark.parametrize("seed", BINARY)
def test_no_negatives_in_a_fold(seed):
    rows = cross_validated(seed)
    moved = np.where((rows.fold == 1) & (rows.truth == 0), 0, rows.fold)
    lacking = replace(rows, fold=moved)
    mean = replace(Claim.parse(f"f1 = {mean_f1(lacking):.4f}"), aggregation="avg")
    caught("CV104", lacking.experiment([mean], stratified=None))


@pytest.mark.parametrize("seed", BINARY)
def test_mean_accuracy_over_unequal_folds(seed):
    rows = cross_validated(seed)
    uneven = replace(rows, fold=np.where(rows.fold == 1, 0, rows.fold))
    mean = uneven.per_fold(lambda truth, predicted, _: accuracy_score(truth, predicted)).mean()
    caught("CV111", uneven.experiment([f"accuracy = {mean:.7f}"], stratified=None))


@pytest.mark.parametrize("seed", BINARY)
def test_a_random_split_of_few_positives(seed):
    rows = cross_validated(seed)
    kept = rows.take(np.sort(np.concatenate([np.flatnonzero(rows.truth == 0), np.flatnonzero(rows.truth == 1)[:12]])))
    shuffled = replace(kept, fold=np.random.default_rng(seed).permutation(kept.fold))
    caught("CV110", shuffled.experiment([f"f1 = {total_f1(shuffled):.4f}"], stratified=False))


@pytest.mark.parametrize("seed", BINARY)
def test_shifted_folds_before_anything_is_claimed(seed):
    rows = cross_validated(seed)
    shifted = replace(rows, score=rows.score - rows.fold)
    caught("CV304", shifted.experiment([]), settings=load_settings(pedantic=True))


@pytest.mark.parametrize("seed", BINARY)
def test_precision_at_a_k_that_nobody_imposed(seed):
    rows = cross_validated(seed)
    top = rows.per_fold(lambda truth, _, score: truth[np.argsort(-score, kind="stable")][:5].mean()).mean()
    caught("CV306", rows.experiment([f"precision_at_5 = {top:.3f}"]))


@pytest.mark.parametrize("seed", BINARY)
def test_a_tie_claimed_as_a_victory_over_one_baseline_by_auc(seed):
    rows = cross_validated(seed)
    claims = [f"auc = {rows.per_fold(auc).mean():.4f}"]
    one, two = (rows.experiment(claims, name=name) for name in ("one", "two"))
    comparison = Comparison("one", "two", metric("auc"), Location("cvaudit.yaml", 1))
    found = codes(one, two, comparisons=[comparison], settings=load_settings(pedantic=True))
    assert {"CV307", "CV505", "CV507"} <= found
    assert error_codes(one, two, comparisons=[comparison], settings=load_settings(pedantic=True)) == set()


MANY = [seed for seed in range(CLEAN) if not binary(cross_validated(seed))][:8]


@pytest.mark.parametrize("seed", BINARY)
def test_a_mean_over_single_instances(seed):
    rows = cross_validated(seed)
    alone = replace(rows, fold=np.arange(len(rows.fold)))
    # It is a mean of per-fold Fs as well, which CV201 says.
    found = error_codes(alone.experiment([f"f1 = {mean_f1(alone):.4f}"], stratified=None))
    assert "CV113" in found
    assert found <= {"CV113", "CV201"}


@pytest.mark.parametrize("seed", BINARY)
def test_an_aggregation_that_is_biased_for_the_design(seed):
    rows = cross_validated(seed)
    kept = rows.take(np.sort(np.concatenate([np.flatnonzero(rows.truth == 0), np.flatnonzero(rows.truth == 1)[:12]])))
    claim = f"f1 = {mean_f1(kept):.5f}"
    if claim == f"f1 = {total_f1(kept):.5f}":
        pytest.skip("the mean of folds and the totals print the same here")
    experiment = kept.experiment([claim], stratified=None)
    assert "CV205" in codes(experiment)
    assert error_codes(experiment) <= {"CV101", "CV201"}


@pytest.mark.parametrize("seed", MANY)
def test_labels_that_vary_and_weights_from_the_test_data(seed):
    rows = cross_validated(seed)
    label = rows.truth.max()
    moved = np.where((rows.fold == 1) & (rows.truth == label), 0, rows.fold)
    other = np.where((moved == 1) & (rows.predicted == label), rows.truth, rows.predicted)
    lacking = replace(rows, fold=moved, predicted=other)
    varying = lacking.experiment([f"macro_f1 = {lacking.per_fold(macro_f1).mean():.5f}"], stratified=None)
    assert "CV402" in codes(varying)
    assert error_codes(varying) == {"CV401"}
    weighted = lacking.per_fold(lambda t, y, _: f1_score(t, y, average="weighted", zero_division=0)).mean()
    caught("CV403", lacking.experiment([f"lfb_f1 = {weighted:.6f}"], stratified=None))


@pytest.mark.parametrize("seed", MANY)
def test_errors_piled_on_one_label(seed):
    rows = cross_validated(seed)
    wrong = np.random.default_rng(seed).random(len(rows.truth)) < 0.4
    piled = replace(rows, predicted=np.where(wrong, 0, rows.truth))
    claim = precision_score(piled.truth, piled.predicted, average="macro")
    caught("CV408", piled.experiment([f"macro_precision = {claim:.4f}"]))


@pytest.mark.parametrize("seed", range(4))
def test_label_sets_that_are_empty_or_doubled(seed):
    features, gold = make_multilabel_classification(300, n_classes=4, allow_unlabeled=False, random_state=seed)
    fold = np.arange(300) % 5
    predicted = np.zeros_like(gold)
    for test in (fold == number for number in range(5)):
        predicted[test] = (
            OneVsRestClassifier(LogisticRegression()).fit(features[~test], gold[~test]).predict(features[test])
        )
    predicted[:20] = 0
    cells = tuple(Cell(str(number)) for number in range(5))
    sets = {"gold": gold.astype(np.uint8), "predicted_sets": predicted.astype(np.uint8)}
    claim = Claim.parse(f"macro_f1 = {f1_score(gold, predicted, average='macro'):.4f}")
    experiment = Experiment("sets", claims=(claim,), predictions=Predictions(cells, fold, tuple("ABCD"), **sets))
    caught("CV405", experiment)
    doubled = np.where(predicted[:, :1] > 0, predicted * [2, 1, 1, 1], predicted).astype(np.uint8)
    declared = replace(experiment, protocol=Protocol(none="ignore"), claims=())
    caught("CV406", with_rows(declared, predicted_sets=doubled))
