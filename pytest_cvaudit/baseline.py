"""The baseline: findings that are known, by their content, so that only new ones fail."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, replace
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
class Known:
    """One finding of a baseline, as it was written down."""

    fingerprint: str
    path: str
    code: str
    experiment: str
    message: str


@dataclass(frozen=True)
class Update:
    """What becomes of a baseline: the entries it keeps, those that are new, and how many are gone."""

    kept: tuple[Known, ...]
    new: tuple[Known, ...]
    gone: int


def load_baseline(path: Path) -> list[Known]:
    """The known findings."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["version"] != _VERSION:
            raise InputError(f"baseline of version {document['version']}; this program reads {_VERSION}", str(path))
        return [Known(**{key: str(entry[key]) for key in Known.__dataclass_fields__}) for entry in document["findings"]]
    except FileNotFoundError:
        raise InputError("no such baseline; write it with 'cvaudit baseline'", str(path)) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"not a baseline ({type(error).__name__}: {error})", str(path)) from None


def apply_baseline(audit: Audit, known: Iterable[Known]) -> Audit:
    """Mark the known findings; one more of a kind than the baseline has is new."""
    left = Counter(entry.fingerprint for entry in known)

    def mark(finding: Finding) -> Finding:
        if finding.suppressed is not None or left[finding.fingerprint] == 0:
            return finding
        left[finding.fingerprint] -= 1
        return replace(finding, suppressed=_KNOWN)

    return audit.marked(mark)


def update(audit: Audit, known: Iterable[Known] | None) -> Update:
    """Compare the findings with a baseline; without one, all of them are kept.

    What was not audited now, another manifest or a rule that is off, stays as it was.
    """
    live = [_known(finding) for finding in audit.findings if finding.suppressed is None]
    if known is None:
        return Update(tuple(live), (), 0)
    paths = {path for one in audit.audited for path in (one.experiment.location.path, *one.experiment.log)}
    codes = {outcome.code for outcome in audit.outcomes}
    untouched = [entry for entry in known if entry.path not in paths or entry.code not in codes]
    left = Counter(entry.fingerprint for entry in known if entry not in untouched)
    kept, new = list(untouched), []
    for entry in live:
        if left[entry.fingerprint] > 0:
            left[entry.fingerprint] -= 1
            kept.append(entry)
        else:
            new.append(entry)
    return Update(tuple(kept), tuple(new), left.total())


def _known(finding: Finding) -> Known:
    path = finding.location.path
    return Known(finding.fingerprint, path, finding.code, finding.experiment, finding.message)


def baseline_text(entries: Iterable[Known]) -> str:
    """The baseline's file: one entry per finding, with enough of it for a person to review."""
    ordered = sorted(entries, key=lambda entry: (entry.path, entry.code, entry.experiment, entry.message))
    document = {"version": _VERSION, "findings": [asdict(entry) for entry in ordered]}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
