"""JSON: the contract's documents as they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_cvaudit.reporters.documents import check_document, report_document

if TYPE_CHECKING:
    from pytest_cvaudit.engine import Audit


def check(audit: Audit) -> str:
    """Render what a check found."""
    return _dump(check_document(audit))


def report(audit: Audit) -> str:
    """Render the right numbers."""
    return _dump(report_document(audit))


def _dump(document: object) -> str:
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
