"""What ``pytest --cvaudit-capture`` does: the cross-validations of every test are recorded, and audited at the end."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from pytest_cvaudit.capturing.session import Capture, entries_from, summary
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest.files import NAME
from pytest_cvaudit.model import Severity

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pytest_cvaudit.model import Finding
    from pytest_cvaudit.recorder import MemoryRecorder

_CAPTURED, _MISSED = "cvaudit_captured", "cvaudit_missed"


class Capturer:
    """Keeps the capture of this process; where xdist runs the tests elsewhere, it gathers theirs."""

    def __init__(self, config: pytest.Config) -> None:
        """Prepare to capture; nothing is written yet."""
        self.folder: Path = (config.invocation_params.dir / config.getoption("cvaudit_capture")).absolute()
        self.capture = Capture(self.folder, listing=False)
        self.runs_tests = not config.pluginmanager.hasplugin("dsession")
        self.findings: list[str] = []
        self._open = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Begin before anything is collected: a module may cross-validate when it is imported."""
        if self.runs_tests:
            try:
                self.capture.__enter__()
            except InputError as error:
                raise pytest.UsageError(f"cvaudit: {error}") from None
            self._open = True

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out what an earlier run captured: it is about to be written anew."""
        return True if collection_path.is_relative_to(self.folder) else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Name what a test cross-validates after the test."""
        self.capture.subject = _subject(item)
        try:
            return (yield)
        finally:
            self.capture.subject = None

    def adopt(self, recorder: MemoryRecorder, item: pytest.Item) -> bool:
        """Take the claims of a test that recorded nothing itself for claims of what was captured in it."""
        experiment = recorder.experiment()
        mine = [entry.name for entry in self.capture.entries if entry.name.startswith(f"{_subject(item)}-")]
        if experiment.predictions is not None or experiment.missing or not experiment.claims or not mine:
            return False
        for claim in experiment.claims:
            about = {"aggregation": claim.aggregation, "label": claim.label, "experiment": mine[-1]}
            self.capture.claim(claim.name.partition("[")[0], claim.printed, **about)
        return True

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Stop, and list what was captured: in the process that the user started."""
        if self._open:
            self.capture.__exit__(None, None, None)
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_CAPTURED] = [asdict(entry) for entry in self.capture.entries]
            output[_MISSED] = self.capture.missed
            return
        self.capture.entries.sort(key=lambda entry: entry.name)
        self.capture.write_listing()
        auditor = session.config.pluginmanager.get_plugin("cvaudit-auditor")
        if auditor is not None and self.capture.entries:
            self._audit(auditor, session)

    def _audit(self, auditor: Any, session: pytest.Session) -> None:
        from pytest_cvaudit.pytest_items import describe

        try:
            audit = auditor.audit(self.folder / NAME)
        except InputError as error:
            auditor.problems.append(error)
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        live: list[Finding] = [finding for finding in audit.findings if finding.suppressed is None]
        self.findings = [describe(finding) for finding in live]
        worst = max((finding.severity for finding in live), default=Severity.INFO)
        if live and worst >= auditor.fail_on and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Gather what a finished xdist worker captured."""
        output = getattr(node, "workeroutput", {})
        self.capture.entries += entries_from(output.get(_CAPTURED, []))
        for line, times in output.get(_MISSED, {}).items():
            self.capture.missed[line] = self.capture.missed.get(line, 0) + times

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was captured, what was not, and what the audit found in it."""
        terminalreporter.section("cvaudit capture")
        for line in [*summary(self.folder, self.capture.entries, self.capture.missed), *self.findings]:
            terminalreporter.write_line(line)


def _subject(item: pytest.Item) -> str:
    """A test's id as the name of an experiment, which pytest then takes into an id of its own."""
    return item.nodeid.replace("::", ":")
