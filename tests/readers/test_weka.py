"""WEKA's files: the Experimenter's results, and printed predictions with what stands below them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_cvaudit.engine import audit
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Cell, Severity, metric


@pytest.fixture
def read(tmp_path):
    """Write a file, and read it as the command line does."""

    def run(text, name="weka.csv", **options):
        (tmp_path / name).write_text(text)
        found = experiment_from_log(tmp_path / name, **options)
        for one in found:
            if one.problem is not None:
                raise one.problem
        return found

    return run


# Predictions -------------------------------------------------------------------------------------------------------

TITLE = "\n\n=== Predictions under cross-validation ===\n\n"
CSV = TITLE + (
    "inst#,actual,predicted,error,prediction\n"
    "1,1:bad,2:good,+,0.875\n2,2:good,2:good,,0.9\n3,2:good,1:bad,+,0.647\n"
    "1,1:bad,1:bad,,0.55\n2,2:good,2:good,,1\n\n"
)
PLAIN = TITLE + (
    "    inst#     actual  predicted error prediction\n"
    "        1      1:bad     2:good   +   0.875 \n"
    "        2     2:good     2:good       0.9 \n"
    "        3     2:good      1:bad   +   0.647 \n"
    "        1      1:bad      1:bad       0.55 \n"
    "        2     2:good     2:good       1 \n\n"
)
DISTRIBUTION = (
    " inst#     actual  predicted error distribution (id,x0)\n"
    "     1        1:a        1:a       *1,0,0 (140,2.5)\n"
    "     2    3:'c c'      3:c c       0.147,0.059,*0.794 (7,'x, y')\n"
    "     1        2:b      3:c c   +   0.271,0.322,*0.407 (8,1)\n"
    "     2    3:'c c'        2:b   +   0,*1,0 (9,-1E-3)\n"
)
DISTRIBUTION_CSV = (
    "inst#,actual,predicted,error,distribution,,,id,x0\n"
    "1,1:a,1:a,,*1,0,0,140,2.5\n2,3:'c c',3:c c,,0.147,0.059,*0.794,7,'x, y'\n"
    "1,2:b,3:c c,+,0.271,0.322,*0.407,8,1\n2,3:'c c',2:b,+,0,*1,0,9,-1E-3\n"
)


@pytest.mark.parametrize(("text", "name"), [(CSV, "p.csv"), (CSV, "p.txt"), (PLAIN, "p.txt"), (PLAIN, "p.out")])
def test_folds_begin_where_the_numbers_do_and_scores_are_of_the_label(read, text, name):
    rows = read(text, name)[0].predictions
    assert rows.cells == (Cell("1"), Cell("2"))
    assert (rows.cell.tolist(), rows.labels) == ([0, 0, 0, 1, 1], ("bad", "good"))
    assert (rows.truth.tolist(), rows.predicted.tolist()) == ([0, 1, 1, 0, 1], [1, 1, 0, 0, 1])
    assert rows.scores["good"].tolist() == [0.875, 0.9, 0.353, 0.45, 1]
    assert rows.scores["bad"].tolist() == [0.125, 0.1, 0.647, 0.55, 0]
    assert rows.ids is None


@pytest.mark.parametrize(("text", "name"), [(DISTRIBUTION, "p.txt"), (DISTRIBUTION_CSV, "p.csv")])
def test_a_distribution_has_a_score_per_label(read, text, name):
    rows = read(text, name)[0].predictions
    assert rows.labels == ("a", "b", "c c")
    assert rows.scores["c c"].tolist() == [0, 0.794, 0.407, 0]
    assert rows.ids.tolist() == ["140", "7", "8", "9"]


def test_more_than_two_classes_have_no_score_without_a_distribution(read):
    text = CSV.replace("3,2:good,1:bad,+,0.647", "3,3:best,1:bad,+,0.647")
    assert read(text)[0].predictions.scores == {}


def test_a_predicted_class_below_one_half_betrays_a_third(read):
    assert read(CSV.replace("0.55", "0.45"))[0].predictions.scores == {}


def test_instances_of_unknown_class_are_not_evaluated(read):
    rows = read(CSV.replace("2,2:good,2:good,,0.9", "2,1:?,2:good,,0.9"))[0].predictions
    assert (rows.cell.tolist(), rows.truth.tolist()) == ([0, 0, 1, 1], [0, 1, 0, 1])


def test_a_label_may_end_in_a_question_mark(read):
    rows = read(CSV.replace("bad", "bad?"))[0].predictions
    assert (rows.labels, len(rows.truth)) == (("bad?", "good"), 5)


def test_nothing_of_known_class_is_refused(read):
    with pytest.raises(InputError, match="the true class of every instance is unknown"):
        read("inst#,actual,predicted,error,prediction\n1,1:?,1:n,,0.7\n2,1:?,1:n,,0.6\n")


def test_labels_that_were_cut_off_alike_stay_apart(read):
    text = PLAIN.replace("bad", "class_on").replace("good", "class_on")
    assert read(text, "p.txt")[0].predictions.labels == ("1:class_on", "2:class_on")


def test_leave_one_out(read):
    text = "inst#,actual,predicted,error,prediction\n" + "1,1:n,1:n,,0.7\n1,2:y,1:n,+,0.6\n" * 3
    assert len(read(text)[0].cells) == 6


def test_one_test_set_is_no_fold_unless_somebody_says_so(read):
    text = "inst#,actual,predicted,error,prediction\n1,1:n,1:n,,0.7\n2,2:y,1:n,+,0.6\n3,2:y,2:y,,0.6\n"
    with pytest.raises(InputError, match=r"no fold column.*columns: \{fold: NAME\}.*'test_set'"):
        read(text)
    (one,) = read(text, columns={"fold": "test_set"})
    assert one.cells == (Cell("1"),)


def test_stretches_of_unlike_length_are_no_folds(read):
    text = "inst#,actual,predicted,error,prediction\n1,1:n,1:n,,0.7\n2,2:y,1:n,+,0.6\n3,2:y,2:y,,0.6\n1,2:y,2:y,,0.6\n"
    with pytest.raises(InputError, match=r"no fold column.*'test_set'"):
        read(text)
    assert len(read(text, columns={"fold": "test_set"})[0].cells) == 2


def test_numbers_in_another_order_tell_no_folds(read):
    text = "inst#,actual,predicted,error,prediction\n2,1:n,1:n,,0.7\n1,2:y,1:n,+,0.6\n"
    with pytest.raises(InputError, match=r"no fold column") as error:
        read(text)
    assert "test_set" not in str(error.value)


def test_a_fold_column_of_ones_own_comes_first(read):
    text = "inst#,actual,predicted,error,prediction,fold\n7,1:n,1:n,,0.7,A\n1,2:y,1:n,+,0.6,B\n"
    assert read(text)[0].cells == (Cell("A"), Cell("B"))


BAD = {
    "a number for a class": (CSV.replace("1:bad", "3.25"), 6, "'3.25' is no class as WEKA prints it"),
    "not classified": (CSV.replace("2,2:good,2:good,,1", "2,2:good,?,,1"), 10, "'?' is no class"),
    "a mark that is wrong": (CSV.replace("1:bad,,0.55", "1:bad,+,0.55"), 9, "the mark + of an error"),
    "two names of a class": (CSV.replace("1:bad,,0.55", "1:worse,,0.55"), 9, "class 1 is called 'bad' and 'worse'"),
    "a broken row": (CSV.replace("2,2:good,2:good,,0.9", "2,2:good"), 7, "not a prediction as WEKA prints it"),
    "no probability": (CSV.replace("0.55", "x"), 9, "not a prediction as WEKA prints it"),
    "a star elsewhere": (DISTRIBUTION.replace("*1,0,0", "1,*0,0"), 2, "not a prediction as WEKA prints it"),
    "two runs": (CSV + CSV, 16, "predictions of several runs"),
    "no rows": (CSV[: CSV.index("1,1")], 5, "no predictions below the header"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(read, name):
    text, line, message = BAD[name]
    with pytest.raises(InputError) as error:
        read(text, "p.txt")
    assert (error.value.line, message in error.value.message) == (line, True), str(error.value)


def test_other_text_is_refused_in_one_line(tmp_path):
    (tmp_path / "notes.txt").write_text("fold 1: F = 0.8\n")
    command = [sys.executable, "-m", "pytest_cvaudit", "check", "notes.txt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "inst# actual predicted error prediction" in done.stderr


# What the Explorer prints below ------------------------------------------------------------------------------------

SUMMARY = """
=== Stratified cross-validation ===
=== Summary ===

Correctly Classified Instances           3               60      %
Incorrectly Classified Instances         2               40      %
Kappa statistic                          0.1667
Mean absolute error                      0.3424
Total Number of Instances                5

=== Detailed Accuracy By Class ===

                 TP Rate  FP Rate  Precision  Recall   F-Measure  MCC      ROC Area  PRC Area  Class
                 0.500    0.333    0.500      0.500    0.500      0.167    0.667     0.561     bad
                 0.667    0.500    0.667      0.667    0.667      0.167    0.667     ?         good
Weighted Avg.    0.600    0.433    0.600      0.600    0.600      0.167    0.667     0.561

=== Confusion Matrix ===

 a b   <-- classified as
 1 1 | a = bad
 1 2 | b = good
"""


@pytest.mark.parametrize("text", [CSV, PLAIN])
def test_the_summary_below_is_claimed_and_explained(read, text):
    (one,) = read(text + SUMMARY, "explorer.txt")
    assert [str(claim) for claim in one.claims] == [
        "accuracy = 60%", "kappa = 0.1667",
        "precision[bad] = 0.500", "recall[bad] = 0.500", "f1[bad] = 0.500", "auc[bad] = 0.667",
        "precision[good] = 0.667", "recall[good] = 0.667", "f1[good] = 0.667", "auc[good] = 0.667",
        "weighted_precision = 0.600", "weighted_recall = 0.600", "weighted_f1 = 0.600", "weighted_auc = 0.667",
    ]  # fmt: skip
    found = audit([one]).audited[0]
    assert {way for a in found.attributions if "auc" in a.claim.name for way in a.matches} == {"merge"}
    assert all({"pooled", "tp_fp", "tp_fp@test", "merge"} & {*a.matches} for a in found.attributions)


@pytest.mark.parametrize(
    "below",
    [
        SUMMARY.replace("Stratified cross-validation", "Error on training data"),
        SUMMARY + SUMMARY,
        SUMMARY.replace("Correctly Classified Instances ", "Correct "),
    ],
)
def test_a_summary_of_something_else_is_not_claimed(read, below):
    assert read(CSV + below, "explorer.txt")[0].claims == ()


# Experimenter ------------------------------------------------------------------------------------------------------

COLUMNS = (
    "Key_Dataset,Key_Run,Key_Fold,Key_Scheme,Key_Scheme_options,Key_Scheme_version_ID,Date_time,"
    "Number_of_training_instances,Number_of_testing_instances,Number_correct,Percent_correct,Kappa_statistic,"
    "True_positive_rate,Num_true_positives,False_positive_rate,Num_false_positives,True_negative_rate,"
    "Num_true_negatives,False_negative_rate,Num_false_negatives,IR_precision,IR_recall,F_measure,Matthews_correlation,"
    "Area_under_ROC,Weighted_avg_F_measure,Summary"
)


def row(data, run, fold, scheme, counts, *, options="", others=0, auc="0.75"):
    """A line of results; ``others`` of the true negatives are confused among further classes."""
    tp, fp, tn, fn = counts
    n, correct = sum(counts), tp + tn - others
    chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / n**2
    kappa = (correct / n - chance) / (1 - chance) * (0.9 if others else 1)
    f1 = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else "?"
    rates = ["?" if d == 0 else a / d for a, d in ((tp, tp + fn), (fp, fp + tn), (tn, fp + tn), (fn, tp + fn))]
    values = [
        data, run, fold, f"weka.classifiers.{scheme}", f"'{options}'", "-217733168393644444", "2.026E7", "120.0",
        float(n), float(correct), 100 * correct / n, kappa, rates[0], float(tp), rates[1], float(fp), rates[2],
        float(tn), rates[3], float(fn), tp / (tp + fp) if tp + fp else "?", rates[0], f1, 0.3, auc, 0.61,
        "'Number of leaves: 2\\nSize of the tree: 3\\n'",
    ]  # fmt: skip
    return ",".join(map(str, values)) + "\n"


FOLDS = ((8, 2, 15, 5), (9, 3, 14, 4), (3, 0, 17, 10))


def results(data="iris", scheme="trees.J48", runs=(1, 2), **options):
    return "".join(
        row(data, run, fold, scheme, counts, **options) for run in runs for fold, counts in enumerate(FOLDS, 1)
    )


def arff(text):
    """The same results as ARFF."""
    attributes = "".join(f"@attribute {name} string\n" for name in COLUMNS.split(","))
    return f"@relation InstanceResultListener\n\n{attributes}\n@data\n\n{text}"


@pytest.mark.parametrize("name", ["results.csv", "results.arff"])
def test_one_experiment_with_runs_as_repeats(read, name):
    text = results()
    (one,) = read(arff(text) if name.endswith("arff") else f"{COLUMNS}\n{text}", name, claims=["f1 = 0.5969"])
    assert one.name == "results"
    assert one.cells == tuple(Cell(fold, run) for run in "12" for fold in "123")
    assert one.counts.labels == ("positive", "negative")
    assert one.counts.tp[:, 0].tolist() == [8, 9, 3] * 2
    assert one.counts.tn[:, 0].tolist() == [15, 14, 17] * 2
    assert {name: str(values[0]) for name, values in one.scores.values.items()} == {"auc": "0.75"}
    found = audit([one]).audited[0]
    assert found.attributions[0].matches == ("avg",)
    assert [finding.code for finding in found.findings if finding.severity is Severity.ERROR] == ["CV201"]


def test_schemes_and_data_sets_are_experiments(read):
    text = results() + results(data="vote") + results(scheme="bayes.NaiveBayes") + results("vote", "bayes.NaiveBayes")
    assert [one.name for one in read(f"{COLUMNS}\n{text}")] == [
        f"weka/{data}/weka.classifiers.{scheme}"
        for scheme in ("trees.J48", "bayes.NaiveBayes")
        for data in ("iris", "vote")
    ]


def test_options_tell_two_configurations_apart_and_only_then(read):
    text = results(options="-C 0.25 -M 2") + results(options='-C 0.5 -K \\"a, b\\"')
    assert [one.name for one in read(f"{COLUMNS}\n{text}")] == ["weka/-C 0.25 -M 2", 'weka/-C 0.5 -K "a, b"']
    text = results(options="-C 0.25") + results(scheme="bayes.NaiveBayes")
    names = [one.name for one in read(f"{COLUMNS}\n{text}")]
    assert names == ["weka/weka.classifiers.trees.J48", "weka/weka.classifiers.bayes.NaiveBayes"]


def test_more_than_two_classes_are_not_taken_for_two(read):
    (iris, vote) = read(f"{COLUMNS}\n{results(others=2)}{results('vote')}")
    assert (iris.counts.labels, iris.counts.tn) == (("positive",), None)
    assert vote.counts.tn is not None
    assert set(iris.scores.values) == {"accuracy", "kappa", "specificity", "auc", "weighted_f1"}
    accuracy = audit([iris]).audited[0].aggregates.of(metric("accuracy")).values["avg"].value
    assert accuracy == pytest.approx(sum((tp + tn - 2) / 30 for tp, _, tn, _ in FOLDS) / 3)


def test_percentages_stay_percentages_even_where_they_are_small(read):
    low = row("iris", 1, 1, "trees.J48", (0, 60, 1, 39), others=1) + row(
        "iris", 1, 2, "trees.J48", (1, 59, 1, 39), others=1
    )
    (one,) = read(f"{COLUMNS}\n{low}")
    assert [value.value for value in one.scores.values["accuracy"]] == pytest.approx([0, 0.01])


def test_random_splits_without_a_fold_are_the_folds(read):
    header = COLUMNS.replace("Key_Fold,", "")
    lines = [line.split(",") for line in results(runs=(1,)).splitlines()]
    text = "".join(",".join([line[0], line[2], *line[3:]]) + "\n" for line in lines)
    (one,) = read(f"{header}\n{text}")
    assert one.cells == (Cell("1"), Cell("2"), Cell("3"))
    assert audit([one]).findings == []


def test_an_area_that_is_undefined_is_explained_not_skipped(read):
    text = results(runs=(1,)) + row("iris", 1, 4, "trees.J48", (0, 3, 27, 0), auc="?")
    (one,) = read(f"{COLUMNS}\n{text}")
    assert [(fold.cell.fold, fold.reason) for fold in one.missing] == [
        ("4", "WEKA writes ? where a measure is undefined")
    ]
    codes = {finding.code: finding.severity for finding in audit([one]).findings}
    assert (codes["CV103"], codes["CV101"]) == (Severity.WARNING, Severity.ERROR)


def test_counts_with_fractions_are_no_counts(read):
    text = results().replace(",8.0,", ",8.5,")
    (one,) = read(f"{COLUMNS}\n{text}")
    assert one.counts is None
    assert {"f1", "recall", "accuracy"} <= set(one.scores.values)


def test_averages_are_no_folds(read):
    text = f"{COLUMNS.replace('Key_Fold', 'Num_Fold')}\n{results()}"
    with pytest.raises(InputError, match="each row is an average over folds, as 'Num_Fold' shows"):
        read(text)


def test_the_same_fold_twice_is_refused(read):
    with pytest.raises(InputError, match=r"weka\.csv:8: fold '1' is there twice, on lines 2 and 8"):
        read(f"{COLUMNS}\n{results()}{results()}")
