"""``cvaudit run``: the script's output and exit code are its own."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_cvaudit.cli import main

SCRIPT = """\
import sys
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

def scorer(estimator, X, y):
    return (estimator.predict(X) == y).mean()

def main():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200, :5], y[:200]
    model = DecisionTreeClassifier(random_state=0)
    scores = cross_val_score(model, X, y, scoring="f1", cv=4)
    print(f"F1: {scores.mean():.4f}")
    scores = cross_val_score(model, X, y, scoring=scorer, cv=5, n_jobs=2 if "jobs" in sys.argv else 1)
    print(f"mean {scores.mean():.3f} of", *sys.argv[1:])
    cross_val_score(LinearRegression(), X, y)

if __name__ == "__main__":
    main()
    if "exit" in sys.argv:
        sys.exit(3)
    if "fail" in sys.argv:
        raise ValueError("on purpose")
"""


@pytest.fixture(autouse=True)
def script(tmp_path, monkeypatch):
    (tmp_path / "paper.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def test_as_a_process(tmp_path, monkeypatch, capsys):
    command = [sys.executable, "-m", "pytest_cvaudit", "run", "paper.py", "--check", "jobs"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    monkeypatch.setattr(sys, "argv", ["paper.py", "--check", "jobs"])
    runpy.run_path("paper.py", run_name="__main__")
    assert (done.returncode, done.stdout) == (0, capsys.readouterr().out)
    lines = done.stderr.splitlines()
    assert lines[0] == "cvaudit: captured 2 cross-validations in cvaudit-runs"
    assert lines[1] == "cvaudit: not captured: paper.py:18: cross_val_score: no classes: it is a regression"
    assert lines[2].startswith("cvaudit: printed numbers that may be claims: ")
    text = (tmp_path / "cvaudit-runs" / "cvaudit.yaml").read_text()
    assert "    #   - f1 = 0.8" in text
    assert "    claims:" not in text


def test_guesses_accuse_nobody(tmp_path, capsys):
    assert main(["run", "--check", "paper.py"]) == 0
    assert "2 experiments: no findings" in capsys.readouterr().err
    assert main(["check", "cvaudit-runs"]) == 0


@pytest.mark.parametrize(("argument", "code"), [("exit", 3), ("fail", 1)])
def test_the_exit_code_is_the_scripts(argument, code, capsys):
    before = list(sys.argv), list(sys.path), Path.cwd()
    assert main(["run", "--check", "--output", "here", "paper.py", argument]) == code
    assert (sys.argv, sys.path, Path.cwd()) == before
    err = capsys.readouterr().err
    assert "cvaudit: captured 2 cross-validations in here" in err
    if argument == "fail":
        trace = err.splitlines()
        assert trace[0] == "Traceback (most recent call last):"
        assert trace[1] == f'  File "{Path("paper.py").absolute()}", line 25, in <module>'
        assert "ValueError: on purpose" in trace


def test_claims_where_they_are_asked_for(tmp_path, capsys):
    # The mean over folds of F1 is claimed now, so the audit may say what it thinks of it.
    code = main(["run", "--claim-printed", "--check", "paper.py"])
    text = (tmp_path / "cvaudit-runs" / "cvaudit.yaml").read_text()
    err = capsys.readouterr().err
    assert '      - "f1 = 0.' in text
    assert ("CV201" in err, code) == (True, 1)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["papers.py"], "papers.py: no such script"),
        (["lab"], "lab: a folder, not a script; run a package with -m"),
        (["-m", "lab.nothing"], "lab.nothing: no such module"),
        (["-m", "nothing.at.all"], "nothing.at.all: no such module"),
        (["--output", "paper.py", "paper.py"], "paper.py: it is a file; capture into a folder"),
    ],
)
def test_what_cannot_be_run(arguments, line, tmp_path, capsys):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "__init__.py").touch()
    assert main(["run", *arguments]) == 2
    assert capsys.readouterr() == ("", f"cvaudit: {line}\n")


def test_a_script_is_told_its_whole_path_and_a_syntax_error_is_its_own(tmp_path, capsys):
    Path("where.py").write_text("import sys\ndef f(x: int): ...\nprint(__file__, sys.argv, f.__annotations__)\n")
    assert main(["run", "where.py", "-x"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'where.py'} ['where.py', '-x'] {{'x': <class 'int'>}}\n"
    Path("wrong.py").write_text("def f(:\n")
    assert main(["run", "wrong.py"]) == 1
    assert capsys.readouterr().err.startswith(f'  File "{tmp_path / "wrong.py"}", line 1\n')


def test_a_module_with_relative_imports(tmp_path, monkeypatch, capsys):
    package = tmp_path / "lab_of_test"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "paper.py").write_text(SCRIPT)
    (package / "__main__.py").write_text("from .paper import main, sys\nprint(sys.argv)\nmain()\n")
    before = list(sys.path)
    assert main(["run", "-m", "lab_of_test", "--check"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == str([str(package / "__main__.py"), "--check"])
    assert said.err.startswith("cvaudit: captured 2 cross-validations in cvaudit-runs\n")
    assert sys.path == before
    for name in [name for name in sys.modules if name.startswith("lab_of_test")]:
        monkeypatch.delitem(sys.modules, name)
