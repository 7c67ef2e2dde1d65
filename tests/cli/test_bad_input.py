"""Bad input: one line that says where and what, exit 2, and nothing written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import MANIFEST

GOOD = "fold,y_true,y_pred,score\n1,1,1,0.9\n1,0,0,0.2\n2,1,0,0.4\n2,0,0,0.1\n"


def manifest(old: str, new: str) -> str:
    assert old in MANIFEST
    return MANIFEST.replace(old, new)


BAD_LOGS = {
    "a missing column": ("fold,y_pred\n1,1\n", "bad.csv: nothing in it can be audited (columns: 'fold', 'y_pred'); "),
    "blank folds": (GOOD.replace("\n1,", "\n,").replace("\n2,", "\n,"), "bad.csv:2: the fold is blank"),
    "a NaN score": (GOOD.replace("0.2", "nan"), "bad.csv:3: the score in column 'score' is blank or not a number"),
    "an empty file": ("", "bad.csv: the file is empty"),
    "not UTF-8": (
        GOOD.replace("1,0,0", "1,é,0").encode("latin-1"),
        "bad.csv:3: not UTF-8 text; save the file as UTF-8",
    ),
    "binary": (bytes(range(256)), "bad.csv:2: not UTF-8 text"),
    "no such positive": (
        GOOD.replace("1,1,1", "1,2,2").replace("2,1,0", "2,2,0"),
        "bad.csv: positive label '1' never ",
    ),
}


@pytest.mark.parametrize("name", BAD_LOGS)
def test_a_log_that_cannot_be_read(folder, cli, name):
    content, line = BAD_LOGS[name]
    Path("bad.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    fails(cli, ["bad.csv", "--positive", "1", "--claim", "f1=0.5"], line)


def test_a_truncated_parquet_file(folder, cli):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame({"fold": [1, 2], "y_true": [0, 1], "y_pred": [0, 1]}).to_parquet("bad.parquet")
    whole = Path("bad.parquet").read_bytes()
    Path("bad.parquet").write_bytes(whole[: len(whole) // 2])
    fails(cli, ["bad.parquet"], "bad.parquet: not a Parquet file: ")


BAD_MANIFESTS = {
    "a typo in a key": (
        manifest("claims:\n      - f1", "claim:\n      - f1"),
        "cvaudit.yaml:6: unknown key 'claim' in ",
    ),
    "an unknown metric": (manifest("f1 = 0.69", "f_one = 0.69"), "cvaudit.yaml:7: unknown metric 'f_one'"),
    "a claim out of range": (manifest("0.69", "58"), "cvaudit.yaml:7: claim 'f1 = 58' lies outside 0..1; write 58% if"),
    "no number": (manifest("0.69", "good"), "cvaudit.yaml:7: 'good' is not a printed number"),
    "invalid YAML": (manifest("folds: 4", "folds: [4"), "cvaudit.yaml:6: not valid YAML: "),
    "an empty manifest": ("", "cvaudit.yaml: the file is empty"),
    "an unknown standard": ("standard: forman\n" + MANIFEST, "cvaudit.yaml:1: unknown standard 'forman'; did you mean"),
    "a twin": (manifest("table-2", "table-1"), "cvaudit.yaml:8: duplicate experiment 'table-1' (first in line 2)"),
}


@pytest.mark.parametrize("name", BAD_MANIFESTS)
def test_a_manifest_that_cannot_be_read(project, cli, name):
    text, line = BAD_MANIFESTS[name]
    Path("cvaudit.yaml").write_text(text)
    fails(cli, ["."], line)


BAD_PATHS = {
    "nope.csv": "nope.csv: no such file or folder",
    "train.py": "train.py: source code is not audited by this version",
    "empty": "empty: no cvaudit.yaml or *.cvaudit.yaml below this folder",
    "audit.yaml": "audit.yaml: a manifest must be called cvaudit.yaml or NAME.cvaudit.yaml; rename it",
    "/dev/null": "/dev/null: neither a file nor a folder",
    "log.dat": "log.dat: unknown kind of file: '.dat'; known are .csv, ",
}


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_path_that_cannot_be_audited(project, cli, path):
    Path("empty").mkdir()
    for name in ("train.py", "audit.yaml", "log.dat"):
        Path(name).write_text(MANIFEST)
    fails(cli, [path], BAD_PATHS[path])


BAD_OPTIONS = {
    "an unknown rule": (["--select", "CV999"], "select: unknown rule 'CV999'"),
    "a mistyped rule": (["--ignore", "f-avgg"], "ignore: unknown rule 'f-avgg'; did you mean 'f-avg'?"),
    "an unknown standard": (["--standard", "nope"], "unknown standard 'nope' (shipped: "),
    "no standard there": (["--standard", "x/lab.yaml"], "unknown standard 'x/lab.yaml': no such file in "),
    "an unknown format": (["--format", "jsn"], "unknown format 'jsn'; did you mean 'json'?"),
    "an unknown report": (["--report", "pdf:x"], "unknown format 'pdf'"),
    "a report without a path": (["--report", "json"], "'json' is not FMT:PATH, such as json:audit.json"),
    "a metric nobody knows": (["--claim", "f_one=0.5"], "--claim: unknown metric 'f_one'"),
    "a claim out of range": (["--claim", "f1=58"], "--claim: claim 'f1 = 58' lies outside 0..1; write 58% if"),
    "no claim": (["--claim", "f1"], "--claim: 'f1' is not a claim; write it as 'f1 = 0.69'"),
    "no column": (["--column", "truth"], "--column: 'truth' is not ROLE=NAME"),
    "an output below a file": (["--output", "one.csv/x.json"], "one.csv/x.json: cannot write: File exists"),
    "an output that is a folder": (["--output", "sub"], "sub: cannot write: Is a directory"),
}


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_a_mistake_in_an_option_is_told_once_however_many_paths(project, cli, name):
    options, line = BAD_OPTIONS[name]
    Path("sub").mkdir()
    fails(cli, ["one.csv", "two.csv", *options], line)


def test_an_output_that_may_not_be_written(project, cli, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    fails(cli, ["one.csv", "--output", "x.json"], "x.json: cannot write: Permission denied")


BAD_STANDARDS = {
    "rules: [CV201]\n": "'rules' of a standard is a mapping",
    "rules: {CV201: fatal}\n": "CV201: severity 'fatal' is not error, warning or info",
    "rules: {CV999: error}\n": "unknown rule 'CV999'",
    "rules: {CV301: {min_difference: much}}\n": "CV301: 'min_difference' must be a number, not 'much'",
    "rules: {CV301: {min_diff: 1}}\n": "CV301: unknown key 'min_diff'; did you mean 'min_difference'?",
    "extends: lab.yaml\n": "standard 'lab.yaml' extends itself",
    "rule: {}\n": "unknown key 'rule' in a standard; did you mean 'rules'?",
    "- CV201\n": "a standard is a mapping with name, extends, ",
    "a: [\n": "not valid YAML: ",
}


@pytest.mark.parametrize("text", BAD_STANDARDS)
def test_a_standard_that_cannot_be_used(project, cli, text):
    Path("lab.yaml").write_text(text)
    done = cli("check", ".", "--standard", "lab.yaml")
    assert (done.code, done.out) == (2, "")
    assert re.match(rf"cvaudit: \S*lab\.yaml(:\d+)?: {re.escape(BAD_STANDARDS[text])}", done.complaint)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[tool.cvaudit]\nselct = []\n", "unknown key 'selct' in [tool.cvaudit]; did you mean 'select'?"),
        ('[tool.cvaudit]\nselect = "CV201"\n', "[tool.cvaudit] select must be a list of rule codes, prefixes or names"),
        (
            '[tool.cvaudit]\nfail-on = "fatal"\n',
            "[tool.cvaudit] fail-on must be one of error, warning, info, not 'fatal'",
        ),
        ("[tool.cvaudit]\nstandard = 1\n", "[tool.cvaudit] standard must be a string"),
        ("[tool.cvaudit\n", "not readable: "),
    ],
)
def test_project_settings_that_cannot_be_used(project, cli, text, line):
    Path("pyproject.toml").write_text(text)
    done = cli("check", ".")
    assert (done.code, done.out) == (2, "")
    assert done.complaint.startswith(f"cvaudit: {project / 'pyproject.toml'}: {line}")


def test_an_internal_error_is_one_line_too(project, cli, monkeypatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("pytest_cvaudit.run.audit_manifest", fail)
    done = cli("check", ".")
    assert (done.code, done.out) == (2, "")
    assert done.complaint.startswith("cvaudit: internal error (ZeroDivisionError: oops); set CVAUDIT_DEBUG=1")
    monkeypatch.setenv("CVAUDIT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        cli("check", ".")


def fails(cli, arguments: list[str], line: str) -> None:
    """Run check; it must say just this line, exit with 2 and leave no file behind."""
    before = set(Path().rglob("*"))
    output = [] if "--output" in arguments else ["--output", "out.json"]
    done = cli("check", *arguments, *output, "--report", "text:out.txt")
    assert done.complaint.startswith(f"cvaudit: {line}")
    assert (done.code, done.out) == (2, "")
    assert set(Path().rglob("*")) == before
