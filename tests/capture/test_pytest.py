"""``pytest --cvaudit-capture``: alone, with an audit, and over several processes."""

from __future__ import annotations

import pytest

from pytest_cvaudit import load_manifest
from pytest_cvaudit.manifest import experiments

TESTS = {
    "test_models": """
        import numpy as np
        import pytest
        from sklearn.datasets import load_wine
        from sklearn.linear_model import LinearRegression
        from sklearn.model_selection import cross_val_score
        from sklearn.tree import DecisionTreeClassifier

        X, y = load_wine(return_X_y=True)

        @pytest.mark.parametrize("depth", [1, 3])
        def test_tree(depth):
            assert cross_val_score(DecisionTreeClassifier(max_depth=depth, random_state=0), X, y).mean() > 0.5

        def test_regression():
            cross_val_score(LinearRegression(), X, y)
        """,
    "test_claims": """
        from sklearn.datasets import load_breast_cancer
        from sklearn.model_selection import cross_val_score
        from sklearn.tree import DecisionTreeClassifier

        def test_f1(cvaudit):
            X, y = load_breast_cancer(return_X_y=True)
            scores = cross_val_score(DecisionTreeClassifier(random_state=0), X[:, :3], y, scoring="f1")
            cvaudit.claim("f1", f"{scores.mean():.5f}")
        """,
}
NAMES = [
    "test_claims.py:test_f1-DecisionTreeClassifier-1",
    "test_models.py:test_tree[1]-DecisionTreeClassifier-1",
    "test_models.py:test_tree[3]-DecisionTreeClassifier-1",
]


@pytest.fixture
def project(pytester, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    pytester.makepyfile(**TESTS)
    return pytester


def run(project, *options):
    quick = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    # xdist makes processes of its own; without it nothing needs a new one.
    kind = project.runpytest_subprocess if "-n2" in options else project.runpytest_inprocess
    return kind(*quick, *options)


def said(result):
    text = result.stdout.str()
    return [line for line in text[text.index("= cvaudit capture =") :].splitlines()[1:] if line]


def test_everything_is_captured(project):
    result = run(project, "--cvaudit-capture")
    result.assert_outcomes(passed=4)
    lines = said(result)
    assert lines[0] == "captured 3 cross-validations in cvaudit-runs"
    assert lines[1] == "not captured: test_models.py:15: cross_val_score: no classes: it is a regression"
    check_manifest(project.path / "cvaudit-runs" / "cvaudit.yaml")


def check_manifest(path):
    found = experiments(load_manifest(path))
    assert [one.name for one in found] == NAMES
    assert [one.problem for one in found] == [None] * 3
    assert [len(one.claims) for one in found] == [1, 0, 0]


@pytest.mark.parametrize("processes", [(), ("-n2",)], ids=["one", "xdist"])
def test_and_audited(project, processes):
    for _ in range(1 if processes else 2):  # the second time there is a manifest, which is not collected
        result = run(project, *processes, "--cvaudit", "--cvaudit-capture=here", "--cvaudit-report", "json:audit.json")
        result.assert_outcomes(passed=4)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        lines = said(result)
        assert lines[0] == "captured 3 cross-validations in here"
        assert lines[1] == "not captured: test_models.py:15: cross_val_score: no classes: it is a regression"
        check_manifest(project.path / "here" / "cvaudit.yaml")
        assert any("error CV201 f-avg [test_claims.py:test_f1-DecisionTreeClassifier-1]" in line for line in lines)
        assert '"CV201"' in (project.path / "audit.json").read_text()


def test_the_folder_is_named_with_an_equals_sign_only(project):
    result = run(project, "--cvaudit-capture", "test_models.py")
    result.assert_outcomes(passed=3)
    assert said(result)[0] == "captured 2 cross-validations in cvaudit-runs"


def test_a_claim_without_anything_captured_fails(project):
    project.makepyfile(test_empty="def test_it(cvaudit):\n    cvaudit.claim('f1', '0.90')\n")
    result = run(project, "--cvaudit-capture", "test_empty.py")
    result.assert_outcomes(failed=1)
    assert "'f1 = 0.90' is claimed, but no fold was recorded" in result.stdout.str()


def test_a_foreign_manifest_is_a_usage_error(project):
    folder = project.mkdir("cvaudit-runs")
    (folder / "cvaudit.yaml").write_text("experiments: []\n")
    result = run(project, "--cvaudit-capture")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "was not written by capture" in result.stderr.str() + result.stdout.str()
