"""A card's case as what an audit takes: read once, audited as often as one likes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import yaml

from pytest_cvaudit.engine import audit
from pytest_cvaudit.manifest import Manifest, experiments, load_manifest
from pytest_cvaudit.settings import Settings, load_settings

if TYPE_CHECKING:
    from pytest_cvaudit.model import Experiment

#: The experiment that a case is about, or what the outcomes about suppressions are filed under.
MEANT = ("case", "suppress")


@dataclass(frozen=True)
class Loaded:
    """A case with its manifest read."""

    code: str
    case: dict
    manifest: Manifest
    experiments: list[Experiment]
    settings: Settings

    def outcome(self):
        """The outcome of the card's own rule."""
        found = audit(
            self.experiments,
            self.settings,
            self.manifest.suppressions,
            date(2026, 1, 1),
            self.manifest.comparisons,
        )
        (outcome,) = [one for one in found.outcomes if one.code == self.code and one.experiment in MEANT]
        return outcome

    def comes_out(self, outcome):
        """Tell whether an outcome is the one that the case promises."""
        if outcome.status != self.case["outcome"]:
            return False
        severities = {str(finding.severity) for finding in outcome.findings}
        if "severity" in self.case and severities != {self.case["severity"]}:
            return False
        return "says" not in self.case or any(self.case["says"] in finding.message for finding in outcome.findings)


def load_case(rule, case, folder):
    """Write a case as the manifest that a user would write, and read it."""
    content = case.get("manifest") or {"experiments": [{"name": "case", **case["experiment"]}]}
    standard = None
    if "parameters" in case:
        standard = "lab.yaml"
        changes = {"extends": "forman-scholz", "rules": {rule.code: case["parameters"]}}
        (folder / standard).write_text(yaml.safe_dump(changes))
    path = folder / "cvaudit.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    manifest = load_manifest(path)
    # A rule about suppressions needs something to suppress: the rule that the manifest names.
    others = [entry.rule for entry in manifest.suppressions]
    settings = load_settings(standard, base=folder, select=(rule.code, *others))
    return Loaded(rule.code, case, manifest, experiments(manifest), settings)
