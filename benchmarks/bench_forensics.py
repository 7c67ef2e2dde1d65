"""Times the forensics: what is decided, and how fast, for designs from four folds of 376 to a million instances.

Run as `python benchmarks/bench_forensics.py [--seconds 5]`; if mlscorecheck is installed, what it tests is timed too.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from typing import Any

from pytest_cvaudit.forensics import Design, solve
from pytest_cvaudit.model.claim import Claim

TABLE_1, TABLE_2 = Design(1504, 15, 4, True), Design(1504, 16, 4, True)
UNKNOWN_5, UNKNOWN_10 = Design(400, 50, 5, False), Design(400, 50, 10, False)
CASES: list[tuple[str, Design, tuple[str, ...]]] = [
    ("table 1, known folds", TABLE_1, ("f1=0.69",)),
    ("table 1, known folds", TABLE_1, ("f1=0.6925",)),
    ("table 1, known folds", TABLE_1, ("f1=0.6925", "accuracy=0.9867", "recall=0.9333", "specificity=0.9872")),
    ("table 2, known folds", TABLE_2, ("f1=0.9091",)),
    ("table 2, known folds", TABLE_2, ("f1=0.9091", "accuracy=0.9960")),
    ("table 2, known folds", TABLE_2, ("f1=0.6667", "recall=0.6250", "specificity=1.0000")),
    ("table 2, impossible", TABLE_2, ("f1=0.9091", "accuracy=0.9961")),
    *[
        case
        for name, design in (("unknown, k=5", UNKNOWN_5), ("unknown, k=10", UNKNOWN_10))
        for case in (
            (name, design, ("accuracy=0.9525", "f1=0.8012", "recall=0.7871")),
            (name, design, ("accuracy=0.9025", "f1=0.6012", "recall=0.5871")),
            (name, design, ("accuracy=0.952", "f1=0.801", "recall=0.787")),
            (name + ", impossible", design, ("accuracy=0.9526", "f1=0.8012", "recall=0.7871")),
            (name + ", impossible", design, ("accuracy=0.9525", "precision=0.1012", "recall=0.9871")),
            (name + ", far-fetched", design, ("accuracy=0.60", "f1=0.95", "recall=0.90")),
        )
    ],
    ("f1 pooled, p=1e5, n=1e6", Design(10**6, 10**5, 10, True), ("f1=0.8123@tp_fp",)),
    ("f1 any way, p=1e5, n=1e6", Design(10**6, 10**5, 10, True), ("f1=0.8123",)),
    ("n=1e5, k=10 stratified", Design(10**5, 10**3, 10, True), ("f1=0.812345@avg",)),
    ("n=1e5, k=10 stratified", Design(10**5, 10**4, 10, True), ("f1=0.8123",)),
]


def claim(text: str) -> Claim:
    """Read a claim, with its aggregation after an @."""
    body, _, way = text.partition("@")
    parsed = Claim.parse(body)
    return Claim(parsed.metric, parsed.printed, aggregation=way or None)


def beside(design: Design, texts: tuple[str, ...]) -> str:
    """What mlscorecheck says of the same scores as means over folds, and its time; only linear scores are tested."""
    if importlib.util.find_spec("mlscorecheck") is None:
        return ""
    from mlscorecheck.check.binary import check_1_dataset_known_folds_mos  # type: ignore[import-not-found]

    names = {"accuracy": "acc", "recall": "sens", "specificity": "spec"}
    scores = {names[t.split("=")[0]]: float(t.split("=")[1].split("@")[0]) for t in texts if t.split("=")[0] in names}
    if not scores or not design.stratified:
        return ""
    dataset = {"p": design.positives, "n": design.negatives}
    folding: dict[str, Any] = {"n_folds": design.folds, "n_repeats": 1, "strategy": "stratified_sklearn"}
    eps = 0.5 * 10.0 ** -len(texts[-1].split(".")[1].split("@")[0])
    start = time.perf_counter()
    found = check_1_dataset_known_folds_mos(dataset=dataset, folding=folding, scores=scores, eps=eps)
    verdict = "impossible" if found["inconsistency"] else "consistent"
    return f"  mlscorecheck: {verdict} {time.perf_counter() - start:.2f} s"


def main() -> None:
    """Print one line per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    for name, design, texts in CASES:
        solution = solve([claim(text) for text in texts], design, seconds=seconds)
        answers = [answer for fit in solution.claims for answer in fit.aggregations.values()]
        count = "/".join(str(answers.count(each)) for each in ("fits", "cannot", "undecided"))
        line = f"{name:26} {' '.join(texts):62} {solution.verdict:10} {solution.seconds:6.2f} s  {count}"
        print(line + beside(design, texts))


if __name__ == "__main__":
    main()
