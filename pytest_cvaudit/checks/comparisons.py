"""CV307, CV504, CV505 and CV507: what stands behind "ours is better"."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_cvaudit.aggregations import NotComputable
from pytest_cvaudit.aggregations.point import TABLE_MEASURES
from pytest_cvaudit.aggregations.values import repeats_of
from pytest_cvaudit.checks.claims import LOSSES, ways_of
from pytest_cvaudit.checks.registry import Hit, Result, Unsure, check
from pytest_cvaudit.model import Severity, metric, sorted_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_cvaudit.aggregations import Aggregates, MetricTable
    from pytest_cvaudit.attribution import Attribution
    from pytest_cvaudit.checks.registry import Rival
    from pytest_cvaudit.model import Experiment, Metric

    Attributions = tuple[Attribution, ...]

#: Measures that weigh errors by the classifier's own scores, so differently for each classifier.
_INCOHERENT = {"auc", "ap", "auk"}
#: The precision at which two numbers are told apart where neither is claimed.
_UNIT = 0.0001


def _by_name(rivals: tuple[Rival, ...]) -> dict[str, list[Rival]]:
    """The comparisons with each rival."""
    grouped: dict[str, list[Rival]] = {}
    for rival in rivals:
        grouped.setdefault(rival.subject.experiment.name, []).append(rival)
    return grouped


def _table(aggregates: Aggregates, by: Metric) -> MetricTable | None:
    """The table of a measure, if some aggregation of it has a value."""
    try:
        table = aggregates.of(by)
    except NotComputable:
        return None
    return table if table.distinct() else None


def _against(ours: MetricTable | None, theirs: MetricTable | None) -> str:
    """The recommended value of both sides, for a sentence; empty if one of them is unknown."""
    if ours is None or theirs is None or ours.best.value is None or theirs.best.value is None:
        return ""
    return f"; by {ours.metric.name} ({ours.recommended}) it is {ours.best.value:.4f} against {theirs.best.value:.4f}"


@check("CV307")
def incoherent_measure_alone(
    experiment: Experiment, aggregates: Aggregates, rivals: tuple[Rival, ...]
) -> Iterator[Result]:
    """A comparison that rests on AUC, average precision or AUK alone."""
    for name, group in _by_name(rivals).items():
        measures = sorted({rival.by.name for rival in group})
        if _INCOHERENT.issuperset(measures):
            sides = (_table(each, metric("max_mcc")) for each in (aggregates, group[0].subject.aggregates))
            message = (
                f"that '{experiment.name}' beats '{name}' rests on {' and '.join(measures)} alone, which weighs errors "
                f"differently for each classifier{_against(*sides)}"
            )
            yield Hit(message, evidence={"measures": measures, "than": name}, manifest_line=group[0].line)


@check("CV504")
def apples_to_oranges(
    experiment: Experiment, attributions: Attributions, aggregates: Aggregates, rivals: tuple[Rival, ...]
) -> Iterator[Result]:
    """Compared claims that were made in different ways, or on different data."""
    for rival in rivals:
        name, by, other = rival.subject.experiment.name, rival.by, rival.subject
        if other.experiment.problem is not None:
            yield Unsure(f"the log of '{name}' could not be read")
            continue
        designs = _design(aggregates, by), _design(other.aggregates, by)
        differences = [
            f"{designs[0][what]} against {designs[1][what]} {what}"
            for what in designs[0].keys() & designs[1].keys()
            if designs[0][what] != designs[1][what]
        ]
        ours, theirs = _made(attributions, by), _made(other.attributions, by)
        known = bool(ours.ways and theirs.ways)
        if known and ours.possible.isdisjoint(theirs.possible):
            differences.append(f"{ours.words} against {theirs.words}")
        if differences:
            effect = _against(_table(aggregates, by), _table(other.aggregates, by))
            message = f"'{experiment.name}' and '{name}' are compared by {by.name}, but differ: "
            yield Hit(
                f"{message}{'; '.join(sorted(differences))}{effect}",
                evidence={"differences": sorted(differences), "than": name},
                manifest_line=rival.line,
            )
        elif not known or ours.ways.isdisjoint(theirs.ways):
            yield Unsure(f"how {by.name} of '{experiment.name}' and '{name}' was made is not known; claim it for both")


def _design(aggregates: Aggregates, by: Metric) -> dict[str, int | str]:
    """What a comparison by this measure takes to be alike, as far as it is logged or declared: one repeat's worth."""
    experiment, tallies = aggregates.experiment, aggregates.tallies
    cells = sorted_cells((*experiment.cells, *(missing.cell for missing in experiment.missing)))
    folds = max((len(group) for group in repeats_of(cells)), default=experiment.protocol.folds)
    declared = {"folds": folds, "instances": experiment.protocol.instances, "positives": experiment.protocol.positives}
    found: dict[str, int | str] = {what: number for what, number in declared.items() if number is not None}
    if tallies is None:
        return found
    first = repeats_of(tallies.cells)[0]
    gold = tallies.gold[first].sum(axis=0)
    if tallies.knows_negatives:
        found["instances"] = int(tallies.n[first].sum())
    if by.average is not None or by.name in TABLE_MEASURES:
        found.pop("positives", None)
        if tallies.knows_negatives:
            # Sorted, so that a label may be spelled in two ways.
            found["instances per label"] = "/".join(map(str, sorted(gold[gold > 0].tolist(), reverse=True)))
    elif tallies.positive is not None:
        found["positives"] = int(gold[tallies.positive])
    return found


class _Made(NamedTuple):
    """How the claims of one measure were made: in words, the ways that explain them, and those not ruled out either."""

    words: str
    ways: frozenset[str]
    possible: frozenset[str]


def _made(attributions: Attributions, by: Metric) -> _Made:
    """Say how the claims of one measure were made; a declared way counts unless the log refutes it."""
    words, ways, unknown = [], set[str](), set[str]()
    for one in attributions:
        declared, table = one.claim.aggregation, one.table
        if one.claim.metric != by or one.claim.label is not None:
            continue
        open_ways = {} if table is None else {name: value for name, value in table.values.items() if value.unknown}
        explaining = ways_of(one)
        if declared is not None and (table is None or declared in open_ways):
            explaining = (declared,)
            ways.add(declared)
        elif table is not None:
            ways |= {name for name in table.values if table.canonical(name) in explaining}
            unknown |= set(open_ways) if declared is None else set()
        words.append(f"'{one.claim}' by {' or '.join(explaining)}")
    # What a log of values calls avg_zero is the avg of counts, where an undefined fold counts as zero.
    ways |= {"avg"} if "avg_zero" in ways else set()
    if by.average is not None:
        # Nor does a log of values say over which labels they were averaged.
        ways = {name for name in ways if "@" in name}
    return _Made(" and ".join(words), frozenset(ways), frozenset(ways | unknown))


@check("CV505")
def winner_depends_on_aggregation(
    experiment: Experiment, attributions: Attributions, aggregates: Aggregates, rivals: tuple[Rival, ...]
) -> Iterator[Result]:
    """A comparison whose winner changes with the aggregation, or wins with none."""
    for rival in rivals:
        name, by, other = rival.subject.experiment.name, rival.by, rival.subject
        ours, theirs = _table(aggregates, by), _table(other.aggregates, by)
        if ours is None or theirs is None:
            yield Unsure(f"{by.name} of '{experiment.name}' or of '{name}' cannot be computed from the logs")
            continue
        claimed = [one.claim.printed for one in (*attributions, *other.attributions) if one.claim.metric == by]
        unit = max((float(printed.unit) for printed in claimed), default=_UNIT)
        margins = _margins(ours, theirs, unit)
        losing = [f"{way} {margin:+.4f}" for way, margin in margins.items() if margin < 0]
        winning = [f"{way} {margin:+.4f}" for way, margin in margins.items() if margin > 0]
        unknown = [way for table in (ours, theirs) for way, value in table.values.items() if value.unknown]
        if losing or (not winning and not unknown and _comparable(ours, theirs)):
            lost = ", ".join(losing) or f"they print the same {by.name}"
            how = f"some aggregations only: it wins by {', '.join(winning)} and loses by {lost}"
            message = f"'{experiment.name}' beats '{name}' by {by.name} under "
            message += how if winning else f"no aggregation that the logs give: {lost}"
            # A winner by the recommended aggregation stays one; the reader should still know.
            severity = Severity.INFO if margins.get(ours.recommended, 0.0) > 0 else None
            evidence = {"margins": margins, "recommended": ours.recommended, "than": name}
            yield Hit(message, evidence=evidence, severity=severity, manifest_line=rival.line)
        elif unknown:
            yield Unsure(f"who wins by {unknown[0]} against '{name}' is unknown: only values per fold are logged")


def _comparable(ours: MetricTable, theirs: MetricTable) -> bool:
    """Tell whether some aggregation has a value on both sides."""
    return any(
        value.value is not None and theirs.values[way].value is not None
        for way, value in ours.values.items()
        if way in theirs.values
    )


def _margins(ours: MetricTable, theirs: MetricTable, unit: float) -> dict[str, float]:
    """By how much the first is better, by aggregation, where the two print differently and no lost digit decides."""
    margins = {}
    for way, value in ours.values.items():
        other = theirs.values.get(way)
        if other is None or value.value is None or other.value is None:
            continue
        same_as_another = value.alias_of is not None and value.alias_of == other.alias_of
        ahead = round(value.low / unit) > round(other.high / unit)
        behind = round(value.high / unit) < round(other.low / unit)
        if (ahead or behind) and not same_as_another:
            difference = value.value - other.value
            margins[way] = -difference if ours.metric.name in LOSSES else difference
    return margins


@check("CV507")
def single_baseline(experiment: Experiment, rivals: tuple[Rival, ...]) -> Iterator[Result]:
    """An experiment that is compared with one other only."""
    names = _by_name(rivals)
    if len(names) == 1:
        message = f"'{experiment.name}' is compared with '{rivals[0].subject.experiment.name}' only"
        yield Hit(
            f"{message}; one baseline is easily a weak one",
            evidence={"baselines": list(names)},
            manifest_line=rivals[0].line,
        )
