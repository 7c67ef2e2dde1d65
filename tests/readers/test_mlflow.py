"""MLflow stores that MLflow itself wrote: a database, a folder, and a tracking server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from pytest_cvaudit.engine import audit
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import experiments, load_manifest
from pytest_cvaudit.model import Cell, Protocol
from pytest_cvaudit.readers import LogSpec, read_log
from pytest_cvaudit.settings import load_settings

pytestmark = pytest.mark.skipif(find_spec("mlflow") is None, reason="mlflow is not installed")

#: No helper processes, no calls home, and folder stores where this version still writes them.
QUIET = {
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}
WRITER = Path(__file__).with_name("mlflow_writer.py")


@pytest.fixture(scope="session")
def stores(tmp_path_factory):
    """The folder with the stores that MLflow wrote, once for all workers of xdist."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "mlflow"
    try:
        folder.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + 300
        while not (folder / "done").exists():
            assert time.monotonic() < deadline, "the other worker did not write the stores"
            time.sleep(0.1)
    else:
        command = [sys.executable, "-W", "ignore", str(WRITER), str(folder)]
        done = subprocess.run(command, env={**os.environ, **QUIET}, capture_output=True, text=True, check=False)
        (folder / "done").write_text(done.stderr if done.returncode else "")
    assert not (folder / "done").read_text(), (folder / "done").read_text()
    return folder


def opened(folder):
    known = json.loads((folder / "made" / "known.json").read_text())
    if known is None:
        pytest.skip("this MLflow writes no folder stores")
    return folder, known


@pytest.fixture(scope="session")
def database(stores):
    return opened(stores / "database")


@pytest.fixture(scope="session")
def folder_store(stores):
    return opened(stores / "folder")


@pytest.fixture(params=["database", "folder_store"])
def store(request, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return request.getfixturevalue(request.param)


@pytest.fixture
def base(database, monkeypatch):
    """The folder of the database, for what does not depend on the kind of store."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return database[0]


def read(base, name, **options):
    logs = read_log(LogSpec(paths=(f"mlflow:{name}",), base=base, **options), Protocol())
    return logs[()] if list(logs) == [()] else logs


def values(log, metric):
    return [None if one is None else one.value for one in log.scores.values[metric]]


@pytest.fixture
def audited(base, tmp_path):
    """Audit an experiment through a manifest in another folder."""

    def run(name, **keys):
        log = f"mlflow:{name}?uri=sqlite:///{base}/mlflow.db"
        (tmp_path / "cvaudit.yaml").write_text(json.dumps({"experiments": [{"name": "e", "log": log, **keys}]}))
        return audit(experiments(load_manifest(tmp_path / "cvaudit.yaml")), load_settings())

    return run


def codes(result):
    return {finding.code for finding in result.findings}


def verdicts(result):
    assert result.audited[0].experiment.problem is None
    return [(str(one.claim.metric.name), one.verdict, one.matches) for one in result.audited[0].attributions]


def test_nested_runs_are_folds_and_the_parent_claims(store):
    folder, known = store
    log = read(folder, "nested")
    assert log.scores.cells == tuple(Cell(str(fold)) for fold in range(5))
    assert values(log, "f1") == pytest.approx(known["f1"], abs=1e-12)
    assert values(log, "auc") == pytest.approx(known["auc"], abs=1e-12)
    assert (log.protocol.folds, log.protocol.stratified) == (5, True)
    claims = {claim.metric.name: claim for claim in log.claims}
    assert set(claims) == {"f1", "auc"}  # neither train_f1 nor best_f1 is about the folds as a whole
    assert claims["f1"].printed.spread.value == pytest.approx(np.std(known["f1"]), abs=1e-12)
    assert "mean_f1" in claims["f1"].where
    assert not log.missing


def test_a_run_is_found_by_id_experiment_id_and_name(store):
    folder, known = store
    first = (
        "1" if (folder / "mlflow.db").is_file() else next((folder / "mlruns").glob(f"*/{known['nested']}")).parent.name
    )
    ways = [known["nested"], "nested/cv", first]
    assert {values(read(folder, way), "f1")[3] for way in ways} == {values(read(folder, "nested"), "f1")[3]}


def test_counts_as_metrics(store):
    folder, _ = store
    log = read(folder, "counts")
    assert log.counts.tn is not None
    assert (log.counts.tp + log.counts.fp + log.counts.fn + log.counts.tn)[:, 0].sum() == 569
    assert log.scores is None


def test_nan_metrics_are_seen(store):
    folder, known = store
    log = read(folder, "nan")
    assert values(log, "auc") == [None, *(pytest.approx(value, abs=1e-12) for value in known["auc"][1:])]
    assert [(one.cell.fold, one.what) for one in log.missing] == [("0", "auc is NaN"), ("1", "log_loss is undefined")]
    assert [claim.metric.name for claim in log.claims] == ["auc"]  # a NaN claims nothing


@pytest.mark.parametrize(
    ("name", "fold", "status"),
    [("failed", "3", "FAILED"), ("failed-by-name", "4", "KILLED"), ("running", "4", "RUNNING")],
)
def test_a_run_that_did_not_finish_is_a_missing_fold(store, name, fold, status):
    log = read(store[0], name)
    assert [one.cell.fold for one in log.missing] == [fold]
    assert f"is {status}" in log.missing[0].reason
    assert len(log.scores.cells) == 4


@pytest.mark.parametrize(
    ("name", "folds", "status"), [("stopped", ["3", "4"], "FAILED"), ("stopped-anywhere", ["after 2"], "RUNNING")]
)
def test_a_run_that_stopped_between_its_folds(store, name, folds, status):
    log = read(store[0], name)
    assert [cell.fold for cell in log.scores.cells] == ["0", "1", "2"]
    assert [(one.cell.fold, one.reason) for one in log.missing] == [(fold, f"run cv is {status}") for fold in folds]
    assert not read(store[0], "done").missing  # it failed after the last fold


def test_an_address_on_the_command_line(base, tmp_path):
    def cvaudit(*arguments):
        command = [sys.executable, "-m", "pytest_cvaudit", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)

    uri = f"uri=sqlite:///{base}/mlflow.db"
    fine = cvaudit("check", f"mlflow:nested?{uri}")
    assert (fine.returncode, fine.stderr) == (0, "")
    lost = cvaudit("check", f"mlflow:stopped?{uri}", "--fail-on", "warning")
    assert lost.returncode == 1
    assert "run cv is FAILED" in lost.stdout
    nothing = cvaudit("check", f"mlflow:no-such?{uri}")
    assert nothing.returncode == 2
    assert nothing.stderr.count("\n") == 1


def test_of_several_attempts_the_finished_one_counts(store):
    folder, known = store
    log = read(folder, "retried")
    assert values(log, "f1") == pytest.approx(known["f1"], abs=1e-12)
    assert not log.missing
    with pytest.raises(InputError, match=r"^mlflow:twice: fold '2' has two finished runs, 'fold_2' .*tag 'repeat'"):
        read(folder, "twice")


def test_a_run_without_a_fold(store):
    folder, known = store
    assert values(read(folder, "final"), "f1") == pytest.approx(known["f1"], abs=1e-12)
    with pytest.raises(InputError, match=r"run 'what' .* says no fold"):
        read(folder, "unnumbered")


def test_runs_that_log_different_things_are_not_mixed(store):
    folder, known = store
    with pytest.raises(InputError, match=r"some runs log counts and some, such as 'nb' .* do not"):
        read(folder, "mixed")
    assert read(folder, "mixed/svm").counts is not None
    assert read(folder, known["mixed-nb"]).scores is not None


def test_repeats(store):
    cells = read(store[0], "repeats").scores.cells
    assert {cell.repeat for cell in cells} == {"0", "1"}
    assert len(cells) == 10


def test_several_runs_are_several_experiments(store):
    logs = read(store[0], "models")
    assert set(logs) == {("svm",), ("nb",), ("lost",)}
    assert (logs["lost",].scores, len(logs["lost",].missing)) == (None, 5)
    assert [str(claim) for claim in logs["nb",].claims] == ["f1 = 0.5"]
    assert [one.cell.fold for one in logs["nb",].missing] == ["0"]
    assert not logs["svm",].missing


def test_metrics_named_after_folds(store):
    folder, known = store
    log = read(folder, "names")
    assert values(log, "f1") == pytest.approx(known["f1"], abs=1e-12)
    assert values(log, "auc") == pytest.approx(known["auc"], abs=1e-12)
    (claim,) = log.claims
    assert claim.printed.spread.value == pytest.approx(np.std(known["f1"], ddof=1), abs=1e-12)


@pytest.mark.parametrize("name", ["steps", "steps-per-fold", "steps-epochs?fold=step"])
def test_steps_as_folds(store, name):
    folder, known = store
    log = read(folder, name)
    assert values(log, "f1") == pytest.approx(known["f1"], abs=1e-12)
    assert len(log.claims) == (name != "steps-per-fold")


@pytest.mark.parametrize("name", ["curve", "steps-epochs"])
def test_training_curves_are_not_folds(store, name):
    with pytest.raises(InputError, match=r"steps, which may be folds or epochs; .* add \?fold=step"):
        read(store[0], name)


@pytest.mark.parametrize("name", ["table", "log_table", "tables/oof.csv", "tables/eval_results.json"])
def test_a_logged_table(store, name):
    folder, known = store
    log = read(folder, name)
    assert len(log.predictions.truth) == 569
    assert [claim.printed.value for claim in log.claims] == [pytest.approx(known["pooled"], abs=1e-12)]


def test_a_table_in_the_run_of_each_fold(store):
    for name in ("table-per-fold", "table-per-fold/predictions.csv"):
        log = read(store[0], name)
        assert [cell.fold for cell in log.predictions.cells] == ["0", "1", "3", "4"]
        assert [(one.cell.fold, one.what) for one in log.missing] == [("2", "there is no predictions.csv")]


def test_which_table_is_asked(store):
    folder, known = store
    with pytest.raises(InputError, match=rf"several tables .* 'mlflow:{known['tables']}/oof.csv'"):
        read(folder, "tables")
    with pytest.raises(InputError, match=r"no artifact 'oof.csf'; did you mean 'oof.csv'\?"):
        read(folder, "tables/oof.csf")


def test_the_digits_that_a_claim_has(base, database, audited):
    assert str(read(base, "rounded").claims[0]).split(" = ")[1] == f"{np.mean(database[1]['f1']):.3f}"
    assert len(read(base, "float32").claims[0].printed.text) == len("0.926864")
    assert read(base, "percent").claims[0].printed.percent
    for name in ("nested", "float32", "rounded", "percent", "steps", "names", "holdout"):
        assert all(verdict != "unexplained" for _, verdict, _ in verdicts(audited(name)))
        assert any("avg" in matches for _, _, matches in verdicts(audited(name))), name


def test_a_holdout_is_no_claim_about_the_folds(base, database):
    (claim,) = read(base, "holdout").claims
    assert claim.printed.value == pytest.approx(np.mean(database[1]["f1"]), abs=1e-12)


def test_verdicts(audited):
    assert verdicts(audited("counts")) == [("f1", "unique", ("avg",))]
    assert "CV201" in codes(audited("counts"))
    assert verdicts(audited("counts-pooled")) == [("f1", "unique", ("tp_fp",))]
    assert "CV201" not in codes(audited("counts-pooled"))
    assert verdicts(audited("table")) == [("f1", "unique", ("tp_fp",))]


def test_a_mean_without_the_failed_fold(audited):
    result = audited("failed")
    assert verdicts(result) == [("f1", "unique", ("avg_skip",))]
    messages = [finding.message for finding in result.findings if finding.code == "CV103"]
    assert any("fold 3 has no result" in message and "FAILED" in message for message in messages)
    assert any("mean over some of the 5 folds" in message for message in messages)
    assert any("auc is NaN" in finding.message for finding in audited("nan").findings)


def test_what_the_manifest_says_comes_first(audited):
    result = audited("nested", folds=10, claims=["f1 = 0.93"])
    assert [str(one.claim) for one in result.audited[0].attributions] == ["f1 = 0.93", "auc = 0.951236467036"]
    assert any("5 of 10 declared folds" in finding.message for finding in result.findings)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("nestde", r"no experiment or run 'nestde'; did you mean 'nested'\?"),
        ("nothing", r"no folds in 'nothing': .*metrics: 'f1', 'loss'"),
        ("nested?url=x", r"'\?url=x' is not understood"),
        ("", "name an experiment or a run"),
        ("0" * 32, "no experiment or run"),
        ("nested?uri=sqlite:///other.db", "no such file: other.db"),
        ("nested?uri=sqlite:///made/known.json", "known.json cannot be read as an MLflow database"),
        ("nested?uri=made", "no MLflow store: made"),
        ("nested?uri=nowhere", "no such folder: nowhere"),
    ],
)
def test_what_is_not_there(base, address, says):
    before = sorted(base.rglob("*"))
    with pytest.raises(InputError, match=says):
        read(base, address)
    assert sorted(base.rglob("*")) == before


def test_an_empty_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "mlflow.db"
    sqlite3.connect(path).close()
    path.touch()
    with pytest.raises(InputError, match=r"no MLflow database: mlflow.db has no table 'experiments'"):
        read(tmp_path, "nested?uri=mlflow.db")
    assert path.stat().st_size == 0


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("metrics/f1", b"1 high 0\n", r"metrics/f1, line 1, is no 'timestamp value step'"),
        ("params/fold", b"\xff", "not UTF-8"),
        ("meta.yaml", b"- 1\n", "is no MLflow description of a run"),
    ],
)
def test_damaged_folder_stores(folder_store, tmp_path, file, content, says):
    shutil.copytree(folder_store[0] / "mlruns", tmp_path / "mlruns")
    (one,) = (tmp_path / "mlruns").glob(f"*/{folder_store[1]['nested']}")
    run = next(path.parent for path in sorted(one.parent.glob("*/meta.yaml")) if path.parent != one)
    (run / file).write_bytes(content)
    with pytest.raises(InputError, match=says):
        read(tmp_path, "nested?uri=mlruns")


def test_where_the_store_is(database, tmp_path, monkeypatch):
    folder, known = database
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(InputError, match="where is the MLflow store"):
        read(tmp_path, "nested")
    shutil.copy(folder / "mlflow.db", tmp_path / "runs.db")
    before = (tmp_path / "runs.db").read_bytes()
    for uri in ("sqlite:///runs.db", "runs.db", f"sqlite:///{tmp_path}/runs.db", "file:runs.db"):
        assert values(read(tmp_path, f"nested?uri={uri}"), "f1") == pytest.approx(known["f1"], abs=1e-12)
    assert (tmp_path / "runs.db").read_bytes() == before
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/runs.db")
    assert len(read(tmp_path / "elsewhere", "nested").scores.cells) == 5


def test_two_stores_side_by_side_are_asked_about(database, folder_store, tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    shutil.copy(database[0] / "mlflow.db", tmp_path)
    (tmp_path / "mlruns").symlink_to(folder_store[0] / "mlruns")
    with pytest.raises(InputError, match=r"both mlflow.db and mlruns hold runs"):
        read(tmp_path, "nested")
    assert len(read(tmp_path, "nested?uri=mlruns").scores.cells) == 5


def test_local_stores_are_read_without_mlflow(base):
    code = (
        "import sys; sys.modules['mlflow'] = None\n"
        "from pathlib import Path; from pytest_cvaudit.model import Protocol\n"
        "from pytest_cvaudit.readers import LogSpec, read_log\n"
        "print(len(read_log(LogSpec(paths=('mlflow:nested',), base=Path(sys.argv[1])), Protocol())[()].scores.cells))\n"
        "read_log(LogSpec(paths=('mlflow:nested?uri=http://127.0.0.1:9',)), Protocol())"
    )
    done = subprocess.run([sys.executable, "-c", code, str(base)], capture_output=True, text=True, check=False)
    assert done.stdout == "5\n"
    assert done.stderr.splitlines()[-1].endswith("pip install 'pytest-cvaudit[mlflow]'")


@pytest.fixture(scope="module")
def server(database):
    """A real tracking server over the database."""
    folder, known = database
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-W", "ignore", "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
        "--workers", "1", "--backend-store-uri", f"sqlite:///{folder}/mlflow.db",
    ]  # fmt: skip
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **QUIET}, stdout=log, stderr=log, start_new_session=True
        )
    try:
        deadline = time.monotonic() + 120
        while not _answers(f"http://127.0.0.1:{port}/health"):
            assert process.poll() is None, (folder / "server.log").read_text()
            assert time.monotonic() < deadline, (folder / "server.log").read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}", known
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


def _answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.status == 200
    except OSError:
        return False


@pytest.mark.slow
def test_a_tracking_server(server, database, tmp_path):
    uri, known = server
    names = ["nested", "counts", "failed", "nan", "models", "steps", "names", "log_table", "table-per-fold"]
    names += [known["nested"], f"{known['tables']}/oof.csv"]
    reports = {}
    for where in (f"?uri={uri}", f"?uri=sqlite:///{database[0]}/mlflow.db"):
        manifest = tmp_path / "cvaudit.yaml"
        logs = [{"name": f"e{i}", "log": f"mlflow:{name}{where}"} for i, name in enumerate(names)]
        manifest.write_text(json.dumps({"experiments": logs}))
        command = [sys.executable, "-m", "pytest_cvaudit", "report", "--format", "json", str(manifest)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        reports[where] = done.stdout.replace(where, "")
    first, second = map(json.loads, reports.values())
    # Of two names each, two runs have folds, or had some that failed.
    assert len(first["experiments"]) == len(names) + 2
    for one, other in zip(first["experiments"], second["experiments"], strict=True):
        assert one == other


def test_a_server_that_does_not_answer(tmp_path):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        manifest = tmp_path / "cvaudit.yaml"
        log = f"mlflow:x?uri=http://127.0.0.1:{nobody.getsockname()[1]}"
        manifest.write_text(json.dumps({"experiments": [{"name": "e", "log": log}]}))
        command = [sys.executable, "-m", "pytest_cvaudit", "check", str(manifest)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "cannot be read" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
