"""Draw figures 4 to 9 of Forman & Scholz and figure 2 of Van Asch: `python make_figures.py OUTDIR [--format svg]`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit.designs import Design, Simulation
from pytest_cvaudit.designs.curves import over_f, over_positives
from pytest_cvaudit.designs.macro import expected_macro_f1, limit_macro_f1
from pytest_cvaudit.reporters.bias_figure import STYLES, new_figure, plot, plot_risk, save, zero_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

INSTANCES, FOLDS, TRUE_F = 1000, 10, 0.8
SIMULATION = Simulation(repeats=20_000)  # steadied by exact expectations: as good as a million plain ones
RATES = [(f / 100, f / 100) for f in range(60, 96, 5)]
RECALL_A, RECALL_B = 0.8, 0.977


def design(positives: int, *, stratified: bool = True) -> Design:
    """The paper's 1000 cases in ten folds."""
    return Design(INSTANCES, positives, FOLDS, stratified)


def against_prevalence(*, stratified: bool) -> Figure:
    """Figures 4 and 5: relative bias for 1 % to 5 % positives and a true F of 80 %."""
    figure = new_figure(7, 5)
    axes = figure.subplots()
    positives = range(10, 51, 2)
    curves = over_positives(design(10, stratified=stratified), (TRUE_F, TRUE_F), positives, SIMULATION)
    plot(axes, curves, curves.bias)
    zero_line(axes)
    split = "stratified" if stratified else "unstratified"
    axes.set(title=f"bias under {split} 10-fold cross-validation, true F = 80 %", ylabel="relative bias, %")
    axes.set_xticks([10, 20, 30, 40, 50], ["1%", "2%", "3%", "4%", "5%"])
    axes.set(xlabel="positives")
    axes.legend()
    return figure


def against_f(*, stratified: bool, spread: bool = False) -> Figure:
    """Figures 6, 7 and 8: bias or spread against the true F for 1 %, 5 % and 25 % positives."""
    figure = new_figure(12, 4.8)
    panels = figure.subplots(1, 3)
    for axes, positives in zip(panels, (10, 50, 250), strict=True):
        curves = over_f(design(positives, stratified=stratified), RATES, SIMULATION)
        plot(axes, curves, curves.spread if spread else curves.bias)
        axes.set(title=f"{positives / INSTANCES:.0%} positives", xlabel="true F")
        if not spread:
            zero_line(axes)
    if spread:
        panels[0].set(ylabel="relative standard deviation, %")
    else:
        panels[0].set(ylabel="relative bias, %")
        for axes in panels[1:]:  # as in the paper: all but the leftmost on one scale
            axes.set(ylim=(-5, 2.5))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    what = "relative standard deviation" if spread else "relative bias"
    figure.suptitle(f"{what} under {'' if stratified else 'un'}stratified 10-fold cross-validation")
    return figure


def risk() -> Figure:
    """Figure 9: the probability of a fold without positives, in one trial and in a thousand."""
    figure = new_figure(7, 5)
    plot_risk(figure.subplots(), design(10, stratified=False), range(5, 151), 1000)
    return figure


def macro_f1() -> Figure:
    """Van Asch's figure 2: macro-F1 against the share of class A, for six random splits, with equation 31."""
    figure = new_figure(10, 11)
    panels = figure.subplots(3, 2, sharex=True, sharey=True)
    for row, folds in zip(panels, (5, 10, 50), strict=True):
        for axes, instances in zip(row, (1000, 10_000), strict=True):
            shares = [step / 200 for step in range(1, 21)]
            designs = [Design(instances, round(share * instances), folds, stratified=False) for share in shares]
            found = [expected_macro_f1(one, RECALL_A, RECALL_B) for one in designs]
            percent = [100 * share for share in shares]
            for name in ("tp_fp", "avg"):
                colour, line, _ = STYLES[name]
                values = [100 * one[name] for one in found]
                axes.plot(percent, values, line, color=colour, linewidth=2, label=f"macro-F1 {name}")
            limit = [100 * limit_macro_f1(share, RECALL_A, RECALL_B) for share in shares]
            axes.plot(percent, limit, ":", color="#E69F00", linewidth=2.2, label="equation 31")
            axes.set(title=f"{folds} folds, {instances:,} instances")
            axes.grid(alpha=0.25)
    for axes in panels[:, 0]:
        axes.set(ylabel="macro-F1, %")
    for axes in panels[-1]:
        axes.set(xlabel="class A, % of the instances")
    panels[0, 0].legend()
    figure.suptitle("recall 80 % for class A and 97.7 % for class B")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "figure4_bias_stratified": lambda: against_prevalence(stratified=True),
    "figure5_bias_unstratified": lambda: against_prevalence(stratified=False),
    "figure6_bias_by_f_stratified": lambda: against_f(stratified=True),
    "figure7_bias_by_f_unstratified": lambda: against_f(stratified=False),
    "figure8_spread_stratified": lambda: against_f(stratified=True, spread=True),
    "figure9_empty_fold_risk": risk,
    "van_asch_figure2_macro_f1": macro_f1,
}


def main() -> None:
    """Draw all figures into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="OUTDIR")
    parser.add_argument("--format", choices=("png", "svg", "pdf"), default="png")
    options = parser.parse_args()
    for name, make in FIGURES.items():
        path = options.folder / f"{name}.{options.format}"
        save(make(), str(path))
        print(path)


if __name__ == "__main__":
    main()
