"""CV2xx: how a claimed F-measure was brought from folds to one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.checks.registry import Hit, Result, Unsure, check
from pytest_cvaudit.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.attribution import Attribution

#: The rule that speaks for each aggregation of F, in the order in which it is asked who explains a claim.
_RULES = {
    "CV201": ("avg", "avg_weighted", "avg_weighted_positives", "avg_one"),
    "CV202": ("pr_re",),
    "CV203": ("avg_skip", "pr_re_skip", "avg_nan"),
}
_BIAS = {
    "CV201": "The mean of per-fold F is biased low when positives are few",
    "CV202": "The F of mean precision and mean recall is usually too high",
    "CV203": "Leaving out folds where precision or recall is undefined drops the hard ones: too high",
}


def _rule_of(aggregation: str) -> str | None:
    name = aggregation.removesuffix("_all")
    return next((code for code, names in _RULES.items() if name in names), None)


def _explained(code: str, attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """Findings for the claimed Fs that this rule's aggregations print and the totals do not."""
    for attribution in attributions:
        claim, best = attribution.claim, attribution.recommended
        if not claim.metric.is_f or not attribution.matches or best is None:
            continue
        mine = [name for name in attribution.matches if _rule_of(name) == code]
        if not mine or any(name.startswith("tp_fp") for name in attribution.matches):
            continue
        first = next(rule for rule in _RULES if any(_rule_of(name) == rule for name in attribution.matches))
        if best.value is None:
            yield Unsure(f"'{claim}' is {mine[0]}, but whether tp_fp prints the same is unknown: {best.reason}")
        elif first != code:
            yield Unsure(f"'{claim}' is explained by {mine[0]}, but also by {attribution.matches[0]} (see {first})")
        else:
            yield _hit(code, attribution, mine, best.value)


def _hit(code: str, attribution: Attribution, mine: list[str], right: float) -> Hit:
    claim = attribution.claim
    assert attribution.table is not None
    value = attribution.table.values[mine[0]].value or 0.0
    others = f" (or {', '.join(mine[1:])})" if mine[1:] else ""
    message = (
        f"'{claim}' is {mine[0]}{others}, {value:.6f}; tp_fp, from the totals, is {right:.6f} and would print "
        f"{claim.printed.show(right)}: a difference of {value - right:+.4f}. {_BIAS[code]}"
    )
    declared = Severity.WARNING if claim.aggregation in attribution.matches else None
    evidence = {"aggregation": mine[0], "value": value, "tp_fp": right, "difference": value - right}
    return Hit(message, claim, label=claim.label, evidence=evidence, severity=declared)


@check("CV201")
def f_avg(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claimed F that is the mean of per-fold Fs and not the F of the totals."""
    yield from _explained("CV201", attributions)


@check("CV202")
def f_pr_re(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claimed F that is the F of mean precision and mean recall and not the F of the totals."""
    yield from _explained("CV202", attributions)


@check("CV203")
def f_skip(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claimed F that leaves out the folds where precision or recall is undefined."""
    yield from _explained("CV203", attributions)
