"""YAML as a small typed tree in which every node knows its line and every scalar keeps the text that was written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml
from yaml.reader import Reader

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest.files import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The plain scalars of YAML 1.2's core schema, with the yes and no that people write.
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO")
_NUMBER = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?", re.ASCII)
_PLAIN_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map")}


@dataclass(frozen=True)
class Scalar:
    """One value as it was written; only an unquoted one can be a number, a boolean or null."""

    line: int
    text: str
    quoted: bool = False

    @property
    def kind(self) -> str:
        """The JSON type that YAML reads the text as."""
        if self.quoted:
            return "string"
        if _NULL.fullmatch(self.text):
            return "null"
        if _BOOLEAN.fullmatch(self.text):
            return "boolean"
        return "number" if _NUMBER.fullmatch(self.text) else "string"

    @property
    def number(self) -> float:
        """The text as a number."""
        return float(self.text)

    @property
    def truth(self) -> bool:
        """The text as a boolean."""
        return self.text.lower() in ("true", "yes")


@dataclass(frozen=True)
class Items:
    """A list."""

    line: int
    items: tuple[Node, ...]
    kind = "array"

    def __iter__(self) -> Iterator[Node]:
        """Go through the nodes of the list."""
        return iter(self.items)


@dataclass(frozen=True)
class Entries:
    """A mapping by the text of its keys, with the line of each key."""

    line: int
    values: dict[str, Node]
    lines: dict[str, int]
    kind = "object"

    def get(self, key: str) -> Node | None:
        """Return a key's node; a null counts as absent."""
        node = self.values.get(key)
        return None if node is None or node.kind == "null" else node


Node = Scalar | Items | Entries


def problem(message: str, path: str, line: int | None = None) -> InputError:
    """Make an error of one line, whatever text it quotes."""
    return InputError(" ".join(message.split()), path, line)


class _TextLoader(yaml.SafeLoader):
    """A loader that leaves every scalar a text; pure Python, because the C one overflows its stack on deep nesting."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.yaml_implicit_resolvers = {}


def parse_file(path: Path) -> Node:
    """Read a YAML file into nodes."""
    place = shown(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", place) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"not UTF-8 text: byte 0x{data[error.start]:02x}", place, line) from None
    return parse_text(text, place)


def parse_text(text: str, path: str) -> Node:
    """Read YAML text into nodes; the path is for messages only."""
    if bad := Reader.NON_PRINTABLE.search(text):
        line = text.count("\n", 0, bad.start()) + 1
        raise InputError(f"not valid YAML: control character U+{ord(bad[0]):04X}", path, line)
    try:
        root = yaml.compose(text, _TextLoader)
        if root is None or root.tag.endswith(":null"):
            raise InputError("the file is empty", path)
        return _Converter(path).node(root)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, text, path) from None
    except RecursionError:
        raise InputError("not valid YAML here: nested too deeply", path) from None


def _syntax_error(error: yaml.MarkedYAMLError, text: str, path: str) -> InputError:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return problem(f"not valid YAML: {error.problem}", path)
    if mark.index >= len(text) and error.context_mark:
        mark = error.context_mark  # what was left open is a better place than the end of the file
    if "single document" in (error.context or ""):
        return problem("several YAML documents in one file; write one manifest per file", path, mark.line + 1)
    if r"'\t'" in (error.problem or ""):
        return problem("not valid YAML: indented with a tab; use spaces", path, mark.line + 1)
    return problem(f"not valid YAML: {error.context or ''} {error.problem or ''}", path, mark.line + 1)


class _Converter:
    """Turns PyYAML's nodes into ours, each shared node once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.done: dict[int, Node | None] = {}

    def node(self, raw: yaml.Node) -> Node:
        line = raw.start_mark.line + 1
        if id(raw) in self.done:
            known = self.done[id(raw)]
            if known is None:
                raise InputError("an alias that contains itself", self.path, line)
            return known
        if raw.tag not in _PLAIN_TAGS:
            raise InputError(f"the YAML tag '{raw.tag}' is not allowed here", self.path, line)
        self.done[id(raw)] = None
        made: Node
        if isinstance(raw, yaml.ScalarNode):
            made = Scalar(line, raw.value, quoted=raw.style is not None)
        elif isinstance(raw, yaml.SequenceNode):
            made = Items(line, tuple(self.node(item) for item in raw.value))
        else:
            made = self.mapping(raw.value, line)
        self.done[id(raw)] = made
        return made

    def mapping(self, pairs: list[tuple[yaml.Node, yaml.Node]], line: int) -> Entries:
        values: dict[str, Node] = {}
        lines: dict[str, int] = {}
        merged: list[Node] = []
        for raw_key, raw_value in pairs:
            key, value = self.node(raw_key), self.node(raw_value)
            if not isinstance(key, Scalar):
                raise InputError("a key must be a plain text", self.path, key.line)
            if key.text == "<<" and not key.quoted:
                merged += value if isinstance(value, Items) else [value]
                continue
            if key.text in lines:
                raise problem(f"duplicate key '{key.text}' (first in line {lines[key.text]})", self.path, key.line)
            values[key.text], lines[key.text] = value, key.line
        for base in merged:
            if not isinstance(base, Entries):
                raise InputError("'<<' can only merge mappings", self.path, line)
            values = {**base.values, **values}
            lines = {**base.lines, **lines}
        return Entries(line, values, lines)
