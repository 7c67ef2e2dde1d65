"""Which score columns speak for which label."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_cvaudit.readers.roles import squashed
from pytest_cvaudit.readers.table import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_cvaudit.readers.roles import Roles
    from pytest_cvaudit.readers.table import Table

_WORDS = r"(?:y_|oof_|pred_)?(?:score|confidence|probability|proba|prob|p)"
_BEFORE = re.compile(rf"(?P<word>{_WORDS})[._ \-](?P<label>.+)", re.IGNORECASE | re.DOTALL)
_CLASS = re.compile(r"(?:class|label|cls)[._ \-]?(.+)", re.IGNORECASE | re.DOTALL)
_AFTER = re.compile(rf"(?P<label>.+)[._ \-](?P<word>{_WORDS})", re.IGNORECASE | re.DOTALL)


def is_named_after_label(name: str) -> bool:
    """Tell whether a column may be named after the label that its scores speak for."""
    return _BEFORE.fullmatch(name) is not None


def class_score_columns(table: Table, roles: Roles, labels: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """Return each label's score column: given by the user, named ``score_<label>`` or the like, or the bare label."""
    if given := roles.class_scores():
        return given
    free = [name for name in roles.free if name not in taken]
    groups = _named_after_labels(free, labels)
    bare = {name: name for name in free if name in labels}
    if len(bare) > 1:
        groups.append(bare)
    if len(groups) > 1:
        first, second = (listing(group.values()) for group in groups[:2])
        label, name = next(iter(groups[0].items()))
        raise table.error(
            f"both {first} and {second} may be the scores of the labels;"
            f" say which with columns: {{score_{label}: {name}, …}} ({table.seen()})"
        )
    return groups[0] if groups else {}


def _label(text: str, labels: Sequence[str]) -> str:
    """Return the label that a text names, perhaps as ``class_0``."""
    match = _CLASS.fullmatch(text)
    return match[1] if match and text not in labels and match[1] in labels else text


def _named_after_labels(names: Iterable[str], labels: Sequence[str]) -> list[dict[str, str]]:
    groups: dict[tuple[bool, str], dict[str, str]] = defaultdict(dict)
    for name in names:
        for pattern in (_BEFORE, _AFTER):
            if match := pattern.fullmatch(name):
                groups[pattern is _BEFORE, squashed(match["word"])][_label(match["label"], labels)] = name
    found = []
    for group in groups.values():
        known = {label: name for label, name in group.items() if label in labels}
        # A column for a label that never occurs counts only beside one for each label that does.
        complete = len(known) == len(labels) > 1
        if known:
            found.append(group if complete else known)
    return found
