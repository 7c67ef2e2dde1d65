"""Reports to files, JUnit XML, and xdist."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from .conftest import QUICK

RULES = "CV002,CV101,CV201,CV301,CV501"
MORE = """\
experiments:
  - name: printed
    claims: [f1 = 0.55]
    table: |
      fold,f1
      1,0.5
      2,0.6
"""


def test_several_reports_of_one_run(project, run):
    reports = ("--cvaudit-report", "json:out/audit.json", "--cvaudit-report", "text:out/audit.txt")
    run(*reports, "--color=yes", "--cvaudit-select", RULES)
    document = json.loads((project.path / "out/audit.json").read_text(encoding="utf-8"))
    assert set(document) == {"version", "findings", "outcomes", "summary"}
    assert document["summary"] == {"passed": 2, "failed": 2, "inconclusive": 0, "not_applicable": 1}
    assert [(one["code"], one["location"]) for one in document["findings"]] == [
        ("CV201", {"path": "cvaudit.yaml", "line": 6}),
        ("CV501", {"path": "cvaudit.yaml", "line": 6}),
    ]
    text = (project.path / "out/audit.txt").read_text(encoding="utf-8")
    assert text.startswith("cvaudit.yaml:6: error CV201 f-avg [experiment]\n")
    assert "\x1b" not in text


def test_a_report_that_cannot_be_written_loses_neither_the_results_nor_the_other_reports(project, run):
    select = ("--cvaudit-select", "CV201")
    result = run("--cvaudit-report", "json:folds.csv/x.json", "--cvaudit-report", "json:ok.json", *select)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes(failed=1)
    assert "ERROR: cvaudit: folds.csv/x.json: cannot write: File exists" in result.outlines
    assert (project.path / "ok.json").exists()


def test_junit_xml_has_the_audit_as_properties(project, run):
    run("--junit-xml=junit.xml", "--cvaudit-select", "CV201,CV501")
    cases = {case.get("name"): case for case in ElementTree.parse(project.path / "junit.xml").iter("testcase")}
    assert set(cases) == {"CV201-f-avg", "CV501-undeclared-aggregation"}
    case = cases["CV201-f-avg"]
    properties = {one.get("name"): one.get("value") for one in case.iter("property")}
    message = properties.pop("cvaudit_message")
    assert message.startswith("cvaudit.yaml:6: error CV201 f-avg [experiment]: 'f1 = 0.69' is avg, 0.692460")
    assert properties == {
        "cvaudit_manifest": str(project.path / "cvaudit.yaml"),
        "cvaudit_experiment": "experiment",
        "cvaudit_rule": "CV201-f-avg",
        "cvaudit_status": "failed",
        "cvaudit_severity": "error",
        "cvaudit_findings": "1",
        "cvaudit_suppressed": "0",
    }
    assert case.find("failure") is not None
    assert cases["CV501-undeclared-aggregation"].find("failure") is None


def test_with_xdist_there_are_the_same_tests_one_report_and_the_same_summary(project, run, write_files):
    write_files(
        {
            "pytest.ini": "[pytest]\ntestpaths = tests\ncvaudit_paths = results\n",
            "tests/cvaudit.yaml": (project.path / "cvaudit.yaml").read_text().replace("folds.csv", "../folds.csv"),
            "tests/test_other.py": "def test_other(): pass\n",
            "results/more.cvaudit.yaml": MORE,
        }
    )

    def summary(result: pytest.RunResult) -> list[str]:
        lines = result.outlines
        start = next(index for index, line in enumerate(lines) if re.fullmatch("=+ cvaudit =+", line))
        return [line for line in lines[start + 1 :] if not line.startswith(("=", "FAILED"))]

    select = ("--cvaudit-select", RULES)
    alone = run(*select, "--cvaudit-report", "json:alone.json")
    shared = project.runpytest_subprocess("--cvaudit", *QUICK, "-n2", *select, "--cvaudit-report", "json:shared.json")
    assert shared.parseoutcomes() == alone.parseoutcomes()
    assert shared.parseoutcomes() == {"failed": 1, "passed": 5, "skipped": 3}
    assert summary(shared) == summary(alone)
    assert summary(alone)[0] == "2 experiments, 8 rules applied: 2 with findings, 3 cannot tell, 3 passed"
    assert (project.path / "shared.json").read_text() == (project.path / "alone.json").read_text()
    assert sorted(path.name for path in project.path.glob("*.json")) == ["alone.json", "shared.json"]
