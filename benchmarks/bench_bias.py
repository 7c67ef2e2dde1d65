"""Times exact expectations against a simulation of a million repeats, for the nine designs of Forman & Scholz.

Run as `python benchmarks/bench_bias.py [--repeats 1000000]`; one thread; both sides give the same four aggregations.
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
from statistics import median
from typing import TYPE_CHECKING

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from pytest_cvaudit.designs import Classifier, Design, expectations
from pytest_cvaudit.designs.simulation import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

EXACT = ("tp_fp", "avg", "avg_skip", "avg_one")
FIVE = ("tp_fp", "avg", "pr_re", "avg_skip", "pr_re_skip")
DESIGNS = [(True, 10, 0.6), *((True, n, 0.8) for n in (10, 20, 50, 250)), *((False, n, 0.8) for n in (10, 20, 50, 250))]


def seconds(work: Callable[[], object]) -> float:
    """Return the time that work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Print a row for each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1_000_000)
    repeats = parser.parse_args().repeats
    print(f"numpy {np.__version__}, {repeats:,} repeats, load {os.getloadavg()[0]:.1f}")
    print("split         positives    F   exact ms   simulation s   of the five s   ratio   worst z   peak MB")
    for stratified, positives, f in DESIGNS:
        design = Design(1000, positives, 10, stratified)
        classifier = Classifier(f, f, positives, design.negatives)
        exact = expectations(design, classifier, EXACT)
        quick = median(seconds(lambda: expectations(design, classifier, EXACT)) for _ in range(21))  # noqa: B023
        start = time.perf_counter()
        simulated = simulate(design, classifier, EXACT, repeats, 1)
        slow = time.perf_counter() - start
        five = seconds(lambda: simulate(design, classifier, FIVE, repeats, 1))  # noqa: B023
        tracemalloc.start()
        simulate(design, classifier, FIVE, repeats // 10, 1)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        z = max(abs(simulated[n].expectation - exact[n].expectation) / simulated[n].mc_error for n in EXACT)  # type: ignore[union-attr, operator]
        split = "stratified" if stratified else "unstratified"
        print(
            f"{split:<13} {positives:>9} {f:>4.2f} {quick * 1e3:>10.2f} {slow:>14.2f} {five:>15.2f} "
            f"{slow / quick:>7.0f} {z:>9.2f} {peak:>9.0f}"
        )


if __name__ == "__main__":
    main()
