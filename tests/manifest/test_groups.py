"""A column that serves as fold without being called so is a grouping."""

from __future__ import annotations

import pytest

from pytest_cvaudit.manifest import experiments, load_manifest

ROWS = "y_true,y_pred\n      1,1,1\n      1,0,0\n      2,1,1\n      2,0,0\n"


@pytest.mark.parametrize(
    ("column", "group"), [("subject", "subject"), ("site", "site"), ("my_fold", None), ("CV", None), ("split_no", None)]
)
def test_subjects_as_folds_are_groups(tmp_path, column, group):
    path = tmp_path / "cvaudit.yaml"
    path.write_text(
        f"experiments:\n  - name: one\n    columns: {{fold: {column}}}\n    table: |\n      {column},{ROWS}"
    )
    (found,) = experiments(load_manifest(path))
    assert found.problem is None
    assert found.protocol.group == group
