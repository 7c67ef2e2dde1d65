"""OpenML runs: the predictions that were uploaded, and beside them the server's evaluations as claims."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Claim, Printed, Protocol, metric
from pytest_cvaudit.readers.formats.arff import Header, read_arff
from pytest_cvaudit.readers.formats.source import Found, Kind, Source, reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

_TRUTH = ("truth", "correct")
_ROLES = {"repeat": "repeat", "fold": "fold", "id": "row_id", "predicted": "prediction"}
_SCORE = "confidence."
#: OpenML's evaluations are WEKA's: of each class, and their mean weighted by the frequency of the class.
_PER_CLASS = {"area_under_roc_curve": "auc", "f_measure": "f1", "precision": "precision", "recall": "recall"}
_WHOLE = {"predictive_accuracy": "accuracy", "kappa": "kappa"}
_INSTANCES = "number_of_instances"
_DIGITS = re.compile(r"[+-]?\d*\.?\d+(?:[eE][+-]?\d+)?")


def is_openml(path: Path) -> bool:
    """Tell whether an ARFF file has the columns that OpenML asks of predictions."""
    columns = set(Header.peek(path).columns)
    return {"repeat", "fold", "prediction"} <= columns and bool(columns & set(_TRUTH))


def read_openml(path: Path, shown: str) -> Source:
    """Read the predictions of a run; of a learning curve only the last sample counts."""
    header = Header.peek(path)
    source = _without_empty_scores(_last_sample(read_arff(path, shown)))
    truth = next(name for name in _TRUTH if name in source.columns)
    labels = header.attributes[truth] or header.attributes["prediction"]
    columns = {role: name for role, name in _ROLES.items() if name in source.columns} | {"truth": truth}
    scores = {f"score_{label}": f"{_SCORE}{label}" for label in labels}
    if set(scores.values()) <= set(source.columns):
        columns |= scores
    claims: tuple[Claim, ...] = ()
    protocol = Protocol(labels=labels or None)
    beside = path.with_name("run.xml")
    if path.name.lower().startswith("predictions.arff") and beside.is_file():
        run = Run(beside, f"{shown.removesuffix(path.name)}{beside.name}", labels)
        claims = tuple(run.claims())
        protocol = replace(protocol, instances=run.instances(source))
    return replace(source, found=Found(columns, claims={(): claims}, protocol=protocol))


def _last_sample(source: Source) -> Source:
    if "sample" not in source.columns:
        return source
    sample = source.load({"sample": "float64"})["sample"].to_numpy(dtype=float)
    keep: NDArray[np.intp] = np.flatnonzero(sample == np.nanmax(sample, initial=-np.inf))

    def load(kinds: Mapping[str, Kind]) -> pd.DataFrame:
        return source.load(kinds).iloc[keep]

    return replace(source, load=load, line=lambda row: source.line(int(keep[row])))


def _without_empty_scores(source: Source) -> Source:
    """Forget confidences that are blank in every row, as runs without probabilities have them."""
    names = [name for name in source.columns if name.startswith(_SCORE)]
    frame = source.load(dict.fromkeys(names, "category")) if names else None
    if frame is None or not len(frame) or not frame.isna().to_numpy().all():
        return source
    return replace(source, columns=tuple(name for name in source.columns if name not in names))


class Run:
    """The description of a run, with what the server found over all its folds together."""

    def __init__(self, path: Path, shown: str, labels: Sequence[str]) -> None:
        """Read the file; the labels are in the order in which it lists values per class."""
        with reading(path, shown):
            # Undefined values are sometimes a stray byte, which is no reason to refuse the others.
            text = path.read_bytes().decode("utf-8-sig", errors="replace").replace("\0", "")
        self._shown, self._labels = shown, labels
        if "<!doctype" in text.lower():
            raise InputError("a document type is not read; a run from OpenML has none", shown)
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise InputError(f"not XML: {error.msg.split(':')[0]}", shown, error.position[0]) from error
        if _name(root) != "run":
            raise InputError(f"not an OpenML run: it begins with '{_name(root)}'; remove it, or save the run", shown)
        self._evaluations = [one for one in root.iter() if _name(one) == "evaluation"]

    def _overall(self) -> Iterator[tuple[str, str, list[str]]]:
        """Give the name, the value and the values per class of each evaluation that is not of a single fold."""
        for one in self._evaluations:
            if not one.attrib.keys() & {"repeat", "fold", "sample"}:
                inner = {_name(part): (part.text or "").strip() for part in one}
                listed = inner.get("array_data", "").removeprefix("[").removesuffix("]").split(",")
                yield inner.get("name", ""), inner.get("value", ""), [text.strip() for text in listed]

    def claims(self) -> Iterator[Claim]:
        """Give the evaluations whose metric is known, with the digits they are printed with."""
        tested = {label for label, count in self._by_class(_INSTANCES) if float(count) > 0}
        for name, value, _ in self._overall():
            known = _WHOLE.get(name) or (f"weighted_{_PER_CLASS[name]}" if name in _PER_CLASS else None)
            if known is not None and _DIGITS.fullmatch(value):
                yield self._claim(known, value)
        for name, known in _PER_CLASS.items():
            # Of a class that is nowhere in the test data, what is printed is no result.
            yield from (self._claim(known, value, label) for label, value in self._by_class(name) if label in tested)

    def _by_class(self, wanted: str) -> Iterator[tuple[str, str]]:
        for name, _, listed in self._overall():
            if name == wanted and len(listed) == len(self._labels):
                pairs = zip(self._labels, listed, strict=True)
                yield from ((label, text) for label, text in pairs if _DIGITS.fullmatch(text))

    def _claim(self, name: str, value: str, label: str | None = None) -> Claim:
        try:
            return Claim(metric(name), Printed.parse(value), label=label, where="run.xml")
        except InputError as error:
            raise error.at(self._shown) from None

    def instances(self, source: Source) -> int | None:
        """Tell how many instances the data have: those evaluated, which is all of them in each repeat."""
        evaluated = [value for name, value, _ in self._overall() if name == _INSTANCES and _DIGITS.fullmatch(value)]
        logged = source.load({"repeat": "category"})["repeat"].nunique()
        repeats = max(len({one.get("repeat") for one in self._evaluations} - {None}), logged)
        number = float(evaluated[0]) / repeats if len(evaluated) == 1 and repeats else 0.0
        return int(number) if number.is_integer() and number > 0 else None


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
