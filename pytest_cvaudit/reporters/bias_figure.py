"""Figures of expected bias, spread and the risk of empty folds, with matplotlib."""

from __future__ import annotations

import io
from importlib.util import find_spec
from math import ceil, log
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit.designs import Simulation
from pytest_cvaudit.designs.curves import FIVE, over_f, over_positives, risk_over_positives
from pytest_cvaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pytest_cvaudit.designs import Design, Profile
    from pytest_cvaudit.designs.curves import Curves

SUFFIXES = (".png", ".svg", ".pdf")
#: Like pairs share a colour; what skips folds is dashed; the recommended way is black.
STYLES = {
    "tp_fp": ("black", "-", "o"),
    "avg": ("#0072B2", "-", "s"),
    "avg_skip": ("#0072B2", "--", "s"),
    "pr_re": ("#D55E00", "-", "^"),
    "pr_re_skip": ("#D55E00", "--", "^"),
}
_POINTS = 24
#: Few, as the curves share their random numbers and are steadied by exact ones.
_REPEATS = 10_000


def check_path(path: str) -> None:
    """Raise an error early if a figure could not be drawn or its format is not known."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"a figure is one of {', '.join(SUFFIXES)}", path)
    if find_spec("matplotlib") is None:
        raise InputError("a figure needs matplotlib: pip install 'pytest-cvaudit[figures]'", path)


def new_figure(width: float, height: float) -> Figure:
    """A figure that knows nothing of screens."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: str) -> None:
    """Write a figure; the same figure gives the same file."""
    import matplotlib

    check_path(path)
    kind = Path(path).suffix.lower().removeprefix(".")
    buffer = io.BytesIO()
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "cvaudit"}):
        figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(buffer.getvalue())
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path) from None


def plot(axes: Axes, curves: Curves, values: Callable[[str], list[float]]) -> None:
    """Draw a line for each of the five aggregations."""
    for name in FIVE:
        colour, line, marker = STYLES[name]
        axes.plot(
            curves.x, values(name), line, color=colour, marker=marker, markersize=3.5, linewidth=1.4, label=f"F {name}",
            markerfacecolor="white" if line == "--" else colour, zorder=3 if name == "tp_fp" else 2,
        )  # fmt: skip
    axes.grid(alpha=0.25)


def zero_line(axes: Axes) -> None:
    """Mark no bias."""
    axes.axhline(0, color="grey", linewidth=0.8, zorder=1)


def draw(profile: Profile, path: str) -> None:
    """Draw bias against prevalence and against F, spread, and the risk of an empty fold, around a design."""
    design, classifier = profile.design, profile.classifier
    simulation = Simulation(min(profile.simulation.repeats, _REPEATS), profile.simulation.seed)
    rates = classifier.precision, classifier.recall
    numbers = _around(design)
    figure = new_figure(11, 8)
    (prevalence, by_f), (spread, risk) = figure.subplots(2, 2)
    split = "stratified" if design.stratified else "unstratified"
    figure.suptitle(
        f"{design.instances} instances, {design.folds} {split} folds; marked: {design.positives} positives, "
        f"F1 = {classifier.f1:.3g}"
    )
    over = over_positives(design, rates, numbers, simulation)
    plot(prevalence, over, over.bias)
    prevalence.set(title=f"bias against prevalence (F1 = {classifier.f1:.3g})", xlabel="positives")
    _logarithmic(prevalence)
    along = over_f(design, _rates(*rates), simulation)
    plot(by_f, along, along.bias)
    by_f.set(title=f"bias against F ({design.positives} positives)", xlabel="true F1")
    plot(spread, along, along.spread)
    spread.set(title=f"spread against F ({design.positives} positives)", xlabel="true F1")
    spread.set(ylabel="standard deviation, % of the true F1")
    for axes in (prevalence, by_f):
        axes.set(ylabel="relative bias, %")
        zero_line(axes)
    trials = profile.trials or 1000
    plot_risk(risk, design, _until_safe(design, trials), trials)
    for axes, place in ((prevalence, design.positives), (by_f, classifier.f1), (spread, classifier.f1)):
        axes.axvline(place, color="grey", linestyle=":", zorder=1)
    risk.axvline(design.positives, color="grey", linestyle=":", zorder=1)
    prevalence.legend(fontsize=8)
    save(figure, path)


def plot_risk(axes: Axes, design: Design, positives: Sequence[int], trials: int) -> None:
    """Draw the chance of an empty fold for one trial and for many."""
    for number, colour, line in ((1, "#0072B2", "-"), (trials, "#D55E00", "--")):
        name = "1 trial" if number == 1 else f"{number} trials"
        axes.plot(positives, risk_over_positives(design, positives, number), line, color=colour, label=name)
    axes.set(title="risk of a fold without positives, unstratified", xlabel="positives", ylabel="probability")
    axes.set_ylim(-0.02, 1.02)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8)


def _around(design: Design) -> list[int]:
    """Numbers of positives around that of the design, in even steps of their logarithm."""
    low = min(design.positives, design.folds)
    high = max(design.positives, min(design.instances // 2, max(10 * design.folds, 5 * design.positives)))
    step = (high / low) ** (1 / (_POINTS - 1)) if high > low else 1.0
    return sorted({round(low * step**index) for index in range(_POINTS)} | {design.positives})


def _until_safe(design: Design, trials: int) -> list[int]:
    """Numbers of positives from as many as folds to where even many trials hardly ever have an empty fold."""
    safe = ceil(design.folds * log(100 * design.folds * trials))
    high = max(design.positives, min(design.instances // 2, safe))
    low = min(design.folds, high)
    return sorted({low + round((high - low) * part / 60) for part in range(61)})


def _logarithmic(axes: Axes) -> None:
    """Make the axis of positives logarithmic, with plain numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_formatter(NullFormatter())


def _rates(precision: float, recall: float) -> list[tuple[float, float]]:
    """Precisions and recalls in the same proportion, from poor to as good as can be."""
    best = 0.99 / max(precision, recall)
    return [(precision * best * part / 20, recall * best * part / 20) for part in range(6, 21)]
