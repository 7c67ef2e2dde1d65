"""Every experiment × applicable rule is a test: which ones there are, how they end, and what they say."""

from __future__ import annotations

import pytest

#: Those of the first rules that are about any claim, F-measures, AUC, average precision and macro averages.
RULES = "CV101,CV102,CV103,CV104,CV201,CV202,CV203,CV301,CV302,CV401"
SPLIT = """\
experiments:
  - name: sweep
    by: [data, model]
    claims:
      - {metric: f1, value: 0.69, for: re0/svm}
    table: |
      data,model,fold,negatives,positives,tp,fp
      re0,svm,1,373,3,3,0
      re0,svm,2,372,4,4,1
      re0,svm,3,372,4,4,13
      re0,svm,4,372,4,3,5
      re0,nb,1,372,4,4,0
      re0,nb,2,372,4,4,0
"""
SCORES = """\
experiments:
  - name: printed
    claims: [f1 = 0.55]
    table: |
      fold,f1
      1,0.5
      2,0.6
"""


def ids(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


def test_the_ids_are_the_contract_s_and_only_applicable_rules_are_items(project, run):
    result = run("--collect-only", "-q", "--cvaudit-select", RULES)
    assert ids(result) == [
        "cvaudit.yaml::experiment::CV101-zero-positive-fold",
        "cvaudit.yaml::experiment::CV102-no-predicted-positives",
        "cvaudit.yaml::experiment::CV103-skipped-fold",
        "cvaudit.yaml::experiment::CV104-no-negatives-fold",
        "cvaudit.yaml::experiment::CV201-f-avg",
        "cvaudit.yaml::experiment::CV202-f-pr-re",
        "cvaudit.yaml::experiment::CV203-f-skip",
    ]  # no AUC, no average precision and no macro average is claimed


def test_a_manifest_below_a_folder_has_its_path_in_the_id(project, run, write_files):
    write_files({"results/svm.cvaudit.yaml": SCORES})
    found = ids(run("--collect-only", "-q", "--cvaudit-select", "CV501", "results"))
    assert found == ["results/svm.cvaudit.yaml::printed::CV501-undeclared-aggregation"]


def test_a_failure_names_file_line_experiment_what_and_tip(project, run):
    result = run("--cvaudit-select", "CV201")
    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    text = result.stdout.str()
    assert "cvaudit.yaml:6: error CV201 f-avg [experiment]" in text
    assert "'f1 = 0.69' is avg, 0.692460; tp_fp, from the totals, is 0.583333 and would print 0.58" in text
    assert "tip: Sum TP, FP and FN over the folds and compute F once (tp_fp)." in text
    assert "Traceback" not in text
    assert "pytest_items.py" not in text


def test_what_the_evidence_cannot_tell_is_a_skip_with_its_reason_at_the_manifest(pytester, run, write_files):
    write_files({"cvaudit.yaml": SCORES})
    result = run("--cvaudit-select", "CV201", "-rs")
    result.assert_outcomes(skipped=1)
    (line,) = [line for line in result.outlines if line.startswith("SKIPPED")]
    assert line.startswith("SKIPPED [1] cvaudit.yaml:2: CV201-f-avg [printed] cannot tell: 'f1 = 0.55' is avg, but ")
    assert "log tp, fp, fn and tn per fold" in line


def test_strict_markers_and_warnings_as_errors_are_fine(project, run):
    strict = ("--strict-markers", "-W", "error::pytest.PytestUnknownMarkWarning", "--cvaudit-select", "CV101,CV103")
    run(*strict).assert_outcomes(passed=2)
    run(*strict, "-m", "not cvaudit").assert_outcomes(deselected=2)


@pytest.mark.parametrize(("expression", "failed", "passed"), [("f-avg", 1, 0), ("CV1", 0, 4), ("experiment", 1, 6)])
def test_k_selects_by_rule_and_experiment(project, run, expression, failed, passed):
    result = run("-k", expression, "--cvaudit-select", RULES)
    result.assert_outcomes(failed=failed, passed=passed, deselected=7 - failed - passed)


def test_node_ids_can_be_given_on_the_command_line(project, run):
    run("cvaudit.yaml::experiment::CV201-f-avg").assert_outcomes(failed=1)
    run("cvaudit.yaml::experiment", "--cvaudit-select", RULES).assert_outcomes(failed=1, passed=6)


def test_the_parts_of_a_split_log_are_experiments_that_can_be_selected(pytester, run, write_files):
    write_files({"cvaudit.yaml": SPLIT})
    found = ids(run("--collect-only", "-q", "--cvaudit-select", "CV101,CV201"))
    assert found == [
        "cvaudit.yaml::sweep/re0/svm::CV101-zero-positive-fold",
        "cvaudit.yaml::sweep/re0/svm::CV201-f-avg",
        "cvaudit.yaml::sweep/re0/nb::CV101-zero-positive-fold",
    ]
    run("cvaudit.yaml::sweep/re0/svm::CV201-f-avg").assert_outcomes(failed=1)
    run("cvaudit.yaml::sweep/re0/nb", "--cvaudit-select", "CV101").assert_outcomes(passed=1)


def test_a_name_with_brackets_can_be_selected_by_its_id(pytester, run, write_files):
    write_files({"cvaudit.yaml": SCORES.replace("printed", '"svm [rbf] é"')})
    found = ids(run("--collect-only", "-q", "--cvaudit-select", "CV502"))
    assert found == ["cvaudit.yaml::svm (rbf) é::CV502-unexplained-claim"]
    run(*found).assert_outcomes(passed=1)


def test_a_suppressed_finding_passes_and_is_counted(project, run, write_files):
    accepted = "suppress:\n  - {rule: CV201, experiment: exp*, reason: agreed with the reviewers}\n"
    write_files({"cvaudit.yaml": (project.path / "cvaudit.yaml").read_text() + accepted})
    result = run("--cvaudit-select", "CV201")
    result.assert_outcomes(passed=1)
    assert (
        "1 experiment, 1 rule applied: 0 with findings, 0 cannot tell, 1 passed, 1 finding suppressed"
        in result.outlines
    )


def test_findings_below_fail_on_pass_and_are_shown_in_the_summary(project, run):
    result = run("--cvaudit-select", "CV201,CV501")
    result.assert_outcomes(passed=1, failed=1)
    summary = result.outlines[
        result.outlines.index("1 experiment, 2 rules applied: 2 with findings, 0 cannot tell, 0 passed") :
    ]
    shown = [line for line in summary if line.startswith("cvaudit.yaml")]
    assert len(shown) == 1, "the failure is shown as such already"
    assert shown[0].startswith(
        "cvaudit.yaml:6: warning CV501 undeclared-aggregation [experiment]: 'f1 = 0.69' does not"
    )


def test_every_lesser_finding_of_a_rule_is_shown(pytester, run, write_files):
    table = "fold,negatives,positives,tp,fp\n      1,9,1,0,0\n      2,9,1,0,0\n      3,9,1,1,0\n"
    write_files({"cvaudit.yaml": f"experiments:\n  - name: rare\n    table: |\n      {table}"})
    result = run("--cvaudit-select", "CV102")
    result.assert_outcomes(passed=1)
    assert [line.split(": ", 2)[2] for line in result.outlines if line.startswith("cvaudit.yaml:2: warning")] == [
        "fold 1 (10 instances) has no predicted positives: precision is undefined there",
        "fold 2 (10 instances) has no predicted positives: precision is undefined there",
    ]


def test_an_unreadable_log_fails_cv002_and_the_other_experiments_are_audited(project, run, write_files):
    other = "  - name: gone\n    log: nope.csv\n    claims: [f1 = 0.5]\n"
    write_files({"cvaudit.yaml": (project.path / "cvaudit.yaml").read_text() + other})
    result = run("--cvaudit-select", "CV002,CV201", "-v")
    result.assert_outcomes(failed=2, passed=1, skipped=1)
    text = result.stdout.str()
    assert "cvaudit.yaml::gone::CV002-unreadable-log FAILED" in text
    assert "cvaudit.yaml:8: no file matches 'nope.csv' in ." in text
    assert "cvaudit.yaml::experiment::CV201-f-avg FAILED" in text


@pytest.mark.parametrize(
    ("manifest", "line"),
    [
        ("experiment: []\n", "cvaudit.yaml:1: unknown key 'experiment' in the manifest; did you mean 'experiments'?"),
        ("experiments: [1\n", "cvaudit.yaml:1: not valid YAML: "),
        ("", "cvaudit.yaml: the file is empty"),
    ],
)
def test_a_bad_manifest_is_a_collection_error_of_one_line(project, run, write_files, manifest, line):
    write_files({"cvaudit.yaml": manifest, "test_other.py": "def test_other(): pass\n"})
    result = run("--continue-on-collection-errors")
    result.assert_outcomes(errors=1, passed=1)
    start = next(index for index, text in enumerate(result.outlines) if "ERROR collecting cvaudit.yaml" in text)
    assert result.outlines[start + 1].startswith(line)
    assert result.outlines[start + 2].startswith("====")


def test_without_a_manifest_the_summary_says_so(pytester, run, write_files):
    write_files({"test_other.py": "def test_other(): pass\n", "cvaudit.yml": SCORES})
    result = run()
    result.assert_outcomes(passed=1)
    assert "no cvaudit.yaml or *.cvaudit.yaml was collected" in result.outlines
