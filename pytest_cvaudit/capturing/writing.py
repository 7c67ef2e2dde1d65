"""From captured folds to a recording on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cvaudit.recorder import Recorder

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_cvaudit.capturing.evidence import Captured


def write_log(path: Path, found: Captured) -> None:
    """Record every fold; a recording of the same name, from an earlier capture, is replaced."""
    design, truth = found.design, found.truth
    classes = found.classes.tolist()
    with Recorder(path, overwrite=True, durable=False, progress=False) as recorder:
        positive = {} if found.positive is None else {"positive": found.positive}
        recorder.protocol(splitter=design.splitter, **design.declared, **positive)
        for fold in found.folds:
            name = {"fold": fold.cell.fold, "repeat": fold.cell.repeat}
            if fold.reason is not None:
                recorder.skip(fold.reason, **name)
                continue
            recorder.fold(
                truth[fold.test], fold.predicted, fold.scores, train=fold.train, test=fold.test,
                y_train=truth[fold.train], classes=None if fold.scores is None else classes, **name,
            )  # fmt: skip
