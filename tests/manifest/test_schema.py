"""The shipped JSON Schema: valid itself, described, and of one mind with the validator that reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.manifest import manifest_schema
from pytest_cvaudit.manifest.nodes import Items, Node, Scalar, parse_text
from pytest_cvaudit.manifest.validate import validate

from .corpus import BREAKS_SCHEMA, BREAKS_SENSE, GOOD

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXTS = {
    **{name: (text, True) for name, text in GOOD.items()},
    **{name: (text, False) for name, (text, _, _) in BREAKS_SCHEMA.items()},
    **{name: (text, True) for name, (text, _, _) in BREAKS_SENSE.items()},
}
INTERPRETED = {
    "$ref", "type", "properties", "additionalProperties", "propertyNames", "required", "items", "minItems", "minLength",
    "minProperties", "maxProperties", "minimum", "maximum", "pattern", "if", "then", "else",
}  # fmt: skip
ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description", "patternErrorMessage"}


def plain(node: Node) -> Any:
    """Turn nodes into the values that YAML reads them as."""
    if isinstance(node, Items):
        return [plain(item) for item in node]
    if not isinstance(node, Scalar):
        return {key: plain(value) for key, value in node.values.items()}
    values = {"null": lambda: None, "boolean": lambda: node.truth, "number": lambda: node.number}
    return values.get(node.kind, lambda: node.text)()


def schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Go through a schema and all schemas inside it."""
    yield schema
    for key, value in schema.items():
        inside = value.values() if key in ("properties", "$defs") else [value]
        if key in ("properties", "$defs", "additionalProperties", "propertyNames", "items", "if", "then", "else"):
            for part in inside:
                if isinstance(part, dict):
                    yield from schemas(part)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(manifest_schema())


def test_the_validator_knows_every_keyword_of_the_schema() -> None:
    used = {keyword for schema in schemas(manifest_schema()) for keyword in schema}
    assert used <= INTERPRETED | ANNOTATIONS


def test_every_key_is_described() -> None:
    for schema in schemas(manifest_schema()):
        assert [key for key, value in schema.get("properties", {}).items() if "description" not in value] == []


def test_every_pattern_has_a_message() -> None:
    patterns = [part for part in schemas(manifest_schema()) if "pattern" in part]
    assert [part for part in patterns if "patternErrorMessage" not in part] == []


def test_a_short_claim_is_told_by_the_keys_of_the_long_one() -> None:
    definitions = manifest_schema()["$defs"]
    keys = "|".join(definitions["full_claim"]["properties"])
    assert definitions["claim"]["if"]["propertyNames"]["pattern"] == f"^(?!({keys})$)"


def verdicts(text: str) -> tuple[bool, bool]:
    """Return what jsonschema and what the validator say about a manifest."""
    node = parse_text(text, "cvaudit.yaml")
    try:
        validate(node, "cvaudit.yaml")
    except InputError:
        ours = False
    else:
        ours = True
    return jsonschema.Draft202012Validator(manifest_schema()).is_valid(plain(node)), ours


@pytest.mark.parametrize("name", TEXTS)
def test_jsonschema_and_the_validator_agree(name: str) -> None:
    text, good = TEXTS[name]
    assert verdicts(text.removeprefix("\ufeff")) == (good, good)


@settings(deadline=None)
@given(
    text=st.sampled_from(list(GOOD.values())),
    part=st.integers(0, 30),
    value=st.sampled_from(["", "~", "yes", "0", "-1", "2.0", "1e999", "x", "' '", '"7"', "[]", "{}", "[x]", "{f1: 1}"]),
)
def test_they_agree_on_manifests_with_a_part_replaced(text: str, part: int, value: str) -> None:
    places = list(re.finditer(r"(?<=[:-] )[^\s,{}\[\]]+|(?<=\s)\w+(?=:)", text))
    place = places[part % len(places)]
    changed = text[: place.start()] + value + text[place.end() :]
    try:
        parse_text(changed, "cvaudit.yaml")
    except InputError:
        reject()
    theirs, ours = verdicts(changed)
    assert theirs is ours
