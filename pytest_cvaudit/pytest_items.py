"""What ``pytest --cvaudit`` collects: every experiment × applicable rule is a test."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_cvaudit.configuration import load_configuration, standard_below
from pytest_cvaudit.engine import UNREADABLE, Audit
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import find_manifests, is_manifest, shown
from pytest_cvaudit.model import Severity, Status
from pytest_cvaudit.reporters import render, report_target, write
from pytest_cvaudit.run import Options, accept, audit_manifest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from pytest_cvaudit.model import Finding, Outcome
    from pytest_cvaudit.recorder import MemoryRecorder
    from pytest_cvaudit.settings import Settings

AUDITOR = pytest.StashKey["Auditor"]()
SETTINGS = pytest.StashKey[tuple["Settings", Severity]]()
_PREFIX = "cvaudit_"


class AuditFailure(Exception):
    """An audit that failed; its text is for the person who reads the test report."""


class Auditor:
    """Collects manifests, keeps their audits, and writes the reports at the end."""

    def __init__(self, config: pytest.Config) -> None:
        """Check the options before anything is collected."""
        try:
            self.options, self.fail_on = plugin_options(config)
            self.options.settings()
            self.targets = [report_target(text) for text in config.getoption("cvaudit_report")]
        except InputError as error:
            raise pytest.UsageError(f"cvaudit: {error}") from None
        self.problems: list[InputError] = []
        self.audits: dict[Path, Audit] = {}
        self.elsewhere: set[Path] = set()
        config.stash[AUDITOR] = self
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            _add_paths(config, config.getini("cvaudit_paths"))

    def audit(self, path: Path) -> Audit:
        """Audit a manifest once."""
        if path not in self.audits:
            self.audits[path] = accept(audit_manifest(path, self.options), self.options, whole=False)
        return self.audits[path]

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take up the manifests."""
        return ManifestFile.from_parent(parent, path=file_path) if is_manifest(file_path) else None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the reports: once, in the process that the user started; what goes wrong is told in the summary."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["cvaudit_manifests"] = [str(path) for path in self.audits]
            return
        for fmt, target in self.targets:
            try:
                found = sum((self.audit(path) for path in sorted({*self.audits, *self.elsewhere})), Audit())
                write(target, render(found, "check", fmt, **({"colour": False} if fmt == "text" else {})))
            except InputError as error:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
                self.problems.append(error)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Learn from a finished xdist worker which manifests it found."""
        found = getattr(node, "workeroutput", {}).get("cvaudit_manifests", ())
        self.elsewhere |= {Path(path) for path in found}

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was audited, and show the findings that did not fail a test."""
        lines = [f"ERROR: cvaudit: {problem}" for problem in self.problems]
        if rows := list(_audited(terminalreporter)):
            lines += [_summary(rows)]
            lines += [row["message"] for row in rows if row["status"] == Status.FAILED and row["outcome"] == "passed"]
        elif not self.audits and not self.elsewhere and not terminalreporter.stats.get("error"):
            lines.append("no cvaudit.yaml or *.cvaudit.yaml was collected")
        if lines:
            terminalreporter.section("cvaudit")
        for line in lines:
            terminalreporter.write_line(line, red=line.startswith("ERROR"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let a skip point at the manifest instead of at this file."""
        report = yield
        if isinstance(item, RuleItem) and report.skipped and isinstance(report.longrepr, tuple):
            path, line, _ = item.reportinfo()
            report.longrepr = (str(path), line + 1, report.longrepr[2])
        return report


def plugin_options(config: pytest.Config) -> tuple[Options, Severity]:
    """The options of an audit from the command line, the ini file and ``[tool.cvaudit]``, in this order."""
    project = load_configuration(config.rootpath)

    def words(name: str, configured: tuple[str, ...]) -> tuple[str, ...]:
        given = [word.strip() for text in config.getoption(name) for word in text.split(",") if word.strip()]
        return tuple(given) or configured

    folder = config.rootpath if config.inipath is None else config.inipath.parent
    ini = standard_below(folder, config.getini("cvaudit_standard"))
    standard = config.getoption("cvaudit_standard") or ini or project.standard
    options = Options(
        standard=standard or None,
        select=words("cvaudit_select", project.select),
        ignore=words("cvaudit_ignore", project.ignore),
        extend_select=project.extend_select,
        pedantic=project.pedantic,
        suppressions=project.suppressions,
        baseline=project.baseline,
    )
    return options, Severity.of(config.getoption("cvaudit_fail_on") or project.fail_on)


def _add_paths(config: pytest.Config, paths: Iterable[Path]) -> None:
    """Collect the manifests of the configured paths too, unless they lie below what is collected anyway."""
    known = [(config.invocation_params.dir / arg.split("::")[0]).resolve() for arg in config.args]
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise pytest.UsageError(f"cvaudit: cvaudit_paths names '{shown(path)}', which does not exist")
        for manifest in find_manifests(path) if path.is_dir() else [path]:
            found.setdefault(manifest.resolve(), manifest)
    for place, manifest in found.items():
        above = next((folder for folder in known if place.is_relative_to(folder)), None)
        if above is None:
            config.args.append(str(manifest))
        elif _is_left_out(place.parent.relative_to(above) if place != above else Path(), config):
            raise pytest.UsageError(f"cvaudit: pytest does not enter the folder of '{shown(manifest)}' (norecursedirs)")


def _is_left_out(folder: Path, config: pytest.Config) -> bool:
    return any(fnmatchcase(part, pattern) for part in folder.parts for pattern in config.getini("norecursedirs"))


class ManifestFile(pytest.File):
    """One manifest."""

    def collect(self) -> Iterator[ExperimentNode]:
        """Audit the manifest and yield its experiments."""
        try:
            audit = self.config.stash[AUDITOR].audit(self.path)
        except InputError as error:
            raise self.CollectError(str(error)) from None
        for audited in audit.audited:
            problem, failing = (
                audited.experiment.problem,
                {finding.code for finding in audited.findings if not finding.suppressed},
            )
            if problem is not None and UNREADABLE not in failing:
                # Whatever is selected or suppressed: what cannot be read is never green.
                raise self.CollectError(str(problem))
            # pytest takes these signs in a node id for its own.
            name = audited.experiment.name.replace("::", ":").replace("[", "(").replace("]", ")")
            line = audited.experiment.location.line
            yield ExperimentNode.from_parent(self, name=name, outcomes=audited.outcomes, line=line or 1)
        if audit.suppressing:
            yield ExperimentNode.from_parent(self, name="suppress", outcomes=audit.suppressing, line=1)


class ExperimentNode(pytest.Collector):
    """One experiment of a manifest, or its suppressions."""

    def __init__(self, *, outcomes: tuple[Outcome, ...], line: int, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.outcomes = outcomes
        self.line = line

    def collect(self) -> Iterator[RuleItem]:
        """Yield one item per rule that has something to say."""
        for outcome in self.outcomes:
            if outcome.status is not Status.NOT_APPLICABLE:
                yield RuleItem.from_parent(self, name=f"{outcome.code}-{outcome.name}", outcome=outcome, line=self.line)


class RuleItem(pytest.Item):
    """One rule on one experiment."""

    def __init__(self, *, outcome: Outcome, line: int, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.outcome = outcome
        self.line = line
        self.live = [finding for finding in outcome.findings if finding.suppressed is None]
        self.add_marker("cvaudit")
        worst = max((finding.severity for finding in self.live), default=None)
        status = outcome.status if self.live or outcome.status is not Status.FAILED else Status.PASSED
        properties = {
            "manifest": str(self.path), "experiment": outcome.experiment, "rule": self.name, "status": str(status),
            "severity": "" if worst is None else str(worst), "findings": str(len(self.live)),
            "suppressed": str(len(outcome.findings) - len(self.live)),
            "message": "\n".join(map(describe, self.live)) or ("" if outcome.findings else outcome.reason),
        }  # fmt: skip
        self.user_properties += [(_PREFIX + key, value) for key, value in properties.items()]

    def runtest(self) -> None:
        """Fail on findings, skip what cannot be told."""
        if self.outcome.status is Status.INCONCLUSIVE:
            pytest.skip(f"{self.name} [{self.outcome.experiment}] cannot tell: {self.outcome.reason}")
        fail_on = self.config.stash[AUDITOR].fail_on
        if any(finding.severity >= fail_on for finding in self.live):
            raise AuditFailure(_text(self.live))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show what is wrong instead of a traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, AuditFailure) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Point at the line of the manifest that the finding is about, or else at the experiment."""
        lines = [one.location.line for one in self.live if one.location.path == shown(self.path) and one.location.line]
        return self.path, (lines or [self.line])[0] - 1, f"{self.outcome.experiment}::{self.name}"


def _text(findings: Iterable[Finding]) -> str:
    """The findings in full: where, what, and what to do."""
    rows = []
    for finding in findings:
        rows += [_header(finding), f"  {finding.message}", f"  tip: {' '.join(finding.tip.split())}"]
    return "\n".join(rows)


def describe(finding: Finding) -> str:
    """A finding in one line: where and what."""
    return f"{_header(finding)}: {finding.message}"


def _header(finding: Finding) -> str:
    number = f":{finding.location.line}" if finding.location.line is not None else ""
    rule = f"{finding.severity} {finding.code} {finding.name}"
    return f"{finding.location.path}{number}: {rule} [{finding.experiment}]"


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _audited(reporter: pytest.TerminalReporter) -> Iterator[dict[str, str]]:
    """The properties of the items that ran, which come back from xdist workers too."""
    for reports in reporter.stats.values():
        for report in reports:
            found = {
                key.removeprefix(_PREFIX): value
                for key, value in getattr(report, "user_properties", ())
                if isinstance(key, str) and key.startswith(_PREFIX)
            }
            if found and getattr(report, "when", None) == "call":
                yield {**found, "outcome": report.outcome}


def _summary(rows: list[dict[str, str]]) -> str:
    count = Counter(row["status"] for row in rows)
    words = [f"{count['failed']} with findings", f"{count['inconclusive']} cannot tell", f"{count['passed']} passed"]
    if suppressed := sum(int(row["suppressed"]) for row in rows):
        words.append(f"{_plural(suppressed, 'finding')} suppressed")
    experiments = len({(row["manifest"], row["experiment"]) for row in rows})
    return f"{_plural(experiments, 'experiment')}, {_plural(len(rows), 'rule')} applied: {', '.join(words)}"


def fail_on_findings(recorder: MemoryRecorder, item: pytest.Item) -> None:
    """Audit what a test recorded and fail the test on findings; lesser ones are shown with its output."""
    try:
        settings, fail_on = _settings(item.config)
        findings, problem = recorder.finish(settings).findings, None
    except InputError as error:
        findings, problem, fail_on = [], error, Severity.ERROR
    if problem is not None:
        pytest.fail(f"cvaudit: {problem}", pytrace=False)
    if bad := [finding for finding in findings if finding.severity >= fail_on]:
        pytest.fail(_text(bad), pytrace=False)
    if findings:
        item.add_report_section("call", "cvaudit", _text(findings))


def _settings(config: pytest.Config) -> tuple[Settings, Severity]:
    """The settings for recorded folds, made once."""
    if SETTINGS not in config.stash:
        options, fail_on = plugin_options(config)
        config.stash[SETTINGS] = options.settings(), fail_on
    return config.stash[SETTINGS]
