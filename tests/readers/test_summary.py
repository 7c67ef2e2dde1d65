"""Tables of means without folds: claims, and no evidence."""

from __future__ import annotations

import pytest

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import experiment_from_log
from pytest_cvaudit.model import Evidence, Printed


def claims(tmp_path, text, name="table.csv", **options):
    (tmp_path / name).write_text(text)
    found = experiment_from_log(tmp_path / name, **options)
    assert {one.evidence for one in found} == {Evidence.SUMMARY}
    assert [one.problem for one in found if one.problem] == []
    return {one.name: [str(claim) for claim in one.claims] for one in found}


def test_a_row_per_model(tmp_path):
    text = "model,f1,auc\nsvm,0.485 (+/- 0.021),0.71 (0.02)\nrf,0.50 ± 0.1,71.2% ± 1%\n"
    assert claims(tmp_path, text) == {
        "table/svm": ["f1 = 0.485 (+/- 0.021)", "auc = 0.71 (0.02)"],
        "table/rf": ["f1 = 0.50 ± 0.1", "auc = 71.2% ± 1%"],
    }


def test_columns_of_means_and_deviations(tmp_path):
    text = "data,model,mean_auroc,sd_auroc,n_folds\na,svm,0.70,0.02,5\na,rf,0.80,0.03,5\nb,rf,0.90,,5\n"
    assert claims(tmp_path, text) == {
        "table/a/svm": ["auc = 0.70 ± 0.02"],
        "table/a/rf": ["auc = 0.80 ± 0.03"],
        "table/b/rf": ["auc = 0.90"],
    }
    assert claims(tmp_path, text.replace("b,rf", "b,nb"), by=["model"]).keys() == {"table/svm", "table/rf", "table/nb"}


def test_decimal_commas(tmp_path):
    text = "model;f1;auc\nsvm;0,81 ± 0,02;0,9 ± 0,1\nnb;0,78 (0,03);88,5% (+/- 1,5%)\n"
    assert claims(tmp_path, text) == {
        "table/svm": ["f1 = 0.81 ± 0.02", "auc = 0.9 ± 0.1"],
        "table/nb": ["f1 = 0.78 (0.03)", "auc = 88.5% (+/- 1.5%)"],
    }
    text = "model;seconds;mean_f1;sd_f1\nsvm;1,5;0,810;0,02\nnb;2,5;0,780;\n"
    assert claims(tmp_path, text) == {"table/svm": ["f1 = 0.810 ± 0.02"], "table/nb": ["f1 = 0.780"]}


def test_commas_that_may_be_others(tmp_path, read):
    for cells in ("1,234 ± 1,234", "0.71 (0,02)", "0,71 (0,65, 0,77)"):
        with pytest.raises(InputError, match="no fold column"):
            read(f"model;f1\nsvm;{cells}\n")
    with pytest.raises(InputError, match="'1,2,3' in column 'mean_f1' is not a value of f1"):
        read("model;mean_f1\nsvm;1,2,3\n")


def test_an_average_over_labels_in_brackets(tmp_path):
    text = "model,Mean F1 (macro),F1 (macro) std,Recall (weighted avg) mean\nsvm,0.81,0.02,0.7\n"
    assert claims(tmp_path, text) == {"table": ["macro_f1 = 0.81 ± 0.02", "weighted_recall = 0.7"]}


def test_in_markdown(tmp_path):
    text = "# Results\n\n| Model | F1 | AUC |\n|:--|--:|--:|\n| **SVM** | 0.48 ± 0.02 | 0.71 ± 0.02 |\n"
    assert claims(tmp_path, text, "table.md") == {"table": ["f1 = 0.48 ± 0.02", "auc = 0.71 ± 0.02"]}


def test_means_without_deviation_may_be_anything(tmp_path, read):
    for text in ("model,f1\nsvm,0.5\n", "model,f1\nsvm,0.5 ± 0.1\nrf,0.6\n"):
        with pytest.raises(InputError, match="no fold column"):
            read(text)
    with pytest.raises(InputError, match="no column tells the rows apart"):
        read("f1\n0.5 ± 0.1\n0.6 ± 0.1\n")


@pytest.mark.parametrize(
    ("text", "value", "spread"),
    [
        ("0.485 (+/- 0.021)", 0.485, 0.021),
        ("0.71 (0.02)", 0.71, 0.02),
        ("71.2 (1.5%)", 0.712, 0.015),
        ("71.2% (1.5)", 0.712, 0.015),
        ("0.71 ± 0.02", 0.71, 0.02),
        ("71.2%", 0.712, None),
    ],
)
def test_printed_spreads(text, value, spread):
    printed = Printed.parse(text)
    assert (printed.value, printed.spread and printed.spread.value) == (value, spread)


@pytest.mark.parametrize("text", ["0.74173 (5)", "0.71 ()", "0.71(2", "0.71 (0.02, 0.03)"])
def test_other_brackets_are_no_spread(text):
    with pytest.raises(InputError):
        Printed.parse(text)
