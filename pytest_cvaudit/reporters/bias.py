"""The profile of a design as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING

from pytest_cvaudit.designs import in_words
from pytest_cvaudit.reporters import terminal

if TYPE_CHECKING:
    from rich.console import Console

    from pytest_cvaudit.designs import Expectation, Profile

_COLUMNS = ("aggregation", "expected", "bias %", "sd %", "mc error %", "method")


def as_json(profile: Profile) -> str:
    """The document for machines; undefined is null."""
    design, classifier = profile.design, profile.classifier
    document = {
        "design": asdict(design),
        "classifier": {
            "f1": classifier.f1,
            "precision": classifier.precision,
            "recall": classifier.recall,
            "false_positive_rate": classifier.false_positive_rate,
        },
        "aggregations": {name: _fields(one) for name, one in profile.aggregations.items()},
        "simulation": {"repeats": profile.simulation.repeats, "seed": profile.simulation.seed},
        "empty_fold_risk": profile.empty_fold_risk,
    }
    if profile.trials is not None:
        document |= {"trials": profile.trials, "empty_fold_risk_trials": profile.empty_fold_risk_trials}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _fields(one: Expectation | None) -> dict[str, object]:
    if one is None:
        return {"expectation": None, "relative_bias": None, "sd": None, "method": "simulation", "mc_error": None}
    return {
        name: value if not isinstance(value, float) or isfinite(value) else None for name, value in asdict(one).items()
    }


def as_text(profile: Profile, *, colour: bool | None = None) -> str:
    """A table, and what it means for the most usual aggregation."""
    return terminal.rendered(lambda console: _draw(console, profile), colour=colour)


def _draw(console: Console, profile: Profile) -> None:
    design, classifier = profile.design, profile.classifier
    split = "stratified" if design.stratified else "unstratified"
    terminal.line(
        console,
        f"{design.instances} instances, {design.positives} positive, {design.folds} {split} folds; true F1 "
        f"{classifier.f1:.4g} (precision {classifier.precision:.4g}, recall {classifier.recall:.4g})",
    )
    terminal.line(console)
    rows = [_row(name, one, classifier.f1) for name, one in profile.aggregations.items()]
    console.print(terminal.table(None, _COLUMNS, rows))
    terminal.line(console)
    exact = [one is not None and one.method == "exact" for one in profile.aggregations.values()]
    if not all(exact):
        simulation = profile.simulation
        others = "; the others are exact" if any(exact) else ""
        terminal.line(console, f"simulated {simulation.repeats} times, seed {simulation.seed}{others}")
    average = profile.aggregations["avg"]
    if average is not None:
        terminal.line(console, in_words("avg", average, "this design"))
    terminal.line(console, _risk(profile))


def _row(name: str, one: Expectation | None, true_f: float) -> tuple[str, ...]:
    if one is None:
        return name, "undefined", "", "", "", "simulation"
    error = "" if one.mc_error is None else f"{100 * one.mc_error / true_f:.2g}"
    bias, spread = 100 * one.relative_bias, 100 * one.sd / true_f
    return name, f"{one.expectation:.6f}", f"{bias:+.3f}", f"{spread:.3f}", error, one.method


def _risk(profile: Profile) -> str:
    text = f"the chance that some fold has no positives is {profile.empty_fold_risk:.6g}"
    if profile.trials is None:
        return text
    return f"{text} in one trial and {profile.empty_fold_risk_trials:.6g} in {profile.trials}"
