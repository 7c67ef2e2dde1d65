"""CV2xx: how a claimed F-measure was brought from folds to one number, and what accuracy hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.aggregations.values import repeats_of
from pytest_cvaudit.attribution import UNCHECKABLE
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.designs import Classifier, Expectation, Fold, expected
from pytest_cvaudit.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Protocol
    from pytest_cvaudit.tallies.tally import Tallies

#: The rule that speaks for each aggregation of F, in the order in which it is asked who explains a claim.
_RULES = {
    "CV201": ("avg", "avg_weighted", "avg_weighted_positives"),
    "CV202": ("pr_re",),
    "CV203": ("avg_skip", "pr_re_skip", "avg_nan"),
    "CV204": ("avg_one",),
}
#: With more folds the expectation is not worth its time in a check.
_MOST_FOLDS = 100
_BIAS = {
    "CV201": "The mean of per-fold F is biased, the more so the fewer positives a fold has",
    "CV202": "The F of mean precision and mean recall is usually too high",
    "CV204": "Counting an undefined fold as a perfect one lifts the mean by up to one k-th per fold",
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


@check("CV204")
def substituted_one(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claimed F that counts undefined folds as perfect ones."""
    yield from _explained("CV204", attributions)


@check("CV205")
def aggregation_bias(
    attributions: tuple[Attribution, ...], tallies: Tallies | None, *, max_bias: float
) -> Iterator[Result]:
    """A claimed F1 whose aggregation is expected to be far off for folds of these sizes."""
    for attribution in attributions:
        claim, names = attribution.claim, attribution.matches
        if not claim.metric.is_f or not names or any(name.startswith("tp_fp") for name in names):
            continue
        if claim.metric.name != "f1":
            yield Unsure(f"'{claim}': the expected bias is known for F1 only")
            continue
        found = {name: _expectation(tallies, claim.label, name) for name in names}
        known = {name: expectation for name, expectation in found.items() if expectation is not None}
        if len(known) < len(found):
            yield Unsure(f"'{claim}' is {' or '.join(names)}, whose expected bias is not known for these folds")
            continue
        name, least = min(known.items(), key=lambda item: abs(item[1].relative_bias))
        if abs(least.relative_bias) > max_bias:
            way = "low" if least.relative_bias < 0 else "high"
            message = (
                f"'{claim}' is {name}, which for folds of these sizes and a classifier with this precision and recall "
                f"is expected to be {abs(least.relative_bias):.1%} too {way} ({least.method})"
            )
            evidence = {"aggregation": name, "relative_bias": least.relative_bias, "method": least.method}
            yield Hit(message, claim, label=claim.label, evidence=evidence)


def _expectation(tallies: Tallies | None, label: str | None, aggregation: str) -> Expectation | None:
    """The expected value of an aggregation for the logged fold sizes, with the pooled rates taken for the true ones."""
    if tallies is None or tallies.counts is None or not tallies.knows_negatives:
        return None
    index, counts = tallies.index(label), tallies.counts
    assert index is not None
    tp, fp, fn, tn = (int(getattr(counts, part)[:, index].sum()) for part in ("tp", "fp", "fn", "tn"))
    cells = repeats_of(tallies.cells)[0]
    if tp == 0 or fp + tn == 0 or len(cells) > _MOST_FOLDS:
        return None
    positives = counts.positives[:, index]
    folds = [Fold(int(positives[cell]), int(tallies.n[cell] - positives[cell])) for cell in cells]
    return expected(folds, Classifier(tp / (tp + fp), tp / (tp + fn), tp + fn, fp + tn), aggregation)


@check("CV206")
def accuracy_under_imbalance(
    attributions: tuple[Attribution, ...], tallies: Tallies | None, protocol: Protocol, *, max_majority: float
) -> Iterator[Result]:
    """Accuracy claimed alone where the majority class already gives most of it."""
    alone = [one.claim for one in attributions if one.claim.metric.name in ("accuracy", "error")]
    if not alone:
        yield Irrelevant("no accuracy is claimed")
    elif len(alone) < len(attributions):
        return
    elif tallies is not None and tallies.knows_negatives and not tallies.single_label:
        yield Irrelevant("multi-label data have no majority class")
    elif (majority := _majority(tallies, protocol)) is None:
        yield Unsure("the share of the majority class is unknown; declare `instances:` and `positives:`")
    elif majority[1] >= max_majority:
        claim, (name, share) = alone[0], majority
        value = 1 - claim.printed.value if claim.metric.name == "error" else claim.printed.value
        message = (
            f"'{claim}' stands alone, and always answering {name} already gives accuracy {share:.3f}: the classifier "
            f"adds {value - share:+.3f}"
        )
        yield Hit(message, claim, evidence={"majority": share, "gain": value - share})


def _majority(tallies: Tallies | None, protocol: Protocol) -> tuple[str, float] | None:
    """The most frequent label and its share, as logged, else as declared."""
    if tallies is not None and tallies.knows_negatives:
        totals = tallies.gold.sum(axis=0)
        return f"'{tallies.labels[int(totals.argmax())]}'", float(totals.max() / tallies.n.sum())
    if protocol.instances is None or protocol.positives is None:
        return None
    rate = protocol.positives / protocol.instances
    return "the majority class", max(rate, 1 - rate)


@check("CV207")
def threshold_on_test(attributions: tuple[Attribution, ...], tallies: Tallies | None) -> Iterator[Result]:
    """A claimed F1 or MCC that is the best over all thresholds on the test scores."""
    concerned = [one for one in attributions if one.claim.metric.name in ("f1", "mcc")]
    if not concerned:
        yield Irrelevant("no F1 or MCC is claimed")
    for attribution in concerned:
        claim, best = attribution.claim, attribution.recommended
        if attribution.disguise is not None:
            assert best is not None
            value = best.value
            right = "" if value is None else f"; as predicted it is {value:.6f}, printed {claim.printed.show(value)}"
            message = (
                f"'{claim}' is no aggregation of the predicted labels but {attribution.disguise}, the best over all "
                f"thresholds on the test scores{right}"
            )
            evidence = {"disguise": attribution.disguise, "recommended": value}
            yield Hit(message, claim, label=claim.label, evidence=evidence)
        elif attribution.verdict == UNCHECKABLE:
            yield Unsure(f"'{claim}' cannot be checked: {attribution.reason}")
        elif not attribution.matches and (tallies is None or tallies.index(claim.label) not in tallies.curves):
            yield Unsure(f"no aggregation gives '{claim}', and without scores its best threshold is unknown; log them")
