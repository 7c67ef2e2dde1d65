"""From a manifest's file to what it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.manifest.files import shown
from pytest_cvaudit.manifest.nodes import Entries, Items, Scalar, parse_file, problem
from pytest_cvaudit.manifest.spec import ClaimSpec, Comparison, ExperimentSpec, LogSource, Manifest, Suppression
from pytest_cvaudit.manifest.validate import validate
from pytest_cvaudit.model import Claim, DataSet, Location, Printed, Protocol, metric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_cvaudit.manifest.nodes import Node
    from pytest_cvaudit.model import Metric


def load_manifest(path: Path) -> Manifest:
    """Read a manifest; its logs stay unread."""
    root = parse_file(path)
    place = shown(path)
    validate(root, place)
    return _Loader(place, Path(path).absolute().parent).manifest(_entries(root))


class _Loader:
    """Turns validated nodes into typed objects, with the manifest's path in every error."""

    def __init__(self, path: str, base: Path) -> None:
        self.path = path
        self.base = base

    def manifest(self, root: Entries) -> Manifest:
        specs: dict[str, ExperimentSpec] = {}
        for node in _list(root, "experiments"):
            spec = self.experiment(_entries(node))
            if spec.name in specs:
                first = specs[spec.name].location.line
                raise problem(f"duplicate experiment '{spec.name}' (first in line {first})", self.path, node.line)
            specs[spec.name] = spec
        return Manifest(
            path=self.path,
            standard=_text(root, "standard"),
            standard_line=root.lines.get("standard"),
            experiments=tuple(specs.values()),
            comparisons=tuple(self.comparison(_entries(node), specs) for node in _list(root, "comparisons")),
            suppressions=tuple(self.suppression(_entries(node)) for node in _list(root, "suppress")),
        )

    def experiment(self, node: Entries) -> ExperimentSpec:
        log = self.log(node)
        by = log.by if log else ()
        where = _text(node, "where")
        protocol = self.protocol(node)
        claims = tuple(self.claim(claim, where, by) for claim in _list(node, "claims"))
        self.check_labels(claims, protocol)
        return ExperimentSpec(
            name=_required(node, "name"), log=log, protocol=protocol, claims=claims, location=self.location(node)
        )

    def check_labels(self, claims: Iterable[ClaimSpec], protocol: Protocol) -> None:
        """Refuse a claim on a label that is none of the classes, where these are all declared."""
        for claim in (spec.claim for spec in claims):
            if protocol.supports is not None and claim.label is not None and claim.label not in protocol.supports:
                hint = suggestion(claim.label, protocol.supports) or f" (it has {', '.join(protocol.supports)})"
                raise problem(f"'{claim.label}' is no class of 'supports'{hint}", self.path, claim.line)

    def log(self, node: Entries) -> LogSource | None:
        source, table = node.get("log"), node.get("table")
        if source and table:
            raise problem("'log' and 'table' exclude each other", self.path, table.line)
        if source is None and table is None:
            for key in ("by", "select", "columns", "threshold", "separator", "folds_from", "join"):
                if node.get(key) is not None:
                    raise problem(f"'{key}' needs a 'log' or a 'table' to read", self.path, node.lines[key])
            return None
        return LogSource(
            paths=_texts(source),
            base=self.base,
            table=table.text if isinstance(table, Scalar) else None,
            columns=_text_by_text(node, "columns"),
            by=_texts(node.get("by")),
            select=_text_by_text(node, "select"),
            threshold=_number(node, "threshold"),
            separator=_text(node, "separator"),
            folds_from=_text(node, "folds_from"),
            join=_text(node, "join"),
            location=Location(self.path, (source or table or node).line),
        )

    def protocol(self, node: Entries) -> Protocol:
        labels, frequencies = node.get("labels"), None
        names = _texts(labels)
        if isinstance(labels, Entries):
            names = tuple(labels.values)
            frequencies = {label: value.number for label, value in labels.values.items() if isinstance(value, Scalar)}
        supports = self.supports(node)
        if repeated := [name for name, times in Counter(names).items() if times > 1]:
            raise problem(f"duplicate label '{repeated[0]}'", self.path, node.lines["labels"])
        instances = sum(supports.values()) if supports else _count(node, "instances")
        folds, positives = _count(node, "folds"), _count(node, "positives")
        if instances is not None and positives is not None and positives > instances:
            message = f"{positives} positives cannot be among {instances} instances"
            raise problem(message, self.path, node.lines["positives"])
        if instances is not None and folds is not None:
            self.check_folds(node, instances, folds)
        return Protocol(
            positive=_text(node, "positive"),
            folds=folds,
            repeats=_count(node, "repeats"),
            stratified=_truth(node, "stratified"),
            instances=instances,
            positives=positives,
            labels=names or None,
            frequencies=frequencies,
            calibrated=_truth(node, "calibrated"),
            group=_text(node, "group"),
            k=_count(node, "k"),
            none=_text(node, "none"),
            supports=supports,
            datasets=self.datasets(node),
        )

    def supports(self, node: Entries) -> dict[str, int] | None:
        found = node.get("supports")
        if not isinstance(found, Entries):
            return None
        self.without_log(node, "supports", ("positives", "datasets", "positive"))
        supports = {label: int(value.number) for label, value in found.values.items() if isinstance(value, Scalar)}
        instances = _count(node, "instances")
        if instances not in (None, sum(supports.values())):
            message = f"'supports' add up to {sum(supports.values())}, not to the {instances} of 'instances'"
            raise problem(message, self.path, node.lines["supports"])
        return supports

    def datasets(self, node: Entries) -> tuple[DataSet, ...] | None:
        if not isinstance(node.get("datasets"), Items):
            return None
        self.without_log(node, "datasets", ("instances", "positives", "folds", "repeats", "stratified"))
        return tuple(self.dataset(_entries(item)) for item in _list(node, "datasets"))

    def dataset(self, node: Entries) -> DataSet:
        instances, positives, folds = (_count(node, key) or 0 for key in ("instances", "positives", "folds"))
        if positives >= instances:
            raise problem(
                f"{positives} positives of {instances} instances: both classes must occur", self.path, node.line
            )
        self.check_folds(node, instances, folds)
        return DataSet(instances, positives, folds, bool(_truth(node, "stratified")))

    def check_folds(self, node: Entries, instances: int, folds: int) -> None:
        """Refuse folds that cannot all have an instance."""
        if folds > instances:
            raise problem(f"{instances} instances cannot make {folds} folds", self.path, node.lines["folds"])

    def without_log(self, node: Entries, key: str, others: tuple[str, ...]) -> None:
        """Refuse a key that describes the design alone beside a log, or beside keys that say the same."""
        for other in ("log", "table", *others):
            if node.get(other) is not None:
                raise problem(f"'{key}' and '{other}' exclude each other", self.path, node.lines[key])

    def claim(self, node: Node, where: str | None, by: tuple[str, ...]) -> ClaimSpec:
        try:
            if isinstance(node, Scalar):
                return ClaimSpec(replace(Claim.parse(node.text, node.line), where=where))
            entries = _entries(node)
            if "metric" not in entries.values:
                (name,) = entries.values
                claim = Claim.parse(f"{name} = {_required(entries, name)}", node.line)
                return ClaimSpec(replace(claim, where=where))
            claim = Claim(
                metric=_metric(_required(entries, "metric"), _count(entries, "k")),
                printed=Printed.parse(_required(entries, "value")),
                aggregation=_text(entries, "aggregation"),
                label=_text(entries, "label"),
                folds=_count(entries, "folds"),
                where=_text(entries, "where") or where,
                line=node.line,
            )
        except InputError as error:
            raise problem(error.message, self.path, node.line) from None
        return ClaimSpec(claim, self.part(entries.get("for"), by))

    def part(self, node: Node | None, by: tuple[str, ...]) -> str | None:
        if node is None:
            return None
        if not by:
            raise problem("'for' needs 'by' in the experiment: which columns split the log", self.path, node.line)
        if isinstance(node, Scalar):
            return node.text
        entries = _entries(node)
        for column, line in entries.lines.items():
            if column not in by:
                hint = suggestion(column, by) or f" (it has {', '.join(by)})"
                raise problem(f"'{column}' is not a column of 'by'{hint}", self.path, line)
        for column in by:
            if column not in entries.values:
                raise problem(f"'for' does not say which '{column}'", self.path, node.line)
        return "/".join(_required(entries, column) for column in by)

    def comparison(self, node: Entries, specs: dict[str, ExperimentSpec]) -> Comparison:
        better, than = (self.experiment_name(node, key, specs) for key in ("better", "than"))
        if better == than:
            raise problem(f"'{better}' is compared with itself", self.path, node.line)
        try:
            by = metric(_required(node, "by"))
        except InputError as error:
            raise problem(error.message, self.path, node.lines["by"]) from None
        return Comparison(better, than, by, self.location(node), _text(node, "where"))

    def experiment_name(self, node: Entries, key: str, specs: dict[str, ExperimentSpec]) -> str:
        name = _required(node, key)
        if name in specs or any(spec.log and spec.log.by and name.startswith(f"{one}/") for one, spec in specs.items()):
            return name
        hint = suggestion(name, specs)
        raise problem(f"'{key}' names no experiment: '{name}'{hint}", self.path, node.lines[key])

    def suppression(self, node: Entries) -> Suppression:
        until = _text(node, "until")
        try:
            day = date.fromisoformat(until) if until else None
        except ValueError:
            raise problem(f"'until' is no day of the calendar: '{until}'", self.path, node.lines["until"]) from None
        return Suppression(
            rule=_required(node, "rule"),
            experiment=_text(node, "experiment") or "*",
            path=_text(node, "path") or "*",
            reason=_required(node, "reason"),
            until=day,
            location=self.location(node),
        )

    def location(self, node: Node) -> Location:
        return Location(self.path, node.line)


def _metric(name: str, k: int | None) -> Metric:
    found = metric(name)
    if k is None:
        return found
    if found.name != "precision_at_k" or found.k not in (None, k):
        raise InputError(f"'k: {k}' does not go with the metric '{name}'")
    return replace(found, k=k)


# By the time these run, the schema has made sure of the types and of the required keys.
def _entries(node: Node) -> Entries:
    assert isinstance(node, Entries)
    return node


def _list(node: Entries, key: str) -> Iterable[Node]:
    found = node.get(key)
    return found if isinstance(found, Items) else ()


def _scalar(node: Entries, key: str) -> Scalar | None:
    found = node.get(key)
    return found if isinstance(found, Scalar) else None


def _text(node: Entries, key: str) -> str | None:
    found = _scalar(node, key)
    return found.text if found else None


def _required(node: Entries, key: str) -> str:
    return _text(node, key) or ""


def _number(node: Entries, key: str) -> float | None:
    found = _scalar(node, key)
    return found.number if found else None


def _count(node: Entries, key: str) -> int | None:
    found = _scalar(node, key)
    return int(found.number) if found else None


def _truth(node: Entries, key: str) -> bool | None:
    found = _scalar(node, key)
    return found.truth if found else None


def _texts(node: Node | None) -> tuple[str, ...]:
    if isinstance(node, Scalar):
        return (node.text,)
    return tuple(item.text for item in node if isinstance(item, Scalar)) if isinstance(node, Items) else ()


def _text_by_text(node: Entries, key: str) -> dict[str, str]:
    found = node.get(key)
    values = found.values if isinstance(found, Entries) else {}
    return {name: value.text for name, value in values.items() if isinstance(value, Scalar)}
