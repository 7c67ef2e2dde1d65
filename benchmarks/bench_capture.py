"""What capture costs: the time of real cross-validations with and without it, best of several turns each.

    python benchmarks/bench_capture.py [--turns 5] [--jobs 2]

Prints one line per case with both times and their ratio; the aim is a ratio of at most 1.05.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pytest_cvaudit import capture

if TYPE_CHECKING:
    from collections.abc import Callable

AIM = 1.05


def cases(jobs: int) -> dict[str, Callable[[], object]]:
    """Cross-validations as people run them."""
    digits, cancer = load_digits(return_X_y=True), load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(100, random_state=0)
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    near = make_pipeline(StandardScaler(), KNeighborsClassifier())
    grid = {"C": [0.1, 1, 10], "gamma": ["scale", 0.001]}
    several = ["accuracy", "f1", "roc_auc"]
    return {
        "digits, forest, accuracy": lambda: cross_val_score(forest, *digits, cv=10, n_jobs=jobs),
        "digits, logistic regression": lambda: cross_val_score(linear, *digits, cv=10, n_jobs=jobs),
        "digits, neighbours in a pipeline": lambda: cross_val_score(near, *digits, cv=10, n_jobs=jobs),
        "digits, grid search of an SVC": lambda: GridSearchCV(SVC(), grid, cv=10, n_jobs=jobs).fit(*digits),
        "cancer, forest, three measures": lambda: cross_validate(forest, *cancer, cv=10, scoring=several, n_jobs=jobs),
        "cancer, forest, cross_val_predict": lambda: cross_val_predict(forest, *cancer, cv=10, n_jobs=jobs),
        "cancer, logistic regression": lambda: cross_val_score(linear, *cancer, cv=10, n_jobs=jobs),
    }


def measure(run: Callable[[], object], turns: int) -> tuple[float, float]:
    """The least time without and with capture, taken in turn so that both see the same machine."""
    plain, captured = [], []
    run()
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(turns):
            start = time.perf_counter()
            run()
            plain.append(time.perf_counter() - start)
            with capture(Path(folder) / str(turn)):
                start = time.perf_counter()
                run()
                captured.append(time.perf_counter() - start)
    return min(plain), min(captured)


def main() -> None:
    """Measure all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    total = [0.0, 0.0]
    for name, run in cases(options.jobs).items():
        plain, captured = measure(run, options.turns)
        total = [total[0] + plain, total[1] + captured]
        extra = 1000 * (captured - plain)
        print(f"{name:34} {plain:7.3f} s {captured:7.3f} s  {captured / plain:5.3f}  ({extra:+.0f} ms)", flush=True)
    print(f"{'all':34} {total[0]:7.3f} s {total[1]:7.3f} s  {total[1] / total[0]:5.3f}  (aim {AIM})")


if __name__ == "__main__":
    main()
