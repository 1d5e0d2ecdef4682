"""Definitions to the plain JSON Schema that datamodel-code-generator turns into structs.

What is handed over: types and bounds. What is not: texts (they are quoted by us), names of
properties, and anything that a struct cannot state.
"""

from __future__ import annotations

from typing import Any

from changewire_codegen.nodes import (
    Alias,
    Anything,
    ArrayOf,
    Choice,
    Family,
    MapOf,
    Nullable,
    Object,
    RefTo,
    Row,
    Scalar,
    Type,
    Union,
)

OPEN_TAG = "@open"
"""Tag of an open arm inside a struct; on the wire there is the unknown tag itself."""

ROOT = "Unused"
"""Name of a type that the schema needs and nobody else."""

_TAG = "tag"
_ANY = {"title": "Anything"}
"""Any value; of an object without any such word, a class would be made."""

Schema = dict[str, Any]


def lower(family: Family) -> Schema:
    """Return one schema whose ``$defs`` are the definitions of the family."""
    definitions = {name: _definition(d) for name, d in family.definitions.items()}
    # The root needs a type: without one the generator would add an alias for anything.
    root = next(name for name in definitions)
    return {**_ref(root), "$defs": definitions}


def _definition(definition: Object | Row | Union | Alias) -> Schema:
    if isinstance(definition, Union):
        return {"oneOf": [_ref(name) for name in definition.arms]}
    if isinstance(definition, Alias):
        return lower_type(definition.type)
    if isinstance(definition, Row):
        children, tag = definition.positions, None
    else:
        children, tag = definition.properties, definition.tag
    properties: Schema = {}
    required: list[str] = []
    if tag is not None:
        properties[_TAG] = {"const": OPEN_TAG if tag.value is None else tag.value}
        required.append(_TAG)
    for i, child in enumerate(children):
        if tag is None or tag.value is None or child.wire != tag.wire:
            properties[neutral_name(i)] = {} if child.repeated else lower_type(child.type)
            required += [neutral_name(i)] if child.required else []
    return {
        "title": definition.name,
        "type": "object",
        "properties": properties,
        "required": required,
    }


def neutral_name(index: int) -> str:
    """Return the name under which a property is handed over; no name of a schema is."""
    return f"property_{index}"


def lower_type(kind: Type) -> Schema:  # noqa: PLR0911 - one for each kind of type
    """Return the schema of one type."""
    if isinstance(kind, RefTo):
        return _ref(kind.name)
    if isinstance(kind, Nullable):
        return {"anyOf": [lower_type(kind.of), {"type": "null"}]}
    if isinstance(kind, Choice):
        return _choice(kind)
    if isinstance(kind, ArrayOf):
        bounds = {"minItems": kind.min_items, "maxItems": kind.max_items}
        return {"type": "array", "items": lower_type(kind.items), **_given(bounds)}
    if isinstance(kind, MapOf):
        return {"type": "object", "additionalProperties": lower_type(kind.values) or _ANY}
    if isinstance(kind, Anything):
        return {}
    return _scalar(kind)


def _choice(choice: Choice) -> Schema:
    """Lower a union of scalars; beside null the bounds stay, others are in ``exact_hint``."""
    options = [option for option in choice.options if option.kind != "null"]
    null = [{"type": "null"}] if len(options) < len(choice.options) else []
    if len(options) == 1 and "type" in _scalar(options[0]) and null:
        only = _scalar(options[0])
        return {**only, "type": [only["type"], "null"]}
    return {"anyOf": [*(_unbounded(option) for option in options), *null]}


def _unbounded(scalar: Scalar) -> Schema:
    lowered = _scalar(scalar)
    return {key: lowered[key] for key in ("type", "format", "enum") if key in lowered}


def exact_hint(choice: Choice) -> str | None:
    """Return the annotation of a union whose bounds would be dropped; None where they are kept.

    An integer of 64 bits beside a number is such a union: msgspec decodes every integer as the
    integer, so its bounds hold for all of them, which is what the dialect says.
    """
    options = [option for option in choice.options if option.kind != "null"]
    if len(options) == 1 or all(_unbounded(option) == _scalar(option) for option in options):
        return None
    parts = [_annotation(option) for option in options]
    return " | ".join([*parts, "None"] if len(options) < len(choice.options) else parts)


def _annotation(scalar: Scalar) -> str:
    if scalar.enum is not None:
        return f"Literal[{', '.join(map(repr, scalar.enum))}]"
    names = {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}
    bounds = _scalar(scalar)
    words = {"minimum": "ge", "maximum": "le", "minLength": "min_length", "maxLength": "max_length"}
    words["pattern"] = "pattern"
    given = ", ".join(f"{word}={bounds[key]!r}" for key, word in words.items() if key in bounds)
    name = names.get(scalar.kind, scalar.kind)
    return f"Annotated[{name}, Meta({given})]" if given else name


def _scalar(scalar: Scalar) -> Schema:
    if scalar.enum is not None:
        return {"enum": list(scalar.enum)}
    bounds = _given(
        {
            "minimum": scalar.minimum,
            "maximum": scalar.maximum,
            "minLength": scalar.min_length,
            "maxLength": scalar.max_length,
            "pattern": None if scalar.pattern is None else f"{scalar.pattern[:-1]}\\Z",
        }
    )
    words = {"bytes": ("string", "binary"), "datetime": ("string", "date-time")}
    if scalar.kind in words:
        word, form = words[scalar.kind]
        return {"type": word, "format": form, **bounds}
    return {"type": scalar.kind, **bounds}


def _given(values: Schema) -> Schema:
    return {key: value for key, value in values.items() if value is not None}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}
