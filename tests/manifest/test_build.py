"""Experiments from manifests and logs: who gets which claims, and what an unreadable log does."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import LogSource, experiment_from_log, experiments
from pytest_cvaudit.model import Evidence, Location, Protocol
from pytest_cvaudit.readers import LogSpec

from .corpus import Load, experiment

SPLIT = """\
disease,gene,fold,tp,fp,fn,tn
ACC,TP53,1,3,1,1,5
ACC,TP53,2,2,2,1,5
BRCA,PTEN,1,1,1,1,7
BRCA,PTEN,2,4,0,1,5
"""


def split(*claims: str) -> str:
    """Write a manifest whose log is split by disease and gene; the claims start in line 6."""
    return experiment("log: split.csv", "by: [disease, gene]", "claims:", *(f"  - {claim}" for claim in claims))


@pytest.fixture
def load_split(load: Load) -> Load:
    """Return the loader of manifests, with the log next to them."""
    Path("split.csv").write_text(SPLIT, encoding="utf-8")
    return load


def test_a_log_becomes_evidence(load_split: Load) -> None:
    Path("folds.csv").write_text("fold,tp,fp,fn,tn\n1,3,1,1,5\n2,2,2,1,5\n", encoding="utf-8")
    (found,) = experiments(load_split(experiment("log: folds.csv", "folds: 2", "claims: [f1 = 0.67]")))
    assert (found.name, found.evidence, len(found.cells)) == ("a", Evidence.COUNTS, 2)
    assert (found.protocol.folds, [str(claim) for claim in found.claims]) == (2, ["f1 = 0.67"])
    assert (found.location, found.problem) == (Location("cvaudit.yaml", 2), None)
    assert [Path(file).name for file in found.log] == ["folds.csv"]


def test_a_log_is_looked_for_next_to_its_manifest(load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Path("folds.csv").write_text("fold,tp,fp,fn,tn\n1,3,1,1,5\n", encoding="utf-8")
    manifest = load(experiment("log: folds.csv"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert experiments(manifest)[0].evidence is Evidence.COUNTS


def test_an_inline_table_is_a_log(load: Load) -> None:
    (found,) = experiments(load(experiment("table: |", "  fold,tp,fp,fn,tn", "  1,3,1,1,5")))
    assert (found.evidence, found.problem) == (Evidence.COUNTS, None)


def test_an_error_in_an_inline_table_has_the_line_in_the_manifest(load: Load) -> None:
    (found,) = experiments(load(experiment("table: |", "  fold,tp,fp,fn,tn", "  1,3,1,1,5", "  2,x,1,1,5")))
    assert found.problem is not None
    assert (found.problem.path, found.problem.line) == ("cvaudit.yaml", 6)


def test_a_log_source_has_the_fields_of_the_readers() -> None:
    assert {part.name for part in fields(LogSource)} == {part.name for part in fields(LogSpec)}


def test_without_a_log_there_is_a_summary(load: Load) -> None:
    (found,) = experiments(load(experiment("folds: 5", "claims: [f1 = 0.6]")))
    assert (found.evidence, len(found.claims), found.problem) == (Evidence.SUMMARY, 1, None)


def test_an_unreadable_log_does_not_stop_the_others(load: Load) -> None:
    bad, good = experiments(load(experiment("log: nothing.csv", "claims: [f1 = 0.6]") + "  - name: b\n"))
    assert bad.problem is not None
    assert bad.problem.path
    assert "nothing.csv" in str(bad.problem)
    assert (bad.evidence, len(bad.claims)) == (Evidence.SUMMARY, 1)
    assert (good.name, good.problem) == ("b", None)


def test_each_part_takes_its_claims(load_split: Load) -> None:
    manifest = load_split(
        split("{metric: f1, value: 0.6, for: ACC/TP53}", "{metric: f1, value: 0.7, for: {gene: PTEN, disease: BRCA}}")
    )
    found = {part.name: [str(claim) for claim in part.claims] for part in experiments(manifest)}
    assert found == {"a/ACC/TP53": ["f1 = 0.6"], "a/BRCA/PTEN": ["f1 = 0.7"]}


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("f1 = 0.6", "claim 'f1 = 0.6' does not say which part of 'a' it is about; add 'for': ACC/TP53, BRCA/PTEN"),
        ("{metric: f1, value: 1, for: ACC/TP54}", "'a' has no part 'ACC/TP54'; did you mean 'ACC/TP53'?"),
        ("{metric: f1, value: 1, for: zzz}", "'a' has no part 'zzz' (it has ACC/TP53, BRCA/PTEN)"),
    ],
)
def test_a_claim_about_no_part(load_split: Load, claim: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        experiments(load_split(split("{metric: f1, value: 1, for: ACC/TP53}", claim)))
    assert str(caught.value) == f"cvaudit.yaml:7: {message}"


def test_only_a_few_parts_are_listed(load: Load) -> None:
    rows = "".join(f"g{number},1,1,1,1,1\n" for number in range(1, 8))
    Path("many.csv").write_text(f"gene,fold,tp,fp,fn,tn\n{rows}", encoding="utf-8")
    with pytest.raises(InputError, match=r"add 'for': g1, g2, g3, g4, g5, \.\.\.$"):
        experiments(load(experiment("log: many.csv", "by: gene", "claims: [f1 = 0.6]")))


def test_a_log_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("oof.csv").write_text("fold,y_true,y_pred\n1,1,1\n1,0,0\n2,1,0\n2,0,0\n", encoding="utf-8")
    (found,) = experiment_from_log(Path("oof.csv"), claims=["f1=0.69"], protocol=Protocol(positive="1", folds=2))
    assert (found.name, found.location, found.evidence) == ("oof", Location("oof.csv"), Evidence.PREDICTIONS)
    assert ([str(claim) for claim in found.claims], found.protocol.folds) == (["f1 = 0.69"], 2)


def test_a_log_alone_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (found,) = experiment_from_log(tmp_path / "oof.csv")
    assert found.problem is not None
    assert str(found.problem).startswith("oof.csv: ")


def test_a_log_alone_in_parts(load_split: Load) -> None:
    found = experiment_from_log(Path("split.csv"), by=["gene"], select={"disease": "ACC"})
    assert [part.name for part in found] == ["split/TP53"]
    with pytest.raises(InputError, match=r"^unknown metric"):
        experiment_from_log(Path("split.csv"), claims=["speed = 1"])


@pytest.mark.parametrize(("file", "name"), [("oof.csv.gz", "oof"), ("svm.v1.csv", "svm.v1"), ("results", "results")])
def test_a_log_alone_is_called_after_its_file(tmp_path: Path, file: str, name: str) -> None:
    (found,) = experiment_from_log(tmp_path / file)
    assert found.name == name


def test_a_comparison_of_parts(load_split: Load) -> None:
    comparison = "comparisons:\n  - {better: 'a/ACC/TP53', than: 'a/BRCA/PTEN', by: f1}\n"
    assert len(experiments(load_split(split() + comparison))) == 2
    with pytest.raises(InputError) as caught:
        experiments(load_split(split() + comparison.replace("TP53", "TP54")))
    message = "a comparison names no experiment: 'a/ACC/TP54'; did you mean 'a/ACC/TP53'?"
    assert str(caught.value) == f"cvaudit.yaml:7: {message}"
