"""Standards through the command line: what they change is what `rules` shows and what an audit does."""

from __future__ import annotations

import json

import pytest

from pytest_cvaudit.cli import main
from pytest_cvaudit.rulebook import load_rules
from pytest_cvaudit.standards import shipped_standards

LAB = """name: our-lab
extends: forman-scholz
rules:
  CV101: warning
  CV102: off
  f-avg: {severity: info}
  CV301: {min_difference: 0.25, z: 4}
policies: {calibrated: true}
require:
  aggregation: true
"""
TABLE = """    table: |
      fold,negatives,positives,tp,fp
      1,373,3,3,0
      2,372,4,4,1
      3,372,4,4,13
      4,372,4,3,5
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab.yaml").write_text(LAB)
    (tmp_path / "cvaudit.yaml").write_text(f"experiments:\n  - name: one\n    claims: [f1 = 0.69]\n{TABLE}")
    return tmp_path


@pytest.fixture
def run(project, capsys):
    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def listed(run, *options):
    code, out, _ = run("rules", "--format", "json", *options)
    assert code == 0
    return {row["code"]: row for row in json.loads(out)["rules"]}


def test_ten_lines_change_severities_and_parameters_as_written(run):
    before, after = listed(run), listed(run, "--standard", "lab.yaml")
    changed = {code for code in before if before[code] != after[code]}
    assert changed == {"CV005", "CV101", "CV102", "CV201", "CV301"}
    assert after["CV101"]["severity"] == "warning"
    assert not after["CV102"]["enabled"]
    assert after["CV201"]["severity"] == "info"
    assert after["CV301"]["parameters"] == {**before["CV301"]["parameters"], "min_difference": 0.25, "z": 4}
    assert after["CV005"]["parameters"]["aggregation"] is True
    assert {after[code]["decided_by"] for code in changed} == {"lab.yaml"}


def test_a_standard_decides_the_audit(run):
    code, out, _ = run("check", "cvaudit.yaml", "--standard", "lab.yaml", "--format", "json")
    found = {finding["code"]: finding["severity"] for finding in json.loads(out)["findings"]}
    assert code == 1
    assert found["CV201"] == "info"
    assert found["CV005"] == "error"


def test_the_last_word_of_a_chain_wins(run, project):
    (project / "ours.yaml").write_text("extends: lab.yaml\nrules: {CV101: info, CV102: on}\n")
    after = listed(run, "--standard", "ours.yaml")
    assert (after["CV101"]["severity"], after["CV101"]["decided_by"]) == ("info", "ours.yaml")
    assert (after["CV102"]["enabled"], after["CV301"]["decided_by"]) == (True, "lab.yaml")


@pytest.mark.parametrize("name", shipped_standards())
def test_shipped_standards_load_and_describe_themselves(run, name):
    rows = listed(run, "--standard", name)
    assert set(rows) == set(load_rules())


def test_advisory_rules_are_off_until_asked_for(run, project):
    advisory = {code for code, rule in load_rules().items() if rule.advisory}
    assert advisory
    rows, pedantic = listed(run), listed(run, "--pedantic")
    assert {code for code in rows if not rows[code]["enabled"]} == advisory
    assert all(pedantic[code]["enabled"] for code in pedantic)
    (project / "pyproject.toml").write_text("[tool.cvaudit]\npedantic = true\n")
    assert all(row["enabled"] for row in listed(run).values())


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            "rules:\n  CV101: warnin\n",
            2,
            "CV101: severity 'warnin' is not error, warning or info; did you mean 'warning'?",
        ),
        ("extends: strict\nrules:\n  CV9: off\n", 3, "unknown rule 'CV9'"),
        ("rules:\n  CV301:\n    zz: 3\n", 2, "CV301: unknown key 'zz'"),
        ("policies:\n  calibrate: true\n", 2, "unknown policy 'calibrate'; did you mean 'calibrated'?"),
        ("policies:\n  k: many\n", 2, "policy 'k' must be a number, not 'many'"),
        ("require:\n  aggregations: true\n", 2, "require: unknown key 'aggregations'; did you mean 'aggregation'?"),
        ("require:\n  aggregation: 3\n", 2, "require: 'aggregation' must be true or false, not '3'"),
        ("require: aggregation\n", 1, "'require' of a standard is a mapping"),
        ("extends: strictt\n", 1, "unknown standard 'strictt'; did you mean 'strict'?"),
    ],
)
def test_a_mistake_is_one_line_with_its_number(run, project, text, line, message):
    (project / "bad.yaml").write_text(text)
    code, out, err = run("check", "cvaudit.yaml", "--standard", "bad.yaml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"cvaudit: bad.yaml:{line}: {message}")


def test_a_policy_is_declared_for_every_experiment(run, project):
    rows = "\n".join(
        f"      {fold},{truth},{fold * 10 + truth + i / 9}" for fold in (1, 2) for truth in (0, 1) for i in range(8)
    )
    (project / "cvaudit.yaml").write_text(
        f"experiments:\n  - name: one\n    claims: [auc = 0.750]\n    table: |\n      fold,y_true,score\n{rows}\n"
    )
    _, out, _ = run("check", "cvaudit.yaml", "--standard", "lab.yaml", "--select", "CV301")
    assert "declared calibrated" in out
