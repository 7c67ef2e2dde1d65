"""The ``cvaudit`` fixture: folds recorded in a test are audited at its end, as part of the test."""

from __future__ import annotations

import pytest

FOLDS = """
import numpy as np
import pytest

TABLE = [(373, 3, 3, 0), (372, 4, 4, 1), (372, 4, 4, 13), (372, 4, 3, 5)]


def record(cvaudit):
    for negatives, positives, tp, fp in TABLE:
        truth = [1] * positives + [0] * negatives
        cvaudit.fold(truth, [1] * tp + [0] * (positives - tp) + [1] * fp + [0] * (negatives - fp))

"""


@pytest.fixture
def run_test(pytester, run_off):
    """Run a file of tests that may call ``record``; ``--cvaudit`` is not needed."""

    def run_text(text: str, *args: str) -> pytest.RunResult:
        (pytester.path / "test_it.py").write_text(FOLDS + text, encoding="utf-8")
        return run_off(*args)

    return run_text


def test_a_right_claim_passes(run_test):
    run_test(
        "def test(cvaudit):\n    record(cvaudit)\n    cvaudit.claim('f1', '58%', aggregation='tp_fp')\n"
    ).assert_outcomes(passed=1)


@pytest.mark.parametrize("value", ["'0.69'", "0.69", "np.mean([1.0, 8 / 9, 8 / 21, 0.5])", "np.float64(0.6925)"])
def test_a_wrong_claim_fails_the_test_in_its_call_phase(run_test, value):
    result = run_test(f"def test(cvaudit):\n    record(cvaudit)\n    cvaudit.claim('f1', {value})\n")
    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert "test_it.py:13: error CV201 f-avg [test]" in text
    assert "is avg, 0.692460; tp_fp, from the totals, is 0.583333 and would print 0.58" in text
    assert "tip: Sum TP, FP and FN over the folds" in text
    assert "Traceback" not in text
    assert "During handling" not in text


@pytest.mark.parametrize(
    "how",
    [
        "def test(request):\n    audit(request.getfixturevalue('cvaudit'))\n",
        "@pytest.fixture\ndef mine(cvaudit):\n    return cvaudit\n\ndef test(mine):\n    audit(mine)\n",
        "import unittest\n\nclass Test(unittest.TestCase):\n    @pytest.fixture(autouse=True)\n"
        "    def use(self, cvaudit):\n        self.recorder = cvaudit\n\n"
        "    def test(self):\n        audit(self.recorder)\n",
    ],
)
def test_however_a_test_comes_by_the_fixture_it_is_audited(run_test, how):
    run_test(f"def audit(cvaudit):\n    record(cvaudit)\n    cvaudit.claim('f1', '0.69')\n\n{how}").assert_outcomes(
        failed=1
    )


def test_an_own_failure_comes_first_and_an_unused_recorder_does_nothing(run_test):
    text = (
        "def test_own(cvaudit):\n    record(cvaudit)\n    cvaudit.claim('f1', '0.69')\n    assert False, 'mine'\n\n"
        "def test_unused(cvaudit):\n    pass\n"
    )
    result = run_test(text)
    result.assert_outcomes(failed=1, passed=1)
    assert "CV201" not in result.stdout.str()


def test_scores_per_instance_are_audited(run_test):
    text = """
def scores(cvaudit, shift):
    for fold in range(4):
        score = np.arange(40) / 40 + fold * shift
        cvaudit.fold([0] * 20 + [1] * 20, y_score=score, fold=fold)

def test_calibrated(cvaudit):
    scores(cvaudit, 0)
    cvaudit.claim("auc", "1.00", aggregation="avg")

def test_wrong(cvaudit):
    scores(cvaudit, 0)
    cvaudit.claim("auc", "0.90", aggregation="avg")

def test_merged(cvaudit):
    scores(cvaudit, 0.4)
    cvaudit.claim("auc", "0.761")
"""
    result = run_test(text)
    result.assert_outcomes(passed=1, failed=2)
    assert "error CV502 unexplained-claim [test_wrong]" in result.stdout.str()
    assert "error CV301 auc-merge-uncalibrated [test_merged]" in result.stdout.str()


def test_probabilities_per_class_are_audited(run_test):
    text = """
PROBA = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.1, 0.9]])
TRUTH = np.array(["ham", "spam", "ham", "spam"])

def proba(cvaudit, classes=None):
    cvaudit.classes = classes
    for _ in range(2):
        cvaudit.fold(TRUTH, TRUTH, PROBA)
    cvaudit.protocol(positive="spam", folds=2)

def test_sorted_classes(cvaudit):
    proba(cvaudit)
    cvaudit.claim("auc", "1.0", aggregation="avg")

def test_own_order(cvaudit):
    proba(cvaudit, ["spam", "ham"])
    cvaudit.claim("auc", "0.0", aggregation="avg")
"""
    run_test(text).assert_outcomes(passed=2)


def test_multi_label_folds_are_audited(run_test):
    text = """
def sets(cvaudit):
    cvaudit.protocol(labels=["a", "b", "c"])
    for _ in range(2):
        cvaudit.fold([["a", "b"], ["c"], ["a"], ["b"]], [["a"], ["c", "b"], ["a"], ["b"]])

def matrix(cvaudit):
    truth = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]])
    predicted = np.array([[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 1, 0]])
    cvaudit.classes = ["a", "b", "c"]
    for _ in range(2):
        cvaudit.fold(truth, predicted, np.array(predicted, dtype=float))

@pytest.mark.parametrize("record", [sets, matrix])
@pytest.mark.parametrize("value", ["0.83", "0.84"])
def test(cvaudit, record, value):
    record(cvaudit)
    cvaudit.claim("macro_f1", value)
"""
    result = run_test(text, "--cvaudit-select", "CV502")
    result.assert_outcomes(passed=2, failed=2)
    assert "error CV502 unexplained-claim [test[0.84-sets]]" in result.stdout.str()


def test_labels_of_any_type_are_the_same_labels(run_test):
    text = """
def test(cvaudit):
    cvaudit.protocol(positive=1.0, labels=[0, 1])
    cvaudit.fold([1, 0, 1], [1.0, 0.0, 1.0])
    cvaudit.fold(["1", "0"], np.array([1, 0], dtype=object))
    cvaudit.claim("f1", "1.0", label=1)
"""
    run_test(text).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("fold([1, 0], [1])", "fold 0: y_pred has 1 rows and y_true has 2"),
        ("fold([1, 0], [0.3, 0.7])", "y_pred has 0.3, which is no label; scores are given as y_score"),
        ("fold([1, None], [1, 0])", "y_true has a missing label"),
        ("fold([1, float('nan')], [1, 0])", "y_true has a missing label"),
        ("fold([[1, 0]], [1])", "fold 0: y_true has sets of labels, and y_pred one label per instance"),
        ("fold(np.ones((2, 2, 2)), [1, 0])", "y_true must have one label or one set of labels per instance"),
        ("fold([1, 0], y_score=[0.1, float('nan')])", "fold 0: y_score is not finite in row 1 (the first is row 0)"),
        ("fold([1, 0], y_score=['a', 'b'])", "y_score must be numbers: could not convert string to float: 'a'"),
        ("fold([1, 0])", "fold 0 has neither y_pred nor y_score"),
        ("fold([], [])", "fold 0 has no instances"),
        ("claim('f_one', 0.5)", "unknown metric 'f_one'"),
        ("claim('f1', 58)", "claim 'f1 = 58' lies outside 0..1; write 58% if it is a percentage"),
        ("claim('f1', None)", "'None' is not a printed number (such as 0.69, 58% or 0.69 ± 0.02)"),
        ("protocol(fold=4)", "unknown protocol entry 'fold'; did you mean 'folds'?"),
        ("protocol(folds='4')", "protocol entry 'folds' must be a positive whole number, not '4'"),
    ],
)
def test_a_bad_call_shows_its_own_line_and_one_clear_sentence(run_test, call, line):
    result = run_test(f"def test(cvaudit):\n    cvaudit.{call}\n")
    result.assert_outcomes(failed=1)
    errors = [text.removeprefix("E       ") for text in result.outlines if text.startswith("E ")]
    assert len(errors) == 1
    assert errors[0].startswith(f"pytest_cvaudit.errors.InputError: {line}")
    assert f">       cvaudit.{call}" in result.outlines
    assert "calls.py" not in result.stdout.str()


@pytest.mark.parametrize(
    ("calls", "line"),
    [
        ("claim('f1', '0.5')", "'f1 = 0.5' is claimed, but no fold was recorded"),
        ("fold([1, 0], [1, 0]); cvaudit.protocol(positive=7)", "positive label '7' never occurs; labels are 0, 1"),
        (
            "fold([1, 0, 2], y_score=[1, 2, 3])",
            "one score per instance, and labels 0, 1, 2: declare protocol(positive=…)",
        ),
        (
            "fold([1, 0], y_score=np.ones((2, 3)))",
            "y_score has 3 columns for 2 classes (0, 1); name the classes in the order of the columns: classes=…",
        ),
    ],
)
def test_what_does_not_go_together_is_one_line_at_the_end(run_test, calls, line):
    result = run_test(f"def test(cvaudit):\n    cvaudit.{calls}\n")
    result.assert_outcomes(failed=1)
    start = next(index for index, text in enumerate(result.outlines) if "_ test _" in text)
    assert result.outlines[start + 1].startswith(f"cvaudit: {line}")
    assert result.outlines[start + 2].startswith("====")


def test_folds_must_go_together(run_test):
    text = """
def test_scores(cvaudit):
    cvaudit.fold([1, 0], y_score=[1, 2])
    cvaudit.fold([1, 0], [1, 0])

def test_columns(cvaudit):
    cvaudit.fold([1, 0], y_score=[1, 2])
    cvaudit.fold([1, 0], y_score=[[1, 2], [3, 4]])

def test_twice(cvaudit):
    cvaudit.fold([1, 0], [1, 0], fold="a")
    cvaudit.fold([1, 0], [1, 0], fold="a")
"""
    result = run_test(text)
    result.assert_outcomes(failed=3)
    errors = [line.split("InputError: ")[1] for line in result.outlines if line.startswith("E ")]
    assert errors == [
        "fold 1: y_pred must be given for all folds or for none",
        "fold 1: y_score has 2 columns, and in fold 0 it has 1; they must be the same, or named by classes=…",
        "fold a of repeat 0 was recorded already",
    ]


def test_options_and_the_project_s_settings_hold_for_recorded_folds(run_test, pytester):
    text = "def test(cvaudit):\n    record(cvaudit)\n    cvaudit.claim('f1', '0.58')\n"
    result = run_test(text, "-rP")
    result.assert_outcomes(passed=1)
    assert "test_it.py:13: warning CV501 undeclared-aggregation [test]" in result.outlines, "shown with the output"
    run_test(text, "--cvaudit-fail-on", "warning").assert_outcomes(failed=1)
    run_test(text, "--cvaudit-fail-on", "warning", "--cvaudit-ignore", "CV501").assert_outcomes(passed=1)
    (pytester.path / "pyproject.toml").write_text('[tool.cvaudit]\nfail-on = "warning"\n')
    run_test(text).assert_outcomes(failed=1)


def test_it_works_beside_the_items_of_manifests(run_test, pytester):
    (pytester.path / "cvaudit.yaml").write_text("experiments:\n  - name: e\n    table: |\n      fold,f1\n      1,0.5\n")
    text = "def test(cvaudit):\n    record(cvaudit)\n    cvaudit.claim('f1', '0.69')\n"
    run_test(text, "--cvaudit", "--cvaudit-select", "CV002,CV201").assert_outcomes(passed=1, failed=1)
