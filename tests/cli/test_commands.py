"""check, report, explain and rules: what is audited, how it ends, and where the output goes."""

from __future__ import annotations

import json
import os
import re

import pytest

from .conftest import RULES, TABLE_1

LAB = "name: lab\nextends: forman-scholz\nrules:\n  CV201: info\n  f-skip: off\n"


def codes(done) -> set[str]:
    return {one["code"] for one in json.loads(done.out)["outcomes"]}


def test_check_shows_where_what_the_source_line_and_what_to_do(project, cli):
    done = cli("check", ".", *RULES)
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[0] == "cvaudit.yaml:7: error CV201 f-avg [table-1]"
    assert lines[1].startswith("  'f1 = 0.69' is avg, 0.692460; tp_fp, from the totals, is 0.583333")
    assert lines[2] == "     7 |       - f1 = 0.69"
    assert lines[3].startswith("  tip: Sum TP, FP and FN over the folds")
    assert lines[-1].startswith("2 experiments: 1 error, 2 warnings (")


def test_a_source_line_that_nobody_would_read_to_its_end_is_cut(project, cli):
    path = project / "cvaudit.yaml"
    path.write_text(path.read_text().replace("- f1 = 0.69", "- f1 = 0.69 #" + 500 * "x"))
    (frame,) = [line for line in cli("check", ".", "--select", "CV201").out.splitlines() if line.startswith("     7 |")]
    assert frame.endswith("x …")
    assert len(frame) < 200


def test_report_shows_the_right_numbers(project, cli):
    done = cli("report", ".", *RULES)
    assert (done.code, done.err) == (1, "")
    assert re.search(r"^f1 +tp_fp +0\.583333 ", done.out, re.MULTILINE)
    assert re.search(r"^f1 +0\.69 +unique +avg +0\.583333 \(tp_fp\) +\+0\.1067$", done.out, re.MULTILINE)
    assert re.search(r"^2 +376 +4 +0 +0 +4 +372 +- +0\.0000", done.out, re.MULTILINE), "undefined is a dash"


@pytest.mark.parametrize("word", ["CV201", "cv201", "f-avg", "CV201-f-avg"])
def test_explain(cli, word):
    done = cli("explain", word)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("CV201 f-avg\n")
    for title in ("Why it matters", "What to do", "Example that fails", "Example that passes", "References"):
        assert title in done.out


def test_rules_lists_what_the_standard_makes_of_them(folder, cli):
    (folder / "lab.yaml").write_text(LAB)
    rules = json.loads(cli("rules", "--standard", "lab.yaml", "--format", "json").out)
    by_code = {rule["code"]: rule for rule in rules["rules"]}
    assert rules["standard"] == "lab.yaml"
    assert (by_code["CV201"]["severity"], by_code["CV201"]["decided_by"]) == ("info", "lab.yaml")
    assert by_code["CV203"]["enabled"] is False
    assert by_code["CV202"]["enabled"] is True
    text = cli("rules", "--standard", "lab.yaml").out
    assert re.search(r"^CV203 +f-skip +off ", text, re.MULTILINE)


def test_a_log_alone(project, cli):
    done = cli("check", "one.csv", "--claim", "f1=0.69", "--positive", "1", "--folds", "4", *RULES)
    assert done.code == 1
    assert done.out.startswith("one.csv: error CV201 f-avg [one]\n")
    assert cli("check", "one.csv", "--claim", "f1=0.58", "--positive", "1", "--folds", "4", *RULES).code == 0
    done = cli("check", "one.csv", "--folds", "5", *RULES)
    assert "4 of 5 declared folds are logged" in done.out


def test_a_log_alone_with_columns_and_parts(folder, cli):
    rows = [f"{model},{row}" for model in ("nb", "svm") for row in TABLE_1.splitlines()[1:]]
    (folder / "all.csv").write_text(
        "model,split," + TABLE_1.splitlines()[0].removeprefix("fold,") + "\n" + "\n".join(rows)
    )
    done = cli("report", "all.csv", "--by", "model", "--column", "fold=split", "--format", "json")
    assert [one["name"] for one in json.loads(done.out)["experiments"]] == ["all/nb", "all/svm"]


def test_options_for_a_log_do_not_go_with_a_manifest(project, cli):
    done = cli("check", ".", "--claim", "f1=0.69")
    assert (done.code, done.out) == (2, "")
    assert done.complaint.startswith("cvaudit: cvaudit.yaml: --claim, --positive, --folds")


@pytest.mark.parametrize("fmt", ["text", "json"])
@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--select", "CV201"], 1),
        (["--select", "CV202"], 0),
        (["--select", "CV501"], 0),
        (["--select", "CV501", "--fail-on", "error"], 0),
        (["--select", "CV501", "--fail-on", "warning"], 1),
        (["--select", "CV501", "--fail-on", "info"], 1),
        (["--select", "CV201", "--exit-zero"], 0),
        (["--select", "CV201", "nope.csv"], 2),
        (["--select", "CV201", "--exit-zero", "nope.csv"], 2),
    ],
)
@pytest.mark.parametrize("command", ["check", "report"])
def test_exit_codes_do_not_depend_on_the_format(project, cli, command, options, code, fmt):
    assert cli(command, ".", *options, "--format", fmt).code == code


OTHERS = {"CV204", "CV205", "CV206", "CV207"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--select", "CV201"], {"CV201"}),
        (["--select", "f-avg,zero-positive-fold"], {"CV201", "CV101"}),
        (["--select", "CV20", "--ignore", "CV201,f-skip"], {"CV202", *OTHERS}),
        (["--select", "CV201", "--ignore", "CV2"], {"CV201"}),
        (["--select", "CV2", "--ignore", "CV201", "--ignore", "CV203"], {"CV202", *OTHERS}),
        (["--select", "CV2", "--ignore", "CV2"], set()),
        (["--select", "CV101", "--extend-select", "f-avg"], {"CV101", "CV201"}),
    ],
)
def test_rules_are_chosen_by_code_prefix_or_name_and_the_longest_wins(project, cli, options, expected):
    chosen = codes(cli("check", ".", "--format", "json", *options))
    assert {code for code in chosen if code[:4] in ("CV10", "CV20")} == expected


def test_extend_select_turns_on_what_the_standard_turns_off(project, cli):
    (project / "lab.yaml").write_text(LAB)
    plain = codes(cli("check", ".", "--format", "json", "--standard", "lab.yaml"))
    more = codes(cli("check", ".", "--format", "json", "--standard", "lab.yaml", "--extend-select", "CV203"))
    assert more - plain == {"CV203"}
    assert plain < more


def test_a_standard_by_path_from_the_option_the_manifest_or_the_project(project, cli, monkeypatch):
    (project / "lab").mkdir()
    (project / "lab/lab.yaml").write_text(LAB)
    (project / "sub").mkdir()
    assert cli("check", ".", "--select", "CV201", "--standard", "lab/lab.yaml").code == 0
    (project / "pyproject.toml").write_text('[tool.cvaudit]\nstandard = "lab/lab.yaml"\nselect = ["CV201"]\n')
    assert cli("check", ".").code == 0
    monkeypatch.chdir(project / "sub")
    assert cli("check", "..").code == 0, "a path in pyproject.toml is relative to it"
    (project / "pyproject.toml").unlink()
    assert cli("check", "..", "--select", "CV201").code == 1
    path = project / "cvaudit.yaml"
    path.write_text(f"standard: lab/lab.yaml\n{path.read_text()}")
    assert cli("check", "..", "--select", "CV201").code == 0, "a path in a manifest is relative to it"


def test_the_project_s_settings_hold_unless_an_option_says_otherwise(project, cli):
    (project / "pyproject.toml").write_text('[tool.cvaudit]\nselect = ["CV501"]\nfail-on = "warning"\n')
    assert cli("check", ".").code == 1
    assert cli("check", ".", "--fail-on", "error").code == 0
    assert codes(cli("check", ".", "--select", "CV202", "--format", "json")) == {"CV202"}


def test_show_settings_lists_the_rules_of_the_manifest_s_standard_and_stops(project, cli):
    (project / "lab.yaml").write_text(LAB)
    path = project / "cvaudit.yaml"
    path.write_text(f"standard: lab.yaml\n{path.read_text()}")
    done = cli("check", ".", "--show-settings", "--ignore", "CV202", "--output", "x.txt")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("standard lab.yaml\n")
    assert re.search(r"^CV201 +f-avg +info +scores +lab.yaml ", done.out, re.MULTILINE)
    assert re.search(r"^CV202 +f-pr-re +off +scores +the selection ", done.out, re.MULTILINE)
    assert not (project / "x.txt").exists()


def test_statistics_go_to_standard_error_and_leave_suppressed_findings_out(project, cli):
    done = cli("check", ".", "--statistics", "--format", "json", "--select", "CV102,CV201,CV501")
    assert done.err.splitlines() == [
        "     1  CV102 no-predicted-positives",
        "     1  CV201 f-avg",
        "     1  CV501 undeclared-aggregation",
    ]
    json.loads(done.out)
    path = project / "cvaudit.yaml"
    path.write_text(path.read_text() + "suppress:\n  - {rule: CV501, reason: agreed}\n")
    assert "CV501" not in cli("check", ".", "--statistics").err


def test_output_and_reports_are_written_whole(project, cli):
    done = cli(
        "check", ".", "--format", "json", "--output", "out/a.json", "--report", "text:b.txt", "--report", "json:c.json"
    )
    assert (done.code, done.out, done.err) == (1, "", "")
    assert json.loads((project / "out/a.json").read_text()) == json.loads((project / "c.json").read_text())
    assert "CV201 f-avg [table-1]" in (project / "b.txt").read_text()
    assert sorted(path.name for path in project.iterdir()) == [
        "b.txt",
        "c.json",
        "cvaudit.yaml",
        "one.csv",
        "out",
        "two.csv",
    ]


def test_a_report_beside_standard_output(project, cli):
    done = cli("report", ".", "--report", "json:r.json", *RULES)
    assert done.out.startswith("table-1 (counts evidence")
    assert list(json.loads((project / "r.json").read_text())) == ["version", "experiments"]


def test_output_to_a_link_writes_what_it_points_at_and_to_a_device_keeps_the_device(project, cli):
    (project / "real.json").write_text("old")
    (project / "link.json").symlink_to("real.json")
    cli("check", ".", "--format", "json", "--output", "link.json")
    assert (project / "link.json").is_symlink()
    json.loads((project / "real.json").read_text())
    os.mkfifo(project / "pipe")
    reader = os.open(project / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        cli("check", ".", "--select", "CV201", "--output", "pipe")
        assert b"CV201" in os.read(reader, 4096)
    finally:
        os.close(reader)
    assert (project / "pipe").is_fifo()


def test_a_folder_is_searched_for_manifests_and_nothing_is_audited_twice(project, cli):
    (project / "sub").mkdir()
    (project / "sub/more.cvaudit.yaml").write_text("experiments:\n  - name: more\n    log: ../one.csv\n")
    done = cli("report", ".", "sub", "cvaudit.yaml", "--format", "json")
    assert [one["name"] for one in json.loads(done.out)["experiments"]] == ["table-1", "table-2", "more"]


def test_what_can_be_read_is_audited_though_the_rest_is_broken(project, cli):
    (project / "sub").mkdir()
    (project / "sub/a.cvaudit.yaml").write_text("experiment: 1\n")
    (project / "sub/b.cvaudit.yaml").write_text("experiments:\n  - name: b\n    log: ../one.csv\n")
    done = cli("report", "sub", "nope.csv", "two.csv", "--format", "json")
    assert done.code == 2
    assert [one["name"] for one in json.loads(done.out)["experiments"]] == ["b", "two"]
    assert done.err.splitlines() == [
        "cvaudit: nope.csv: no such file or folder",
        "cvaudit: sub/a.cvaudit.yaml:1: unknown key 'experiment' in the manifest; did you mean 'experiments'?",
    ]


def test_an_unreadable_log_of_a_manifest_is_a_finding_and_exit_2(project, cli):
    (project / "two.csv").unlink()
    done = cli("check", ".", "--format", "json", *RULES)
    assert done.code == 2
    assert done.complaint == "cvaudit: cvaudit.yaml:9: no file matches 'two.csv' in ."
    found = {(one["experiment"], one["code"]) for one in json.loads(done.out)["findings"]}
    assert ("table-2", "CV002") in found
    assert ("table-1", "CV201") in found
    text = cli("check", ".", *RULES).out
    assert len([line for line in text.splitlines() if line.endswith("the log could not be read")]) == 1


def test_a_log_that_is_not_as_the_manifest_says_is_traced_to_the_line_that_names_it(project, cli):
    manifest = project / "cvaudit.yaml"
    manifest.write_text(manifest.read_text().replace("log: two.csv", "log: two.csv\n    columns: {tp: hits}"))
    complaint = cli("check", ".", *RULES).complaint
    assert complaint.startswith("cvaudit: two.csv: columns: {tp: hits} names column 'hits', which is not there")
    assert complaint.endswith("(the log of cvaudit.yaml:9)")
