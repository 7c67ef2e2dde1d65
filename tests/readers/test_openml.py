"""OpenML runs: predictions, and the server's evaluations beside them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_cvaudit.engine import audit
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Cell

HEADER = """@relation run
@attribute repeat numeric
@attribute fold numeric
@attribute sample numeric
@attribute row_id numeric
@attribute confidence.b numeric
@attribute 'confidence.a c' numeric
@attribute confidence.never numeric
@attribute prediction {b,'a c',never}
@attribute correct {b,'a c',never}
@data
"""
ROWS = """0,0,0,9,1,0,0,b,b
0,0,1,0,0.8,0.2,0,b,b
0,0,1,1,0.3,0.7,0,'a c','a c'
0,1,1,2,0.4,0.6,0,'a c',b
0,1,1,3,0.1,0.9,0,'a c','a c'
1,0,1,2,0.9,0.1,0,b,b
1,0,1,1,0.6,0.4,0,b,'a c'
1,1,1,0,0.7,0.3,0,b,b
1,1,1,3,0.2,0.8,0,'a c','a c'
"""


def evaluation(name, value="", array="", attributes=""):
    listed = f"<oml:array_data>[{array}]</oml:array_data>" if array else ""
    shown = f"<oml:value>{value}</oml:value>" if value else ""
    return f"<oml:evaluation{attributes}><oml:name>{name}</oml:name>{shown}{listed}</oml:evaluation>\n"


def run_xml(*evaluations):
    inner = "".join(evaluations)
    return f'<oml:run xmlns:oml="http://openml.org/openml">\n<oml:output_data>\n{inner}</oml:output_data>\n</oml:run>\n'


COUNTED = evaluation("number_of_instances", "8", "4,4,0")
#: As WEKA prints them of the rows above, all cells together.
EVALUATIONS = (
    COUNTED,
    evaluation("predictive_accuracy", "0.750"),
    evaluation("kappa", "0.50"),
    evaluation("f_measure", "0.75", "0.750000,0.75,0"),
    evaluation("precision", "0.75", "0.75,0.75,0"),
    evaluation("recall", "0.75", "0.75,0.75,?"),
    evaluation("area_under_roc_curve", "0.9375", "0.937500,0.9375,\ufffd"),
    evaluation("mean_absolute_error", "0.3"),
    evaluation("total_cost", "0"),
    evaluation("predictive_accuracy", "1.0", attributes=' repeat="0" fold="0"'),
)
RUN = run_xml(*EVALUATIONS)


@pytest.fixture
def run(tmp_path):
    """Write a run, and read it as the command line does."""

    def write(rows=ROWS, xml=RUN, name="predictions.arff", header=HEADER, **options):
        (tmp_path / name).write_bytes((header + rows).encode())
        if xml is not None:
            (tmp_path / "run.xml").write_bytes(xml if isinstance(xml, bytes) else xml.encode())
        (one,) = experiment_from_log(tmp_path / name, **options)
        if one.problem is not None:
            raise one.problem
        return one

    return write


def test_only_the_last_sample_counts_and_nul_bytes_do_not(run):
    rows = run(rows=ROWS + "\0").predictions
    assert rows.cells == tuple(Cell(fold, repeat) for repeat in "01" for fold in "01")
    assert rows.labels == ("a c", "b", "never")
    assert rows.ids.tolist() == ["0", "1", "2", "3", "2", "1", "0", "3"]
    assert rows.scores["a c"].tolist() == [0.2, 0.7, 0.6, 0.9, 0.1, 0.4, 0.3, 0.8]


def test_claims_keep_their_digits_and_are_all_explained(run):
    one = run()
    assert [str(claim) for claim in one.claims] == [
        "accuracy = 0.750", "kappa = 0.50", "weighted_f1 = 0.75", "weighted_precision = 0.75", "weighted_recall = 0.75",
        "weighted_auc = 0.9375", "auc[b] = 0.937500", "auc[a c] = 0.9375", "f1[b] = 0.750000", "f1[a c] = 0.75",
        "precision[b] = 0.75", "precision[a c] = 0.75", "recall[b] = 0.75", "recall[a c] = 0.75",
    ]  # fmt: skip
    assert {claim.where for claim in one.claims} == {"run.xml"}
    for attribution in audit([one]).audited[0].attributions:
        assert any(way.startswith(("pooled", "tp_fp", "merge")) for way in attribution.matches), attribution.claim


def test_the_number_of_instances_is_that_of_one_repeat(run):
    assert run().protocol.instances == 4
    assert run(xml=run_xml(evaluation("number_of_instances", "7"))).protocol.instances is None
    # A repeat that was evaluated but is not logged is not divided away.
    single = "\n".join(line for line in ROWS.splitlines() if line.startswith("0,"))
    folds = [evaluation("kappa", "0.5", attributes=f' repeat="{repeat}" fold="0"') for repeat in (0, 1)]
    assert run(rows=single, xml=run_xml(COUNTED, *folds)).protocol.instances == 4


def test_rows_that_the_server_saw_and_the_log_lacks_are_missed(run):
    found = audit([run(rows=ROWS.replace("1,1,1,3,0.2,0.8,0,'a c','a c'\n", ""))])
    assert any("3 of 4 declared instances are logged in repeat 1" in finding.message for finding in found.findings)


def test_the_declared_classes_are_the_labels(run):
    assert run().protocol.labels == ("b", "a c", "never")


@pytest.mark.parametrize("name", ["other.arff", "predictions_2.arff"])
def test_a_run_beside_another_file_is_not_taken_for_its_own(run, name):
    assert run(name=name).claims == ()


def test_without_a_run_nothing_is_claimed(run):
    one = run(xml=None)
    assert (one.claims, one.protocol.instances) == ((), None)


def test_a_boolean_class_called_correct_is_the_true_class(run):
    header = HEADER.replace("b,'a c',never", "0,1").replace("confidence.b", "confidence.0")
    header = header.replace("'confidence.a c'", "confidence.1").replace("@attribute confidence.never numeric\n", "")
    cells = [line.replace("'a c'", "1").replace("b", "0").split(",") for line in ROWS.splitlines()]
    rows = "\n".join(",".join(line[:6] + line[7:]) for line in cells)
    one = run(header=header, rows=rows, xml=None)
    assert (one.predictions.labels, one.predictions.truth.tolist()) == (("0", "1"), [0, 1, 0, 1, 0, 1, 0, 1])


def test_blank_confidences_are_no_scores(run):
    rows = "".join(
        ",".join("?" if 4 <= i <= 6 else cell for i, cell in enumerate(line.split(","))) + "\n"
        for line in ROWS.splitlines()
    )
    assert run(rows=rows).predictions.scores == {}


def test_a_stray_byte_is_an_undefined_value(run):
    xml = run_xml(*EVALUATIONS).encode().replace("\ufffd".encode(), b"\xff")
    assert run(xml=xml).claims == run().claims


BOMB = '<!DOCTYPE run [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>\n' + run_xml(evaluation("kappa", "&b;"))
MALFORMED = {
    "cut off": (run_xml(*EVALUATIONS)[:300], r"run\.xml:\d+: not XML: "),
    "empty": ("", r"run\.xml:1: not XML: no element found"),
    "entities": (BOMB, r"run\.xml: a document type is not read"),
    "undeclared prefix": ("<oml:run></oml:run>", r"run\.xml:1: not XML: unbound prefix"),
    "something else": ("<flow><name>x</name></flow>", r"run\.xml: not an OpenML run: it begins with 'flow'"),
    "impossible": (
        run_xml(evaluation("f_measure", "75.35")),
        r"run\.xml: claim 'weighted_f1 = 75.35' lies outside 0\.\.1",
    ),
}


@pytest.mark.parametrize("xml", [xml for xml, _ in MALFORMED.values()], ids=MALFORMED)
def test_malformed(run, xml, request):
    message = MALFORMED[request.node.callspec.id][1]
    with pytest.raises(InputError, match=message) as error:
        run(xml=xml)
    assert "\n" not in str(error.value)


def test_the_command_line_says_it_in_one_line(run, tmp_path):
    with pytest.raises(InputError):
        run(xml="<oml:run>")
    command = [sys.executable, "-m", "pytest_cvaudit", "check", "predictions.arff"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("cvaudit: run.xml:1: not XML: unbound prefix")
