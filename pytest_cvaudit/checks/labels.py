"""CV4xx: averages over labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_cvaudit.aggregations import cell_name
from pytest_cvaudit.aggregations.measures import precision
from pytest_cvaudit.aggregations.values import SAME
from pytest_cvaudit.checks.claims import ways_of
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.model import Severity, metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_cvaudit.aggregations import Aggregates, MetricTable
    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.model import Experiment
    from pytest_cvaudit.tallies.tally import Tallies

    Floats = NDArray[np.float64]

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
        claim, best, ways = attribution.claim, attribution.recommended, ways_of(attribution)
        if claim.metric.average != "macro" or not ways or best is None or attribution.table is None:
            continue
        name = ways[0]
        if "@" not in name:
            yield Unsure(f"'{claim}' is {name} of logged values; over which labels each fold averages is not logged")
            continue
        if any(_fits(attribution, way) for way in ("tp_fp@train", *(f"{way.split('@')[0]}@train" for way in ways))):
            continue
        if best.value is None:
            yield Unsure(f"'{claim}' is {name}, and what the training labels give is unknown: {best.reason}")
            continue
        value = _value(attribution.table, name)
        message = (
            f"'{claim}' is {name}, {value:.6f}: it averages over {_WHAT[name.split('@')[1]]}; over the training labels "
            f"tp_fp@train is {best.value:.6f} and would print {claim.printed.show(best.value)}: a difference of "
            f"{value - best.value:+.4f}"
        )
        evidence = {"aggregation": name, "matches": list(ways), "value": value, "tp_fp@train": best.value}
        yield Hit(message, claim, evidence={**evidence, "difference": value - best.value})


@check("CV402")
def label_set_varies(attributions: tuple[Attribution, ...], aggregates: Aggregates) -> Iterator[Result]:
    """A claimed average over labels that runs over another label set in each fold."""
    concerned = [one for one in attributions if one.claim.metric.average in ("macro", "micro")]
    if not concerned:
        yield Irrelevant("no macro or micro average is claimed")
    for attribution in concerned:
        claim, table, sets, ways = attribution.claim, attribution.table, aggregates.label_sets, ways_of(attribution)
        if table is None or sets is None or not ways or not all("@fold" in way for way in ways):
            continue
        name, cells, members = ways[0], sets.tallies.cells, sets.masks(ways[0].split("@")[1])
        varying = np.flatnonzero(members.any(axis=0) & ~members.all(axis=0))
        if not len(varying):
            continue
        label, absent = sets.tallies.labels[varying[0]], int((~members[:, varying[0]]).argmax())
        fold = cell_name(cells[absent], cells)
        steady = f"{name.split('@')[0]}@train"
        if _fits(attribution, steady):
            continue
        right = table.values[steady].value
        effect = "" if right is None else f"; over the training labels in every fold it would be {right:.6f}"
        message = (
            f"'{claim}' is {name}: {len(varying)} of {len(sets.tallies.labels)} labels do not count in every fold "
            f"('{label}' not in {fold}){effect}"
        )
        evidence = {"aggregation": name, "varying": len(varying), "avg@train": right}
        yield Hit(message, claim, fold=fold, label=label, evidence=evidence)


@check("CV403")
def weighted_by_test(attributions: tuple[Attribution, ...], aggregates: Aggregates) -> Iterator[Result]:
    """A claimed frequency-weighted measure whose weights come from the test data."""
    concerned = [one for one in attributions if one.claim.metric.average in ("lfb", "weighted")]
    if not concerned:
        yield Irrelevant("no frequency-weighted average is claimed")
    for attribution in concerned:
        claim, ways = attribution.claim, [way for way in ways_of(attribution) if "@" in way]
        if not ways:
            continue
        # The same computations with training weights, whichever of the two the claim is called.
        training = aggregates.of(metric(f"lfb_{claim.metric.base}")).values
        right = training[f"{ways[0].split('@')[0]}@train"]
        others = [training[f"{way.split('@')[0]}@train"].value for way in ways]
        prints = claim.printed.truncated if attribution.truncated else claim.printed.rounded
        if right.value is None:
            yield Unsure(f"'{claim}' weighs labels by the test data; what training frequencies give: {right.reason}")
        elif not any(other is not None and prints.meets(other) for other in others):
            message = (
                f"'{claim}' is {ways[0]}: labels are weighted by their frequency in the test data; with training "
                f"frequencies it is {right.value:.6f} and would print {claim.printed.show(right.value)}"
            )
            # "weighted" says openly what it is; "lfb" claims to be the other.
            severity = Severity.INFO if claim.metric.average == "weighted" else None
            yield Hit(message, claim, evidence={"aggregation": ways[0], "train": right.value}, severity=severity)


@check("CV404")
def micro_is_accuracy(
    experiment: Experiment, attributions: tuple[Attribution, ...], aggregates: Aggregates
) -> Iterator[Result]:
    """Micro averages and accuracy given as separate facts for single-label data."""
    concerned = [one for one in attributions if one.claim.metric.average == "micro" or one.claim.name == "accuracy"]
    if not concerned:
        yield Irrelevant("neither accuracy nor a micro average is claimed")
    if len({one.claim.metric for one in concerned}) < 2:
        return
    tallies, rows = aggregates.tallies, experiment.predictions
    if rows is not None and rows.gold is not None:
        yield Irrelevant("the data are multi-label")
        return
    if tallies is None or tallies.counts is None or not tallies.single_label:
        yield Unsure("whether every instance has one true and one predicted label is unknown; log the predictions")
        return
    for way, accuracy in aggregates.of(metric("accuracy")).distinct().items():
        same = [one.claim for one in concerned if accuracy.value is not None and _explained_by(one, accuracy.value)]
        if len({claim.metric for claim in same}) > 1:
            names = ", ".join(f"'{claim}'" for claim in same)
            message = f"{names} are one fact, not {len(same)}: on single-label data a micro average is the accuracy"
            evidence = {"claims": [str(claim) for claim in same], "accuracy": accuracy.value, "aggregation": way}
            yield Hit(f"{message} ({way}, {accuracy.value:.6f})", same[-1], evidence=evidence)
            return


def _explained_by(attribution: Attribution, value: float) -> bool:
    """Tell whether an aggregation that explains a claim has this value."""
    table = attribution.table
    explained = [] if table is None else [_value(table, way) for way in ways_of(attribution)]
    return any(abs(one - value) <= SAME for one in explained)


@check("CV407")
def two_macro_f1(attributions: tuple[Attribution, ...]) -> Iterator[Result]:
    """A claimed macro F that is the F of macro precision and macro recall."""
    concerned = [one for one in attributions if one.claim.metric.average == "macro" and one.claim.metric.beta]
    if not concerned:
        yield Irrelevant("no macro F is claimed")
    for attribution in concerned:
        claim, table, ways = attribution.claim, attribution.table, ways_of(attribution)
        if table is None or not ways or not all("of_means" in way for way in ways):
            continue
        name = ways[0]
        usual = name.replace("avg_of_means", "avg").replace("of_means", "tp_fp")
        if _fits(attribution, usual):
            continue
        value, other = _value(table, name), _value(table, usual)
        unknown = [way for way, one in table.values.items() if one.unknown]
        declared = "of_means" in (claim.aggregation or "")
        if unknown and not declared:
            reason = table.values[unknown[0]].reason
            yield Unsure(f"'{claim}' is {name}, but {unknown[0]} could print the same: {reason}")
            continue
        message = (
            f"'{claim}' is {name}, the F of macro precision and macro recall; the mean of the labels' Fs ({usual}) is "
            f"{other:.6f} and would print {claim.printed.show(other)}: a difference of {value - other:+.4f}"
        )
        evidence = {"aggregation": name, "mean_of_f": other, "difference": value - other}
        yield Hit(message, claim, evidence=evidence, severity=Severity.INFO if declared else None)


@check("CV408")
def piled_false_positives(
    attributions: tuple[Attribution, ...], aggregates: Aggregates, *, min_share: float, min_lift: float
) -> Iterator[Result]:
    """False positives that sit on one label and so lift a claimed average of precisions."""
    concerned = [one.claim for one in attributions if _averages_precisions(one)]
    tallies, sets = aggregates.tallies, aggregates.label_sets
    if not concerned or tallies is None or tallies.counts is None or sets is None:
        yield Irrelevant("no macro or frequency-weighted precision is claimed")
        return
    if tallies.single_label and np.count_nonzero(tallies.gold.sum(axis=0)) < 3:
        yield Irrelevant("with two labels a wrong prediction has only one place to go")
        return
    tp, fp = (part.sum(axis=0).astype(np.float64) for part in (tallies.counts.tp, tallies.counts.fp))
    share = float(fp.max() / fp.sum()) if fp.any() and tallies.gold.any() else 0.0
    if share < min_share:
        return
    label, even = tallies.labels[int(fp.argmax())], _in_proportion(tallies, fp)
    for claim in concerned:
        macro = claim.metric.average == "macro"
        weights = np.asarray(sets.masks("train").any(axis=0) if macro else sets.training.sum(axis=0), np.float64)
        if not weights.any():
            yield Unsure(f"'{claim}': the training labels are unknown; declare `labels:` with their frequencies")
            continue
        now, spread = (_precision(tp, each, weights) for each in (fp, even))
        most = max(_precision(tp, fp.sum() * one, weights) for one in np.eye(len(fp)))
        if now - spread >= min_lift:
            message = (
                f"{share:.0%} of the false positives are on label '{label}': {claim.name} from totals is {now:.4f}; "
                f"spread by label frequency they would make it {spread:.4f}, all on one label {most:.4f} at most"
            )
            evidence = {"share": share, "now": now, "spread": spread, "at_most": most}
            yield Hit(message, claim, label=label, evidence=evidence)


def _averages_precisions(attribution: Attribution) -> bool:
    metric = attribution.claim.metric
    return metric.base == "precision" and metric.average != "micro" and attribution.table is not None


def _in_proportion(tallies: Tallies, fp: Floats) -> Floats:
    """The false positives as they would fall by label frequency; a single wrong label is never the true one."""
    share = tallies.gold.sum(axis=0) / tallies.gold.sum()
    if not tallies.single_label or tallies.counts is None:
        return np.asarray(fp.sum() * share)
    missed = tallies.counts.fn.sum(axis=0) / (1 - share)
    falling = share * (missed.sum() - missed)
    return np.asarray(falling * fp.sum() / falling.sum())


def _precision(tp: Floats, fp: Floats, weights: Floats) -> float:
    return float((np.nan_to_num(precision(tp, fp)) * weights).sum() / weights.sum())


def _fits(attribution: Attribution, way: str) -> bool:
    """Tell whether an aggregation prints what is claimed, so that the choice makes no difference in print."""
    table = attribution.table
    return table is not None and way in table.values and table.canonical(way) in attribution.matches


def _value(table: MetricTable, way: str) -> float:
    """The value of an aggregation that explains a claim, and so has one."""
    value = table.values[way].value
    assert value is not None
    return value
