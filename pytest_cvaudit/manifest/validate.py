"""A validator for the part of JSON Schema that the manifest's schema uses, with a line for its one error."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cvaudit.errors import InputError, suggestion
from pytest_cvaudit.manifest.nodes import Entries, Items, Scalar, problem

if TYPE_CHECKING:
    from pytest_cvaudit.manifest.nodes import Node

Schema = dict[str, Any]

SCHEMA_FILE = Path(__file__).with_name("manifest.schema.json")
_ROOT = "the manifest"
#: How a message names the JSON types.
_TYPES = {
    "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "a mapping",
}  # fmt: skip


@cache
def manifest_schema() -> Schema:
    """Return the JSON Schema of a manifest."""
    schema: Schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return schema


def validate(node: Node, path: str, schema: Schema | None = None) -> None:
    """Raise the first way in which a node does not follow a schema, by default the manifest's."""
    schema = manifest_schema() if schema is None else schema
    _Validator(schema, path).check(node, schema, _ROOT)


class _Validator:
    """Walks a tree along a schema; ``what`` is how messages call the node at hand."""

    def __init__(self, root: Schema, path: str) -> None:
        self.root = root
        self.path = path

    def check(self, node: Node, schema: Schema, what: str) -> None:
        if "$ref" in schema:
            self.check(node, self.root["$defs"][schema["$ref"].removeprefix("#/$defs/")], what)
        if "type" in schema:
            self.check_type(node, schema, what)
        if isinstance(node, Scalar):
            self.check_scalar(node, schema, what)
        elif isinstance(node, Items):
            self.check_items(node, schema, what)
        else:
            self.check_entries(node, schema, _title(node, schema, what))
        if "if" in schema:
            self.check(node, schema["then" if self.follows(node, schema["if"]) else "else"], what)

    def follows(self, node: Node, schema: Schema) -> bool:
        try:
            self.check(node, schema, "")
        except InputError:
            return False
        return True

    def check_type(self, node: Node, schema: Schema, what: str) -> None:
        types = [schema["type"]] if isinstance(schema["type"], str) else list(schema["type"])
        if node.kind in types or (node.kind == "number" and "integer" in types and _is_whole(node)):
            return
        if "string" in types:  # an unquoted number or boolean is only another way to write a text
            types = [name for name in types if name not in ("number", "boolean")]
        wanted = " or ".join(_TYPES[name] for name in types if name != "null")
        raise self.error(node, f"{what} must be {wanted}, not {_describe(node)}")

    def check_scalar(self, node: Scalar, schema: Schema, what: str) -> None:
        if node.kind == "number":
            if "minimum" in schema and node.number < schema["minimum"]:
                raise self.error(node, f"{what} must be at least {schema['minimum']}, not {node.text}")
            if "maximum" in schema and node.number > schema["maximum"]:
                raise self.error(node, f"{what} must be at most {schema['maximum']}, not {node.text}")
        if node.kind == "string":
            if "pattern" in schema and not re.search(schema["pattern"], node.text):
                raise self.error(node, f"{what} {schema['patternErrorMessage']}, not {_describe(node)}")
            if len(node.text) < schema.get("minLength", 0):
                raise self.error(node, f"{what} must not be empty")

    def check_items(self, node: Items, schema: Schema, what: str) -> None:
        if len(node.items) < schema.get("minItems", 0):
            raise self.error(node, f"{what} must not be an empty list")
        if "items" in schema:
            for position, item in enumerate(node, start=1):
                self.check(item, schema["items"], f"item {position} of {what}")

    def check_entries(self, node: Entries, schema: Schema, what: str) -> None:
        if not schema.get("minProperties", 0) <= len(node.values) <= schema.get("maxProperties", len(node.values)):
            raise self.error(node, f"{what} must not be empty")
        known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        for key, value in node.values.items():
            if "propertyNames" in schema:
                self.check(Scalar(node.lines[key], key, quoted=True), schema["propertyNames"], f"key '{key}'")
            if key not in known and others is False:
                hint = suggestion(key, known) or f" (known: {', '.join(known)})"
                raise problem(f"unknown key '{key}' in {what}{hint}", self.path, node.lines[key])
            self.check(value, known.get(key, others), f"'{key}'" if what == _ROOT else f"'{key}' of {what}")
        for key in schema.get("required", ()):
            if key not in node.values:
                raise self.error(node, f"{what} has no '{key}'")

    def error(self, node: Node, message: str) -> InputError:
        return problem(message, self.path, node.line)


def _is_whole(node: Node) -> bool:
    return isinstance(node, Scalar) and node.number.is_integer()


def _describe(node: Node) -> str:
    if not isinstance(node, Scalar):
        return _TYPES[node.kind]
    if node.kind == "null":
        return "empty"
    shortened = node.text if len(node.text) <= 40 else f"{node.text[:37]}..."
    return f"the text '{shortened}'" if node.quoted else f"'{shortened}'"


def _title(node: Entries, schema: Schema, what: str) -> str:
    if "title" not in schema or what == _ROOT:
        return what
    name = node.get("name")
    return f"{schema['title']} '{name.text}'" if isinstance(name, Scalar) else what
