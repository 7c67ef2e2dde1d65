"""From what a manifest says to experiments with their logs read."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.manifest.files import shown
from pytest_cvaudit.manifest.nodes import problem
from pytest_cvaudit.manifest.spec import ClaimSpec, ExperimentSpec, LogSource
from pytest_cvaudit.model import Claim, Experiment, Location, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_cvaudit.manifest.spec import Manifest
    from pytest_cvaudit.readers import Log

_PARTS_SHOWN = 5
_COMPRESSED = re.compile(r"\.(gz|bz2|xz)$", re.IGNORECASE)


def experiments(manifest: Manifest) -> list[Experiment]:
    """Read the logs of a manifest; one that cannot be read becomes an experiment with a problem."""
    found = [experiment for spec in manifest.experiments for experiment in _read(spec)]
    _check_comparisons(manifest, {experiment.name for experiment in found})
    return found


def experiment_from_log(
    path: Path | str,
    *,
    claims: Sequence[str] = (),
    protocol: Protocol | None = None,
    columns: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    select: Mapping[str, str] | None = None,
    threshold: float | None = None,
    separator: str | None = None,
    folds_from: str | None = None,
    join: str | None = None,
) -> list[Experiment]:
    """Read a log without a manifest, as the command line gives it; the experiment is called after the file.

    A text is an address that a reader understands, such as ``mlflow:NAME``.
    """
    location = Location(path if isinstance(path, str) else shown(path))
    source = LogSource(
        paths=(str(path),), columns=columns or {}, by=tuple(by), select=select or {}, threshold=threshold,
        separator=separator, folds_from=folds_from, join=join, location=location,
    )  # fmt: skip
    parsed = tuple(ClaimSpec(Claim.parse(text)) for text in claims)
    return _read(ExperimentSpec(_name(path), source, protocol or Protocol(), parsed, location))


def _name(path: Path | str) -> str:
    if isinstance(path, str):
        return path.partition(":")[2].partition("?")[0]
    return Path(_COMPRESSED.sub("", path.absolute().name)).stem


def _read(spec: ExperimentSpec) -> list[Experiment]:
    claims = tuple(entry.claim for entry in spec.claims)
    if spec.log is None:
        return [Experiment(spec.name, spec.protocol, claims, location=spec.location)]
    # Reading needs pandas; a manifest alone must not.
    from pytest_cvaudit.readers import LogSpec, read_log

    source, spec = spec.log, replace(spec, protocol=_with_group(spec.protocol, spec.log))
    try:
        logs = read_log(LogSpec(**vars(source)), spec.protocol)
    except InputError as error:
        place = source.location.path, source.location.line
        found = error.at(*place).named_in(*place)
        return [Experiment(spec.name, spec.protocol, claims, location=spec.location, problem=found)]
    if list(logs) == [()]:
        return [_experiment(spec, spec.name, claims, log) for log in logs.values()]
    parts = {"/".join(values): log for values, log in logs.items()}
    _check_parts(spec, parts)
    return [
        _experiment(spec, f"{spec.name}/{part}", (entry.claim for entry in spec.claims if entry.part == part), log)
        for part, log in parts.items()
    ]


def _with_group(protocol: Protocol, log: LogSource) -> Protocol:
    """Take a column that serves as fold, but is not called so, for a grouping: subjects are no numbering of folds."""
    fold = log.columns.get("fold")
    if protocol.group is not None or fold is None or any(word in fold.lower() for word in ("fold", "split", "cv")):
        return protocol
    return replace(protocol, group=fold)


def _experiment(spec: ExperimentSpec, name: str, claims: Iterable[Claim], log: Log) -> Experiment:
    from pytest_cvaudit.readers import completed

    said = tuple(claims)
    # A number that the manifest prints itself is not asked of the log again.
    beside = (claim for claim in log.claims if claim.name not in {one.name for one in said})
    return Experiment(
        name, completed(spec.protocol, log.protocol), (*said, *beside), predictions=log.predictions, counts=log.counts,
        scores=log.scores, missing=log.missing, location=spec.location, log=log.files,
    )  # fmt: skip


def _check_parts(spec: ExperimentSpec, parts: Iterable[str]) -> None:
    names = sorted(parts)
    listed = ", ".join(names[:_PARTS_SHOWN]) + (", ..." if len(names) > _PARTS_SHOWN else "")
    for entry in spec.claims:
        if entry.part in names:
            continue
        if entry.part is None:
            message = f"claim '{entry.claim}' does not say which part of '{spec.name}' it is about; add 'for': {listed}"
        else:
            hint = suggestion(entry.part, names) or f" (it has {listed})"
            message = f"'{spec.name}' has no part '{entry.part}'{hint}"
        raise problem(message, spec.location.path, entry.claim.line)


def _check_comparisons(manifest: Manifest, names: set[str]) -> None:
    known = names | {spec.name for spec in manifest.experiments}
    for comparison in manifest.comparisons:
        for name in (comparison.better, comparison.than):
            # A split experiment keeps its own name only if its log could not be read: then nobody knows its parts.
            if name not in known and not any(name.startswith(f"{whole}/") for whole in names):
                message = f"a comparison names no experiment: '{name}'{suggestion(name, names)}"
                raise problem(message, manifest.path, comparison.location.line)
