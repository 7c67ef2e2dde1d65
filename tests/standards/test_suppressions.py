"""Suppressions and the baseline through the command line and the plugin."""

from __future__ import annotations

import json

import pytest

from pytest_cvaudit.cli import main

MANIFEST = """experiments:
  - name: one
    claims: [{claim}]
    table: |
      fold,negatives,positives,tp,fp
      1,373,3,3,0
      2,372,4,4,1
      3,372,4,4,13
      4,372,4,3,5
"""
SELECTED = ("--select", "CV2,CV502,CV001,CV004")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, manifest=None, claim="f1 = 0.69", **files):
        (tmp_path / "cvaudit.yaml").write_text(manifest or MANIFEST.format(claim=claim))
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text)
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def findings(run, *options, **content):
    code, out, _ = run("check", "cvaudit.yaml", *SELECTED, "--format", "json", *options, **content)
    return code, json.loads(out)


def suppressing(**keys):
    entry = ", ".join(f"{key}: {value}" for key, value in {"rule": "CV201", "reason": "agreed", **keys}.items())
    return MANIFEST.format(claim="f1 = 0.69") + f"suppress:\n  - {{{entry}}}\n"


def test_a_suppressed_finding_stays_visible_and_does_not_fail(run):
    code, document = findings(run, manifest=suppressing())
    (finding,) = document["findings"]
    assert (code, finding["code"], finding["suppressed"], finding["reason"]) == (0, "CV201", True, "agreed")
    assert document["summary"]["failed"] == 0
    _, out, _ = run("check", "cvaudit.yaml", *SELECTED, manifest=suppressing())
    assert "suppressed (1):" in out
    assert "agreed" in out


def test_a_suppression_after_its_last_day_counts_again(run):
    code, document = findings(run, manifest=suppressing(until="2020-01-01"))
    assert code == 1
    assert [(f["code"], f["suppressed"]) for f in document["findings"]] == [("CV201", False), ("CV004", False)]
    assert document["findings"][1]["location"] == {"path": "cvaudit.yaml", "line": 11}


def test_an_unused_suppression_is_reported_at_its_line(run):
    code, document = findings(run, manifest=suppressing(experiment="two"))
    assert code == 1
    (unused,) = [f for f in document["findings"] if f["code"] == "CV001"]
    assert unused["location"] == {"path": "cvaudit.yaml", "line": 11}


def test_a_suppression_of_a_rule_that_is_off_is_not_called_unused(run):
    _, out, _ = run("check", "cvaudit.yaml", "--select", "CV502,CV001", "--format", "json", manifest=suppressing())
    assert json.loads(out)["findings"] == []


def test_an_unknown_rule_in_a_suppression_is_one_line(run):
    code, _, err = run("check", "cvaudit.yaml", manifest=suppressing(rule="CV2011"))
    assert (code, err) == (2, "cvaudit: cvaudit.yaml:11: unknown rule 'CV2011'; did you mean 'CV201'?\n")


def test_the_project_can_suppress(run):
    toml = '[[tool.cvaudit.suppress]]\nrule = "f-avg"\nexperiment = "on*"\nreason = "lab rule"\n'
    code, document = findings(run, pyproject__toml=toml)
    assert (code, document["findings"][0]["reason"]) == (0, "lab rule")
    code, document = findings(run, pyproject__toml=toml.replace("on*", "two*"))
    assert (code, {f["code"] for f in document["findings"]}) == (1, {"CV201", "CV001"})


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('[[tool.cvaudit.suppress]]\nrule = "CV201"\n', "a suppression in [tool.cvaudit] needs a rule and a reason"),
        ('[[tool.cvaudit.suppress]]\nrules = "CV201"\n', "unknown key 'rules' in a suppression; did you mean 'rule'?"),
        (
            '[tool.cvaudit]\nsuppress = "CV201"\n',
            "[tool.cvaudit] suppress must be a list of tables with rule and reason",
        ),
        (
            '[[tool.cvaudit.suppress]]\nrule = "CV201"\nreason = "r"\nuntil = "soon"\n',
            "'until' is no day of the calendar: 'soon'",
        ),
    ],
)
def test_a_mistake_in_the_project_is_one_line(run, toml, message):
    code, out, err = run("check", "cvaudit.yaml", pyproject__toml=toml)
    assert (code, out) == (2, "")
    assert err.endswith(f"pyproject.toml: {message}\n")


def test_a_baseline_hides_what_is_known_and_nothing_else(run):
    code, out, _ = run("baseline", "cvaudit.yaml", *SELECTED)
    assert (code, out) == (0, "cvaudit-baseline.json: 1 known findings, 0 taken up, 0 gone, 0 new\n")
    known = ("--baseline", "cvaudit-baseline.json")
    code, document = findings(run, *known)
    assert (code, document["findings"][0]["suppressed"]) == (0, True)
    moved = "# a comment\n" + MANIFEST.format(claim="f1 = 0.69")
    assert findings(run, *known, manifest=moved)[0] == 0
    code, document = findings(run, *known, claim="f1 = 0.692")
    assert (code, document["findings"][0]["suppressed"]) == (1, False)


def test_updating_a_baseline_never_swallows_new_findings_unless_asked(run):
    run("baseline", "cvaudit.yaml", *SELECTED)
    code, out, err = run("baseline", "cvaudit.yaml", *SELECTED, claim="f1 = 0.692")
    assert (code, out) == (1, "cvaudit-baseline.json: 0 known findings, 0 taken up, 1 gone, 1 new\n")
    assert err.startswith("new: cvaudit.yaml: CV201 [one] 'f1 = 0.692'")
    code, out, _ = run("baseline", "cvaudit.yaml", *SELECTED, "--accept-new", claim="f1 = 0.692")
    assert (code, out) == (0, "cvaudit-baseline.json: 0 known findings, 1 taken up, 0 gone, 0 new\n")
    assert run("check", "cvaudit.yaml", *SELECTED, "--baseline", "cvaudit-baseline.json", claim="f1 = 0.692")[0] == 0


def test_one_more_finding_of_a_known_kind_is_new(run):
    run("baseline", "cvaudit.yaml", *SELECTED)
    twice = MANIFEST.format(claim="f1 = 0.69, f1 = 0.69")
    code, document = findings(run, "--baseline", "cvaudit-baseline.json", manifest=twice)
    assert code == 1
    assert sorted(finding["suppressed"] for finding in document["findings"]) == [False, True]


def test_a_baseline_keeps_what_was_not_audited(run, tmp_path):
    other = MANIFEST.format(claim="f1 = 0.69").replace("name: one", "name: two")
    (tmp_path / "other.cvaudit.yaml").write_text(other)
    run("baseline", ".", *SELECTED)
    _, out, _ = run("baseline", "cvaudit.yaml", *SELECTED)
    assert out == "cvaudit-baseline.json: 2 known findings, 0 taken up, 0 gone, 0 new\n"
    _, out, _ = run("baseline", ".", "--select", "CV1")
    assert out.startswith("cvaudit-baseline.json: 2 known findings, 0 taken up, 0 gone")


@pytest.mark.parametrize("text", ["", "[]", '{"version": 9, "findings": []}', '{"version": 1}'])
def test_a_broken_baseline_is_one_line(run, text):
    code, out, err = run("check", "cvaudit.yaml", "--baseline", "known.json", known__json=text)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("cvaudit: known.json: ")


def test_the_plugin_knows_the_baseline_and_the_suppressions(pytester):
    pytester.makefile(".yaml", cvaudit=suppressing())
    result = pytester.runpytest("--cvaudit", "--cvaudit-select", "CV201,CV001")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*1 finding suppressed*"])
    pytester.makefile(".yaml", cvaudit=MANIFEST.format(claim="f1 = 0.69"))
    pytester.makefile(".toml", pyproject='[tool.cvaudit]\nbaseline = "known.json"\n')
    assert main(["baseline", "cvaudit.yaml", "--select", "CV201", "--output", "known.json"]) == 0
    pytester.runpytest("--cvaudit", "--cvaudit-select", "CV201").assert_outcomes(passed=1)
