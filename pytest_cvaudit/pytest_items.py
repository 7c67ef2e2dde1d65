"""What ``pytest --cvaudit`` collects: every experiment × applicable rule is a test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_cvaudit.configuration import Configuration, load_configuration
from pytest_cvaudit.engine import Audit
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import is_manifest
from pytest_cvaudit.model import Severity, Status
from pytest_cvaudit.reporters import render, report_target, write
from pytest_cvaudit.run import Options, audit_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_cvaudit.engine import Audited
    from pytest_cvaudit.model import Finding, Outcome
    from pytest_cvaudit.recorder import Recorder

AUDITOR = pytest.StashKey["Auditor"]()
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
        self.audits: dict[Path, Audit] = {}
        self.elsewhere: set[Path] = set()
        config.stash[AUDITOR] = self
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            _add_paths(config, config.getini("cvaudit_paths"))

    def audit(self, path: Path) -> Audit:
        """Audit a manifest once."""
        if path not in self.audits:
            self.audits[path] = audit_manifest(path, self.options)
        return self.audits[path]

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take up the manifests."""
        return ManifestFile.from_parent(parent, path=file_path) if is_manifest(file_path) else None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the reports: once, in the process that the user started."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["cvaudit_manifests"] = [str(path) for path in self.audits]
            return
        if not self.targets:
            return
        try:
            audits = [self.audit(path) for path in sorted({*self.audits, *self.elsewhere})]
            for fmt, target in self.targets:
                options = {"colour": False} if fmt == "text" else {}
                write(target, render(sum(audits, Audit()), "check", fmt, **options))
        except InputError as error:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            raise pytest.UsageError(f"cvaudit: {error}") from None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Learn from a finished xdist worker which manifests it found."""
        found = getattr(node, "workeroutput", {}).get("cvaudit_manifests", ())
        self.elsewhere |= {Path(path) for path in found}

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was audited, and show the findings that did not fail a test."""
        rows = list(_audited(terminalreporter))
        if not rows:
            return
        terminalreporter.section("cvaudit")
        counts = {status: sum(row["status"] == status for row in rows) for status in Status}
        experiments = len({(row["manifest"], row["experiment"]) for row in rows})
        words = f"{counts[Status.FAILED]} with findings, {counts[Status.INCONCLUSIVE]} cannot tell, {counts[Status.PASSED]} passed"
        noun = "experiment" if experiments == 1 else "experiments"
        terminalreporter.write_line(f"{experiments} {noun}, {len(rows)} rules applied: {words}")
        for row in rows:
            if row["status"] == Status.FAILED:
                terminalreporter.write_line(f"{row['severity']} {row['rule']} [{row['experiment']}]: {row['message']}")


def plugin_options(config: pytest.Config) -> tuple[Options, Severity]:
    """The options of an audit from the command line, the ini file and ``[tool.cvaudit]``, in this order."""
    project: Configuration = load_configuration(config.rootpath)

    def words(name: str, configured: tuple[str, ...]) -> tuple[str, ...]:
        given = [word.strip() for text in config.getoption(name) for word in text.split(",") if word.strip()]
        return tuple(given) or configured

    standard = config.getoption("cvaudit_standard") or config.getini("cvaudit_standard") or project.standard
    options = Options(
        standard=standard or None,
        select=words("cvaudit_select", project.select),
        ignore=words("cvaudit_ignore", project.ignore),
        extend_select=project.extend_select,
    )
    return options, Severity.of(config.getoption("cvaudit_fail_on") or project.fail_on)


def _add_paths(config: pytest.Config, paths: Iterable[Path]) -> None:
    """Collect the configured paths too, unless they lie below what is collected anyway."""
    known = [(config.invocation_params.dir / arg.split("::")[0]).resolve() for arg in config.args]
    for path in paths:
        if not path.exists():
            raise pytest.UsageError(f"cvaudit: cvaudit_paths names '{path}', which does not exist")
        if not any(path.resolve().is_relative_to(other) for other in known):
            config.args.append(str(path))


class ManifestFile(pytest.File):
    """One manifest."""

    def collect(self) -> Iterator[ExperimentNode]:
        """Audit the manifest and yield its experiments."""
        try:
            audit = self.config.stash[AUDITOR].audit(self.path)
        except InputError as error:
            raise self.CollectError(str(error)) from None
        for audited in audit.audited:
            yield ExperimentNode.from_parent(self, name=audited.experiment.name, audited=audited)


class ExperimentNode(pytest.Collector):
    """One experiment of a manifest."""

    def __init__(self, *, audited: Audited, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.audited = audited

    def collect(self) -> Iterator[RuleItem]:
        """Yield one item per rule that has something to say."""
        for outcome in self.audited.outcomes:
            if outcome.status is not Status.NOT_APPLICABLE:
                yield RuleItem.from_parent(self, name=f"{outcome.code}-{outcome.name}", outcome=outcome)


class RuleItem(pytest.Item):
    """One rule on one experiment."""

    def __init__(self, *, outcome: Outcome, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.outcome = outcome
        self.live = [finding for finding in outcome.findings if finding.suppressed is None]
        self.add_marker("cvaudit")
        worst = max((finding.severity for finding in self.live), default=None)
        status = outcome.status if self.live or outcome.status is not Status.FAILED else Status.PASSED
        properties = {
            "manifest": str(self.path), "experiment": outcome.experiment, "rule": self.name, "status": str(status),
            "severity": "" if worst is None else str(worst), "findings": str(len(self.live)),
            "suppressed": str(len(outcome.findings) - len(self.live)),
            "message": self.live[0].message if self.live else outcome.reason,
        }  # fmt: skip
        self.user_properties += [(_PREFIX + key, value) for key, value in properties.items()]

    def runtest(self) -> None:
        """Fail on findings, skip what cannot be told."""
        if self.outcome.status is Status.INCONCLUSIVE:
            pytest.skip(f"cannot tell: {self.outcome.reason}")
        fail_on = self.config.stash[AUDITOR].fail_on
        if any(finding.severity >= fail_on for finding in self.live):
            raise AuditFailure(_text(self.live))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show what is wrong instead of a traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, AuditFailure) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Point at the line of the manifest that the finding is about."""
        line = self.live[0].location.line if self.live else None
        return self.path, None if line is None else line - 1, f"{self.outcome.experiment}::{self.name}"


def _text(findings: Iterable[Finding]) -> str:
    lines = []
    for finding in findings:
        number = f":{finding.location.line}" if finding.location.line is not None else ""
        lines += [
            f"{finding.location.path}{number}: {finding.severity} {finding.code} {finding.name} [{finding.experiment}]",
            f"  {finding.message}",
            f"  tip: {' '.join(finding.tip.split())}",
        ]
    return "\n".join(lines)


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
                yield found


def fail_on_findings(recorder: Recorder, config: pytest.Config) -> None:
    """Audit what a test recorded and fail the test on findings."""
    try:
        options, fail_on = plugin_options(config)
        audit = recorder.finish(options.settings())
    except InputError as error:
        pytest.fail(f"cvaudit: {error}", pytrace=False)
    bad = [finding for finding in audit.findings if finding.severity >= fail_on]
    if bad:
        pytest.fail(_text(bad), pytrace=False)
