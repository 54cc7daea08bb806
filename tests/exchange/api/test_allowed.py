"""What a field allows, in words, from its schema."""

from __future__ import annotations

from typing import Any

import pytest

from walras.exchange.api.allowed import found, words

_PARTS: dict[str, Any] = {
    "Size": {"type": "integer", "minimum": 1, "maximum": 9},
    "Task": {
        "type": "object",
        "properties": {
            "size": {"anyOf": [{"$ref": "#/components/schemas/Size"}, {"type": "null"}]},
            "labels": {
                "type": "object",
                "patternProperties": {"^[a-z]+$": {"type": "string", "maxLength": 4}},
                "maxProperties": 3,
            },
            "free": {"type": "object", "additionalProperties": {"type": "number"}},
        },
    },
}
_OPERATION: dict[str, Any] = {
    "requestBody": {
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "tasks": {
                            "type": "array",
                            "items": {"$ref": "#/components/schemas/Task"},
                            "minItems": 1,
                            "maxItems": 5,
                        }
                    },
                }
            }
        }
    },
    "parameters": [
        {"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer", "minimum": 0}},
        {"name": "state", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
    ],
}


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": "integer", "minimum": 0}, "a whole number, at least 0"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, "a number, above 0, at most 1"),
        ({"type": "number", "exclusiveMaximum": 1e15}, "a number, below 1000000000000000"),
        ({"type": "number"}, "a number"),
        ({"type": "string", "enum": ["up", "down"]}, "up, down"),
        ({"type": "string", "const": "up"}, "up"),
        ({"type": "string", "pattern": "^(a|b-c)$"}, "a, b-c"),
        ({"type": "string", "pattern": "^[a-z]$"}, "a text, that matches ^[a-z]$"),
        (
            {"type": "string", "pattern": r"^[^\x00]*$", "minLength": 1},
            "a text, without the character NUL, at least 1 characters",
        ),
        ({"type": "string", "maxLength": 9}, "a text, 0 to 9 characters"),
        ({"type": "array"}, "a list, each anything"),
        ({"type": "boolean"}, "true or false"),
        ({"enum": [1, 2]}, "1, 2"),
        ({}, "a value"),
        ({"enum": list(range(20))}, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …"),
        (
            {"type": "object", "properties": {"b": {}, "a": {}}},
            "an object with only the fields a, b",
        ),
        ({"type": "object", "additionalProperties": False}, "an object with no field"),
        ({"type": "object", "maxProperties": 3}, "an object, 0 to 3 names"),
        (
            _PARTS["Task"]["properties"]["labels"],
            "an object, 0 to 3 names, names that match ^[a-z]+$, each with a text, "
            "0 to 4 characters",
        ),
        (_PARTS["Task"]["properties"]["size"], "a whole number, 1 to 9; or null"),
    ],
)
def test_a_schema_in_words(schema: dict[str, Any], wanted: str) -> None:
    assert words(schema, _PARTS) == wanted


@pytest.mark.parametrize(
    ("place", "names", "wanted"),
    [
        (
            "body",
            ["tasks"],
            "a list, 1 to 5 entries, each an object with only the fields free, labels, size",
        ),
        ("body", ["tasks", 2, "size"], "a whole number, 1 to 9; or null"),
        ("body", ["tasks", 0, "labels", "gpu"], "a text, 0 to 4 characters"),
        ("body", ["tasks", 0, "labels", "GPU", "[key]"], "names that match ^[a-z]+$"),
        ("body", ["tasks", 0, "free", "x"], "a number"),
        ("body", ["tasks", 0, "free", "x", "[key]"], "names"),
        ("body", ["tasks", 0, "unknown"], ""),
        ("header", ["last_event_id"], "a whole number, at least 0"),
        ("query", ["state", 3], "a text"),
        ("query", ["unknown"], ""),
        ("path", [], ""),
    ],
)
def test_a_place_of_a_request(place: str, names: list[str | int], wanted: str) -> None:
    assert found(_OPERATION, _PARTS, place, names) == wanted


def test_a_request_without_a_body_allows_nothing_that_is_known() -> None:
    assert found({}, {}, "body", ["x"]) == ""
