"""Every card's cases, run through the same path as a user's manifest, and the match of cards and checks."""

from __future__ import annotations

import inspect

import pytest

from pytest_cvaudit.cases import load_case
from pytest_cvaudit.checks import CHECKS
from pytest_cvaudit.rulebook import ABOUT, load_rules

RULES = load_rules()
CASES = [pytest.param(rule, case, id=f"{rule.code}-{case['name']}") for rule in RULES.values() for case in rule.cases]


@pytest.mark.parametrize(("rule", "case"), CASES)
def test_case(rule, case, tmp_path):
    """A case is one experiment, or a whole manifest in which the experiment called "case" is meant."""
    loaded = load_case(rule, case, tmp_path)
    outcome = loaded.outcome()
    assert loaded.promises(outcome), (
        outcome.status,
        [finding.message for finding in outcome.findings],
        outcome.reason,
    )
    if outcome.status == "failed":
        assert all(finding.message and finding.tip for finding in outcome.findings)
    else:
        assert not outcome.findings
        assert outcome.reason or outcome.status == "passed"


def test_cards_and_checks_match_one_to_one():
    assert set(RULES) == set(CHECKS)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_card_is_complete_and_named_as_its_file(rule):
    assert rule.path.name == f"{rule.title}.yaml"
    assert rule.confidence in ("high", "medium")
    assert rule.about is None or rule.about in ABOUT
    assert rule.summary and rule.why and rule.tip and rule.references
    outcomes = [case["outcome"] for case in rule.cases]
    assert outcomes.count("failed") >= 2
    assert outcomes.count("passed") >= 2
    assert any("near miss" in case["name"] for case in rule.cases)
    assert all(case.get("says") for case in rule.cases if case["outcome"] == "failed")
    keywords = [
        name
        for name, parameter in inspect.signature(CHECKS[rule.code]).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    assert sorted(keywords) == sorted(rule.parameters)
