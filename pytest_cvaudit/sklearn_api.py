"""A drop-in for scikit-learn's ``cross_validate`` that records the folds and returns the right aggregates beside."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_cvaudit.aggregations import Aggregates, NotComputable
from pytest_cvaudit.engine import Audit, audit
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.estimators import answers, need_sklearn, rows_of
from pytest_cvaudit.model import Claim, Printed
from pytest_cvaudit.model.declared import declared
from pytest_cvaudit.model.labels import conventional_positive
from pytest_cvaudit.model.metrics import find_metric, metric
from pytest_cvaudit.recorder import MemoryRecorder, Recorder
from pytest_cvaudit.recording.design import design_of
from pytest_cvaudit.tallies.tally import tally

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from pytest_cvaudit.model import Cell, Experiment, Metric, Predictions
    from pytest_cvaudit.tallies.tally import Tallies

_FAILED = "fits failed"
_TIMES = ("fit_time", "score_time")
#: Of two classes: the same whichever of them is called positive.
_OF_EITHER = ("auc", "brier", "log_loss")
#: Of two classes: scikit-learn's scorers mean the label 1.
_OF_LABEL_1 = ("f1", "precision", "recall")
#: Of more than two: scikit-learn's scorers take all of them together, and here it is a measure of one label.
_OF_ALL = ("ap", "brier", "log_loss")


class Aggregate(NamedTuple):
    """The recommended aggregate of a metric, its name, and all the others by name; None is undefined."""

    value: float | None
    name: str
    values: Mapping[str, float | None]


class CrossValidation(dict[str, Any]):
    """What scikit-learn's ``cross_validate`` returns, and what can be told of it."""

    experiment: Experiment | None = None
    scorers: Mapping[str, str | None] = {}

    @property
    def aggregates(self) -> dict[str, Aggregate]:
        """The right number for each metric that the predictions give; warns of what ``scoring`` asked for beyond."""
        if self.experiment is None:
            return {}
        rows, positive = self.experiment.predictions, self.experiment.protocol.positive
        asked = {name: _counterpart(scorer, rows, positive) for name, scorer in self.scorers.items()}
        every = Aggregates(self.experiment, _tallied(self.experiment, asked.values()))
        tables = dict(every.shown())
        for name, one in asked.items():
            try:
                if isinstance(one, str):
                    raise NotComputable(one)
                tables.setdefault(one.metric.name, every.of(*one))
            except NotComputable as error:
                warnings.warn(f"cvaudit: no aggregate of '{name}': {error}", stacklevel=2)
        return {
            name: Aggregate(
                table.values[table.recommended].value,
                table.recommended,
                {way: value.value for way, value in table.values.items()},
            )
            for name, table in tables.items()
        }

    def audit(self) -> Audit:
        """Audit the cross-validation."""
        return audit([] if self.experiment is None else [self.experiment])


def cross_validate(
    estimator: Any,
    X: Any,  # noqa: N803 (scikit-learn's name)
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    pre_dispatch: Any = "2*n_jobs",
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
    record: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    append: bool = False,
    name: str = "cross_validate",
    claims: Mapping[str, object] | Iterable[object] = (),
    protocol: Mapping[str, Any] | None = None,
    **options: Any,
) -> CrossValidation:
    """Call scikit-learn's ``cross_validate`` split by split; each process records its folds as soon as they are tested.

    ``record`` is the path of a recording, ``protocol`` declares what the design does not tell, such as
    ``{"positive": "spam"}``, and all other arguments are scikit-learn's.
    """
    need_sklearn("cross_validate")
    from sklearn.base import is_classifier
    from sklearn.model_selection import check_cv
    from sklearn.utils import indexable
    from sklearn.utils.parallel import Parallel, delayed

    X, y = indexable(X, y)  # noqa: N806 (scikit-learn's name)
    _refuse_routing()
    problem = _no_classes(estimator, y)
    if problem and record is not None:
        raise InputError(f"{problem}, so there are no folds to record; leave out record=…")
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    splits = list(splitter.split(X, y, groups))
    design = design_of(splitter, [test for _, test in splits], len(splits[0][0]) if y is None else len(y))
    recorder: Recorder | MemoryRecorder | None = None if problem else MemoryRecorder(name)
    if record is not None:
        recorder = Recorder(record, overwrite=overwrite, append=append)
    given = dict(declared({**design.declared, **(protocol or {})}))
    task = _Task(
        estimator, X, y, scoring, error_score, options, verbose, recorder if isinstance(recorder, Recorder) else None,
        keep=isinstance(recorder, MemoryRecorder), return_estimator=return_estimator,
    )  # fmt: skip
    try:
        if recorder is not None:
            recorder.protocol(splitter=design.splitter, **given)
        done = Parallel(n_jobs=n_jobs, verbose=verbose, pre_dispatch=pre_dispatch)(
            delayed(task)(train, test, cell) for (train, test), cell in zip(splits, design.cells, strict=True)
        )
        beside: dict[str, Any] = {}
        if return_estimator:
            beside["estimator"] = _estimators(done, estimator)
        if return_indices:
            beside["indices"] = dict(zip(("train", "test"), zip(*splits, strict=True), strict=True))
        found = CrossValidation(_joined(done, error_score, beside))
        found.scorers = _scorers(scoring)
        if recorder is not None:
            found.experiment = _finished(recorder, done, claims)
    except BaseException as error:
        if isinstance(recorder, Recorder):
            recorder.__exit__(type(error), error, error.__traceback__)
        raise
    return found


def _scorers(scoring: Any) -> dict[str, str | None]:
    """What was asked for: the names of the scores, each with that of scikit-learn's scorer unless it is a function."""
    if scoring is None:
        return {}
    if isinstance(scoring, str):
        return {scoring: scoring}
    if callable(scoring):
        return {"score": None}
    named = scoring.items() if isinstance(scoring, Mapping) else ((name, name) for name in scoring)
    return {name: scorer if isinstance(scorer, str) else None for name, scorer in named}


class _Asked(NamedTuple):
    """What a scorer measures: a metric, and the label that it is about if nothing else says which is positive."""

    metric: Metric
    label: str | None = None


def _counterpart(scorer: str | None, rows: Predictions | None, positive: str | None) -> _Asked | str:
    """What a scorer of scikit-learn's measures, or why that is not computed."""
    if scorer is None:
        return "a function may measure anything; ask for a scorer of scikit-learn's by its name"
    wanted = find_metric(scorer.removeprefix("neg_"))
    if wanted is None:
        return "this measure is not computed here"
    if rows is None:
        return "no fold has predictions"
    if rows.gold is None and len(rows.labels) == 2:
        unsaid = positive is None and conventional_positive(rows.labels) is None
        return _Asked(wanted, _scored_label(wanted, rows.labels) if unsaid else None)
    if wanted.name == "auc" and rows.gold is not None:
        return _Asked(metric("macro_auc"))
    if wanted.name in _OF_ALL:
        return f"over more than two labels it is of all of them, and {wanted.name} is of one label"
    return _Asked(wanted)


def _tallied(experiment: Experiment, asked: Iterable[_Asked | str]) -> Tallies | None:
    """Count what is asked for too: scores are ranked for the labels that claims are about."""
    claims = (Claim(one.metric, Printed.parse("0"), label=one.label) for one in asked if not isinstance(one, str))
    return tally(replace(experiment, claims=(*experiment.claims, *claims)))


def _scored_label(wanted: Metric, labels: tuple[str, ...]) -> str | None:
    """The one of two labels that a scorer is about by itself."""
    if wanted.name in _OF_EITHER:
        return labels[-1]
    return "1" if wanted.name in _OF_LABEL_1 and "1" in labels else None


def _refuse_routing() -> None:
    import sklearn

    if sklearn.get_config().get("enable_metadata_routing"):
        raise InputError("metadata routing is not supported here; record with cvaudit.Recorder or capture instead")


def _no_classes(estimator: Any, y: Any) -> str | None:
    """Say why there are no labels to record, if there are none."""
    from sklearn.base import is_regressor
    from sklearn.utils.multiclass import type_of_target

    if y is None:
        return "there is no y"
    return "it is a regression" if is_regressor(estimator) or type_of_target(y).startswith("continuous") else None


class _Done(NamedTuple):
    """One split: scikit-learn's results, or why there are none, and what was predicted if the main process keeps it."""

    cell: Cell
    results: dict[str, Any] | None
    seconds: float
    failure: str | None = None
    fold: dict[str, Any] | None = None


@dataclass
class _Task:
    """A split in whichever process it runs."""

    estimator: Any
    X: Any
    y: Any
    scoring: Any
    error_score: Any
    options: dict[str, Any]
    verbose: int
    recorder: Recorder | None
    keep: bool
    return_estimator: bool

    def __call__(self, train: Any, test: Any, cell: Cell) -> _Done:
        """Fit, score and record one split."""
        from sklearn.model_selection import cross_validate as original

        began = time.perf_counter()
        try:
            results = original(
                self.estimator, self.X, self.y, scoring=self.scoring, cv=[(train, test)], error_score=self.error_score,
                return_estimator=True, verbose=max(0, self.verbose - 1), **self.options,
            )  # fmt: skip
        except ValueError as error:
            if isinstance(self.error_score, str) or _FAILED not in str(error):
                raise
            return self._failed(_Done(cell, None, time.perf_counter() - began), str(error).strip().splitlines()[-1])
        (model,) = results["estimator"]
        if not self.return_estimator:
            del results["estimator"]
        done = _Done(cell, results, time.perf_counter() - began)
        if not self.keep and self.recorder is None:
            return done
        try:
            fold = self._fold(model, train, test, cell)
        except Exception as error:
            # Scikit-learn was content with the estimator, so the run goes on; its fold has no prediction to show.
            return self._failed(done, f"no prediction: {type(error).__name__}: {error}")
        if self.recorder is not None:
            self.recorder.fold(**fold)
        return done._replace(fold=fold if self.keep else None)

    def _fold(self, model: Any, train: Any, test: Any, cell: Cell) -> dict[str, Any]:
        rows, truth = rows_of(self.estimator, self.X, self.y, test, train)
        trained = rows_of(self.estimator, self.X, self.y, train, train)[1]
        return {
            "y_true": truth, **answers(model, rows)._asdict(), "test": test, "train": train, "y_train": trained,
            "fold": cell.fold, "repeat": cell.repeat,
        }  # fmt: skip

    def _failed(self, done: _Done, why: str) -> _Done:
        if self.recorder is not None:
            self.recorder.skip(why, fold=done.cell.fold, repeat=done.cell.repeat)
        return done._replace(failure=why)


def _estimators(done: list[_Done], estimator: Any) -> list[Any]:
    from sklearn.base import clone

    return [clone(estimator) if one.results is None else one.results["estimator"][0] for one in done]


def _joined(done: list[_Done], error_score: Any, beside: Mapping[str, Any]) -> dict[str, Any]:
    """The results of all splits in one dict, with scikit-learn's keys, order and warnings."""
    from sklearn.exceptions import FitFailedWarning

    first = next((one.results for one in done if one.results is not None), None)
    failures = [one.failure for one in done if one.results is None and one.failure is not None]
    details = "\n".join(sorted(set(failures)))
    if first is None:
        raise ValueError(f"\nAll the {len(done)} fits failed.\n{details}")
    if failures:
        message = (
            f"\n{len(failures)} fits failed out of a total of {len(done)}.\nThe score on these train-test partitions "
            f"for these parameters will be set to {error_score}.\n{details}"
        )
        warnings.warn(message, FitFailedWarning, stacklevel=3)

    def column(key: str) -> Any:
        failed = {"score_time": 0.0}.get(key, error_score)
        return np.array(
            [
                one.results[key][0] if one.results is not None else one.seconds if key == "fit_time" else failed
                for one in done
            ]
        )

    scores = [key for key in first if key not in (*_TIMES, "estimator")]
    return {**{key: column(key) for key in _TIMES}, **beside, **{key: column(key) for key in scores}}


def _finished(recorder: Recorder | MemoryRecorder, done: list[_Done], claims: Any) -> Experiment | None:
    """The recorded experiment; if it makes none, the results of the run are not lost over it."""
    try:
        recorder.claims(claims)
        if isinstance(recorder, Recorder):
            recorder.close()
        else:
            for one in done:
                if one.fold is not None:
                    recorder.fold(**one.fold)
                else:
                    recorder.skip(one.failure, fold=one.cell.fold, repeat=one.cell.repeat)
        return recorder.experiment()
    except InputError as error:
        warnings.warn(f"cvaudit: no aggregates: {error}", stacklevel=3)
        return None
