"""WEKA Experimenter: a row per fold (or random split) of each scheme on each data set, as ARFF or CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.readers.formats.arff import Header, read_arff
from pytest_cvaudit.readers.formats.delimited import Fields
from pytest_cvaudit.readers.formats.source import Found, Source, bare_suffix, open_text, reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.bool_]

_KEYS = ("Key_Dataset", "Key_Run", "Key_Scheme")
_PARTS = ("Key_Dataset", "Key_Scheme", "Key_Scheme_options")
_COUNTS = {
    "tp": "Num_true_positives", "fp": "Num_false_positives", "fn": "Num_false_negatives", "tn": "Num_true_negatives",
}  # fmt: skip
_SIZE = "Number_of_testing_instances"
#: Of the class that the Experimenter was told to look at: the first, unless somebody changed it. Not its MCC, which is
#: known here as a measure of the whole table: with two classes the counts give it.
_OF_CLASS = {
    "precision": "IR_precision", "recall": "IR_recall", "specificity": "True_negative_rate", "f1": "F_measure",
}  # fmt: skip
_OF_TABLE = {
    "accuracy": "Percent_correct", "kappa": "Kappa_statistic", "weighted_f1": "Weighted_avg_F_measure",
    "weighted_precision": "Weighted_avg_IR_precision", "weighted_recall": "Weighted_avg_IR_recall",
    "macro_f1": "Unweighted_macro_avg_F_measure", "micro_f1": "Unweighted_micro_avg_F_measure",
}  # fmt: skip
_OF_SCORES = {"auc": "Area_under_ROC", "ap": "Area_under_PRC", "weighted_auc": "Weighted_avg_area_under_ROC"}
#: Columns of the Experimenter's averaging producer, which says how many rows it averaged.
_AVERAGED = ("Num_Fold", "Num_Run", "Avg_", "Dev_")
_UNDEFINED = "WEKA writes ? where a measure is undefined"
_CLOSE = 1e-5


def is_weka_experiment(path: Path) -> bool:
    """Tell whether a file has the keys of the Experimenter, whose results begin with Key_Dataset."""
    if bare_suffix(path) == ".arff":
        return set(_KEYS) <= set(Header.peek(path).columns)
    try:
        with open_text(path) as stream:
            return set(_KEYS) <= set(stream.readline().strip().split(","))
    except (OSError, EOFError, ValueError):
        return False


def read_weka_experiment(path: Path, shown: str) -> Source:
    """Read the Experimenter's results as counts of the class it looked at, and what counts do not tell as scores."""
    raw = _open(path, shown)
    if averaged := [name for name in raw.columns if name.startswith(_AVERAGED)]:
        raise InputError(
            f"each row is an average over folds, as '{averaged[0]}' shows; save the results without averaging", shown
        )
    with reading(path, shown):
        frame = raw.load(dict.fromkeys(raw.columns, "category"))
    texts = {name: _texts(frame[name]) for name in raw.columns}
    table = {name: column for name, column in texts.items() if name.startswith("Key_")}
    table |= _results(texts)
    plain = pd.DataFrame({name: pd.Series(column, dtype="str") for name, column in table.items()})
    folds = {"fold": "Key_Fold", "repeat": "Key_Run"} if "Key_Fold" in table else {"fold": "Key_Run"}
    found = Found(folds, _parts(plain))
    return Source(shown, tuple(table), lambda kinds: plain[list(kinds)], raw.line, found=found)


def _open(path: Path, shown: str) -> Source:
    if bare_suffix(path) == ".arff":
        return read_arff(path, shown)
    fields = Fields(lambda: open_text(path), shown, quote="'", escape="\\")
    with reading(path, shown):
        header = next(fields.records())[1]
    return fields.source(tuple(name.strip() for name in header))


def _texts(column: pd.Series) -> list[str]:
    found = ["" if gone else str(text).strip() for text, gone in zip(column, column.isna(), strict=True)]
    return ["" if text in ("?", "NaN") else text for text in found]


def _parts(table: pd.DataFrame) -> tuple[str, ...]:
    """The keys that tell several experiments apart: the options only where a scheme has several."""
    names = [name for name in _PARTS if name in table]
    varying = [name for name in names if table[name].nunique() > 1]
    whole = len(table[varying].drop_duplicates()) if varying else 0
    without = [name for name in varying if name != "Key_Scheme_options"]
    if varying != without and without and len(table[without].drop_duplicates()) == whole:
        return tuple(without)
    return tuple(varying)


def _results(texts: dict[str, list[str]]) -> dict[str, list[str]]:
    """The columns under the names that readers know; what the counts give is not given again."""
    known = {**_OF_CLASS, **_OF_TABLE, **_OF_SCORES}
    table = {ours: texts[theirs] for ours, theirs in known.items() if theirs in texts}
    if "accuracy" in table:
        table["accuracy"] = [text and f"{text}%" for text in table["accuracy"]]
    counts = {role: _numbers(texts[name]) for role, name in _COUNTS.items() if name in texts}
    # Weighted instances have counts with fractions, which are not to be added up as counts.
    if len(counts) == len(_COUNTS) and all(_whole(column) for column in counts.values()):
        two = _two_classes(texts, counts)
        table |= {role: texts[_COUNTS[role]] for role in ("tp", "fp", "fn")}
        table |= {"tn": _where(two, texts[_COUNTS["tn"]]), "n": _where(two, texts.get(_SIZE, [""] * len(two)))}
        for name in table.keys() & {*_OF_CLASS, *_OF_TABLE}:
            kept = ~two if name in (*_OF_TABLE, "specificity") else np.zeros_like(two)
            table[name] = _where(kept, table[name])
    table["info"] = [_UNDEFINED if correct else "" for correct in texts.get("Percent_correct", [])]
    return {name: column for name, column in table.items() if any(column)}


def _where(keep: Rows, column: Sequence[str]) -> list[str]:
    return [text if kept else "" for kept, text in zip(keep.tolist(), column, strict=True)]


def _numbers(texts: Sequence[str]) -> Floats:
    return pd.to_numeric(pd.Series(texts, dtype="object"), errors="coerce").to_numpy(dtype=np.float64)


def _whole(numbers: Floats) -> bool:
    return bool(np.all(np.isnan(numbers) | (numbers == np.floor(numbers))))


def _two_classes(texts: dict[str, list[str]], counts: dict[str, Floats]) -> Rows:
    """Tell the rows of data sets with two classes: there the counts of one class are the whole table.

    With more classes, what is confused among the others is among the true negatives but is not correct.
    """
    tp, fp, fn, tn = (counts[role] for role in ("tp", "fp", "fn", "tn"))
    n = tp + fp + fn + tn
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / n**2
        kappa = ((tp + tn) / n - chance) / (1 - chance)
    logged = {
        name: _numbers(texts[name]) if name in texts else np.full(len(n), np.nan)
        for name in ("Number_correct", _SIZE, "Kappa_statistic")
    }
    alike = (tp + tn == logged["Number_correct"]) & (n == logged[_SIZE])
    alike &= ~(abs(kappa - logged["Kappa_statistic"]) > _CLOSE) | np.isnan(n)
    return pd.Series(alike | np.isnan(n)).groupby(texts["Key_Dataset"]).transform("all").to_numpy(dtype=bool)
