"""The ``cvaudit`` command: a thin skin over the audit."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit import __version__
from pytest_cvaudit.commands import attribute, bias, init, run_script
from pytest_cvaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cvaudit.configuration import Configuration
    from pytest_cvaudit.engine import Audit
    from pytest_cvaudit.run import Options

FOUND, BROKEN = 1, 2
DEFAULT_FILE = "cvaudit-baseline.json"
_PATHS = "a manifest, a log, an address such as mlflow:NAME, or a folder of manifests"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:.+", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; exit codes: 0 nothing at or above --fail-on, 1 findings, 2 usage or unreadable input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a sign is no reason to fail
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except InputError as error:
        print(f"cvaudit: {error}", file=sys.stderr)
        return BROKEN
    except KeyboardInterrupt:
        print("cvaudit: interrupted", file=sys.stderr)
        return BROKEN
    except Exception as error:
        if os.environ.get("CVAUDIT_DEBUG"):
            raise
        name = type(error).__name__
        print(f"cvaudit: internal error ({name}: {error}); set CVAUDIT_DEBUG=1 for the traceback", file=sys.stderr)
        return BROKEN
    return code


def _emit(document: str) -> None:
    """Write the one document of standard output; a reader who goes away early changes nothing."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(document)
        sys.stdout.flush()
    except OSError as error:
        # Python would complain once more at exit without this.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"cannot write to standard output: {error.strerror}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "cvaudit", description="Audit cross-validation results and the numbers claimed from them."
    )
    parser.add_argument("--version", action="version", version=f"cvaudit {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, text in (
        ("check", _check, "find what is wrong with claimed numbers"),
        ("report", _report, "print the right numbers"),
    ):
        command = commands.add_parser(name, help=text, description=text.capitalize() + ".")
        command.add_argument("paths", nargs="+", type=_place, metavar="PATH", help=_PATHS)
        _add_rule_options(command)
        _add_log_options(command)
        _add_output_options(command)
        command.set_defaults(run=run)
    baseline = commands.add_parser(
        "baseline",
        help="write down the known findings",
        description="Write the findings to a baseline, by content; an existing one is kept up to date and takes up new "
        "findings only if asked.",
    )
    baseline.add_argument("paths", nargs="+", type=_place, metavar="PATH", help=_PATHS)
    _add_rule_options(baseline)
    _add_log_options(baseline)
    baseline.add_argument("--output", type=Path, metavar="FILE", help=f"the baseline (default {DEFAULT_FILE})")
    baseline.add_argument("--accept-new", action="store_true", help="take up new findings too")
    baseline.set_defaults(run=_baseline, baseline=None)
    explain = commands.add_parser(
        "explain", help="explain a rule", description="Explain a rule: what, why, examples, what to do."
    )
    explain.add_argument("code", metavar="CODE", help="a rule's code or name")
    explain.set_defaults(run=_explain)
    rules = commands.add_parser(
        "rules", help="list the rules", description="List the rules and what a standard makes of them."
    )
    _add_rule_options(rules)
    rules.add_argument("--format", choices=("text", "json"), default="text")
    rules.set_defaults(run=_rules)
    attribute.add_options(commands.add_parser("attribute", help=attribute.HELP, description=attribute.ABOUT), _emit)
    bias.add_options(commands.add_parser("bias", help=bias.HELP, description=bias.ABOUT), _emit)
    init.add_options(commands.add_parser("init", help=init.HELP, description=init.ABOUT), _emit)
    run_script.add_options(commands.add_parser("run", help=run_script.HELP, description=run_script.ABOUT))
    return parser


def _add_rule_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rules (codes, prefixes or names, separated by commas)")
    group.add_argument("--standard", metavar="NAME", help="a shipped standard or a path to one")
    for option in ("--select", "--ignore", "--extend-select"):
        group.add_argument(option, action="append", default=[], metavar="RULES", type=_words)
    group.add_argument("--pedantic", action="store_true", help="turn the advisory rules on")


def _add_log_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a log alone")
    group.add_argument(
        "--claim", action="append", default=[], metavar="METRIC=VALUE", help="a claimed number, as printed"
    )
    group.add_argument("--positive", metavar="LABEL", help="the positive label")
    group.add_argument("--folds", type=_count, metavar="K", help="the declared number of folds")
    group.add_argument("--instances", type=_count, metavar="N", help="the declared number of instances")
    group.add_argument("--column", action="append", default=[], metavar="ROLE=NAME", help="which column plays a role")
    group.add_argument(
        "--by", action="append", default=[], metavar="COLUMNS", type=_words, help="columns that tell experiments apart"
    )
    group.add_argument("--folds-from", metavar="FILE", help="a file with the fold of each id")
    group.add_argument("--join", metavar="FILE", help="a file whose columns are added by id, such as the true labels")


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--format", default="text", metavar="FMT", help="text (default) or json")
    group.add_argument("--output", metavar="FILE", help="write there instead of to standard output")
    group.add_argument(
        "--report", action="append", default=[], metavar="FMT:PATH", help="write this too; may be given often"
    )
    group.add_argument(
        "--fail-on", choices=("error", "warning", "info"), help="lowest severity that fails (default error)"
    )
    group.add_argument("--exit-zero", action="store_true", help="exit 0 even with findings")
    group.add_argument("--statistics", action="store_true", help="count findings per rule on standard error")
    group.add_argument("--show-settings", action="store_true", help="list the rules in force and stop")
    group.add_argument("--baseline", type=Path, metavar="FILE", help="findings that are known and do not fail")


def _place(text: str) -> Path | str:
    """Tell an address from a file; as a path, the slashes of an address would be lost."""
    return text if _ADDRESS.fullmatch(text) and not Path(text).exists() else Path(text)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def _check(options: argparse.Namespace) -> int:
    return _audit(options, "check")


def _report(options: argparse.Namespace) -> int:
    return _audit(options, "report")


def _explain(options: argparse.Namespace) -> int:
    from pytest_cvaudit.reporters import cards
    from pytest_cvaudit.rulebook import find_rule

    _emit(cards.explain(find_rule(options.code)))
    return 0


def _rules(options: argparse.Namespace) -> int:
    from pytest_cvaudit.reporters import cards

    _emit(cards.rules(_options(options, _configuration()).settings(), fmt=options.format))
    return 0


def _baseline(options: argparse.Namespace) -> int:
    from dataclasses import replace

    from pytest_cvaudit.baseline import baseline_text, load_baseline, update
    from pytest_cvaudit.reporters import write
    from pytest_cvaudit.run import audit_paths

    configuration = _configuration()
    target = options.output or configuration.baseline or Path(DEFAULT_FILE)
    audit, errors = audit_paths(options.paths, replace(_options(options, configuration), baseline=None))
    if errors or audit.problems:
        for problem in (*map(str, errors), *audit.problems):
            print(f"cvaudit: {problem}", file=sys.stderr)
        return BROKEN
    found = update(audit, load_baseline(target) if target.exists() else None)
    accepted = found.new if options.accept_new else ()
    write(str(target), baseline_text((*found.kept, *accepted)))
    left = [] if options.accept_new else found.new
    _emit(f"{target}: {len(found.kept)} known findings, {len(accepted)} taken up, {found.gone} gone, {len(left)} new\n")
    for entry in left:
        print(f"new: {entry.path}: {entry.code} [{entry.experiment}] {entry.message}", file=sys.stderr)
    return FOUND if left else 0


def _configuration() -> Configuration:
    from pytest_cvaudit.configuration import load_configuration

    return load_configuration(Path.cwd())


def _options(options: argparse.Namespace, configuration: Configuration) -> Options:
    from pytest_cvaudit.model import Claim, Protocol
    from pytest_cvaudit.run import Options

    def words(given: list[list[str]], configured: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word for group in given for word in group) or configured

    log = vars(options)
    columns = dict(_pair(text) for text in log.get("column", ()))
    for text in log.get("claim", ()):
        try:
            Claim.parse(text)
        except InputError as error:
            raise error.at("--claim") from None
    return Options(
        standard=options.standard or configuration.standard,
        select=words(options.select, configuration.select),
        ignore=words(options.ignore, configuration.ignore),
        extend_select=words(options.extend_select, configuration.extend_select),
        pedantic=options.pedantic or configuration.pedantic,
        suppressions=configuration.suppressions,
        baseline=log.get("baseline") or configuration.baseline,
        claims=tuple(log.get("claim", ())),
        protocol=Protocol(positive=log.get("positive"), folds=log.get("folds"), instances=log.get("instances")),
        columns=columns,
        by=words(log.get("by", []), ()),
        folds_from=log.get("folds_from"),
        join=log.get("join"),
    )


def _pair(text: str) -> tuple[str, str]:
    role, _, name = text.partition("=")
    if not name:
        raise InputError(f"'{text}' is not ROLE=NAME, such as truth=outcome", "--column")
    return role.strip(), name.strip()


def _audit(options: argparse.Namespace, command: str) -> int:
    from pytest_cvaudit.reporters import cards, known_format, render, report_target, write
    from pytest_cvaudit.run import audit_paths, settings_in_force

    configuration = _configuration()
    wanted = _options(options, configuration)
    wanted.settings()  # a mistake in the options is told once, not once per path
    known_format(options.format)
    targets = [report_target(text) for text in options.report]
    if options.show_settings:
        _emit("\n".join(cards.rules(settings) for settings in settings_in_force(options.paths, wanted)))
        return 0
    audit, errors = audit_paths(options.paths, wanted)
    if audit.audited or not errors:
        output = [(options.format, options.output)] if options.output else []
        for fmt, path in (*output, *targets):
            write(path, render(audit, command, fmt, **_plain(fmt)))
        if not options.output:
            _emit(render(audit, command, options.format))
    for problem in (*map(str, errors), *audit.problems):
        print(f"cvaudit: {problem}", file=sys.stderr)
    if options.statistics:
        _statistics(audit)
    if errors or audit.problems:
        return BROKEN
    return 0 if options.exit_zero else _verdict(audit, options.fail_on or configuration.fail_on)


def _plain(fmt: str) -> dict[str, bool]:
    """Files are never coloured."""
    return {"colour": False} if fmt == "text" else {}


def _verdict(audit: Audit, fail_on: str) -> int:
    from pytest_cvaudit.model import Severity

    worst = audit.worst()
    return FOUND if worst is not None and worst >= Severity.of(fail_on) else 0


def _statistics(audit: Audit) -> None:
    counts: dict[str, int] = {}
    for finding in audit.findings:
        if finding.suppressed is None:
            title = f"{finding.code} {finding.name}"
            counts[title] = counts.get(title, 0) + 1
    for title, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"{number:>6}  {title}", file=sys.stderr)
