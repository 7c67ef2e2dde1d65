"""What an estimator is called, and which metrics a scorer computes."""

from __future__ import annotations

from typing import Any

from pytest_cvaudit.model.metrics import find_metric

#: Where a wrapper keeps the estimator that a reader would name it by.
_WRAPPED = ("estimator", "base_estimator")
#: What can be guessed of predictions that no scorer has seen.
_ANY = ("accuracy", "f1", "macro_f1", "auc")


def estimator_name(estimator: Any) -> str:
    """The class of an estimator, with what it searches or wraps, and of a pipeline the last step."""
    from sklearn.pipeline import Pipeline

    names = []
    while True:
        if isinstance(estimator, Pipeline):
            last = estimator.steps[-1][1]
            if last is not None and not isinstance(last, str):
                estimator = last
                continue
        names.append(type(estimator).__name__)
        parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
        inner = next((parameters[key] for key in _WRAPPED if parameters.get(key) is not None), None)
        if inner is None or isinstance(inner, str) or len(names) > 3:
            return "-".join(names)
        estimator = inner


def scored_metrics(scorer: Any) -> tuple[str, ...]:
    """The metrics that a scorer prints, by our names."""
    if scorer is None:
        return _ANY
    scorers = getattr(scorer, "_scorers", None) or {"score": scorer}
    found = [name for key, one in scorers.items() if (name := _metric(key, one))]
    return tuple(dict.fromkeys(found)) or _ANY


def _metric(key: str, scorer: Any) -> str | None:
    function = getattr(scorer, "_score_func", None)
    if function is None:
        metric = find_metric(key)
        return "accuracy" if type(scorer).__name__ == "_PassthroughScorer" else metric.name if metric else None
    name = getattr(function, "__name__", "").removesuffix("_score")
    average = getattr(scorer, "_kwargs", {}).get("average")
    metric = find_metric(f"{average}_{name}") if average in ("macro", "micro", "weighted") else find_metric(name)
    return metric.name if metric else None
