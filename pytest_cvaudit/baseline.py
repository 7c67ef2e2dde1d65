"""The baseline: findings that are known, by their content, so that only new ones fail."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_cvaudit.engine import Audit
    from pytest_cvaudit.model import Finding

_VERSION = 1
_KNOWN = "known: in the baseline"


@dataclass(frozen=True)
class Update:
    """What becomes of a baseline: the findings it keeps, those that are gone, and those that are new."""

    kept: tuple[Finding, ...]
    new: tuple[Finding, ...]
    gone: int


def load_baseline(path: Path) -> Counter[str]:
    """How often each finding is known, by fingerprint."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["version"] != _VERSION:
            raise InputError(f"baseline of version {document['version']}; this program reads {_VERSION}", str(path))
        return Counter(str(entry["fingerprint"]) for entry in document["findings"])
    except FileNotFoundError:
        raise InputError("no such baseline; write it with 'cvaudit baseline'", str(path)) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"not a baseline ({type(error).__name__}: {error})", str(path)) from None


def apply_baseline(audit: Audit, known: Counter[str]) -> Audit:
    """Mark the known findings; one more of a kind than the baseline has is new."""
    left = Counter(known)

    def mark(finding: Finding) -> Finding:
        if finding.suppressed is not None or left[finding.fingerprint] == 0:
            return finding
        left[finding.fingerprint] -= 1
        return replace(finding, suppressed=_KNOWN)

    return audit.marked(mark)


def update(audit: Audit, known: Counter[str] | None) -> Update:
    """Compare the findings with a baseline; without one, all of them are kept."""
    live = [finding for finding in audit.findings if finding.suppressed is None]
    if known is None:
        return Update(tuple(live), (), 0)
    left = Counter(known)
    kept, new = [], []
    for finding in live:
        if left[finding.fingerprint] > 0:
            left[finding.fingerprint] -= 1
            kept.append(finding)
        else:
            new.append(finding)
    return Update(tuple(kept), tuple(new), left.total())


def baseline_text(findings: Iterable[Finding]) -> str:
    """The baseline's file: one entry per finding, with enough of it for a person to review."""
    entries = [
        {
            "fingerprint": finding.fingerprint,
            "code": finding.code,
            "experiment": finding.experiment,
            "message": finding.message,
        }
        for finding in findings
    ]
    entries.sort(key=lambda entry: (entry["code"], entry["experiment"], entry["message"]))
    return json.dumps({"version": _VERSION, "findings": entries}, indent=1, ensure_ascii=False) + "\n"
