"""What cannot be read is never green, whatever is selected or suppressed."""

from __future__ import annotations

import pytest

MANIFEST = "experiments:\n  - {name: one, log: gone.csv}\n"


@pytest.mark.parametrize(
    ("options", "extra"),
    [
        (["--cvaudit-ignore", "CV002"], ""),
        (["--cvaudit-select", "CV201"], ""),
        ([], "suppress:\n  - {rule: CV002, reason: later}\n"),
    ],
)
def test_an_unreadable_log_is_an_error_even_where_its_rule_is_off(pytester, options, extra):
    pytester.makefile(".yaml", cvaudit=MANIFEST + extra)
    result = pytester.runpytest("--cvaudit", *options)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["cvaudit.yaml:2: no file matches 'gone.csv'*"])


def test_otherwise_its_own_rule_fails(pytester):
    pytester.makefile(".yaml", cvaudit=MANIFEST)
    result = pytester.runpytest("--cvaudit", "--cvaudit-select", "CV002,CV201")
    result.assert_outcomes(failed=1, skipped=1)
