"""``cvaudit bias``: what each aggregation of F1 is expected to give for a design."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from pytest_cvaudit.designs import Profile

HELP = "the expected bias of each aggregation"
ABOUT = (
    "Say what each way of bringing F1 from folds to one number is expected to give for a design and a classifier: "
    "exactly where that is feasible, else by simulation."
)
_TEXT_OPTIONS = (
    ("--instances", "N", "instances in the data set"),
    ("--positives", "P", "positives among them"),
    ("--folds", "K", "folds"),
    ("--f", "F", "the true F1, with precision equal to recall unless one of them is given"),
    ("--precision", "X", "the true precision"),
    ("--recall", "X", "the true recall"),
    ("--trials", "N", "also the risk of an empty fold in so many trials"),
    ("--seed", "S", "the seed of the simulation (default 0)"),
    ("--repeats-simulated", "N", "how often to simulate what has no exact form (default 100000; fewer over 200 folds)"),
)


def add_options(parser: argparse.ArgumentParser, emit: Callable[[str], None]) -> None:
    """Add the options; numbers are read here and not by argparse, so that a mistake is told in one line."""
    for option, metavar, text in _TEXT_OPTIONS:
        parser.add_argument(option, metavar=metavar, help=text)
    parser.add_argument("--unstratified", action="store_true", help="the split is random, not stratified")
    parser.add_argument("--format", default="text", metavar="FMT", help="text (default) or json")
    parser.add_argument("--output", metavar="FILE", help="write there instead of to standard output")
    parser.add_argument(
        "--figure", metavar="PATH", help="draw bias, spread and risk around this design (png, svg, pdf)"
    )
    parser.set_defaults(run=lambda options: _run(options, emit))


def _run(options: argparse.Namespace, emit: Callable[[str], None]) -> int:
    """Write the document to where it was asked for."""
    from pytest_cvaudit.reporters import bias, known_format, write

    fmt = known_format(options.format)
    if options.figure:
        from pytest_cvaudit.reporters import bias_figure

        bias_figure.check_path(options.figure)
    found = _profile(options)
    if options.figure:
        bias_figure.draw(found, options.figure)
    document = bias.as_json(found) if fmt == "json" else bias.as_text(found, colour=False if options.output else None)
    if options.output:
        write(options.output, document)
    else:
        emit(document)
    return 0


def _profile(options: argparse.Namespace) -> Profile:
    from pytest_cvaudit.designs import Classifier, Design, Simulation, default_repeats, profile

    instances, positives, folds = (_whole(options, name) for name in ("instances", "positives", "folds"))
    if instances is None or positives is None or folds is None:
        raise InputError("a design needs --instances, --positives and --folds")
    design = Design(instances, positives, folds, stratified=not options.unstratified)
    precision, recall = _rates(*(_number(options, name) for name in ("f", "precision", "recall")))
    classifier = Classifier(precision, recall, positives, design.negatives)
    repeats = _whole(options, "repeats_simulated", least=100) or default_repeats(folds)
    simulation = Simulation(repeats, _whole(options, "seed") or 0)
    return profile(design, classifier, simulation, _whole(options, "trials", least=1))


def _whole(options: argparse.Namespace, name: str, least: int = 0) -> int | None:
    text = getattr(options, name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 18 or int(text) < least:
        raise InputError(f"'{text}' is not a whole number of {least} or more", _option(name))
    return int(text)


def _number(options: argparse.Namespace, name: str) -> float | None:
    text = getattr(options, name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value) or not 0 < value <= 1:
        raise InputError(f"'{text}' is not a number above 0 and at most 1", _option(name))
    return value


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _rates(f: float | None, precision: float | None, recall: float | None) -> tuple[float, float]:
    """The precision and the recall that were meant."""
    if precision is not None and recall is not None:
        made = 2 * precision * recall / (precision + recall)
        if f is not None and abs(f - made) > 5e-4:
            raise InputError(f"precision {precision:g} and recall {recall:g} make F1 {made:.4f}, not {f:g}", "--f")
        return precision, recall
    if f is None:
        raise InputError("a classifier needs --f, or --precision and --recall")
    one = precision if precision is not None else recall
    if one is None:
        return f, f
    name = "precision" if precision is not None else "recall"
    other = f * one / (2 * one - f) if 2 * one > f else 2.0
    if other > 1 + 1e-12:
        raise InputError(f"no classifier with {name} {one:g} has an F1 of {f:g}", _option(name))
    other = min(1.0, other)
    return (one, other) if precision is not None else (other, one)
