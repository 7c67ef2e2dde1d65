"""Experiments from what a program has in memory: tables, and the results of scikit-learn's ``cross_validate``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.estimators import answers, need_sklearn, rows_of
from pytest_cvaudit.manifest import experiments
from pytest_cvaudit.manifest.spec import ClaimSpec, ExperimentSpec, LogSource, Manifest
from pytest_cvaudit.model import Experiment, Location, MissingFold, Protocol
from pytest_cvaudit.model.declared import declared, read_claims
from pytest_cvaudit.model.folds import Fold, assemble
from pytest_cvaudit.readers.formats import Source
from pytest_cvaudit.recording.design import split_cells, splitter_protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Claims = Mapping[str, object] | Iterable[object]

_MEMORY = "<memory>"
_TEST = "test_"


def experiments_of_table(
    frame: Any,
    *,
    by: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    select: Mapping[str, object] | None = None,
    threshold: float | None = None,
    separator: str | None = None,
    name: str = "table",
    claims: Claims | Mapping[str, Claims] = (),
    **protocol: Any,
) -> list[Experiment]:
    """Read a table as a log file is read; with ``by``, ``claims`` maps parts such as ``svm/iris`` to their claims."""
    parts = (by,) if isinstance(by, str) else tuple(by)
    log = LogSource(
        Location(_MEMORY), sources=(_source(frame),), columns=columns or {}, by=parts,
        select={key: str(value) for key, value in (select or {}).items()}, threshold=threshold, separator=separator,
    )  # fmt: skip
    said = tuple(_claims(claims, bool(by)))
    spec = ExperimentSpec(name, log, Protocol(**declared(protocol)), said, Location(_MEMORY))
    found = experiments(Manifest(_MEMORY, None, (spec,)))
    for experiment in found:
        if experiment.problem is not None:
            raise experiment.problem
    if not by and len(found) > 1:
        names = ", ".join(experiment.name for experiment in found[:5])
        raise InputError(f"the table holds several experiments ({names}); pass by=… to get them all")
    return found


def _claims(claims: Any, split: bool) -> Iterable[ClaimSpec]:
    if not split:
        return [ClaimSpec(claim) for claim in read_claims(claims)]
    parts = claims.items() if hasattr(claims, "items") else ()
    if claims and not parts:
        raise InputError("with by=…, claims must say which part they are about: {'svm/iris': ['f1 = 0.69']}")
    return [ClaimSpec(claim, part) for part, said in parts for claim in read_claims(said)]


def _source(frame: Any) -> Source:
    table = _pandas(frame)
    names = [str(name) for name in table.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"the table has two columns called '{twice[0]}'", _MEMORY)
    table = table.set_axis(names, axis=1).reset_index(drop=True)
    for name in names:
        if table[name].dtype == object and table[name].map(_is_list).any():
            table[name] = [json.dumps(_plain(cell), default=str) if _is_list(cell) else cell for cell in table[name]]
    return Source(_MEMORY, tuple(names), lambda kinds: table[list(kinds)], lambda row: row + 1)


def _pandas(frame: Any) -> pd.DataFrame:
    """A table of any library as pandas has it."""
    if isinstance(frame, pd.DataFrame):
        if frame.columns.nlevels > 1:
            raise InputError("the table's columns have several levels; give each one name", _MEMORY)
        return frame
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            import pyarrow as pa
        except ImportError:
            pass
        else:
            found: pd.DataFrame = pa.table(frame).to_pandas(ignore_metadata=True)
            return found
    if hasattr(frame, "to_pandas"):
        return pd.DataFrame(frame.to_pandas())
    if isinstance(frame, dict):
        return pd.DataFrame(frame)
    raise InputError(f"a {type(frame).__name__} is no table; pass a pandas, polars or arrow table", _MEMORY)


def _is_list(cell: object) -> bool:
    return isinstance(cell, list | tuple | set | frozenset | np.ndarray)


def _plain(cell: Any) -> list[Any]:
    return cell.tolist() if isinstance(cell, np.ndarray) else list(cell)


def experiment_of_results(
    results: Mapping[str, Any],
    X: Any = None,  # noqa: N803 (scikit-learn's name)
    y: Any = None,
    *,
    cv: Any = None,
    scoring: str | None = None,
    name: str = "cross_validate",
    claims: Claims = (),
    **protocol: Any,
) -> Experiment:
    """Make an experiment of what ``cross_validate`` returned."""
    if not any(key.startswith(_TEST) for key in results):
        raise InputError(f"no result of cross_validate: it has {', '.join(map(str, results)) or 'nothing'}")
    entries = {**({} if cv is None else splitter_protocol(cv)), **protocol}
    if X is not None and y is not None and {"estimator", "indices"} <= results.keys():
        return _predicted(results, X, y, entries, name, claims)
    return _scored(results, scoring, entries, name, claims)


def _predicted(
    results: Mapping[str, Any],
    X: Any,  # noqa: N803 (scikit-learn's name)
    y: Any,
    entries: Mapping[str, Any],
    name: str,
    claims: Claims,
) -> Experiment:
    need_sklearn("from_cross_validate")
    known = Protocol(**declared(entries))
    folds, missing = [], []
    indices = results["indices"]
    cells = split_cells(len(results["estimator"]), known.folds, known.repeats)
    for cell, model, train, test in zip(cells, results["estimator"], indices["train"], indices["test"], strict=True):
        rows, truth = rows_of(model, X, y, test, train)
        try:
            given = answers(model, rows)
        except Exception as error:
            # Whatever an estimator that was not fitted may raise: its fold has no result.
            missing.append(MissingFold(cell, "its estimator cannot predict", f"{type(error).__name__}: {error}"))
            continue
        trained = rows_of(model, X, y, train, train)[1]
        folds.append(
            Fold.read(
                cell, truth, given.y_pred, given.y_score, test=test, train=train, y_train=trained, classes=given.classes
            )
        )
    if not folds:
        raise InputError(f"no fold has a result ({missing[0].reason})")
    predictions, known = assemble(folds, known)
    return Experiment(name, known, read_claims(claims), predictions, missing=tuple(missing))


def _scored(
    results: Mapping[str, Any], scoring: str | None, entries: Mapping[str, Any], name: str, claims: Claims
) -> Experiment:
    """The per-fold scores, through the reader of such tables."""
    known = declared(entries)
    values = {key.removeprefix(_TEST): np.asarray(value) for key, value in results.items() if key.startswith(_TEST)}
    if "score" in values:
        if scoring is None:
            raise InputError("'test_score' does not say of what; pass scoring='f1' or whatever it is")
        values[scoring] = values.pop("score")
    cells = split_cells(len(next(iter(values.values()))), known.get("folds"), known.get("repeats"))
    table: dict[str, Any] = {"fold": [cell.fold for cell in cells], "repeat": [cell.repeat for cell in cells]}
    if "indices" in results:
        table["n_samples"] = [len(test) for test in results["indices"]["test"]]
    table |= {metric: [repr(float(value)) for value in column] for metric, column in values.items()}
    return experiments_of_table(table, name=name, claims=claims, **entries)[0]
