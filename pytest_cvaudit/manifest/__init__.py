"""Manifests: ``cvaudit.yaml`` read into typed objects with line numbers, and on to experiments."""

from pytest_cvaudit.manifest.build import experiment_from_log, experiments
from pytest_cvaudit.manifest.files import NAME, find_manifests, is_manifest, shown
from pytest_cvaudit.manifest.load import load_manifest
from pytest_cvaudit.manifest.spec import ClaimSpec, Comparison, ExperimentSpec, LogSource, Manifest, Suppression
from pytest_cvaudit.manifest.validate import manifest_schema

__all__ = [
    "NAME", "ClaimSpec", "Comparison", "ExperimentSpec", "LogSource", "Manifest", "Suppression", "experiment_from_log",
    "experiments", "find_manifests", "is_manifest", "load_manifest", "manifest_schema", "shown",
]  # fmt: skip
