"""Loading a manifest: what it says comes back typed, with the digits as written, or as one clear line."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import load_manifest
from pytest_cvaudit.model import Location, metric

from .corpus import BREAKS_SCHEMA, BREAKS_SENSE, DESIGN, GOOD, NOT_YAML, Load, experiment

BAD = {**BREAKS_SCHEMA, **BREAKS_SENSE, **NOT_YAML}


def test_the_example_of_the_design(load: Load) -> None:
    manifest = load(DESIGN)
    svm, nb = manifest.experiments
    assert (manifest.path, manifest.standard) == ("cvaudit.yaml", "forman-scholz")
    assert (svm.name, svm.location) == ("re0-svm", Location("cvaudit.yaml", 3))
    assert svm.log is not None
    assert (svm.log.paths, svm.log.base, svm.log.location.line) == (("folds.csv",), Path.cwd(), 4)
    assert (svm.protocol.positive, svm.protocol.folds, svm.protocol.stratified) == ("1", 4, True)
    assert [str(entry.claim) for entry in svm.claims] == ["f1 = 0.69", "auc = 92%"]
    auc = svm.claims[1].claim
    assert (auc.aggregation, auc.where, auc.line) == ("avg", "Table 3", 10)
    assert (nb.log, nb.claims) == (None, ())
    (comparison,) = manifest.comparisons
    assert (comparison.better, comparison.than, comparison.by) == ("re0-svm", "re0-nb", metric("f1"))
    (suppression,) = manifest.suppressions
    assert (suppression.rule, suppression.experiment, suppression.path) == ("CV110", "re0-*", "*")
    assert (suppression.reason, suppression.until) == ("rare class, agreed in the protocol", date(2027, 1, 1))
    assert suppression.location == Location("cvaudit.yaml", 15)


@pytest.mark.parametrize("name", GOOD)
def test_good_manifests_load(load: Load, name: str) -> None:
    assert load(GOOD[name]).experiments


@pytest.mark.parametrize("name", BAD)
def test_bad_manifests_give_one_line_with_its_place(load: Load, name: str) -> None:
    text, line, fragment = BAD[name]
    with pytest.raises(InputError) as caught:
        load(text)
    assert fragment in caught.value.message
    assert (caught.value.path, caught.value.line) == ("cvaudit.yaml", line)
    assert len(str(caught.value).splitlines()) == 1


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.cvaudit.yaml").write_bytes(b"experiments:\n  - name: caf\xe9\n")
    with pytest.raises(InputError, match=r"^latin.cvaudit.yaml:2: not UTF-8 text: byte 0xe9$"):
        load_manifest(Path("latin.cvaudit.yaml"))
    with pytest.raises(InputError, match=r"^missing/cvaudit.yaml: cannot be read: No such file"):
        load_manifest(tmp_path / "missing" / "cvaudit.yaml")
    with pytest.raises(InputError, match=r"cannot be read: Is a directory"):
        load_manifest(tmp_path)


def test_every_protocol_key_arrives(load: Load) -> None:
    manifest = load(
        experiment(
            "positive: yes", "folds: 10", "repeats: 2.0", "instances: 1000", "positives: 1e2", "stratified: yes",
            "calibrated: no", "labels: {yes: 0.25, 7: 30}", "group: patient",
        )
    )  # fmt: skip
    protocol = manifest.experiments[0].protocol
    assert (protocol.positive, protocol.group) == ("yes", "patient")
    assert (protocol.folds, protocol.repeats, protocol.instances, protocol.positives) == (10, 2, 1000, 100)
    assert (protocol.stratified, protocol.calibrated) == (True, False)
    assert (protocol.labels, protocol.frequencies) == (("yes", "7"), {"yes": 0.25, "7": 30.0})


def test_every_reading_key_arrives(load: Load) -> None:
    log = load(
        experiment(
            "log: [a.csv, 'b/*.csv']", "columns: {truth: y}", "by: [disease, gene]", "select: {model: 07}",
            "threshold: 1e-3", 'separator: "\\t"',
        )
    ).experiments[0].log  # fmt: skip
    assert log is not None
    assert (log.paths, log.by) == (("a.csv", "b/*.csv"), ("disease", "gene"))
    assert (log.columns, log.select) == ({"truth": "y"}, {"model": "07"})
    assert (log.threshold, log.separator) == (0.001, "\t")


def test_an_inline_table_keeps_its_text(load: Load) -> None:
    log = load(experiment("table: |", "  fold,tp", "  1,2")).experiments[0].log
    assert log is not None
    assert (log.table, log.paths) == ("fold,tp\n1,2\n", ())


def test_null_is_absent(load: Load) -> None:
    manifest = load(GOOD["null is absent"])
    spec = manifest.experiments[0]
    assert (manifest.standard, spec.log, spec.protocol.folds, spec.claims) == (None, None, None, ())


def test_labels_keep_what_was_written(load: Load) -> None:
    assert load(experiment("labels: [1, 0.50, no, x]")).experiments[0].protocol.labels == ("1", "0.50", "no", "x")


def test_merged_keys_are_shared_and_can_be_replaced(load: Load) -> None:
    first, second, third = load(GOOD["merge list"]).experiments
    assert (first.protocol.folds, second.protocol.repeats) == (4, 2)
    assert (third.name, third.protocol.folds, third.protocol.repeats) == ("c", 4, 2)


def test_where_of_the_experiment_stands_for_its_claims(load: Load) -> None:
    manifest = load(
        experiment("where: Table 3", "claims:", "  - f1 = 1", "  - auc: 1", "  - {metric: f1, value: 1, where: text}")
    )
    assert [entry.claim.where for entry in manifest.experiments[0].claims] == ["Table 3", "Table 3", "text"]


def test_k_of_precision_at_k(load: Load) -> None:
    manifest = load(experiment("claims:", "  - {metric: precision_at_k, value: 0.5, k: 10}", "  - precision@20 = 0.50"))
    assert [entry.claim.name for entry in manifest.experiments[0].claims] == ["precision_at_10", "precision_at_20"]


def test_parts_are_named_by_text_or_by_columns(load: Load) -> None:
    manifest = load(
        experiment(
            "log: x", "by: [disease, gene]", "claims:", "  - {metric: f1, value: 1, for: ACC/TP53}",
            "  - {metric: f1, value: 1, for: {gene: TP53, disease: ACC}}", "  - f1 = 1",
        )
    )  # fmt: skip
    assert [entry.part for entry in manifest.experiments[0].claims] == ["ACC/TP53", "ACC/TP53", None]


def test_a_comparison_can_name_a_part(load: Load) -> None:
    manifest = load(
        experiment("log: x", "by: gene") + "comparisons:\n  - {better: 'a/TP53', than: 'a/KRAS', by: f1, where: p2}\n"
    )
    assert [(pair.better, pair.than, pair.where) for pair in manifest.comparisons] == [("a/TP53", "a/KRAS", "p2")]


numbers = st.from_regex(r"\A\+?([0-9]{1,3}(\.[0-9]{0,4})?|\.[0-9]{1,4})([eE][+-]?[0-9])?\Z")
spreads = st.tuples(
    st.sampled_from([" ± ", "±", " +/- ", " (± ", " (+/- ", "+-", r" \pm "]), numbers, st.sampled_from(["", "%", " %"])
).map(lambda parts: "".join(parts) + (")" if "(" in parts[0] else ""))
printed = st.builds("".join, st.tuples(numbers, st.sampled_from(["", "%", " %"]), st.one_of(st.just(""), spreads)))


@given(text=printed)
def test_any_printed_text_comes_back_as_written(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "digits.cvaudit.yaml"
    quoted = yaml.safe_dump(text).splitlines()[0]
    claims = [f"log_loss = {text}", f"log_loss: {text}", f"log_loss: {quoted}", f"{{metric: log_loss, value: {text}}}"]
    path.write_text(experiment("claims:", *(f"  - {claim}" for claim in claims)), encoding="utf-8")
    assert [entry.claim.printed.text for entry in load_manifest(path).experiments[0].claims] == [text] * 4


def test_loading_needs_neither_numpy_nor_pandas() -> None:
    code = "import sys, pytest_cvaudit.manifest; print(sorted({'numpy', 'pandas'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
