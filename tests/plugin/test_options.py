"""Command line options, ini settings and ``[tool.cvaudit]``: what is audited, by which rules, and what fails."""

from __future__ import annotations

from unittest.mock import ANY

import pytest

LAB = "name: lab\nextends: forman-scholz\nrules:\n  CV201: warning\n  undeclared-aggregation: off\n"


def ids(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


@pytest.mark.parametrize("word", ["CV201", "f-avg", "cv201-f-avg"])
def test_select_takes_a_code_or_a_name(project, run, word):
    run("--cvaudit-select", word).assert_outcomes(failed=1)


def test_ignore_takes_a_prefix_and_the_longer_prefix_of_select_wins(project, run):
    left = ids(run("--cvaudit-ignore", "CV2", "--collect-only", "-q"))
    assert left
    assert not [one for one in left if "::CV2" in one]
    run("--cvaudit-select", "CV201", "--cvaudit-ignore", "CV2").assert_outcomes(failed=1)


def test_options_may_be_repeated_or_separated_by_commas(project, run):
    run("--cvaudit-select", "CV201,CV202", "--cvaudit-select", "CV203").assert_outcomes(failed=1, passed=2)


@pytest.mark.parametrize(("fail_on", "failed"), [("error", 1), ("warning", 2), ("info", 2)])
def test_fail_on(project, run, fail_on, failed):
    result = run("--cvaudit-fail-on", fail_on, "--cvaudit-select", "CV201,CV501")
    result.assert_outcomes(failed=failed, passed=2 - failed)


def test_a_standard_by_path(project, run, write_files):
    write_files({"lab.yaml": LAB})
    run("--cvaudit-standard", "lab.yaml", "-k", "CV201 or CV501").assert_outcomes(passed=1, deselected=ANY)
    options = ("--cvaudit-standard", "lab.yaml", "--cvaudit-fail-on", "warning")
    run(*options, "-k", "CV201 or CV501").assert_outcomes(failed=1, deselected=ANY)


def test_the_ini_file_s_standard_is_relative_to_it(project, run, write_files, monkeypatch):
    write_files({"pytest.ini": "[pytest]\ncvaudit_standard = lab.yaml\n", "lab.yaml": LAB, "sub/test_x.py": ""})
    run("-k", "CV201 or CV501").assert_outcomes(passed=1, deselected=ANY)
    monkeypatch.chdir(project.path / "sub")
    run("..", "-k", "CV201 or CV501").assert_outcomes(passed=1, deselected=ANY)


def test_the_project_s_settings_are_respected_and_options_win(project, run, write_files, monkeypatch):
    settings = '[tool.cvaudit]\nselect = ["CV201", "CV501"]\nfail-on = "warning"\nstandard = "lab.yaml"\n'
    write_files({"pyproject.toml": settings, "lab.yaml": LAB.replace("  undeclared-aggregation: off\n", "")})
    run().assert_outcomes(failed=2)
    run("--cvaudit-fail-on", "error").assert_outcomes(passed=2)
    run("--cvaudit-select", "CV201").assert_outcomes(failed=1)
    run("--cvaudit-standard", "forman-scholz", "--cvaudit-fail-on", "error").assert_outcomes(failed=1, passed=1)
    (project.path / "sub").mkdir()
    monkeypatch.chdir(project.path / "sub")
    run("..").assert_outcomes(failed=2)


def test_paths_outside_testpaths_are_audited_too(project, run, write_files):
    manifest = (project.path / "cvaudit.yaml").read_text()
    write_files(
        {
            "pytest.ini": "[pytest]\ntestpaths = tests\ncvaudit_paths = results more/one.cvaudit.yaml\n",
            "tests/test_other.py": "def test_other(): pass\n",
            "results/cvaudit.yaml": manifest.replace("folds.csv", "../folds.csv"),
            "results/test_not_collected.py": "def test_other(): pass\n",
            "more/one.cvaudit.yaml": manifest.replace("folds.csv", "../folds.csv"),
            "more/two.cvaudit.yaml": manifest.replace("folds.csv", "../folds.csv"),
        }
    )
    found = ids(run("--collect-only", "-q", "--cvaudit-select", "CV201"))
    assert found == [
        "tests/test_other.py::test_other",
        "results/cvaudit.yaml::experiment::CV201-f-avg",
        "more/one.cvaudit.yaml::experiment::CV201-f-avg",
    ]
    assert ids(run("--collect-only", "-q", "tests")) == ["tests/test_other.py::test_other"], "asked for only these"


@pytest.mark.parametrize("testpaths", ["", "testpaths = results", "testpaths = ."])
def test_paths_inside_testpaths_are_not_audited_twice(project, run, write_files, testpaths):
    manifest = (project.path / "cvaudit.yaml").read_text().replace("folds.csv", "../folds.csv")
    (project.path / "cvaudit.yaml").unlink()
    ini = f"[pytest]\n{testpaths}\ncvaudit_paths = results results/cvaudit.yaml\n"
    write_files({"pytest.ini": ini, "results/cvaudit.yaml": manifest})
    found = ids(run("--collect-only", "-q", "--cvaudit-select", "CV201"))
    assert found == ["results/cvaudit.yaml::experiment::CV201-f-avg"]


@pytest.mark.parametrize("hidden", ["build", "results/dist"])
def test_a_path_that_pytest_would_not_reach_is_told(project, run, write_files, hidden):
    manifest = (project.path / "cvaudit.yaml").read_text()
    (project.path / "cvaudit.yaml").unlink()
    write_files({"pytest.ini": f"[pytest]\ncvaudit_paths = {hidden}\n", f"{hidden}/cvaudit.yaml": manifest})
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    where = f"'{hidden}/cvaudit.yaml' (norecursedirs)"
    assert [line for line in result.errlines if line] == [
        f"ERROR: cvaudit: pytest does not enter the folder of {where}"
    ]


@pytest.mark.parametrize(
    ("options", "ini", "line"),
    [
        (["--cvaudit-select", "CV999"], "", "ERROR: cvaudit: select: unknown rule 'CV999'"),
        (["--cvaudit-ignore", "f-avgg"], "", "ERROR: cvaudit: ignore: unknown rule 'f-avgg'; did you mean 'f-avg'?"),
        (["--cvaudit-report", "jsn:x"], "", "ERROR: cvaudit: unknown format 'jsn'; did you mean 'json'? (known: "),
        (["--cvaudit-report", "x.json"], "", "ERROR: cvaudit: 'x.json' is not FMT:PATH, such as json:audit.json"),
        (
            ["--cvaudit-standard", "forman"],
            "",
            "ERROR: cvaudit: unknown standard 'forman'; did you mean 'forman-scholz'?",
        ),
        ([], "cvaudit_paths = nope", "ERROR: cvaudit: cvaudit_paths names '"),
        ([], "cvaudit_standard = nope.yaml", "ERROR: cvaudit: unknown standard 'nope.yaml': no such file in "),
    ],
)
def test_a_mistake_in_an_option_is_a_usage_error_of_one_line(project, run, write_files, options, ini, line):
    write_files({"pytest.ini": f"[pytest]\n{ini}\n"})
    result = run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (only,) = [text for text in result.errlines if text]
    assert only.startswith(line)


def test_a_mistake_in_the_project_s_settings_is_a_usage_error(project, run, write_files):
    write_files({"pyproject.toml": "[tool.cvaudit]\nselct = []\n"})
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (only,) = [text for text in result.errlines if text]
    assert only.endswith("pyproject.toml: unknown key 'selct' in [tool.cvaudit]; did you mean 'select'?")
