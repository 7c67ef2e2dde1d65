"""Every card's cases, run through the same path as a user's manifest, and the match of cards and checks."""

from __future__ import annotations

import inspect

import pytest
import yaml

from pytest_cvaudit.checks import CHECKS
from pytest_cvaudit.rulebook import ABOUT, load_rules
from pytest_cvaudit.run import Options, audit_manifest

RULES = load_rules()
CASES = [pytest.param(rule, case, id=f"{rule.code}-{case['name']}") for rule in RULES.values() for case in rule.cases]


@pytest.mark.parametrize(("rule", "case"), CASES)
def test_case(rule, case, tmp_path):
    manifest = tmp_path / "cvaudit.yaml"
    experiment = {"name": "case", **case["experiment"]}
    manifest.write_text(yaml.safe_dump({"experiments": [experiment]}, sort_keys=False, allow_unicode=True))

    audit = audit_manifest(manifest, Options(select=(rule.code,)))

    (outcome,) = audit.outcomes
    assert outcome.status == case["outcome"], outcome.reason
    if "says" in case:
        assert any(case["says"] in finding.message for finding in outcome.findings), outcome.reason
    if outcome.status == "failed":
        assert all(finding.message and finding.tip for finding in outcome.findings)
    else:
        assert not outcome.findings
    if outcome.status in ("inconclusive", "not_applicable"):
        assert outcome.reason


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
    assert outcomes.count("passed") >= 2 or rule.code == "CV302"
    keywords = [
        name
        for name, parameter in inspect.signature(CHECKS[rule.code]).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    assert sorted(keywords) == sorted(rule.parameters)


def test_failing_cases_say_what_they_must_say():
    silent = [
        f"{rule.code} {case['name']}"
        for rule in RULES.values()
        for case in rule.cases
        if case["outcome"] == "failed" and not case.get("says")
    ]
    assert not silent
