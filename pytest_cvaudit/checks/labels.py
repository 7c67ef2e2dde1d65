"""CV4xx: averages over labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.checks.registry import Hit, Result, Unsure, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.attribution import Attribution

_WHAT = {
    "test": "the labels that occur in the test data",
    "test_union": "the labels that occur or are predicted in the test data",
    "fold": "the labels that happen to occur in each test fold",
    "fold_union": "the labels that happen to occur or be predicted in each test fold",
}


@check("CV401")
def macro_test_labels(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claimed macro number whose label set comes from the test data."""
    for attribution in attributions:
        claim, best = attribution.claim, attribution.recommended
        if claim.metric.average != "macro" or not attribution.matches or best is None or attribution.table is None:
            continue
        if any(name.endswith("@train") for name in attribution.matches) or "@" not in attribution.matches[0]:
            continue
        name = attribution.matches[0]
        if best.value is None:
            yield Unsure(f"'{claim}' is {name}, and what the training labels give is unknown: {best.reason}")
            continue
        value = attribution.table.values[name].value or 0.0
        message = (
            f"'{claim}' is {name}, {value:.6f}: it averages over {_WHAT[name.split('@')[1]]}; over the training labels "
            f"tp_fp@train is {best.value:.6f} and would print {claim.printed.show(best.value)}: a difference of "
            f"{value - best.value:+.4f}"
        )
        evidence = {
            "aggregation": name,
            "matches": list(attribution.matches),
            "value": value,
            "tp_fp@train": best.value,
        }
        yield Hit(message, claim, evidence={**evidence, "difference": value - best.value})
