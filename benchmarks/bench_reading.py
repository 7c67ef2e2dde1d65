"""Times the readers on a log of 10⁷ predictions against the quickest reading of the same columns, in one process.

Run as `python benchmarks/bench_reading.py [--rows N] [--rounds N]`. Parquet is compared with pyarrow's `read_table` of
the needed columns, CSV with `pandas.read_csv(engine="pyarrow", usecols=…)`; five more columns lie in the files unread.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from pytest_cvaudit.model import Protocol
from pytest_cvaudit.readers import LogSpec, read_log

if TYPE_CHECKING:
    from collections.abc import Callable

NEEDED = ["fold", "y_true", "y_pred", "y_score"]


def make_log(rows: int, labels: tuple[object, object], ids: bool = False, by_fold: bool = False) -> pd.DataFrame:
    """Make a log of 10 folds with scores to 6 decimals, as people write them."""
    rng = np.random.default_rng(0)
    truth = rng.random(rows) < 0.3
    score = np.round(np.clip(rng.normal(0.4 + 0.2 * truth, 0.15), 0, 1), 6)
    names = np.array(labels)
    fold = rng.integers(0, 10, rows)
    frame = pd.DataFrame(
        {
            "fold": np.sort(fold) if by_fold else fold,
            "y_true": names[truth.astype(int)],
            "y_pred": names[(score > 0.5).astype(int)],
            "y_score": score,
            **{f"feature{i}": rng.integers(0, 1000, rows) for i in range(5)},
        }
    )
    if ids:
        frame.insert(0, "id", rng.permutation(rows))
    return frame


def timed(work: Callable[[], object]) -> float:
    """Time one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def compare(name: str, path: Path, plain: Callable[[], object], rounds: int) -> None:
    """Print the median ratio of reading as a log to reading plainly, the two taking turns."""
    spec, protocol = LogSpec(paths=(str(path),)), Protocol()
    pairs = [(timed(plain), timed(lambda: read_log(spec, protocol))) for _ in range(rounds)]
    ratio = statistics.median(ours / base for base, ours in pairs)
    base = statistics.median(base for base, _ in pairs)
    print(f"{name:40} | plain {base:6.2f} s | as a log {ratio:5.2f} x", flush=True)


def main() -> None:
    """Make the files, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{options.rows:,} rows; {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        for kind, labels, ids, by_fold in (
            ("integer labels", (0, 1), False, False),
            ("integer labels, fold after fold", (0, 1), False, True),
            ("text labels", ("no", "yes"), False, False),
            ("integer labels, ids", (0, 1), True, False),
        ):
            frame = make_log(options.rows, labels, ids, by_fold)
            needed = [*(["id"] if ids else []), *NEEDED]
            parquet, csv = Path(folder, "log.parquet"), Path(folder, "log.csv")
            frame.to_parquet(parquet)
            frame.to_csv(csv, index=False)
            del frame
            os.sync()  # or the files would be written to disk while they are read
            plain_parquet = partial(pq.read_table, parquet, columns=needed)
            plain_csv = partial(pd.read_csv, csv, engine="pyarrow", usecols=needed)
            compare(f"Parquet, {kind}", parquet, plain_parquet, options.rounds)
            compare(f"CSV, {kind}", csv, plain_csv, options.rounds)


if __name__ == "__main__":
    main()
