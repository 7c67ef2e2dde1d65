"""Standards: what a lab agrees on, read from YAML with line numbers; they can extend each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.manifest.files import shown
from pytest_cvaudit.manifest.nodes import Entries, Scalar, parse_file, problem
from pytest_cvaudit.rulebook import find_rule, load_rules, rules_directory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_cvaudit.manifest.nodes import Node

DEFAULT_STANDARD = "forman-scholz"
#: The rule whose parameters are the requirements of a standard.
REQUIREMENTS = "CV005"
_KEYS = ("name", "extends", "description", "rules", "policies", "require")
_SEVERITIES = ("error", "warning", "info")
#: What a standard may declare once for all experiments, and how it is written.
_POLICIES = {"calibrated": "boolean", "stratified": "boolean", "none": "string", "k": "number"}

Value = float | bool | str


@dataclass(frozen=True)
class Change:
    """What a standard says of one rule: off or on, a severity, parameters."""

    code: str
    enabled: bool
    severity: str | None
    parameters: dict[str, Value]
    source: str


@dataclass(frozen=True)
class Standard:
    """A standard with all that it extends: changes in order, the last word wins."""

    name: str
    changes: tuple[Change, ...] = ()
    policies: dict[str, Value] = field(default_factory=dict)


def load_standard(name: str | None, base: Path) -> Standard:
    """Load a standard, shipped or at a path, and those that it extends."""
    return _load(name or DEFAULT_STANDARD, base, ())


def shipped_standards() -> list[str]:
    """The names of the standards that are shipped."""
    return sorted(path.stem for path in (rules_directory() / "standards").glob("*.yaml"))


def _find(name: str, base: Path) -> Path:
    shipped = rules_directory() / "standards" / f"{name}.yaml"
    path = base / name
    if shipped.is_file() or path.is_file():
        return shipped if shipped.is_file() else path.resolve()
    known = shipped_standards()
    where = f": no such file in {base.absolute()}" if path.suffix else ""
    raise InputError(
        f"unknown standard '{name}'{where}{suggestion(name, known)} (shipped: {', '.join(known)}; or a path)"
    )


def _load(name: str, base: Path, seen: tuple[Path, ...]) -> Standard:
    path = _find(name, base)
    place = shown(path)
    if path in seen:
        raise InputError(f"standard '{name}' extends itself", place)
    root = parse_file(path)
    if not isinstance(root, Entries):
        raise InputError(f"a standard is a mapping with {', '.join(_KEYS)}", place, root.line)
    for key, line in root.lines.items():
        if key not in _KEYS:
            raise problem(f"unknown key '{key}' in a standard{suggestion(key, _KEYS)}", place, line)
    parent = root.get("extends")
    inherited = Standard(name)
    if isinstance(parent, Scalar):
        try:
            inherited = _load(parent.text, path.parent, (*seen, path))
        except InputError as error:
            raise error.at(place, parent.line) from None
    changes = [*_changes(root, place, path.name), *_requirements(root, place, path.name)]
    return Standard(name, (*inherited.changes, *changes), {**inherited.policies, **_policies(root, place)})


def _section(root: Entries, key: str, place: str) -> Iterator[tuple[str, Node, int]]:
    """The entries below a key of a standard, with their lines."""
    node = root.get(key)
    if node is None:
        return
    if not isinstance(node, Entries):
        raise problem(f"'{key}' of a standard is a mapping", place, root.lines[key])
    for name, value in node.values.items():
        yield name, value, node.lines[name]


def _changes(root: Entries, place: str, source: str) -> Iterator[Change]:
    for word, node, line in _section(root, "rules", place):
        try:
            yield _change(find_rule(word).code, node, source)
        except InputError as error:
            raise problem(error.message, place, line) from None


def _change(code: str, node: Node, source: str) -> Change:
    if isinstance(node, Scalar):
        if node.text.lower() in ("off", "on", "true", "false", "yes", "no"):
            return Change(code, node.text.lower() in ("on", "true", "yes"), None, {}, source)
        return Change(code, True, _severity(code, node), {}, source)
    if not isinstance(node, Entries):
        raise InputError(f"{code}: expected off, on, a severity or a mapping")
    severity = None
    parameters: dict[str, Value] = {}
    for key, value in node.values.items():
        if key == "severity":
            severity = _severity(code, value)
        else:
            parameters[key] = _parameter(code, key, value)
    return Change(code, True, severity, parameters, source)


def _severity(code: str, node: Node) -> str:
    if isinstance(node, Scalar) and node.text in _SEVERITIES:
        return node.text
    text = node.text if isinstance(node, Scalar) else node.kind
    raise InputError(f"{code}: severity '{text}' is not error, warning or info{suggestion(text, _SEVERITIES)}")


def _parameter(code: str, key: str, node: Node) -> Value:
    """The value of a rule's parameter, of the kind that its card's default has."""
    defaults = load_rules()[code].parameters
    if key not in defaults:
        known = ["severity", *defaults]
        raise InputError(f"{code}: unknown key '{key}'{suggestion(key, known)} (known: {', '.join(known)})")
    kind = {bool: "boolean", str: "string"}.get(type(defaults[key]), "number")
    return _value(f"{code}: '{key}'", node, kind)


def _value(what: str, node: Node, kind: str) -> Value:
    if isinstance(node, Scalar) and node.kind == kind:
        return node.truth if kind == "boolean" else node.number if kind == "number" else node.text
    words = {"boolean": "true or false", "number": "a number", "string": "a text"}
    text = f"'{node.text}'" if isinstance(node, Scalar) else f"a {node.kind}"
    raise InputError(f"{what} must be {words[kind]}, not {text}")


def _requirements(root: Entries, place: str, source: str) -> Iterator[Change]:
    """``require:`` switches the requirements on, which are the parameters of one rule."""
    parameters: dict[str, Value] = {}
    for key, node, line in _section(root, "require", place):
        try:
            parameters[key] = _parameter(REQUIREMENTS, key, node)
        except InputError as error:
            raise problem(error.message.replace(f"{REQUIREMENTS}:", "require:"), place, line) from None
    if parameters:
        yield Change(REQUIREMENTS, True, None, parameters, source)


def _policies(root: Entries, place: str) -> dict[str, Value]:
    policies: dict[str, Value] = {}
    for key, node, line in _section(root, "policies", place):
        if key not in _POLICIES:
            known = f"{suggestion(key, _POLICIES)} (known: {', '.join(_POLICIES)})"
            raise problem(f"unknown policy '{key}'{known}", place, line)
        try:
            value = _value(f"policy '{key}'", node, _POLICIES[key])
        except InputError as error:
            raise problem(error.message, place, line) from None
        policies[key] = int(value) if key == "k" else value
    return policies
