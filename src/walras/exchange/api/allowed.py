"""What a field allows, in words, from its schema in the OpenAPI file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

_ONE_OF = re.compile(r"\^\(([a-z_|-]+)\)\$")
_ANYTHING = r"^[^\x00]*$"
_SHOWN = 12  # words of a list


def found(operation: Schema, parts: Schema, place: str, names: Sequence[str | int]) -> str:
    """What is allowed at a place of a request; empty where the file does not tell.

    Args:
        operation: Of the OpenAPI file.
        parts: Its schemas, by name.
        place: ``body``, ``path``, ``query`` or ``header``.
        names: The way to the field, as pydantic tells it.
    """
    way = [name for name in names if name != "[key]"]
    if place == "body":
        content = operation.get("requestBody", {}).get("content", {})
        schema: Schema | None = content.get("application/json", {}).get("schema")
    else:
        named = [p for p in operation.get("parameters", ()) if p["in"] == place]
        schema = next((p["schema"] for p in named if way and _same(p["name"], way[0])), None)
        way = way[1:]
    key = bool(names) and names[-1] == "[key]"
    for name in way[:-1] if key else way:
        schema = None if schema is None else _below(_plain(schema, parts), name)
    if schema is None:
        return ""
    return _names(_plain(schema, parts)) if key else words(schema, parts)


def _same(name: str, other: object) -> bool:
    return name.lower().replace("-", "_") == str(other).lower().replace("-", "_")


def _plain(schema: Schema, parts: Schema) -> Schema:
    """A schema without references and without null."""
    while "$ref" in schema or "anyOf" in schema:
        if "$ref" in schema:
            schema = parts[schema["$ref"].rpartition("/")[2]]
        else:
            schema = next(one for one in schema["anyOf"] if one.get("type") != "null")
    return schema


def _below(schema: Schema, name: str | int) -> Schema | None:
    if isinstance(name, int):
        return schema.get("items")
    known = schema.get("properties", {})
    if name in known:
        below: Schema = known[name]
        return below
    return next(iter(schema.get("patternProperties", {}).values()), None) or (
        schema.get("additionalProperties") or None
    )


def words(schema: Schema, parts: Schema) -> str:
    """What a schema allows.

    Example:
        >>> from walras.exchange.api.allowed import words
        >>> words({"type": "integer", "minimum": 1, "maximum": 10000}, {})
        'a whole number, 1 to 10000'
        >>> words({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]}, {})
        'a number, above 0; or null'
    """
    null = any(one.get("type") == "null" for one in schema.get("anyOf", ()))
    plain = _plain(schema, parts)
    said = _KINDS.get(str(plain.get("type")), _any)(plain, parts)
    return f"{said}; or null" if null else said


def _number(schema: Schema, parts: Schema) -> str:
    kind = "a whole number" if schema["type"] == "integer" else "a number"
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if low is not None and high is not None:
        return f"{kind}, {low:.16g} to {high:.16g}"
    limits = [("at least", low), ("above", above), ("at most", high), ("below", below)]
    return ", ".join(
        [kind, *(f"{word} {limit:.16g}" for word, limit in limits if limit is not None)]
    )


def _text(schema: Schema, parts: Schema) -> str:
    pattern = schema.get("pattern", "")
    listed = schema.get("enum") or ()
    if "const" in schema:
        listed = [schema["const"]]
    if match := _ONE_OF.fullmatch(pattern):
        listed = match[1].split("|")
    if listed:
        return _some(listed)
    said = ["a text"]
    if pattern == _ANYTHING:
        said.append("without the character NUL")
    elif pattern:
        said.append(f"that matches {pattern}")
    return ", ".join(said + _lengths(schema, "Length", "characters"))


def _lengths(schema: Schema, name: str, what: str) -> list[str]:
    low, high = schema.get(f"min{name}"), schema.get(f"max{name}")
    if low is None and high is None:
        return []
    return [f"{low or 0} to {high} {what}" if high is not None else f"at least {low} {what}"]


def _list(schema: Schema, parts: Schema) -> str:
    of = words(schema["items"], parts) if "items" in schema else "anything"
    return ", ".join(["a list", *_lengths(schema, "Items", "entries"), f"each {of}"])


def _object(schema: Schema, parts: Schema) -> str:
    if "properties" in schema:
        return f"an object with only the fields {_some(sorted(schema['properties']))}"
    most = _lengths(schema, "Properties", "names")
    if schema.get("patternProperties"):
        value = words(next(iter(schema["patternProperties"].values())), parts)
        return ", ".join(["an object", *most, _names(schema), f"each with {value}"])
    if schema.get("additionalProperties") is False:
        return "an object with no field"
    return ", ".join(["an object", *most])


def _names(schema: Schema) -> str:
    pattern = next(iter(schema.get("patternProperties", {})), None)
    pattern = pattern or schema.get("propertyNames", {}).get("pattern")
    return f"names that match {pattern}" if pattern else "names"


def _some(listed: Sequence[str]) -> str:
    more = ", …" if len(listed) > _SHOWN else ""
    return ", ".join(map(str, listed[:_SHOWN])) + more


def _any(schema: Schema, parts: Schema) -> str:
    return _some(schema["enum"]) if "enum" in schema else "a value"


def _boolean(schema: Schema, parts: Schema) -> str:
    return "true or false"


_KINDS = {
    "integer": _number,
    "number": _number,
    "string": _text,
    "array": _list,
    "object": _object,
    "boolean": _boolean,
}
