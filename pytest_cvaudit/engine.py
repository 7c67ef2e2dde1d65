"""The audit itself: experiments and settings in, outcomes out; no file, no clock, no global."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pytest_cvaudit.aggregations import Aggregates
from pytest_cvaudit.attribution import UNCHECKABLE, Attribution, attribute
from pytest_cvaudit.checks import CHECKS, Hit, Irrelevant, Result, Rival, Subject, SuppressionUse, Unsure, run
from pytest_cvaudit.from_design import attribute_by_design
from pytest_cvaudit.from_scores import attribute_by_folds, fold_evidence, rebuilt_counts
from pytest_cvaudit.model import Evidence, Experiment, Finding, Location, Outcome, Severity, Status
from pytest_cvaudit.model.metrics import RANKING
from pytest_cvaudit.rulebook import find_rule
from pytest_cvaudit.settings import load_settings
from pytest_cvaudit.tallies.tally import tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import date

    from pytest_cvaudit.manifest import Comparison, Suppression
    from pytest_cvaudit.model import Claim
    from pytest_cvaudit.settings import RuleSetting, Settings

_ABOUT: dict[str, tuple[Callable[[Claim], bool], str]] = {
    "f": (lambda claim: claim.metric.is_f, "no F-measure is claimed"),
    "auc": (lambda claim: "auc" in (claim.metric.name, claim.metric.base), "no AUC is claimed"),
    "precision-ranking": (
        lambda claim: claim.metric.name in ("ap", "precision_at_k", "r_precision"),
        "no average precision or precision at k is claimed",
    ),
    "macro": (lambda claim: claim.metric.average == "macro", "no macro average is claimed"),
    "labels": (lambda claim: claim.metric.average is not None, "no average over labels is claimed"),
    "accuracy": (lambda claim: claim.metric.name in ("accuracy", "error"), "no accuracy is claimed"),
    "ranking": (lambda claim: claim.metric.family == RANKING, "no ranking measure is claimed"),
    "any": (bool, "nothing is claimed"),
}
UNREADABLE = "CV002"
#: What a card is about that is judged once per manifest, not per experiment.
SUPPRESSION = "suppression"


@dataclass(frozen=True)
class Audited:
    """One experiment with everything that the audit found out about it."""

    experiment: Experiment
    aggregates: Aggregates
    attributions: tuple[Attribution, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def rebuilt(self) -> bool:
        """Tell whether the counts are not logged but follow from the printed fold values."""
        return self.experiment.evidence is Evidence.SCORES and self.aggregates.tallies is not None

    @property
    def findings(self) -> list[Finding]:
        """All findings, suppressed ones too."""
        return [finding for outcome in self.outcomes for finding in outcome.findings]


@dataclass(frozen=True)
class Audit:
    """The result of an audit: one entry per experiment, and the outcomes of the rules about the suppressions."""

    audited: tuple[Audited, ...] = ()
    suppressing: tuple[Outcome, ...] = ()

    def __add__(self, other: Audit) -> Audit:
        """Join two audits."""
        return Audit(self.audited + other.audited, self.suppressing + other.suppressing)

    @property
    def findings(self) -> list[Finding]:
        """All findings, suppressed ones too."""
        return [finding for outcome in self.outcomes for finding in outcome.findings]

    @property
    def outcomes(self) -> list[Outcome]:
        """All outcomes."""
        return [*(outcome for one in self.audited for outcome in one.outcomes), *self.suppressing]

    def marked(self, mark: Callable[[Finding], Finding]) -> Audit:
        """The same audit with every finding passed through a function; a rule whose findings are all hidden passes."""
        audited = tuple(
            replace(one, outcomes=tuple(_marked(outcome, mark) for outcome in one.outcomes)) for one in self.audited
        )
        return Audit(audited, tuple(_marked(outcome, mark) for outcome in self.suppressing))

    @property
    def problems(self) -> list[str]:
        """What could not be read, one line each."""
        return [str(one.experiment.problem) for one in self.audited if one.experiment.problem is not None]

    def worst(self) -> Severity | None:
        """The highest severity among the findings that are not suppressed."""
        live = [finding.severity for finding in self.findings if finding.suppressed is None]
        return max(live, default=None)

    def count(self, status: Status) -> int:
        """How many outcomes have this status."""
        return sum(outcome.status is status for outcome in self.outcomes)


def audit(
    experiments: Iterable[Experiment],
    settings: Settings | None = None,
    suppressions: Sequence[Suppression] = (),
    today: date | None = None,
    comparisons: Sequence[Comparison] = (),
) -> Audit:
    """Audit experiments: tallies, aggregations, attribution of the claims, then every rule that is on."""
    settings = settings or load_settings()
    rules = [setting for setting in settings.enabled if setting.rule.about != SUPPRESSION]
    subjects = [_subject(replace(one, protocol=settings.declare(one.protocol))) for one in experiments]
    runs = sum(max(1, len({cell.repeat for cell in subject.experiment.cells})) for subject in subjects)
    audited = []
    for subject in subjects:
        whole = replace(subject, rivals=tuple(_rivals(subject, subjects, comparisons)), runs=runs)
        outcomes = tuple(_outcome(setting, whole) for setting in rules)
        audited.append(Audited(subject.experiment, subject.aggregates, subject.attributions, outcomes))
    return suppress(Audit(tuple(audited)), suppressions, settings, today)


def _subject(experiment: Experiment) -> Subject:
    folds = fold_evidence(experiment) if experiment.problem is None else None
    rebuilt = rebuilt_counts(experiment, folds)
    tallies = tally(experiment if rebuilt is None else replace(experiment, counts=rebuilt))
    aggregates = Aggregates(experiment, tallies)
    if experiment.evidence is Evidence.SUMMARY and experiment.problem is None and not experiment.missing:
        attributions = attribute_by_design(experiment)
    else:
        attributions = tuple(attribute(claim, aggregates) for claim in experiment.claims)
    if folds is not None and rebuilt is None:
        attributions = attribute_by_folds(folds, attributions)
    return Subject(experiment, experiment.protocol, tallies, aggregates, attributions)


def _rivals(subject: Subject, subjects: Sequence[Subject], comparisons: Sequence[Comparison]) -> Iterator[Rival]:
    """The experiments that this one is said to beat; one that is split by ``by`` stands for its parts, part by part."""
    for comparison in comparisons:
        if _part(subject.experiment.name, comparison.better) is None:
            continue
        beaten = [(other, _part(other.experiment.name, comparison.than)) for other in subjects]
        named = [(other, part) for other, part in beaten if part is not None]
        same = [(other, part) for other, part in named if not part or subject.experiment.name.endswith(f"/{part}")]
        for other, _ in same or named:
            yield Rival(other, comparison.by, comparison.location.line)


def _part(name: str, compared: str) -> str | None:
    """Which part of a compared experiment this is: all of it (empty), one part, or none."""
    if name == compared:
        return ""
    return name.removeprefix(f"{compared}/") if name.startswith(f"{compared}/") else None


def _outcome(setting: RuleSetting, subject: Subject) -> Outcome:
    rule, experiment = setting.rule, subject.experiment
    results = list(_results(setting, subject))
    hits = [_finding(setting, experiment, result) for result in results if isinstance(result, Hit)]
    unsure = [result.reason for result in results if isinstance(result, Unsure)]
    irrelevant = [result.reason for result in results if isinstance(result, Irrelevant)]
    status = Status.PASSED
    if hits:
        status = Status.FAILED
    elif unsure:
        status = Status.INCONCLUSIVE
    elif irrelevant:
        status = Status.NOT_APPLICABLE
    reason = hits[0].message if hits else "; ".join(unsure or irrelevant)
    return Outcome(experiment.name, rule.code, rule.name, status, reason, tuple(hits))


def _results(setting: RuleSetting, subject: Subject) -> Iterator[Result]:
    """Run a check where it applies and the evidence is rich enough."""
    rule, experiment = setting.rule, subject.experiment
    if experiment.problem is not None and rule.code != UNREADABLE:
        yield Unsure("the log could not be read")
        return
    if rule.about == "comparison" and not subject.rivals:
        yield Irrelevant("no comparison names it as the better one")
        return
    if rule.about in _ABOUT:
        concerns, otherwise = _ABOUT[rule.about]
        concerned = [one for one in subject.attributions if concerns(one.claim)]
        if not concerned:
            yield Irrelevant(otherwise)
            return
        # A rule about a claim that nothing can check has not passed.
        unknown = (one for one in concerned if one.verdict == UNCHECKABLE)
        yield from (Unsure(f"'{one.claim}' cannot be checked: {one.reason}") for one in unknown)
    if experiment.evidence < rule.evidence:
        yield Unsure(f"needs {rule.evidence} evidence; the log has {experiment.evidence} only")
        return
    yield from run(CHECKS[rule.code], subject, setting.parameters)


def _finding(setting: RuleSetting, experiment: Experiment, hit: Hit) -> Finding:
    rule = setting.rule
    severity = setting.severity if hit.severity is None else min(hit.severity, setting.severity)
    location = experiment.location
    if hit.claim is not None and hit.claim.line is not None:
        location = Location(location.path, hit.claim.line)
    if hit.manifest_line is not None:
        location = Location(location.path, hit.manifest_line)
    if hit.line is not None and len(experiment.log) == 1:
        location = Location(experiment.log[0], hit.line)
    claim = str(hit.claim) if hit.claim is not None else None
    return Finding(
        rule.code, rule.name, severity, rule.confidence, experiment.name, hit.message, rule.tip, location, claim,
        hit.fold, hit.label, dict(hit.evidence),
    )  # fmt: skip


def _marked(outcome: Outcome, mark: Callable[[Finding], Finding]) -> Outcome:
    findings = tuple(mark(finding) for finding in outcome.findings)
    if findings and all(finding.suppressed is not None for finding in findings):
        reason = f"suppressed: {findings[0].suppressed}"
        return replace(outcome, findings=findings, status=Status.PASSED, reason=reason)
    return replace(outcome, findings=findings)


def suppress(found: Audit, suppressions: Sequence[Suppression], settings: Settings, today: date | None = None) -> Audit:
    """Mark the findings that the user has accepted, and judge the suppressions themselves."""
    if not suppressions:
        return found
    expired = [one.until is not None and today is not None and today > one.until for one in suppressions]
    live = [one for one, over in zip(suppressions, expired, strict=True) if not over]

    def mark(finding: Finding) -> Finding:
        reasons = [one.reason for one in live if concerns(one, finding)]
        return replace(finding, suppressed=reasons[0]) if reasons and finding.suppressed is None else finding

    on = {setting.rule.code for setting in settings.enabled}
    uses = tuple(
        SuppressionUse(
            one.rule, one.experiment, one.reason, one.until, over,
            sum(concerns(one, each) and not (over and mark(each).suppressed) for each in found.findings),
            one.location.line,
        )
        for one, over in zip(suppressions, expired, strict=True)
        if find_rule(one.rule).code in on  # what is switched off cannot be seen to be unused
    )  # fmt: skip
    experiment = Experiment("suppress", location=suppressions[0].location)
    subject = replace(_subject(experiment), suppressions=uses)
    judged = [_outcome(setting, subject) for setting in settings.enabled if setting.rule.about == SUPPRESSION]
    return replace(found.marked(mark), suppressing=found.suppressing + tuple(judged))


def concerns(one: Suppression, finding: Finding) -> bool:
    """Tell whether a suppression is about a finding."""
    names = (finding.code, finding.name, f"{finding.code}-{finding.name}")
    return (
        one.rule in names
        and fnmatchcase(finding.experiment, one.experiment)
        and fnmatchcase(finding.location.path, one.path)
    )
