"""The plugin when it is off: it collects nothing, imports nothing and can be blocked."""

from __future__ import annotations

import pytest

HEAVY = (
    "numpy", "pandas", "scipy", "rich", "yaml", "sklearn",
    "pytest_cvaudit.engine", "pytest_cvaudit.pytest_items", "pytest_cvaudit.capturing",
)  # fmt: skip


def test_without_the_option_manifests_are_not_collected(project, run_off):
    result = run_off()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "cvaudit ==" not in result.stdout.str()


def test_nothing_is_imported_when_off(project):
    inner = f"""
        import sys

        def test_modules(request):
            assert request.config.pluginmanager.hasplugin("cvaudit")
            assert [name for name in {HEAVY!r} if name in sys.modules] == []
        """
    project.makepyfile(inner)
    project.runpytest_subprocess("-p", "no:hypothesispytest").assert_outcomes(passed=1)


def test_the_plugin_can_be_blocked(project):
    project.makepyfile("def test_fixture(cvaudit): pass\n\ndef test_other(): pass\n")
    result = project.runpytest_subprocess("-p", "no:cvaudit", "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1, errors=1)
    assert "fixture 'cvaudit' not found" in result.stdout.str()
    result = project.runpytest_subprocess("-p", "no:cvaudit", "--cvaudit")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "unrecognized arguments: --cvaudit" in result.stderr.str()
