"""Times the forensics beside mlscorecheck: what is decided, and how fast, from 1,504 to a million instances.

Run as `python benchmarks/bench_forensics.py [--seconds 5] [--limit 60]`. Each case is timed in a process of its own
after imports: ours decides every aggregation of every claim within `--seconds`; mlscorecheck tests what it can test
(means of linear scores, pooled scores) within `--limit`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
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
            (name, design, ("f1=0.2983", "accuracy=0.7775", "balanced_accuracy=0.6488")),
            (name + ", impossible", design, ("accuracy=0.9526", "f1=0.8012", "recall=0.7871")),
            (name + ", impossible", design, ("accuracy=0.9525", "precision=0.1012", "recall=0.9871")),
            (name, design, ("accuracy=0.9500", "recall=0.4000", "specificity=0.9871")),
            (name + ", far-fetched", design, ("accuracy=0.60", "f1=0.95", "recall=0.90")),
        )
    ],
    ("f1 pooled, p=1e5, n=1e6", Design(10**6, 10**5, 10, True), ("f1=0.8123@tp_fp",)),
    ("f1 any way, p=1e5, n=1e6", Design(10**6, 10**5, 10, True), ("f1=0.8123",)),
    ("n=1e5, k=10 stratified", Design(10**5, 10**3, 10, True), ("f1=0.812345@avg",)),
    ("n=1e5, k=10 stratified", Design(10**5, 10**4, 10, True), ("f1=0.8123",)),
    ("n=1e5, k=10 stratified", Design(10**5, 10**4, 10, True), ("f1=0.8123@avg", "accuracy=0.9612")),
]
_LINEAR = {"accuracy": "acc", "recall": "sens", "specificity": "spec", "balanced_accuracy": "bacc"}
_POOLED = {"f1": "f1", "precision": "ppv", "mcc": "mcc", **_LINEAR}


def claim(text: str) -> Claim:
    """Read a claim, with its aggregation after an @."""
    body, _, way = text.partition("@")
    parsed = Claim.parse(body)
    return Claim(parsed.metric, parsed.printed, aggregation=way or None)


def clocks() -> tuple[float, float]:
    """Wall time, and processor time with that of child processes: only the second means much on a busy machine."""
    return time.perf_counter(), sum(os.times()[:4])


def since(start: tuple[float, float]) -> str:
    """Both times since the start."""
    wall, processor = (now - then for now, then in zip(clocks(), start, strict=True))
    return f"{wall:6.2f} s ({processor:5.2f})"


def ours(design: Design, texts: tuple[str, ...], seconds: float) -> str:
    """Our verdict, how many aggregations fit, cannot and are undecided, and the time."""
    start = clocks()
    solution = solve([claim(text) for text in texts], design, seconds=seconds)
    taken = since(start)
    answers = [answer for fit in solution.claims for answer in fit.aggregations.values()]
    count = "/".join(str(answers.count(each)) for each in ("fits", "cannot", "undecided"))
    return f"{solution.verdict:10} {count:8} {taken}"


def theirs(design: Design, texts: tuple[str, ...]) -> str:
    """What mlscorecheck says of the same scores as means over folds (pooled where that is claimed), and its time."""
    from mlscorecheck.check import binary  # type: ignore[import-not-found]

    pooled = all(text.endswith(("@tp_fp", "@pooled")) for text in texts)
    names = _POOLED if pooled else _LINEAR
    parts = [text.partition("@")[0].split("=") for text in texts]
    scores = {names[name]: float(value) for name, value in parts if name in names}
    if not scores:
        return "not tested"
    arguments: dict[str, Any] = {
        "dataset": {"p": design.positives, "n": design.negatives},
        "folding": {"n_folds": design.folds, "n_repeats": 1},
        "scores": scores,
        "eps": max(0.5 * 10.0 ** -len(value.split(".")[1]) for name, value in parts if name in names),
    }
    if pooled or design.stratified:
        arguments["folding"]["strategy"] = "stratified_sklearn"
    start = clocks()
    if pooled:
        found = binary.check_1_dataset_kfold_som(**arguments)
    else:
        known = design.stratified
        check = binary.check_1_dataset_known_folds_mos if known else binary.check_1_dataset_unknown_folds_mos
        found = check(**arguments, verbosity=0)
    taken = since(start)
    left = [name for name, _ in parts if name not in names]
    untested = f" (without {', '.join(left)})" if left else ""
    return f"{'impossible' if found['inconsistency'] else 'consistent'} {taken}{untested}"


def apart(side: str, case: int, seconds: float, limit: float, processor: bool) -> str:
    """Run one side of a case in a process of its own."""
    command = [sys.executable, __file__, "--only", side, str(case), "--seconds", str(seconds)]
    command += ["--processor"] if processor else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit + 10, check=False)
    except subprocess.TimeoutExpired:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return f"no answer in {limit:.0f} s ({after.ru_utime - before.ru_utime:5.2f})"
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else done.stderr.splitlines()[-1]


def alone(side: str, case: int, seconds: float) -> None:
    """Print one side of a case as JSON, after imports and a warm-up."""
    _, design, texts = CASES[case]
    if side == "ours":
        import scipy.optimize  # noqa: F401

        solve([claim("f1=0.5@tp_fp")], Design(100, 10, 5, True))
        print(json.dumps(ours(design, texts, seconds)))
        return
    # Its solver's package warns of its own next version.
    warnings.simplefilter("ignore")
    print(json.dumps(theirs(design, texts)))


def main() -> None:
    """Print one line per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="our time limit per case")
    parser.add_argument("--limit", type=float, default=60.0, help="mlscorecheck's time limit per case; 0 leaves it out")
    parser.add_argument("--processor", action="store_true", help="our limit in processor seconds: for a busy machine")
    parser.add_argument("--only", nargs=2, metavar=("SIDE", "CASE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        if options.processor:
            time.monotonic = time.process_time
        alone(options.only[0], int(options.only[1]), options.seconds)
        return
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; ours: verdict, fits/cannot/undecided")
    print("times: wall seconds and, in brackets, processor seconds, after imports")
    print(f"{'case':26} {'claims':64} {'ours':36} mlscorecheck")
    for at, (name, _, texts) in enumerate(CASES):
        mine = apart("ours", at, options.seconds, 20 * options.seconds + 60, options.processor)
        other = apart("theirs", at, options.seconds, options.limit, options.processor) if options.limit else ""
        print(f"{name:26} {' '.join(texts):64} {mine:36} {other}", flush=True)
    print(f"load average {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
