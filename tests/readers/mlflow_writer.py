"""Writes cross-validations into a database and a folder store with MLflow's own client: ``mlflow_writer.py FOLDER``.

A process of its own, so that reading a local store is seen to need no MLflow, and MLflow's warnings stay out of pytest.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path

import numpy as np
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag
from mlflow.exceptions import MlflowException
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sqlalchemy import event
from sqlalchemy.engine import Engine

FOLDS = 5


@event.listens_for(Engine, "connect")
def without_waiting_for_the_disk(connection, _):
    """Most of the time would go into flushing every small commit."""
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = MEMORY")


def cross_validate():
    """Return the predictions and the scores of each fold."""
    x, y = load_breast_cancer(return_X_y=True)
    x = x[:, :3] + np.random.default_rng(0).normal(0, 3, (len(x), 3))
    folds = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(x, y):
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(x[train], y[train])
        folds.append((y[test], model.predict(x[test]), model.predict_proba(x[test])[:, 1]))
    return folds


class Writer:
    def __init__(self, uri):
        self.client = MlflowClient(uri)

    def experiment(self, name):
        return self.client.create_experiment(name)

    def run(self, experiment, name, metrics=None, params=None, parent=None, status="FINISHED", tags=None):
        tags = {**(tags or {}), **({"mlflow.parentRunId": parent} if parent else {})}
        run = self.client.create_run(experiment, run_name=name, tags=tags).info.run_id
        points = [
            Metric(key, float(value), 1_700_000_000_000 + step, step)
            for key, values in (metrics or {}).items()
            for step, value in enumerate(values if isinstance(values, list) else [values])
        ]
        said = [Param(key, str(value)) for key, value in (params or {}).items()]
        self.client.log_batch(run, points, said, [RunTag(key, value) for key, value in tags.items()])
        if status != "RUNNING":
            self.client.set_terminated(run, status)
        return run


def write(uri, folder):
    writer = Writer(uri)
    folds = cross_validate()
    f1 = [f1_score(y, guess) for y, guess, _ in folds]
    auc = [roc_auc_score(y, score) for y, _, score in folds]
    counts = [
        dict(zip(("tn", "fp", "fn", "tp"), confusion_matrix(y, g).ravel().tolist(), strict=True)) for y, g, _ in folds
    ]
    pooled = f1_score(*(np.concatenate(parts) for parts in list(zip(*folds, strict=True))[:2]))
    design = {"n_splits": FOLDS, "cv": "StratifiedKFold(n_splits=5, random_state=0, shuffle=True)"}
    known = {"f1": f1, "auc": auc, "pooled": pooled}

    def nested(name, parent_metrics, metrics_of, *, params=design, run_name="cv", experiment=None, child=None):
        """A parent with a child per fold; ``child`` may change how a fold's run is made."""
        where = experiment or writer.experiment(name)
        parent = writer.run(where, run_name, parent_metrics, params)
        for fold in range(FOLDS):
            options = {"name": f"fold_{fold}", "params": {"fold": fold}, "metrics": metrics_of(fold)}
            writer.run(where, parent=parent, **{**options, **(child(fold) if child else {})})
        known[name] = parent
        return where, parent

    # Summing in another order may differ in the last digit.
    nearly = np.nextafter(np.mean(f1), 1)
    nested(
        "nested",
        {"mean_f1": nearly, "f1_std": np.std(f1), "cv/auc_mean": np.mean(auc), "train_f1": 0.99, "best_f1": max(f1)},
        lambda fold: {"f1": f1[fold], "val/auc": auc[fold], "fit_time": 0.1},
    )
    nested("counts", {"f1": np.mean(f1)}, lambda fold: {**counts[fold]})
    nested("counts-pooled", {"f1": pooled}, lambda fold: {**counts[fold]}, params={})
    nested(
        "failed", {"f1": np.mean([*f1[:3], f1[4]])}, lambda fold: {"f1": f1[fold]},
        child=lambda fold: {"status": "FAILED", "metrics": {}} if fold == 3 else {},
    )  # fmt: skip
    nested(
        "failed-by-name", {}, lambda fold: {"f1": f1[fold]}, params={},
        child=lambda fold: {"name": f"fold-{fold + 1}", **({"status": "KILLED", "params": {}} if fold == 4 else {})},
    )  # fmt: skip
    nested(
        "running", {}, lambda fold: {"f1": f1[fold]},
        child=lambda fold: {"params": {}, **({"status": "RUNNING"} if fold == 4 else {})},
    )  # fmt: skip
    nested(
        "nan", {"roc_auc": np.mean(auc[1:]), "f1": math.nan},
        lambda fold: {"roc_auc": auc[fold] if fold else math.nan, "log_loss": math.inf if fold == 1 else 0.5},
    )  # fmt: skip
    nested("float32", {"f1": float(np.mean(f1, dtype=np.float32))}, lambda fold: {"f1": float(np.float32(f1[fold]))})
    nested("rounded", {"f1": round(float(np.mean(f1)), 3)}, lambda fold: {"f1": round(f1[fold], 2)})
    nested("percent", {"f1": 100 * np.mean(f1)}, lambda fold: {"f1": 100 * f1[fold]})
    nested("holdout", {"test_f1": 0.5, "val_f1": np.mean(f1)}, lambda fold: {"val_f1": f1[fold]})
    where, parent = nested("retried", {"f1": np.mean(f1)}, lambda fold: {"f1": f1[fold]})
    writer.run(where, "fold_2", {"f1": 0.1}, {"fold": 2}, parent, "FAILED")
    where, parent = nested("twice", {}, lambda fold: {"f1": f1[fold]})
    writer.run(where, "fold_2 again", {"f1": 0.1}, {"fold": 2}, parent)
    where, _ = nested("models", {"f1": np.mean(f1)}, lambda fold: {"f1": f1[fold]}, run_name="svm")
    nested(
        "models-nb", {"f1": 0.5}, lambda fold: {"f1": f1[fold]}, run_name="nb", experiment=where,
        child=lambda fold: {"status": "FAILED", "metrics": {}} if fold == 0 else {},
    )  # fmt: skip
    nested(
        "models-lost", {}, lambda fold: {}, run_name="lost", experiment=where, child=lambda fold: {"status": "KILLED"}
    )
    for name, params, status in (
        ("stopped", {"n_splits": FOLDS}, "FAILED"), ("stopped-anywhere", {}, "RUNNING"), ("done", design, "FAILED"),
    ):  # fmt: skip
        count = FOLDS if name == "done" else 3
        metrics = {f"fold_{fold}_f1": f1[fold] for fold in range(count)}
        writer.run(writer.experiment(name), "cv", metrics, params, status=status)
    where, _ = nested("mixed", {}, lambda fold: {**counts[fold]}, run_name="svm")
    nested("mixed-nb", {}, lambda fold: {"f1": f1[fold]}, run_name="nb", experiment=where)
    where, parent = nested("final", {}, lambda fold: {"f1": f1[fold]})
    writer.run(where, "refit on everything", {"f1": 0.99}, parent=parent)
    where = writer.experiment("unnumbered")
    parent = writer.run(where, "cv")
    for name in ("fold_0", "fold_3", "what"):
        writer.run(where, name, {"f1": 0.5}, parent=parent)
    for repeat in range(2):
        tags = {"repeat": str(repeat)}
        if repeat == 0:
            where, parent = nested(
                "repeats", {}, lambda fold: {"f1": f1[fold]}, child=lambda _, tags=tags: {"tags": tags}
            )
        else:
            for fold in range(FOLDS):
                writer.run(where, f"fold_{fold}", {"f1": f1[-fold]}, {"fold": fold}, parent, tags=tags)

    single = {
        "steps": ({"f1": f1, "mean_f1": np.mean(f1)}, {"n_splits": FOLDS}),
        "steps-per-fold": ({"f1_per_fold": f1, "loss": [1.0] * 30}, {}),
        "steps-epochs": ({"f1": f1, "mean_f1": np.mean(f1)}, {"n_splits": FOLDS, "epochs": 5}),
        "curve": ({"val_f1": [0.1 * n for n in range(9)], "loss": [0.5] * 9}, {"n_splits": FOLDS}),
        "names": (
            {f"fold_{i}_f1": value for i, value in enumerate(f1)}
            | {f"fold{i}/test-auc": value for i, value in enumerate(auc)}
            | {"cv_f1_mean": np.mean(f1), "cv_f1_std": np.std(f1, ddof=1)},
            design,
        ),
        "nothing": ({"loss": 0.5, "f1": 0.5}, {}),
    }
    for name, (metrics, params) in single.items():
        known[name] = writer.run(writer.experiment(name), name, metrics, params)

    oof = folder / "oof.csv"
    rows = [(i, *row) for i, fold in enumerate(folds) for row in zip(*(part.tolist() for part in fold), strict=True)]
    oof.write_text("fold,y_true,y_pred,y_score\n" + "".join(f"{','.join(map(repr, row))}\n" for row in rows))
    table = {"columns": ["fold", "y_true", "y_pred", "y_score"], "data": rows}
    (folder / "eval_results.json").write_text(json.dumps(table))
    for name, files in {"table": ["oof.csv"], "tables": ["oof.csv", "eval_results.json"]}.items():
        known[name] = run = writer.run(writer.experiment(name), name, {"f1": pooled}, {"n_splits": FOLDS})
        for file in files:
            writer.client.log_artifact(run, str(folder / file))
    known["log_table"] = run = writer.run(writer.experiment("log_table"), "log_table", {"f1": pooled})
    writer.client.log_table(
        run,
        {key: list(values) for key, values in zip(table["columns"], zip(*rows, strict=True), strict=True)},
        "eval_results.json",
    )
    where = writer.experiment("table-per-fold")
    known["table-per-fold"] = parent = writer.run(where, "cv", {"f1": pooled}, {"n_splits": FOLDS})
    for fold in range(FOLDS):
        status = "FAILED" if fold == 2 else "FINISHED"
        child = writer.run(where, f"fold_{fold}", {}, {"fold": fold}, parent, status)
        if fold != 2:
            path = folder / "predictions.csv"
            mine = [row for row in rows if row[0] == fold]
            path.write_text("y_true,y_pred\n" + "".join(f"{row[1]},{row[2]}\n" for row in mine))
            writer.client.log_artifact(child, str(path))
    return known


if __name__ == "__main__":
    for kind, uri in {"database": "sqlite:///{}/mlflow.db", "folder": "file://{}/mlruns"}.items():
        target = Path(sys.argv[1], kind)
        (target / "made").mkdir(parents=True)
        os.chdir(target)
        try:
            known = write(uri.format(target), target / "made")
        except MlflowException as error:
            if kind == "database" or "MLFLOW_ALLOW_FILE_STORE" not in str(error):
                raise
            known = None  # this MLflow writes no folder stores
        (target / "made" / "known.json").write_text(json.dumps(known))
