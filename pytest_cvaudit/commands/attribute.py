"""``cvaudit attribute``: from printed numbers and the design alone to how they can have been made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Claim

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from pytest_cvaudit.forensics import ClaimFit, Design, Solution
    from pytest_cvaudit.forensics.studies.study import Study

HELP = "how printed numbers can have been made, from the design alone"
ABOUT = (
    "Decide for every aggregation whether some table of folds prints the claimed numbers, all of them together, and "
    "show such a table. Nothing is claimed beyond the printed digits."
)


def add_options(parser: argparse.ArgumentParser, emit: Callable[[str], None]) -> None:
    """Add the options; numbers are read here and not by argparse, so that a mistake is told in one line."""
    parser.add_argument("claims", nargs="+", metavar="METRIC=VALUE", help="claimed numbers, as printed")
    for option, metavar, text in (
        ("--instances", "N", "instances in the data set"),
        ("--positives", "P", "positives among them"),
        ("--folds", "K", "folds"),
        ("--repeats", "R", "how often the cross-validation was repeated"),
        ("--supports", "A=50,B=30", "instances of every class, instead of instances and positives"),
        ("--seconds", "S", "how long to search (default 5)"),
    ):
        parser.add_argument(option, metavar=metavar, help=text)
    parser.add_argument(
        "--dataset", action="append", metavar="instances=N,positives=P,folds=K[,stratified]",
        help="one of several data sets that the numbers are averaged over; repeat it",
    )  # fmt: skip
    parser.add_argument("--log", metavar="FILE", help="the folds: their printed values, counts or predictions")
    for option, metavar, text in (
        ("--column", "ROLE=NAME", "which column of the log plays a role, such as positives=n_ill; repeat it"),
        ("--select", "COLUMN=VALUE", "take only these rows of the log, such as model=svm; repeat it"),
        ("--by", "COLUMN", "a column that tells several experiments in the log apart; repeat it"),
    ):
        parser.add_argument(option, action="append", default=[], metavar=metavar, help=text)
    parser.add_argument(
        "--stratified", action="store_true", help="each class's counts differ by at most 1 between folds"
    )
    parser.add_argument("--format", default="text", metavar="FMT", help="text (default) or json")
    parser.add_argument("--output", metavar="FILE", help="write there instead of to standard output")
    parser.set_defaults(run=lambda options: _run(options, emit))


def _run(options: argparse.Namespace, emit: Callable[[str], None]) -> int:
    """Solve, and write the document to where it was asked for; exit 1 if the claims are impossible."""
    from pytest_cvaudit.commands.attribute_design import check_labels, design_of, whole
    from pytest_cvaudit.forensics import contradiction, solve
    from pytest_cvaudit.reporters import attribute, known_format, write

    fmt = known_format(options.format)
    if options.log is not None:
        from pytest_cvaudit.commands import attribute_log

        totals = {name: whole(options, name) for name in ("instances", "positives", "folds") if getattr(options, name)}
        claims = [_claim(text) for text in options.claims]
        return attribute_log.run(options, claims, totals, _seconds(options.seconds), emit)
    for name in ("column", "select", "by"):
        if getattr(options, name):
            raise InputError("it is about a log; give one with --log", f"--{name}")
    design = design_of(options)
    seconds = _seconds(options.seconds)
    claims = [_claim(text) for text in options.claims]
    check_labels(claims, design)
    found = _explained(solve(claims, design, seconds=seconds), design)
    against = contradiction(claims, design, seconds) if found.verdict == "impossible" else ()
    if fmt == "json":
        document = attribute.as_json(found, against)
    else:
        document = _text(found, against, design, colour=False if options.output else None)
    if options.output:
        write(options.output, document)
    else:
        emit(document)
    return 1 if found.verdict == "impossible" else 0


def _explained(found: Solution, design: Design | Study) -> Solution:
    """Say of every claim that the design cannot judge what would be needed."""
    from pytest_cvaudit.commands.attribute_design import needed

    fits = (
        replace(fit, reason=needed(fit.claim, design)) if "unknown" in fit.aggregations else fit for fit in found.claims
    )
    return replace(found, claims=tuple(fits))


def _text(found: Solution, against: Sequence[Claim], design: Design | Study, *, colour: bool | None) -> str:
    """The document; where more time would decide nothing, its first line says so instead of naming the time."""
    from pytest_cvaudit.reporters import attribute, terminal

    document = attribute.as_text(found, against, colour=colour)
    if found.verdict != "undecided" or not all(_beyond_time(fit, design) for fit in found.claims):
        return document
    named = ", ".join(str(fit.claim) for fit in found.claims if "undecided" in fit.aggregations.values())
    text = f"undecided: {named} cannot be judged from the design alone; give the folds with --log"
    headline = terminal.rendered(lambda console: terminal.line(console, text, "bold"), colour=colour)
    return headline + document.partition("\n")[2]


def _beyond_time(fit: ClaimFit, design: Design | Study) -> bool:
    """Tell whether all that is open about a claim is never judged by the design."""
    from pytest_cvaudit.forensics.studies.study import Study

    never = design.unjudged(fit.claim) if isinstance(design, Study) else ()
    return all(answer != "undecided" or way in ("unknown", *never) for way, answer in fit.aggregations.items())


def _claim(text: str) -> Claim:
    try:
        return Claim.parse(text)
    except InputError as error:
        raise error.at("claim") from None


def _seconds(text: str | None) -> float:
    try:
        seconds = 5.0 if text is None else float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise InputError(f"'{text}' is not a number of seconds", "--seconds")
    return seconds
