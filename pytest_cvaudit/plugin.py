"""The pytest plugin's door: options and hooks only; everything else is imported when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_cvaudit.recorder import MemoryRecorder

CAPTURE, CAPTURE_FOLDER = "--cvaudit-capture", "cvaudit-runs"
RECORDER = pytest.StashKey["MemoryRecorder"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the command line options and ini settings."""
    group = parser.getgroup("cvaudit", "audit of cross-validation results")
    group.addoption(
        "--cvaudit", action="store_true", help="audit the experiments of cvaudit.yaml and *.cvaudit.yaml files"
    )
    group.addoption(
        "--cvaudit-report",
        action="append",
        default=[],
        metavar="FMT:PATH",
        help="write the audit as text or json to a file",
    )
    for name in ("select", "ignore"):
        group.addoption(f"--cvaudit-{name}", action="append", default=[], metavar="RULES", help=f"rules to {name}")
    group.addoption("--cvaudit-standard", metavar="NAME", help="a shipped standard, or a path to one")
    group.addoption("--cvaudit-fail-on", choices=("error", "warning", "info"), help="lowest severity that fails a test")
    group.addoption(
        CAPTURE,
        nargs="?",
        const=CAPTURE_FOLDER,
        metavar="FOLDER",
        help=f"record the cross-validations of every test, in {CAPTURE_FOLDER} or in =FOLDER",
    )
    parser.addini(
        "cvaudit_paths", "manifests, or folders of them, to audit besides those below testpaths", type="paths"
    )
    parser.addini("cvaudit_standard", "the standard to audit by")


def pytest_configure(config: pytest.Config) -> None:
    """Bring in the auditor only when it is asked for."""
    config.addinivalue_line("markers", "cvaudit: a rule on an experiment of a manifest, made by pytest --cvaudit")
    if config.getoption("cvaudit"):
        from pytest_cvaudit.pytest_items import Auditor

        config.addinivalue_line("markers", "cvaudit: a rule applied to an experiment")
        config.pluginmanager.register(Auditor(config), "cvaudit-auditor")
    if config.getoption("cvaudit_capture"):
        from pytest_cvaudit.pytest_capture import Capturer

        config.pluginmanager.register(Capturer(config), "cvaudit-capturer")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(args: list[str]) -> None:
    """Keep ``--cvaudit-capture tests`` from taking the tests for the folder: only ``=FOLDER`` names one."""
    args[:] = [f"{CAPTURE}={CAPTURE_FOLDER}" if arg == CAPTURE else arg for arg in args]


@pytest.fixture
def cvaudit(request: pytest.FixtureRequest) -> MemoryRecorder:
    """Record the folds of a cross-validation in a test and audit them when the test is over."""
    from pytest_cvaudit.manifest import shown
    from pytest_cvaudit.recorder import MemoryRecorder

    line = request.node.location[1]
    recorder = MemoryRecorder(request.node.name, shown(request.node.path), None if line is None else line + 1)
    request.node.stash[RECORDER] = recorder
    return recorder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Audit what the test recorded while it still counts as the test's own failure."""
    result = yield
    recorder = item.stash.get(RECORDER, None)
    if recorder is not None:
        capturer = item.config.pluginmanager.get_plugin("cvaudit-capturer")
        if capturer is None or not capturer.adopt(recorder, item):
            from pytest_cvaudit.pytest_items import fail_on_findings

            fail_on_findings(recorder, item)
    return result
