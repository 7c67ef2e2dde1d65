"""Markdown logs: a heading per fold, or a table."""

from __future__ import annotations

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell

FOLD = """## Fold {fold}
**Accuracy** = 84.36 %
- AUC: 0.{fold}50

| | cat | dog |
|---|---|---|
| cat | 74 | 2 |
| dog | 18 | 3 |

See: http://example.org/{fold}
"""
LOG = "# Results\nAccuracy: 0.1\n" + FOLD.format(fold=1) + FOLD.format(fold=2) + "# Mean\nAccuracy: 0.2\n"


def test_headings(read):
    log = read({"log.md": LOG})
    assert log.counts.cells == log.scores.cells == (Cell("1"), Cell("2"))
    assert (log.counts.labels, log.counts.tp.tolist(), log.counts.fp.tolist()) == (
        ("cat", "dog"), [[74, 3]] * 2, [[18, 2]] * 2,
    )  # fmt: skip
    assert {name: [str(v) for v in values] for name, values in log.scores.values.items()} == {
        "accuracy": ["84.36 %", "84.36 %"],
        "auc": ["0.150", "0.250"],
    }


def test_rows_that_say_they_are_predicted_are_turned(read):
    text = LOG.replace("| cat | 74", "| Predicted cat | 74").replace("| dog | 18", "| Predicted dog | 18")
    assert read({"log.md": text}).counts.fp.tolist() == [[2, 18]] * 2


def test_a_fold_without_results_is_missing(read):
    log = read({"log.md": "# FOLD 1\nf1: 0.5\n# FOLD 2\nfailed\n"})
    assert [(m.cell.fold, m.what, m.line) for m in log.missing] == [("2", "every metric is blank", 3)]


def test_a_table_of_folds_among_others(read):
    text = (
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n| Fold | F1 |\n|:-:|--:|\n| 0 | 0.50 |\n| 1 | **0.6** |\n| mean | 0.55 |\n"
    )
    log = read({"log.md": text})
    assert [str(value) for value in log.scores.values["f1"]] == ["0.50", "0.6"]


def test_averages_in_brackets(read):
    text = "| Fold | F1 (macro) | F1 | F1 (%) | AUC (95% CI) | F1 (train) |\n|---|---|---|---|---|---|\n"
    log = read({"log.md": text + "| 0 | 0.50 | 0.7 | 70 | 0.8 | 0.9 |\n| 1 | 0.60 | 0.8 | 80 | 0.8 | 0.9 |\n"})
    assert {name: [str(v) for v in values] for name, values in log.scores.values.items()} == {
        "macro_f1": ["0.50", "0.60"],
        "f1": ["0.7", "0.8"],
    }
    fold = "# Fold {}\n- **F1 score (weighted)**: 0.84\nF1 (train): 0.9\nTime (s): 3\nTime (s): 4\n"
    log = read({"log.md": fold.format(1) + fold.format(2)})
    assert {name: [str(v) for v in values] for name, values in log.scores.values.items()} == {
        "weighted_f1": ["0.84", "0.84"]
    }


def test_other_texts_in_a_folder_are_no_logs(read):
    files = {"runs/README.md": "# About\n", "runs/log.csv": "fold,f1\n0,.5\n"}
    assert read(files, paths=("runs",)).scores is not None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("# About\nhello\n", None, "no log: a heading such as '# FOLD 01'"),
        ("# FOLD 1\nf1: 0.5\nF1: 0.6\n", None, "may all be the f1"),
        ("# FOLD 1\nf1: 0.5\nf1: 0.6\n", 3, "fold '1' has 'f1' twice"),
        ("# FOLD 1\nF1 (macro): 0.5\nF1 (macro): 0.6\n", 3, "fold '1' has 'F1 (macro)' twice"),
        ("| fold | f1 |\n|---|---|\n| 0 | .5 |\n| 1 |\n", 4, "the row has 1 cells for 2 columns"),
        (
            "| fold | f1 |\n|---|---|\n| 0 | .5 |\n\n| fold | f1 |\n|---|---|\n| 0 | .5 |\n",
            None,
            "tables in lines 1 and 5",
        ),
        ("# FOLD 1\nf1: 0.5\n# FOLD 1\nf1: 0.6\n", 3, "f1 of fold '1' is there twice, on lines 1 and 3"),
    ],
)
def test_refused(read, text, line, message):
    with pytest.raises(InputError) as caught:
        read({"log.md": text})
    assert (caught.value.line, message in caught.value.message) == (line, True), caught.value
