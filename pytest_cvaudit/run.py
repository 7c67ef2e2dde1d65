"""From paths to an audit: what the command line and the pytest plugin share."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit.baseline import apply_baseline, load_baseline
from pytest_cvaudit.engine import Audit, audit, concerns, suppress
from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import NAME as MANIFEST
from pytest_cvaudit.manifest import experiment_from_log, experiments, find_manifests, is_manifest, load_manifest, shown
from pytest_cvaudit.model import Protocol
from pytest_cvaudit.recording import find_recordings, is_recording
from pytest_cvaudit.rulebook import find_rule
from pytest_cvaudit.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_cvaudit.manifest import Manifest, Suppression

_SOURCE = (".py", ".ipynb")


@dataclass(frozen=True)
class Options:
    """What the user asks for: the standard and selection, and for a log alone its claims and protocol."""

    standard: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    pedantic: bool = False
    suppressions: tuple[Suppression, ...] = ()
    baseline: Path | None = None
    claims: tuple[str, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)
    columns: Mapping[str, str] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    folds_from: str | None = None
    join: str | None = None

    @property
    def about_log(self) -> bool:
        """Tell whether something is said that only a log alone can take."""
        joined = self.folds_from or self.join
        return bool(self.claims or self.columns or self.by or joined or self.protocol != Protocol())

    def settings(self, standard: str | None = None, base: Path | None = None) -> Settings:
        """The rules in force; the user's standard comes before the manifest's own."""
        folder = Path() if self.standard else base
        return load_settings(
            self.standard or standard,
            base=folder,
            select=self.select,
            ignore=self.ignore,
            extend_select=self.extend_select,
            pedantic=self.pedantic,
        )


def audit_manifest(path: Path, options: Options) -> Audit:
    """Audit one manifest, with its own suppressions."""
    manifest = load_manifest(path)
    settings = _settings_of(manifest, path, options)
    for one in manifest.suppressions:
        _known(one)
    return audit(experiments(manifest), settings, manifest.suppressions, _today(), manifest.comparisons)


def _settings_of(manifest: Manifest, path: Path, options: Options) -> Settings:
    try:
        return options.settings(manifest.standard, path.parent)
    except InputError as error:
        raise error.at(shown(path), manifest.standard_line) from None


def _today() -> date:
    return datetime.now(UTC).date()


def _known(suppression: Suppression) -> None:
    try:
        find_rule(suppression.rule)
    except InputError as error:
        raise error.at(suppression.location.path, suppression.location.line) from None


def accept(found: Audit, options: Options, *, whole: bool = True) -> Audit:
    """Mark what the project accepts beyond the manifests: its own suppressions, and its baseline.

    Only where the whole run is at hand can a suppression of the project be seen to be unused.
    """
    for one in options.suppressions:
        _known(one)
    used = [one for one in options.suppressions if whole or any(concerns(one, finding) for finding in found.findings)]
    found = suppress(found, used, options.settings(), _today())
    return found if options.baseline is None else apply_baseline(found, load_baseline(options.baseline))


def audit_log(path: Path | str, options: Options) -> Audit:
    """Audit one log without a manifest."""
    read = experiment_from_log(
        path, claims=options.claims, protocol=options.protocol, columns=options.columns, by=options.by,
        folds_from=options.folds_from, join=options.join,
    )  # fmt: skip
    for experiment in read:
        if experiment.problem is not None:
            raise experiment.problem
    return audit(read, options.settings())


def audit_paths(paths: Iterable[Path | str], options: Options) -> tuple[Audit, list[InputError]]:
    """Audit manifests, logs and directories; what cannot be read at all is told apart and the rest is still audited."""
    found, errors = expand(paths)
    result = Audit()
    for path in found:
        try:
            if isinstance(path, Path) and is_manifest(path):
                result += audit_manifest(path, _without_log(options, path))
            else:
                result += audit_log(path, options)
        except InputError as error:
            errors.append(error)
    return accept(result, options), errors


def expand(paths: Iterable[Path | str]) -> tuple[list[Path | str], list[InputError]]:
    """The manifests and logs that the paths name, each once, and the paths that name none; addresses are texts."""
    found: dict[Path | str, Path | str] = {}
    errors = []
    for path in paths:
        try:
            if isinstance(path, str):
                found.setdefault(path, path)
                continue
            for part in _expand(path):
                found.setdefault(part.resolve(), part)
        except InputError as error:
            errors.append(error)
    return list(found.values()), errors


def settings_in_force(paths: Iterable[Path | str], options: Options) -> list[Settings]:
    """The rules in force for these paths: one entry per standard that they name."""
    found, errors = expand(paths)
    if errors:
        raise errors[0]
    named = [path for path in found if isinstance(path, Path) and is_manifest(path)]
    settings = [_settings_of(load_manifest(path), path, options) for path in named] or [options.settings()]
    return list({one.standard: one for one in settings}.values())


def _expand(path: Path) -> list[Path]:
    if path.is_dir():
        found = [path] if is_recording(path) else find_manifests(path) or find_recordings(path)
        return found or [_folder_log(path)]
    if not path.exists():
        raise InputError("no such file or folder", shown(path))
    if not path.is_file():
        raise InputError("neither a file nor a folder", shown(path))
    if path.suffix in _SOURCE:
        raise InputError("source code is not audited by this version; give it a manifest or a log", shown(path))
    if path.suffix in (".yaml", ".yml") and not is_manifest(path):
        raise InputError("a manifest must be called cvaudit.yaml or NAME.cvaudit.yaml; rename it", shown(path))
    return [path]


def _folder_log(path: Path) -> Path:
    """Return a folder without manifests if its files are one log."""
    problem = experiment_from_log(path)[0].problem
    if problem is not None and not problem.remedy:
        what = f"no {MANIFEST} or *.{MANIFEST} below this folder, and it is not one log: {problem.message}"
        raise InputError(f"{what}; draft a manifest with cvaudit init", shown(path))
    return path


def _without_log(options: Options, manifest: Path) -> Options:
    if options.about_log:
        message = (
            "--claim, --positive, --folds, --instances, --column, --by, --folds-from and --join are for a log;"
            " a manifest says these itself"
        )
        raise InputError(message, shown(manifest))
    return options
