"""CV105, CV107 and CV112: instances that are tested twice, trained on, or have a twin in another fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cvaudit.aggregations import cell_name, name_folds
from pytest_cvaudit.checks.registry import Hit, Irrelevant, Result, Unsure, check
from pytest_cvaudit.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pytest_cvaudit.model import Experiment, Predictions, Protocol

    Ints = NDArray[np.integer]
    Mask = NDArray[np.bool_]
    Marks = NDArray[Any]

#: The share of rows tested in several folds from which on it is hardly a slip, with and without declared folds.
_MANY_SHARED, _SOME_SHARED = 0.5, 0.05
#: So few rows may be a slip whatever their share.
_SLIPS = 20
_BLANK = ("", "nan", "none", "null")


def _codes(marks: Marks) -> Ints:
    """Number the marks, equal ones alike; -1 is no mark."""
    import pandas as pd

    if marks.dtype.kind in "iu":
        return pd.factorize(marks)[0].astype(np.int64)
    texts = pd.Series(marks, dtype=object).astype(str).str.strip()
    codes, _ = pd.factorize(texts.mask(texts.str.lower().isin(_BLANK)))
    return codes.astype(np.int64)


def _distinct(group: Ints, values: Ints) -> Ints:
    """How many different values there are in the group of each row."""
    import pandas as pd

    return pd.Series(values).groupby(group).transform("nunique").to_numpy(dtype=np.int64)


def _groups(rows: Predictions, marks: Marks) -> tuple[Ints, Mask]:
    """Number the marks within each repeat, and tell which of them are in several folds of it."""
    import pandas as pd

    codes, repeats = _codes(marks), pd.factorize(np.array([cell.repeat for cell in rows.cells], dtype=object))[0]
    group = pd.DataFrame({"mark": codes, "repeat": repeats[rows.cell]}).groupby(["mark", "repeat"]).ngroup().to_numpy()
    return group, (codes >= 0) & (_distinct(group, rows.cell) > 1)


def _restart(rows: Predictions, ids: Marks) -> bool:
    """Tell whether the ids number the rows of each fold anew, from 0 or 1, as WEKA's inst# does."""
    try:
        numbers = ids.astype(np.float64)
    except ValueError:
        return False
    low, high = np.full(len(rows.cells), np.inf), np.full(len(rows.cells), -np.inf)
    np.minimum.at(low, rows.cell, numbers)
    np.maximum.at(high, rows.cell, numbers)
    return bool(np.all(np.isin(low, (0, 1)) & (high - low + 1 == np.bincount(rows.cell, minlength=len(low)))))


def misnamed(rows: Predictions, ids: Marks) -> str | None:
    """Say why the ids cannot be names of instances, if they cannot."""
    if _restart(rows, ids):
        return "the ids number the rows of each fold anew; log an id that is the same wherever the instance is"
    truth = rows.truth if rows.gold is None else np.unique(rows.gold, axis=0, return_inverse=True)[1].reshape(-1)
    assert truth is not None
    codes = _codes(ids)
    torn = (codes >= 0) & (_distinct(codes, truth) > 1)
    if torn.any():
        return f"id '{ids[int(torn.argmax())]}' stands for rows with different true labels; log an id per instance"
    return None


def shared_in_fold(rows: Predictions, ids: Marks) -> str | None:
    """Say that ids stand for several rows of a fold, as patients do for their images, if they do."""
    codes = _codes(ids)
    keys = codes[codes >= 0] * len(rows.cells) + rows.cell[codes >= 0]
    if len(np.unique(keys)) == len(keys):
        return None
    return "an id stands for several rows of a fold, so it names a group and not an instance; log an id per instance"


def overlapping(rows: Predictions, ids: Marks, protocol: Protocol) -> str | None:
    """Say why instances that are tested several times are no slip but a design or a naming, if they are.

    Where folds are declared, only a large overlap can be a naming; else a small one may be one of random splits.
    """
    several = _groups(rows, ids)[1]
    few = several.sum() < _SLIPS or protocol.folds is not None
    if several.sum() <= (_MANY_SHARED if few else _SOME_SHARED) * len(several):
        return None
    return (
        f"{int(several.sum())} of {len(several)} rows share their id with a row of another fold, so these seem to be "
        f"repeats, random splits or ids of groups; declare `folds:` if it is k-fold, name the repeats with columns: "
        f"{{repeat: NAME}}, or log an id per instance"
    )


def _example(rows: Predictions, marks: Marks, concerned: Mask) -> str:
    """Name the first mark concerned and the folds it is in."""
    group = _groups(rows, marks)[0]
    row = int(concerned.argmax())
    folds = [cell_name(rows.cells[cell], rows.cells) for cell in np.unique(rows.cell[group == group[row]])]
    return f"'{marks[row]}' in {name_folds(folds)}"


def _contrast(rows: Predictions, some: Mask) -> tuple[str, dict[str, float]]:
    """How often the predictions are right on some rows and on the others, where that can be told."""
    if rows.truth is None or rows.predicted is None or some.all():
        return "", {}
    right = rows.truth == rows.predicted
    these, others = float(right[some].mean()), float(right[~some].mean())
    text = f"; accuracy is {these:.3f} on them and {others:.3f} on the others"
    return text, {"accuracy": these, "accuracy_others": others}


@check("CV105")
def retested_instance(experiment: Experiment, protocol: Protocol) -> Iterator[Result]:
    """An instance in two test folds of one repeat."""
    rows = experiment.predictions
    if rows is None or rows.ids is None:
        yield Unsure("no instance ids are logged; log an id per row")
        return
    several, codes = _groups(rows, rows.ids)[1], _codes(rows.ids)
    if several.any() and (reason := misnamed(rows, rows.ids) or overlapping(rows, rows.ids, protocol)):
        yield Unsure(reason)
    elif several.any():
        number, of = len(np.unique(codes[several])), len(np.unique(codes[codes >= 0]))
        message = (
            f"{number} of {of} instances are in several test folds of a repeat (first: "
            f"{_example(rows, rows.ids, several)}): they count more than once, and a model trained on the other folds "
            f"has seen them"
        )
        yield Hit(message, evidence={"instances": number, "of": of, "rows": int(several.sum())})
    elif (codes < 0).any():
        yield Unsure("some rows have no id; log an id per row")


def _torn_groups(rows: Predictions, groups: Marks) -> Iterator[Hit]:
    """Groups that the folds tear apart, although they are declared to be kept together."""
    torn = _groups(rows, groups)[1]
    if torn.any():
        number, of = len(np.unique(_codes(groups)[torn])), len(np.unique(_codes(groups)))
        text, contrast = _contrast(rows, torn)
        message = (
            f"{number} of {of} groups are in several folds of a repeat (first: {_example(rows, groups, torn)}), so a "
            f"model is tested on groups that it was trained on{text}"
        )
        yield Hit(message, evidence={"groups": number, "of": of, **contrast})


@check("CV107")
def train_test_overlap(experiment: Experiment) -> Iterator[Result]:
    """An instance in the training set and in the test set of the same fold, or a group on both sides of a split."""
    rows = experiment.predictions
    if rows is not None and rows.groups is not None:
        yield from _torn_groups(rows, rows.groups)
        if rows.training is None:
            return
    if rows is None or rows.training is None:
        yield Irrelevant("no training rows with ids are logged (a `set` column); in a k-fold log CV105 sees the same")
        return
    marks, kind = (rows.ids, "an id") if rows.ids is not None else (rows.hashes, "a feature hash")
    assert marks is not None
    both = _codes(np.concatenate([marks, rows.training.marks]))
    key = both * len(rows.cells) + np.concatenate([rows.cell, rows.training.cell])
    tested = slice(len(marks))
    seen = (both[tested] >= 0) & np.isin(key[tested], key[len(marks) :])
    if seen.any() and kind == "an id" and (reason := misnamed(rows, marks)):
        yield Unsure(reason)
    elif seen.any():
        # Names that are not unique may be those of groups; equal features may be equal by chance.
        unique = len(np.unique(key[tested])) == len(marks)
        text, evidence = _contrast(rows, seen)
        folds = [cell_name(rows.cells[cell], rows.cells) for cell in np.unique(rows.cell[seen])]
        message = (
            f"{int(seen.sum())} of {len(seen)} test rows have {kind} that is in the training set of their own fold "
            f"too (first: '{marks[int(seen.argmax())]}'), in {name_folds(folds)}{text}"
        )
        severity = None if kind == "an id" and unique else Severity.WARNING
        yield Hit(message, evidence={"rows": int(seen.sum()), **evidence}, severity=severity)
    elif missing := set(rows.cell.tolist()) - set(rows.training.cell.tolist()):
        names = [cell_name(rows.cells[cell], rows.cells) for cell in sorted(missing)]
        yield Unsure(f"no training rows are logged for {name_folds(names)}")


@check("CV112")
def twinned_instances(experiment: Experiment) -> Iterator[Result]:
    """Instances with the same features on both sides of a split."""
    rows = experiment.predictions
    if rows is None or rows.hashes is None:
        yield Irrelevant("no feature hash is logged (a `hash` column)")
        return
    group, twins = _groups(rows, rows.hashes)
    if rows.ids is not None:
        twins &= _distinct(group, _codes(rows.ids)) > 1
    elif 2 * twins.sum() > len(twins):
        yield Unsure("most rows have the features of a row of another fold: is it the same one? Log an id per row")
        return
    if twins.any():
        text, evidence = _contrast(rows, twins)
        message = (
            f"{int(twins.sum())} of {len(twins)} rows have a twin with the same features in another fold (first: "
            f"{_example(rows, rows.hashes, twins)}), which a model trained on the other folds has seen{text}"
        )
        yield Hit(message, evidence={"twins": int(twins.sum()), "rows": len(twins), **evidence})
