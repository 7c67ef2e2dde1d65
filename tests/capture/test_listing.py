"""The manifest of a capture: written anew, but never over somebody's work."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from pytest_cvaudit import InputError, audit, capture, load_manifest
from pytest_cvaudit.cli import main
from pytest_cvaudit.manifest import experiments

NEAR, TREE = KNeighborsClassifier(), DecisionTreeClassifier(random_state=0)


def captured_in(folder, *models, data, cv=3):
    with capture(folder) as found:
        for model in models:
            cross_val_score(model, *data, cv=cv)
    return found


def test_check_works_at_once(tmp_path, cancer, capsys):
    captured_in(tmp_path, NEAR, TREE, data=cancer)
    assert main(["check", str(tmp_path)]) == 0
    assert "2 experiments: no findings" in capsys.readouterr().out


def test_a_second_run_replaces_the_first(tmp_path, cancer):
    captured_in(tmp_path, NEAR, TREE, data=cancer)
    first = (tmp_path / "cvaudit.yaml").read_text()
    captured_in(tmp_path, NEAR, TREE, data=cancer)
    assert (tmp_path / "cvaudit.yaml").read_text() == first
    captured_in(tmp_path, NEAR, data=cancer, cv=4)
    (only,) = experiments(load_manifest(tmp_path / "cvaudit.yaml"))
    assert len(only.cells) == 4


def test_claims(tmp_path, cancer):
    with capture(tmp_path) as found:
        with pytest.raises(InputError, match="no cross-validation was captured yet"):
            found.claim("f1", "0.90")
        scores = cross_val_score(NEAR, *cancer, scoring="f1", cv=4)
        found.claim("f1", f"{scores.mean():.4f}", aggregation="avg")
        cross_val_score(TREE, *cancer, cv=4)
        found.claim("accuracy", "0.80", experiment="test_listing-KNeighborsClassifier-1")
        with pytest.raises(InputError, match="'other', which was not captured"):
            found.claim("f1", "0.90", experiment="other")
        with pytest.raises(InputError, match="unknown metric"):
            found.claim("goodness", "0.90")
    near, tree = experiments(load_manifest(tmp_path / "cvaudit.yaml"))
    assert [str(claim) for claim in near.claims] == [f"f1 = {scores.mean():.4f}", "accuracy = 0.80"]
    assert near.claims[0].aggregation == "avg"
    assert not tree.claims
    assert audit([near]).audited[0].attributions[0].matches == ("avg",)


def test_claims_of_an_earlier_run_are_not_held_against_one_that_is_killed(tmp_path, cancer):
    with capture(tmp_path) as found:
        cross_val_score(NEAR, *cancer, cv=3)
        found.claim("accuracy", "0.123")
    assert (tmp_path / "cvaudit.yaml").exists()
    with capture(tmp_path):
        cross_val_score(NEAR, *cancer, cv=4)
        # What a kill would leave now is read without the claims of before.
        assert not (tmp_path / "cvaudit.yaml").exists()
        assert main(["check", str(tmp_path)]) == 0


@pytest.mark.parametrize("search", [False, True])
def test_claims_of_weighted_scores_are_not_checked(tmp_path, cancer, search):
    X, y = cancer
    weights = np.linspace(0, 5, len(y)) ** 3
    with config_context(enable_metadata_routing=True), capture(tmp_path) as found:
        weighted = make_scorer(f1_score).set_score_request(sample_weight=True)
        model = DecisionTreeClassifier(random_state=0, max_depth=2).set_fit_request(sample_weight=False)
        if search:
            grid = GridSearchCV(model, {"max_depth": [1, 2]}, scoring=weighted, cv=4)
            score = grid.fit(X, y, sample_weight=weights).best_score_
        else:
            score = cross_val_score(model, X, y, scoring=weighted, cv=4, params={"sample_weight": weights}).mean()
        found.claim("f1", f"{score:.6f}")
    (only,) = experiments(load_manifest(tmp_path / "cvaudit.yaml"))
    assert len(only.cells) == 4 and not only.claims
    assert "# claimed, but it cannot be checked: " in (tmp_path / "cvaudit.yaml").read_text()
    assert found.summary()[1].startswith(f"claims not checked: {only.name}: scored with sample weights")


def test_an_edited_manifest_is_kept(tmp_path, cancer):
    captured_in(tmp_path, NEAR, data=cancer)
    path = tmp_path / "cvaudit.yaml"
    edited = path.read_text() + "    claims: [accuracy = 0.90]\n"
    path.write_text(edited)
    found = captured_in(tmp_path, NEAR, data=cancer)
    assert path.read_text() == edited
    assert len(found.summary()) == 1
    found = captured_in(tmp_path, NEAR, TREE, data=cancer)
    assert path.read_text() == edited
    assert "was edited and is kept; it does not list test_listing-DecisionTreeClassifier-1" in found.summary()[1]
    assert len(load_manifest(tmp_path / "cvaudit.yaml").experiments) == 1
    assert "DecisionTreeClassifier" in (tmp_path / "cvaudit.yaml.new").read_text()


def test_a_manifest_of_somebody_is_refused(tmp_path, cancer):
    (tmp_path / "cvaudit.yaml").write_text("experiments: []\n")
    with pytest.raises(InputError, match="not written by capture"):
        captured_in(tmp_path, NEAR, data=cancer)
    assert (tmp_path / "cvaudit.yaml").read_text() == "experiments: []\n"


def test_nothing_captured_leaves_nothing(tmp_path):
    captured_in(tmp_path / "runs", data=())
    assert not (tmp_path / "runs").exists()
