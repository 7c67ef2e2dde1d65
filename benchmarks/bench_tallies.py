"""Times the tallies against scikit-learn and against one sort of the scores, in the same process.

Run as `python benchmarks/bench_tallies.py [--rows 10000000] [--quick]`; see README.md beside it.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import tracemalloc
import warnings
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pytest_cvaudit.tallies import Counts, RankingMeasures, count_labels, rank

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDS = 10
BUNDLE = frozenset({"auc", "ap", "max_f1", "max_mcc", "brier"})
Array = NDArray[Any]


@dataclass
class Table:
    """Rows as a reader hands them over."""

    name: str
    fold: Array
    truth: Array
    predicted: Array
    scores: Array
    folds: int = FOLDS

    @property
    def bytes(self) -> int:
        """Size of the arrays handed in."""
        return self.fold.nbytes + self.truth.nbytes + self.predicted.nbytes + self.scores.nbytes

    def part(self, chosen: slice | Array, folds: int) -> Table:
        """Return some of the rows."""
        columns = (self.fold, self.truth, self.predicted, self.scores)
        fold, truth, predicted, scores = (column[chosen] for column in columns)
        return Table(self.name, fold, truth, predicted, scores, folds)


def make(name: str, rows: int, share: float, distinct: int | None, folds: int = FOLDS) -> Table:
    """Draw rows with a share of positives, and scores that are distinct or have so many values."""
    rng = np.random.default_rng(20240229)
    truth = rng.random(rows) < share
    scores = 1 / (1 + np.exp(-(rng.normal(size=rows) + 1.5 * truth - 1)))
    if distinct is not None:
        scores = np.rint(scores * (distinct - 1)) / (distinct - 1)
    fold = rng.integers(0, folds, rows).astype(np.int16)
    return Table(name, fold, truth.astype(np.int8), (scores > 0.5).astype(np.int8), scores, folds)


def seconds(work: Callable[[], object]) -> float:
    """Return the time that work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratios(sort: Callable[[], object], works: list[Callable[[], object]], repeats: int) -> tuple[float, list[float]]:
    """Return the median time of the sort, and of every work the median ratio to the sort of the same round.

    Rounds take turns between the works, so that other load on the machine weighs on all of them alike.
    """
    rounds = [[seconds(work) for work in (sort, *works)] for _ in range(repeats)]
    columns = zip(*([value / times[0] for value in times[1:]] for times in rounds), strict=True)
    return median(times[0] for times in rounds), [median(column) for column in columns]


def ours(table: Table, threads: int) -> tuple[Counts, list[RankingMeasures], RankingMeasures]:
    """Compute the bundle with the tallies."""
    counts = count_labels(table.fold, table.truth, table.predicted, table.folds, 2)
    each, merged = rank(table.fold, table.scores, table.truth, table.folds, threads=threads, which=BUNDLE)
    return counts, each, merged


def theirs(table: Table) -> list[tuple[Array, list[float]]]:
    """Compute the bundle as a user of scikit-learn would: fold by fold, then all rows together."""
    from sklearn import metrics  # type: ignore[import-untyped]

    results = []
    for fold in [*range(table.folds), None]:
        chosen = slice(None) if fold is None else table.fold == fold
        truth, predicted, scores = table.truth[chosen], table.predicted[chosen], table.scores[chosen]
        confusion = metrics.confusion_matrix(truth, predicted, labels=[0, 1])
        precision, recall, _ = metrics.precision_recall_curve(truth, scores)
        with np.errstate(invalid="ignore"):
            f1 = np.nanmax(2 * precision * recall / (precision + recall))
        fpr, tpr, _ = metrics.roc_curve(truth, scores, drop_intermediate=False)
        positives = int(truth.sum())
        negatives = len(truth) - positives
        tp, fp = tpr * positives, fpr * negatives
        fn, tn = positives - tp, negatives - fp
        with np.errstate(invalid="ignore"):
            mcc = np.nanmax((tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
        values = [
            metrics.roc_auc_score(truth, scores),
            metrics.average_precision_score(truth, scores),
            float(f1),
            float(mcc),
            metrics.brier_score_loss(truth, scores),
        ]
        results.append((confusion, values))
    return results


def difference(table: Table) -> float:
    """Return the largest difference between the bundle's measures here and in scikit-learn."""
    counts, each, merged = ours(table, 1)
    worst = 0.0
    for index, (measures, (confusion, values)) in enumerate(zip([*each, merged], theirs(table), strict=True)):
        found = [measures.auc, measures.ap, measures.max_f1, measures.max_mcc, measures.brier]
        worst = max(worst, *(abs((a or 0.0) - b) for a, b in zip(found, values, strict=True)))
        if index < table.folds and counts.tp[index, 1] != confusion[1, 1]:
            return float("inf")
    return worst


def extra_memory(work: Callable[[], object]) -> int:
    """Return the peak of memory that work allocates."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def bench_bundle(table: Table, repeats: int, sklearn_rows: int, distinct_sort: float | None = None) -> float:
    """Print the ratios of the bundle on one table, and return the time of the sort.

    A sort of few distinct scores is quicker, so for these the ratio to a sort of distinct ones is printed as well.
    """
    works: list[Callable[[], object]] = [
        lambda: count_labels(table.fold, table.truth, table.predicted, table.folds, 2),
        lambda: ours(table, 1),
        lambda: ours(table, 2),
    ]
    sort, (count, one, two) = ratios(lambda: np.sort(table.scores), works, repeats)
    rows = len(table.scores)
    fewer = table.part(slice(0, min(sklearn_rows, rows)), table.folds)
    slow = seconds(lambda: theirs(fewer)) / sort * rows / len(fewer.scores)
    scaled = "" if len(fewer.scores) == rows else f" (scaled up from {len(fewer.scores):,} rows)"
    memory = extra_memory(lambda: ours(table, 1))
    also = "" if distinct_sort is None else f" ({one * sort / distinct_sort:.2f} of a sort of distinct scores)"
    print(
        f"{table.name:28s} | S {sort:6.3f} s | counts {count:5.2f} S | ours {one:5.2f} S, "
        f"2 threads {two:5.2f} S{also} | sklearn {slow:6.1f} S{scaled} = {slow / one:6.1f}x, "
        f"{slow / two:6.1f}x | memory {memory / table.bytes:4.2f} of the input ({memory / 1e6:.0f} MB) | "
        f"differs by {difference(fewer):.0e}",
        flush=True,
    )
    return sort


def bench_groups(rows: int, repeats: int) -> None:
    """Print the ratios for ten thousand small groups; scikit-learn does a sample of them."""
    groups = 10_000
    table = make("10,000 groups", rows, 0.3, None, groups)
    works: list[Callable[[], object]] = [lambda: ours(table, 1), lambda: ours(table, 2)]
    sort, (one, two) = ratios(lambda: np.sort(table.scores), works, repeats)
    sample = 200
    chosen = table.fold < sample
    few = table.part(chosen, sample)
    slow = seconds(lambda: theirs(few)) / sort * groups / sample
    print(
        f"{table.name:28s} | S {sort:6.3f} s | ours {one:5.2f} S, 2 threads {two:5.2f} S | "
        f"sklearn {slow:6.1f} S (scaled up from {sample} groups) = {slow / one:6.1f}x | "
        f"differs by {difference(few):.0e}",
        flush=True,
    )


def bench_labels(rows: int, repeats: int) -> None:
    """Print what counting a thousand labels costs against two."""
    rng = np.random.default_rng(7)
    fold = rng.integers(0, FOLDS, rows).astype(np.int16)
    scores = rng.random(rows)
    few = [rng.integers(0, 2, rows).astype(np.int8) for _ in range(2)]
    many = [rng.integers(0, 1000, rows).astype(np.int16) for _ in range(2)]
    works: list[Callable[[], object]] = [
        lambda: count_labels(fold, few[0], few[1], FOLDS, 2),
        lambda: count_labels(fold, many[0], many[1], FOLDS, 1000),
    ]
    _, (two, thousand) = ratios(lambda: np.sort(scores), works, repeats)
    name = "counts alone"
    print(f"{name:28s} | 2 labels {two:5.2f} S | 1,000 labels {thousand:5.2f} S = {thousand / two:5.2f}x", flush=True)


def machine() -> str:
    """Name the processor and the SIMD sort that numpy dispatches to."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    model = names[0] if names else platform.processor()
    return f"{model}, {len(names)} cores; numpy {np.__version__}, SIMD dispatch up to {found[-1]} of {', '.join(found)}"


def main() -> None:
    """Run all benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--sklearn-rows", type=int, default=10**9, help="give scikit-learn only so many rows")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, three rounds")
    options = parser.parse_args()
    rows, repeats = (options.rows // 10, 3) if options.quick else (options.rows, 7)
    warnings.simplefilter("ignore")
    print(machine())
    print(f"load average before the run: {os.getloadavg()[0]:.1f}")
    print(f"{rows:,} rows, {FOLDS} folds; S = one np.sort of the scores; bundle: counts, {', '.join(sorted(BUNDLE))}")
    for share in (0.01, 0.3):
        table = make(f"{share:.0%} positive, distinct", rows, share, None)
        sort = bench_bundle(table, repeats, options.sklearn_rows)
        table = make(f"{share:.0%} positive, 1,000 values", rows, share, 1000)
        bench_bundle(table, repeats, options.sklearn_rows, sort)
    bench_groups(rows, repeats)
    bench_labels(rows, repeats)
    print(f"load average after the run: {os.getloadavg()[0]:.1f} (this process alone makes about 1)")


if __name__ == "__main__":
    main()
