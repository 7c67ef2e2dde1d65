"""The rules' pages are what their cards say."""

from __future__ import annotations

from pathlib import Path

from pytest_cvaudit.reporters.rule_pages import main, pages

FOLDER = Path(__file__).parents[2] / "docs" / "rules"


def test_the_pages_are_up_to_date():
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert written == pages(), "run `make docs`"


def test_a_page_of_a_rule_that_is_gone_is_removed(tmp_path):
    (tmp_path / "CV999-gone.md").write_text("old")
    main(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(pages())
