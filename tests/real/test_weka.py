"""WEKA's files as others saved them."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_cvaudit.engine import audit
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Protocol, metric
from pytest_cvaudit.run import Options, audit_log


def test_experimenter_with_random_splits(real_logs):
    found = audit(experiment_from_log(real_logs / "weka/results.arff"))
    assert [one.experiment.name.partition("/")[2] for one in found.audited] == [
        f"{data}/weka.classifiers.{scheme}"
        for scheme in ("trees.J48", "bayes.NaiveBayes")
        for data in ("labor-neg-data", "soybean", "vote")
    ]
    assert found.findings == []
    for one in found.audited:
        assert len(one.experiment.cells) == 10
        whole = "soybean" not in one.experiment.name
        assert (one.experiment.counts.tn is not None) == whole
        accuracy = one.aggregates.of(metric("accuracy")).values["avg"].value
        logged = _column(real_logs, one.experiment.name, "Percent_correct")
        assert accuracy == pytest.approx(np.mean(logged) / 100, abs=1e-8)
        # WEKA counts an undefined F as zero, and so does avg.
        f1 = one.aggregates.of(metric("f1"))
        assert f1.values["avg"].value == pytest.approx(
            np.mean(_column(real_logs, one.experiment.name, "F_measure")), abs=1e-6
        )


def _column(real_logs, name, column):
    lines = (real_logs / "weka/results.arff").read_text().splitlines()
    names = [line.split()[1] for line in lines if line.startswith("@attribute")]
    rows = [line.split(",") for line in lines[lines.index("@data") + 1 :] if line]
    _, data, scheme = name.split("/")
    return [float(row[names.index(column)]) for row in rows if (row[0], row[2]) == (data, scheme)]


def test_predictions_of_one_test_set_ask_for_the_fold(real_logs):
    path = real_logs / "weka/mcnemar-vote-j48.csv"
    with pytest.raises(InputError, match=r"no fold column.*'test_set'"):
        audit_log(path, Options())
    options = Options(columns={"fold": "test_set"}, protocol=Protocol(positive="republican"))
    (one,) = audit_log(path, options).audited
    rows = one.experiment.predictions
    assert (rows.labels, len(rows.truth)) == (("democrat", "republican"), 148)
    assert [one.aggregates.tallies.counts.tp.sum(axis=0).tolist()] == [[88, 52]]
    # The probability in the file is of the predicted class; here it is of the positive one.
    assert ((rows.scores["republican"] >= 0.5) == (rows.predicted == 1)).all()
