"""WEKA itself: it cross-validates, prints its F and AUC, and the audit says how it made them.

Needs Java and a WEKA: Debian's, the one inside ``python-weka-wrapper3``, or the jar that CVAUDIT_WEKA_JAR names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from pytest_cvaudit.engine import audit
from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Severity

pytestmark = pytest.mark.slow

PRINT = "weka.classifiers.evaluation.output.prediction"
SCHEME = "weka.classifiers.bayes.NaiveBayes"


def wrapped() -> Path | None:
    """The jar inside python-weka-wrapper3, which need not be importable."""
    found = find_spec("weka")
    folders = [] if found is None else found.submodule_search_locations or []
    return next((jar for folder in folders if (jar := Path(folder) / "lib" / "weka.jar").is_file()), None)


JARS = {
    "debian": Path("/usr/share/java/weka.jar"),
    "wrapper": wrapped() or Path("weka.jar of python-weka-wrapper3"),
}
if named := os.environ.get("CVAUDIT_WEKA_JAR"):
    JARS["named"] = Path(named)


@pytest.fixture(scope="module", params=JARS)
def weka(request, tmp_path_factory):
    """Run a class of one of the WEKAs, and return what it prints."""
    jar = JARS[request.param]
    if not shutil.which("java"):
        pytest.skip("no Java: WEKA itself was not tried (install default-jre-headless)")
    if not jar.is_file():
        pytest.skip(f"this WEKA was not tried: {jar} is not there (make weka installs Debian's and the wrapper's)")
    # Newer ones need the jars beside theirs; what they keep at home must not be the user's.
    path = os.pathsep.join(map(str, [jar, *sorted(jar.parent.glob("*.jar"))] if request.param == "wrapper" else [jar]))
    home = tmp_path_factory.mktemp("weka")

    def run(*command: str) -> str:
        done = subprocess.run(
            ["java", f"-Duser.home={home}", "-cp", path, *command],
            cwd=home, env={**os.environ, "WEKA_HOME": str(home)}, capture_output=True, text=True, check=False,
            timeout=300,
        )  # fmt: skip
        assert "Exception in thread" not in done.stderr, done.stderr
        return done.stdout

    # Before 3.7 the printing of predictions had options of its own.
    with ZipFile(jar) as classes:
        run.old = f"{PRINT.replace('.', '/')}/CSV.class" not in classes.namelist()
    run.home = home
    return run


def data(folder: Path, name: str, labels: tuple[str, ...], shift: float = 0.7) -> str:
    """Write instances whose classes overlap; the first class is rare."""
    rng = np.random.default_rng(len(labels))
    truth = rng.choice(len(labels), 200, p=np.arange(1, len(labels) + 1) / np.arange(1, len(labels) + 1).sum())
    values = rng.normal(size=(200, 3)) + shift * truth[:, None] * [1, 0.5, 0]
    quoted = [f"'{label}'" if " " in label else label for label in labels]
    lines = [f"@relation {name}", "@attribute id numeric", *(f"@attribute x{i} numeric" for i in range(3))]
    lines += [f"@attribute class {{{','.join(quoted)}}}", "@data"]
    lines += [
        f"{i},{','.join(f'{v:.4f}' for v in row)},{quoted[code]}"
        for i, (row, code) in enumerate(zip(values, truth, strict=True))
    ]
    (folder / f"{name}.arff").write_text("\n".join(lines) + "\n")
    return f"{name}.arff"


TWO, THREE = ("bad", "good"), ("a", "b b", "c")


def audited(path: Path, *claims: str, **options):
    (one,) = audit(experiment_from_log(path, claims=claims, **options)).audited
    assert one.experiment.problem is None
    return one


@pytest.mark.parametrize(("name", "labels"), [("two", TWO), ("three", THREE)])
@pytest.mark.parametrize("how", ["PlainText -distribution", "CSV -distribution", "PlainText -p first", "CSV -p first"])
def test_what_the_evaluation_prints_is_pooled_and_merged(weka, name, labels, how):
    train = data(weka.home, name, labels)
    if weka.old:
        asked = ["-p", "1" if "first" in how else "0", *["-distribution"] * ("distribution" in how)]
    else:
        asked = ["-classifications", f"{PRINT}.{how}"]
    predictions = weka(SCHEME, "-t", train, "-x", "10", *asked)
    printed = weka(SCHEME, "-t", train, "-x", "10", *["-i"] * weka.old)
    log = weka.home / f"{name}.{'csv' if 'CSV' in how else 'txt'}"
    log.write_text(predictions + printed[printed.index("=== Stratified cross-validation") :])
    one = audited(log)
    assert (len(one.experiment.cells), len(one.experiment.predictions.truth)) == (10, 200)
    if "first" in how:
        assert sorted(map(int, one.experiment.predictions.ids)) == list(range(200))
    assert len(one.attributions) == 2 + 4 * (len(labels) + 1)
    scored = bool(one.experiment.predictions.scores)
    assert scored == (labels is TWO or "distribution" in how)
    for attribution in one.attributions:
        claim = attribution.claim
        if "auc" in claim.name:
            assert ("merge" in attribution.matches) == scored, claim
        else:
            assert {"pooled", "tp_fp", "tp_fp@test"} & {*attribution.matches}, claim
    assert [finding.message for finding in one.findings if finding.severity is Severity.ERROR] == []


def experiment(weka, kind: str, producer: str, *datasets: str) -> Path:
    listener = {"arff": "InstancesResultListener", "csv": "CSVResultListener"}[kind]
    out = weka.home / f"results-{producer.split()[0]}.{kind}"
    weka(
        "weka.experiment.Experiment", "-r", "-L", "1", "-U", "3", *(part for name in datasets for part in ("-T", name)),
        "-D", f"weka.experiment.{listener} -O {out}",
        "-P", f"weka.experiment.{producer.split()[0]}", "--", *producer.split()[1:],
        "-W", "weka.experiment.ClassifierSplitEvaluator", "--", "-W", SCHEME,
    )  # fmt: skip
    return out


def means(weka, results: Path, column: str) -> dict[str, str]:
    """What the Experimenter's analysis prints of a column, by data set."""
    names = re.findall(r"@attribute (\S+)", results.read_text())
    digits = (
        [] if weka.old else ["-result-matrix", "weka.experiment.ResultMatrixPlainText -mean-prec 6 -print-row-names"]
    )
    shown = weka(
        "weka.experiment.PairedCorrectedTTester", "-t", str(results), "-c", str(names.index(column) + 1), "-D", "1",
        "-R", "2", "-F", "3", "-G", "4,5,6", "-b", "1", *digits,
    )  # fmt: skip
    return dict(re.findall(r"^(?:\(\d+\) )?(\w+)\s+\(\d+\)\s+([\d.]+)", shown, re.MULTILINE))


def test_what_the_experimenter_prints_is_the_mean_over_folds(weka):
    names = data(weka.home, "two", TWO), data(weka.home, "three", THREE)
    results = experiment(weka, "arff", "CrossValidationResultProducer -X 10", *names)
    saved = experiment(weka, "csv", "CrossValidationResultProducer -X 10", *names)
    columns = {"f1": "F_measure", "auc": "Area_under_ROC", "accuracy": "Percent_correct"}
    columns |= {"weighted_f1": "Weighted_avg_F_measure"}
    for name, column in columns.items():
        printed = means(weka, results, column)
        assert set(printed) == {"two", "three"}
        for path in (results, saved):
            for part, text in printed.items():
                claim = f"{name} = {text}{'%' if name == 'accuracy' else ''}"
                (attribution,) = audited(path, claim, select={"Key_Dataset": part}).attributions
                table = attribution.table
                means_of_folds = {table.canonical(way) for way in table.values if way.startswith("avg")}
                assert means_of_folds & {*attribution.matches}, (path.name, part, claim)
                if name in ("f1", "weighted_f1") and not weka.old:
                    assert not any(way.startswith("tp_fp") for way in attribution.matches), (path.name, part, claim)
    for path, instances in ((results, 600), (saved, 600)):
        two = audited(path, select={"Key_Dataset": "two"})
        assert (len(two.experiment.cells), int(two.aggregates.tallies.n.sum())) == (30, instances)


@pytest.mark.parametrize("kind", ["arff", "csv"])
def test_random_splits(weka, kind):
    results = experiment(weka, kind, "RandomSplitResultProducer -P 66", data(weka.home, "two", TWO))
    one = audited(results)
    assert [cell.fold for cell in one.experiment.cells] == ["1", "2", "3"]
    assert [finding.message for finding in one.findings if finding.severity is Severity.ERROR] == []


def test_averages_of_the_experimenter_are_refused(weka):
    out = weka.home / "averages.csv"
    weka(
        "weka.experiment.Experiment", "-r", "-L", "1", "-U", "2", "-T", data(weka.home, "two", TWO),
        "-D", f"weka.experiment.CSVResultListener -O {out}", "-P", "weka.experiment.AveragingResultProducer", "--",
        "-X", "5", "-W", "weka.experiment.CrossValidationResultProducer", "--", "-X", "5",
        "-W", "weka.experiment.ClassifierSplitEvaluator", "--", "-W", SCHEME,
    )  # fmt: skip
    (one,) = experiment_from_log(out)
    assert "average over folds" in str(one.problem)
