"""``cvaudit run``: a script as it is, with its cross-validations captured."""

from __future__ import annotations

import argparse
import builtins
import json
import runpy
import sys
import traceback
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError

if TYPE_CHECKING:
    from types import FrameType

    from pytest_cvaudit.capturing.session import Capture

HELP = "run a script and record its cross-validations"
ABOUT = (
    "Run a Python script unchanged and record every cross-validation that it makes with scikit-learn. The exit code is "
    "the script's own; with --check, that of the audit if the script ends well."
)
_INTERRUPTED = 130


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options; all that follows the script belongs to the script."""
    parser.add_argument("script", type=Path, metavar="SCRIPT", help="the script, or with -m the module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="the script's own arguments")
    parser.add_argument(
        "--output", type=Path, default=Path("cvaudit-runs"), metavar="FOLDER", help="where to (default cvaudit-runs)"
    )
    parser.add_argument(
        "--claim-printed",
        action="store_true",
        help="take printed numbers for claims where only one metric of one experiment prints so",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="run a module or package, as `python -m` does")
    parser.add_argument("--check", action="store_true", help="audit what was captured, on standard error")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from pytest_cvaudit.capturing.printed import Tee
    from pytest_cvaudit.capturing.session import Capture

    _refuse_none(options.script, module=options.module)
    # The script may change directory.
    capture = Capture(options.output.absolute(), listing=False)
    out = sys.stdout
    tee = Tee(out)
    with capture:
        sys.stdout = tee
        try:
            code = _execute(options.script, options.arguments, module=options.module)
        finally:
            sys.stdout = out
    found = _guess(capture, tee.text, claim=options.claim_printed)
    capture.write_listing()
    out.flush()
    for line in [*capture.summary(), *found]:
        print(f"cvaudit: {line}", file=sys.stderr)
    return _check(capture) if options.check and code == 0 and capture.entries else code


def _refuse_none(script: Path, *, module: bool) -> None:
    """Stop if there is nothing to run."""
    if module:
        sys.path.insert(0, str(Path.cwd()))
        try:
            found = find_spec(str(script))
        except (ImportError, ValueError):
            found = None
        finally:
            del sys.path[0]
        if found is None:
            raise InputError("no such module", str(script))
    elif script.is_dir():
        raise InputError("a folder, not a script; run a package with -m", str(script))
    elif not script.is_file():
        raise InputError("no such script", str(script))


def _execute(script: Path, arguments: list[str], *, module: bool) -> int:
    """Run the script as Python would; its errors are its own."""
    before = sys.argv, sys.path[0]
    sys.argv, sys.path[0] = [str(script), *arguments], str(Path.cwd() if module else script.resolve().parent)
    try:
        if module:
            runpy.run_module(str(script), run_name="__main__", alter_sys=True)
        else:
            _run_file(script.absolute())
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cvaudit: the script was interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BaseException as error:
        _show(error)
        return 1
    finally:
        sys.argv, sys.path[0] = before
    return 0


def _run_file(path: Path) -> None:
    """Run a file as the main module; runpy would tell it another `sys.argv[0]` or a relative `__file__`."""
    main = ModuleType("__main__")
    main.__dict__.update(__file__=str(path), __builtins__=builtins)
    before, sys.modules["__main__"] = sys.modules["__main__"], main
    try:
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), main.__dict__)
    finally:
        sys.modules["__main__"] = before


def _show(error: BaseException) -> None:
    """Print the traceback from the script's own first line on."""
    trace = error.__traceback__
    while trace is not None and _is_ours(trace.tb_frame):
        trace = trace.tb_next
    traceback.print_exception(error.with_traceback(trace))


def _is_ours(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__") in (__name__, "runpy", "importlib.util", "importlib._bootstrap")


def _guess(capture: Capture, text: str, *, claim: bool) -> list[str]:
    """Offer the printed numbers that may be claims."""
    from pytest_cvaudit.capturing.printed import guesses, only_reading
    from pytest_cvaudit.manifest import experiment_from_log

    offered = []
    for entry in capture.entries:
        (experiment,) = experiment_from_log(capture.folder / entry.log)
        readable = experiment.problem is None and not entry.weighted
        offered.append(guesses(text, experiment, entry.metrics) if readable else ())
    sure = only_reading(offered) if claim else [() for _ in offered]
    for at, (entry, guessed, taken) in enumerate(zip(capture.entries, offered, sure, strict=True)):
        rest = tuple(pair for pair in guessed if pair[0] not in taken)
        capture.entries[at] = replace(entry, claims=(*entry.claims, *map(json.dumps, taken)), guesses=rest)
    number, claimed = sum(map(len, offered)), sum(map(len, sure))
    rows = [f"printed numbers taken for claims: {claimed}"] if claim else []
    if number > claimed:
        rows.append(f"printed numbers that may be claims: {number - claimed}, as comments in the manifest")
    return rows


def _check(capture: Capture) -> int:
    """Audit what was captured."""
    from pytest_cvaudit.configuration import load_configuration
    from pytest_cvaudit.manifest.files import NAME
    from pytest_cvaudit.model import Severity
    from pytest_cvaudit.reporters import render
    from pytest_cvaudit.run import Options, audit_paths

    configuration = load_configuration(Path.cwd())
    options = Options(
        standard=configuration.standard, select=configuration.select, ignore=configuration.ignore,
        extend_select=configuration.extend_select, pedantic=configuration.pedantic,
        suppressions=configuration.suppressions, baseline=configuration.baseline,
    )  # fmt: skip
    audit, errors = audit_paths([capture.folder / NAME], options)
    sys.stderr.write(render(audit, "check", "text", colour=False))
    for problem in (*map(str, errors), *audit.problems):
        print(f"cvaudit: {problem}", file=sys.stderr)
    if errors or audit.problems:
        return 2
    worst = audit.worst()
    return 1 if worst is not None and worst >= Severity.of(configuration.fail_on) else 0
