"""OpenML runs with the server's evaluations beside them: which aggregation each evaluation is."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from pytest_cvaudit.engine import audit
from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Claim, Severity, metric

#: Of every run: what the server prints is from the totals, and merged.
POOLED = re.compile(r"(pooled|tp_fp|merge)(_all)?(@test)?")


@pytest.fixture
def audited(real_logs):
    def run(number, *claims, **protocol):
        (one,) = experiment_from_log(real_logs / f"openml/run_{number}/predictions.arff", claims=claims)
        return audit([replace(one, protocol=replace(one.protocol, **protocol))]).audited[0]

    return run


def of(one, name):
    return next(attribution for attribution in one.attributions if attribution.claim.name == name)


@pytest.mark.parametrize(("run", "claims"), [(219, 18), (222, 18), (1, 30)])
def test_the_server_pools_and_merges_and_nobody_is_accused(audited, run, claims):
    one = audited(run)
    assert len(one.attributions) == claims
    unknown = [a for a in one.attributions if a.claim.name in ("precision[B]", "precision[-2]")]
    for attribution in one.attributions:
        assert attribution in unknown or any(map(POOLED.fullmatch, attribution.matches)), attribution.claim
    assert [finding.message for finding in one.findings if finding.severity is Severity.ERROR] == []


def test_run_219_is_near_the_averages(audited):
    one = audited(219)
    assert (len(one.experiment.cells), one.aggregates.tallies.n.sum()) == (10, 625)
    assert of(one, "weighted_f1").matches == ("tp_fp@test",)
    assert of(one, "weighted_auc").matches == ("merge",)
    assert of(one, "weighted_auc").delta == pytest.approx(0, abs=1e-3)
    assert {finding.code for finding in one.findings if finding.severity is Severity.WARNING} == {"CV305", "CV501"}


def test_run_222_is_merged_over_all_cells(audited):
    one = audited(222)
    assert (len(one.experiment.cells), one.experiment.protocol.instances) == (10, 625)
    auc = of(one, "weighted_auc")
    assert (str(auc.claim.printed), auc.matches) == ("0.811298", ("merge_all",))
    assert auc.table.values["avg"].value == pytest.approx(0.8007, abs=5e-5)
    assert of(one, "weighted_f1").matches == ("tp_fp_all@test",)
    assert [of(one, f"auc[{label}]").matches for label in "LBR"] == [("merge_all",)] * 3


@pytest.mark.parametrize("run", [219, 222])
def test_each_fold_is_what_the_server_found_in_it(audited, real_logs, run):
    one = audited(run)
    names = {"area_under_roc_curve": "weighted_auc", "f_measure": "weighted_f1", "kappa": "kappa"}
    root = ElementTree.parse(real_logs / f"openml/run_{run}/run.xml").getroot()
    seen = 0
    for element in root.iter("{http://openml.org/openml}evaluation"):
        inner = {part.tag.partition("}")[2]: part.text for part in element}
        if "fold" not in element.attrib or inner["name"] not in names:
            continue
        name = names[inner["name"]]
        table = one.aggregates.of(metric(name))
        (at,) = (
            i for i, c in enumerate(table.cells) if (c.repeat, c.fold) == (element.get("repeat"), element.get("fold"))
        )
        per_fold = table.per_fold_of["avg@fold"] if name == "weighted_f1" else table.per_fold
        assert per_fold.value[at] == pytest.approx(float(inner["value"]), abs=1e-6)
        seen += 1
    assert seen == 30


def test_run_1_is_the_last_sample_and_depends_on_the_label_set(audited):
    one = audited(1, "macro_f1 = 0.531")
    assert (len(one.experiment.cells), len(one.experiment.predictions.truth)) == (100, 2050)
    assert (one.experiment.protocol.instances, of(one, "macro_f1").matches) == (205, ("avg@fold",))
    assert str(of(one, "weighted_f1").claim.printed) == "0.600026"
    # Six decimals of the scores are logged: ties leave the merged area and the mean open.
    assert "merge_all" in of(one, "weighted_auc").matches
    assert not any(claim.label == "-3" for claim in one.experiment.claims)
    values = of(one, "macro_f1").table.values
    found = [values[name].value for name in ("avg@fold", "avg@train", "tp_fp_all@train")]
    assert np.round(found, 3).tolist() == [0.531, 0.399, 0.417]
    assert [finding.claim for finding in one.findings if finding.code == "CV401"] == ["macro_f1 = 0.531"]
    absent = {finding.label: finding.message for finding in one.findings if finding.code == "CV101"}
    assert "any of the 100 folds" in absent["-3"]
    assert "70 of 100 folds" in absent["-2"]


def test_what_the_user_claims_comes_before_the_run(audited):
    one = audited(219, "accuracy = 0.79")
    assert [str(claim) for claim in one.experiment.claims if claim.name == "accuracy"] == [
        str(Claim.parse("accuracy = 0.79"))
    ]
