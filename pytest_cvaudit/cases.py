"""A card's case as what an audit takes: written as the manifest that a user would write, and read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import yaml

from pytest_cvaudit.engine import audit
from pytest_cvaudit.manifest import experiments, load_manifest
from pytest_cvaudit.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_cvaudit.manifest import Manifest
    from pytest_cvaudit.model import Experiment, Outcome
    from pytest_cvaudit.rulebook import Rule
    from pytest_cvaudit.settings import Settings

#: The experiment that a case is about, or what the outcomes about suppressions are filed under.
_MEANT = ("case", "suppress")
#: The day on which the cases about suppressions are judged.
_TODAY = date(2026, 1, 1)


@dataclass(frozen=True)
class Case:
    """A case with its manifest read."""

    code: str
    card: Mapping[str, Any]
    manifest: Manifest
    experiments: list[Experiment]
    settings: Settings

    def outcome(self) -> Outcome:
        """Audit the case: the outcome of the card's own rule."""
        manifest = self.manifest
        found = audit(self.experiments, self.settings, manifest.suppressions, _TODAY, manifest.comparisons)
        (outcome,) = [one for one in found.outcomes if one.code == self.code and one.experiment in _MEANT]
        return outcome

    def promises(self, outcome: Outcome) -> bool:
        """Tell whether an outcome is the one that the card promises."""
        severities = {str(finding.severity) for finding in outcome.findings}
        return (
            outcome.status == self.card["outcome"]
            and ("severity" not in self.card or severities == {self.card["severity"]})
            and ("says" not in self.card or any(self.card["says"] in finding.message for finding in outcome.findings))
        )


def load_case(rule: Rule, card: Mapping[str, Any], folder: Path) -> Case:
    """Read a case of a card; a folder is needed because manifests are files."""
    content = card.get("manifest") or {"experiments": [{"name": "case", **card["experiment"]}]}
    standard = None
    if "parameters" in card:
        standard = "lab.yaml"
        changes = {"extends": "forman-scholz", "rules": {rule.code: card["parameters"]}}
        (folder / standard).write_text(yaml.safe_dump(changes), encoding="utf-8")
    path = folder / "cvaudit.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    manifest = load_manifest(path)
    # A rule about suppressions needs something to suppress: the rule that the manifest names.
    others = [entry.rule for entry in manifest.suppressions]
    settings = load_settings(standard, base=folder, select=(rule.code, *others))
    return Case(rule.code, card, manifest, experiments(manifest), settings)
