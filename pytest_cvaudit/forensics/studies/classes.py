"""Several classes with known supports: averages over labels and claims per class, from totals or over folds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.forensics.aliases import equal_in
from pytest_cvaudit.forensics.exact import WHOLE, ways_of
from pytest_cvaudit.forensics.studies.class_drafts import over_classes, over_fold_tables, over_folds
from pytest_cvaudit.forensics.studies.class_tables import all_class_tables
from pytest_cvaudit.forensics.studies.class_values import Subject, class_value, realizable
from pytest_cvaudit.forensics.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_cvaudit.forensics.design import Shape
    from pytest_cvaudit.forensics.everything import Everything
    from pytest_cvaudit.forensics.exact import Surd
    from pytest_cvaudit.forensics.studies.class_values import ClassFold
    from pytest_cvaudit.forensics.studies.parts import Demand, Draft, FullTable
    from pytest_cvaudit.model import Claim, Metric

_POOLED_SETS, _FOLD_SETS = ("train", "test", "test_union"), ("train", "test", "fold", "fold_union")


@dataclass(frozen=True)
class Classes(Study):
    """A single-label data set of several classes; ``supports`` are the instances of every class."""

    labels: tuple[str, ...]
    supports: tuple[int, ...]
    folds: int
    stratified: bool

    def __post_init__(self) -> None:
        """Refuse what no data can have."""
        if len(self.supports) < 2 or min(self.supports) < 1:
            raise InputError("supports need two classes at least, each with an instance")
        if len(set(self.labels)) < len(self.labels):
            raise InputError("supports name a class twice")
        if not 1 <= self.folds <= self.instances:
            raise InputError(f"{self.instances} instances cannot make {self.folds} folds")

    @property
    def instances(self) -> int:
        """All instances."""
        return sum(self.supports)

    @cached_property
    def regular(self) -> bool:
        """Tell whether every fold must have the same number of every class."""
        return self.folds == 1 or (self.stratified and all(support % self.folds == 0 for support in self.supports))

    @cached_property
    def everywhere(self) -> bool:
        """Tell whether every fold has every class."""
        return self.folds == 1 or (self.stratified and min(self.supports) >= self.folds)

    @cached_property
    def fold_sizes(self) -> tuple[int, ...]:
        """The sizes that a fold may have; none is empty."""
        size, more = divmod(self.instances, self.folds)
        if not self.stratified:
            return (size, size + 1) if more else (size,)
        least = sum(support // self.folds for support in self.supports)
        return tuple(range(max(1, least), least + sum(support % self.folds > 0 for support in self.supports) + 1))

    def shapes(self, label: int) -> tuple[Shape, ...]:
        """The numbers of instances of a class and of the others that a fold may have."""
        support = self.supports[label]
        few, more = divmod(support, self.folds)
        counts = range(few, few + 1 + (more > 0)) if self.stratified else range(min(support, max(self.fold_sizes)) + 1)
        others = self.instances - support
        return tuple((p, size - p) for p, size in product(counts, self.fold_sizes) if 0 <= size - p <= others)

    def subject(self, claim: Claim) -> Subject:
        """The metric with the place of its label."""
        label = None if claim.label is None else self.labels.index(claim.label)
        return Subject(**asdict(claim.metric), label=label)

    def names(self, claim: Claim) -> dict[str, str]:
        """The aggregations over folds and label sets; label sets that hold every class are one."""
        metric = claim.metric
        if claim.label is not None:
            known = claim.label in self.labels and metric.name not in WHOLE and ways_of(metric)
            return equal_in(self.shapes(self.labels.index(claim.label)), metric) if known else {}
        if metric.average in ("macro", "micro"):
            return self._over_label_sets(metric)
        if metric.average == "weighted":
            kinds = ("", "_of_means") if metric.beta is not None else ("",)
            pooled, averaged = {"": "tp_fp", "_of_means": "of_means"}, "test" if self.regular else "fold"
            names: dict[str, str] = {}
            for kind in kinds:
                names |= {way: way for way in (f"{pooled[kind]}@test", f"avg{kind}@test")}
                names[f"avg{kind}@fold"] = f"avg{kind}@{averaged}"
            return names
        equal = len(self.fold_sizes) == 1
        if metric.name in ("accuracy", "error"):
            first = "pooled" if equal else "avg"
            return {"pooled": "pooled", "avg": first, "avg_skip": first, "avg_zero": first, "avg_weighted": "pooled"}
        if metric.name == "kappa":
            return {"pooled": "pooled"}
        if metric.name == "balanced_accuracy":
            if not self.everywhere:
                return {"pooled": "pooled"}
            first = "pooled" if self.regular else "avg"
            balanced = {"pooled": "pooled", **dict.fromkeys(("avg", "avg_skip", "avg_zero", "avg_present"), first)}
            return balanced | {"avg_weighted": first if equal else "avg_weighted"}
        return {}

    def _over_label_sets(self, metric: Metric) -> dict[str, str]:
        of_means = metric.average == "macro" and metric.beta is not None
        names: dict[str, str] = {}
        for pooled, averaged in (("tp_fp", "avg"), ("of_means", "avg_of_means")) if of_means else (("tp_fp", "avg"),):
            names |= {f"{pooled}@{where}": f"{pooled}@train" for where in _POOLED_SETS}
            sets = _FOLD_SETS if self.everywhere else _FOLD_SETS[:2]
            names |= {f"{averaged}@{where}": f"{averaged}@train" for where in sets}
        return names

    def unjudged(self, claim: Claim) -> tuple[str, ...]:
        """Averages over the labels that occur in a fold, where that may not be all of them; kappa over folds."""
        if claim.metric.name == "kappa" and claim.label is None:
            return tuple(way for way in ways_of(claim.metric) if way != "pooled")
        if self.everywhere or claim.label is not None:
            return ()
        if claim.metric.name == "balanced_accuracy":
            return tuple(way for way in ways_of(claim.metric) if way != "pooled")
        if claim.metric.average not in ("macro", "micro"):
            return ()
        of_means = claim.metric.average == "macro" and claim.metric.beta is not None
        kinds = ("avg", "avg_of_means") if of_means else ("avg",)
        return tuple(f"{kind}@{where}" for kind in kinds for where in ("fold", "fold_union"))

    def drafts(self, demands: Sequence[Demand]) -> Iterator[Draft]:
        """Write the demands over the totals of the classes, over their folds, and over whole folds."""
        for write in (over_classes, over_folds, over_fold_tables):
            draft = write(self, demands)
            if draft is not None:
                yield draft

    def every_table(self) -> Everything | None:
        """All tables of the folds, if they are few enough."""
        return all_class_tables(self.supports, self.folds, self.stratified)

    def value(self, metric: Metric, way: str, table: FullTable) -> Surd | None:
        """Compute one aggregation; a table of totals says nothing of means over folds."""
        folds = self.cut(table)
        if not all(realizable(fold) for fold in folds):
            return None
        if not way.startswith(("pooled", "tp_fp", "of_means")) and len(folds) != self.folds:
            return None
        return class_value(metric, way, folds)

    def cut(self, table: FullTable) -> list[ClassFold]:
        """Cut a full table into folds."""
        size = len(self.labels)
        return [table[at : at + size] for at in range(0, len(table), size)]

    def keys(self, table: FullTable) -> tuple[dict[str, str | int], ...]:
        """The label of every entry, and its fold where there are several."""
        size = len(self.labels)
        if len(table) == size:
            return tuple({"label": label} for label in self.labels)
        return tuple({"fold": at // size + 1, "label": self.labels[at % size]} for at in range(len(table)))
