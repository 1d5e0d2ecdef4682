"""A family as one JSON Schema, from which datamodel-code-generator writes the models.

What JSON Schema cannot say of a class travels as keywords with ``x-``, which only templates read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from changewire_codegen.emit.checks import row_checks
from changewire_codegen.envelopes import alone_of, flat_of
from changewire_codegen.names import python_name, snake
from changewire_codegen.nodes import (
    INT32,
    INT64,
    OPEN_TAG,
    Alias,
    AnyDefinition,
    Anything,
    ArrayOf,
    Choice,
    Family,
    Kind,
    MapOf,
    Nullable,
    Object,
    Property,
    RefTo,
    Row,
    Scalar,
    Tag,
    Type,
    Union,
    not_null,
)
from changewire_codegen.order import has_extra, parsed_apart
from changewire_codegen.types import is_loose
from changewire_codegen.writer import quoted_docstring
from changewire_library.support import NO_TAG

Node = dict[str, Any]

SHARED = ("Alone", "Extra", "Int32", "Int64", "Named")
"""Definitions of the shared module, which are imported; no title is one of these."""

_ALONE = "`{}` if the message is the value of this property, without the object around it."
_NAMED = "Name of `{}` on the wire, if it is another one."
_EXTRA = "{} that the schema does not name, by JSON Pointer; unset without any."
_NULL: Node = {"type": "null"}
_BOUNDS = {"minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems"}
_INTEGERS: Mapping[object, str] = {INT32: "Int32", INT64: "Int64"}
_TYPES: Mapping[Kind, Node] = {
    "double": {"type": "number"},
    "bytes": {"type": "string", "format": "binary"},
    "binary": {"type": "string", "format": "binary"},
    "datetime": {"type": "string", "format": "date-time"},
}


def document(family: Family) -> Node:
    """Return the schema: a definition for each of the family, and those that are imported."""
    definitions: Node = {name: {} for name in (*SHARED, "Raw", "any")}
    for name, definition in family.definitions.items():
        node = _definition(definition, family)
        _name_bounded(node, name, definitions)
        definitions |= {name: node, **_derived(definition)}
    return {"$defs": definitions}


def _name_bounded(node: Node, name: str, definitions: Node) -> None:
    """Name what has bounds within a list, map or union; else names of others could be taken.

    A number next to an integer with bounds has only its name there: msgspec decodes every
    integer as the integer, and so the package would drop these bounds in favour of the number.
    """
    for word, child in node.get("properties", {}).items():
        _name_bounded(child, f"{name}__{python_name(word)}", definitions)
    arms = node.get("anyOf", [])
    is_beside = any(arm.get("type") == "integer" for arm in arms)
    places: list[tuple[Any, Any]] = [(arms, i) for i in range(len(arms))]
    places += [(node, word) for word in ("items", "additionalProperties") if word in node]
    for parent, key in places:
        child, below = parent[key], f"{name}__{key}"
        _name_bounded(child, below, definitions)
        is_number = is_beside and child.get("type") == "number"
        if is_number or _BOUNDS & child.keys():
            definitions[below] = child
            opaque = {"type": "string", "x-python-type": below}
            parent[key] = opaque if is_number else _reference(below)


def _definition(definition: AnyDefinition, family: Family) -> Node:
    if isinstance(definition, (Object, Row)):
        node = _class(definition, family)
    elif isinstance(definition, Alias):
        node = _node(definition.type)
    elif isinstance(definition, Union):
        arms = [n for arm in definition.arms for n in _tagged(family.definitions[arm])]
        node = {"oneOf": [_reference(name) for name in arms]}
    else:
        node = {"oneOf": [_reference(arm) for arm in definition.arms]}
    return {**node, "x-doc": _docstring(definition.description)}


def _tagged(definition: AnyDefinition) -> list[str]:
    """Return the classes of an arm that have a value of the tag."""
    tag = definition.tag if isinstance(definition, Object) else None
    return [*tag.models.values()] if tag is not None and tag.models else [definition.name]


def _derived(definition: AnyDefinition) -> Node:
    """Return the classes that have the fields of an object, and another value of its tag."""
    tag = definition.tag if isinstance(definition, Object) else None
    if tag is None:
        return {}
    return {
        name: {
            "allOf": [_reference(definition.name)],
            "x-options": {"tag": repr(value)},
            "x-value": f"{python_name(tag.wire)}: ClassVar[Literal[{value!r}]] = {value!r}",
        }
        for value, name in tag.models.items()
        if name != definition.name
    }


def _class(definition: Object | Row, family: Family) -> Node:
    options: Node = {"forbid_unknown_fields": definition.name not in parsed_apart(family)}
    if isinstance(definition, Row):
        fields = {p.name: _position(p, definition) for p in definition.properties}
        checks, what = row_checks(definition, family), "Positions"
        options["array_like"] = True
        required = list(fields)
    else:
        fields = {p.wire: _property(p, definition) for p in definition.properties}
        checks, what = [], "Properties"
        required = [p.wire for p in definition.properties if p.required]
    if isinstance(definition, Object) or any("default" in field for field in fields.values()):
        options["kw_only"] = True
    if isinstance(definition, Object) and definition.tag is not None:
        words = {name: value for value, name in definition.tag.models.items()}
        tag = words.get(definition.name, NO_TAG if words else OPEN_TAG)
        options |= {"tag_field": repr(definition.tag.wire), "tag": repr(tag)}
    alone, flat = alone_of(definition, family), flat_of(definition, family)
    if alone is not None:
        fields["@alone"] = _described(_reference("Alone"), _ALONE.format(alone.prop.wire))
    if flat is not None:
        fields["@named"] = _described(_reference("Named"), _NAMED.format(flat.other.name))
    if has_extra(definition, family):
        fields["@extra"] = _described(_reference("Extra"), _EXTRA.format(what))
    return {
        "type": "object",
        "properties": {word: {**fields[word], "x-at": i} for i, word in enumerate(fields)},
        "required": required,
        "x-checks": checks,
        "x-options": options,
    }


def _position(prop: Property, row: Row) -> Node:
    """Return the node of a position; a default at the last one would let a shorter array pass.

    The template writes a constant: the package would make it a tag, which has no position.
    """
    node = _node(prop.type)
    if len(node.get("enum", ())) == 1:
        value = node["enum"][0]
        node["x-tag"] = f"Literal[{value!r}]"
        if prop is not row.properties[-1]:
            node |= {"default": value, "x-tag": f"Literal[{value!r}] = {value!r}"}
    return _described(node, prop.description)


def _property(prop: Property, owner: Object) -> Node:
    if owner.tag is not None and prop.wire == owner.tag.wire:
        return _described({"type": "string", "x-tag": _tag(owner.tag, owner)}, prop.description)
    if not prop.repeated:
        return _described(_node(prop.type), prop.description)
    kind = not_null(prop.type)
    assert isinstance(kind, RefTo)  # noqa: S101 - the builder refuses other types
    return {
        **_described(_reference("Raw"), f"The JSON text of `{prop.name}`, as it was received."),
        "x-name": prop.name,
        "x-reader": f"_{snake(owner.name)}_{prop.name}",
        "x-type": kind.name if kind is prop.type else f"{kind.name} | None",
        "x-value": _docstring(prop.description),
    }


def _tag(tag: Tag, owner: Object) -> str:
    """Return the annotation and default of a tag: it is not a field, unless it may be any text."""
    if not tag.models:
        return f"OpenTag = field(name={'@' + tag.wire!r})"
    own = [repr(value) for value, name in tag.models.items() if name == owner.name]
    values = ", ".join(map(repr, tag.models))
    return f"ClassVar[Literal[{values}]]{''.join(f' = {value}' for value in own)}"


def _node(kind: Type) -> Node:  # noqa: PLR0911 - one for each kind of type
    if isinstance(kind, Anything) or is_loose(kind):
        return {}
    if isinstance(kind, RefTo):
        return _reference(kind.name)
    if isinstance(kind, MapOf):
        keys = {"propertyNames": _reference("any")} if kind.any_keys else {}
        return {"type": "object", "additionalProperties": _node(kind.of), **keys}
    if isinstance(kind, ArrayOf):
        bounds = {"minItems": kind.min_items, "maxItems": kind.max_items}
        return {"type": "array", "items": _node(kind.of), **_given(bounds)}
    if isinstance(kind, Nullable):
        return _union(_node(kind.of), _NULL)
    if isinstance(kind, Choice):
        return _union(*(_scalar(option) for option in kind.options))
    return _scalar(kind)


def _union(*nodes: Node) -> Node:
    """Return the node of one of some types; a list of types keeps its bounds in place."""
    first, *others = [node for node in nodes if node != _NULL]
    if not others and "type" in first and "additionalProperties" not in first:
        return {**first, "type": [first["type"], "null"]}
    return {"anyOf": list(nodes)}


def _scalar(scalar: Scalar) -> Node:
    if scalar.enum is not None:
        return {"enum": list(scalar.enum)}
    if scalar.kind == "integer" and scalar.limits in _INTEGERS:
        return _reference(_INTEGERS[scalar.limits])
    low, high = scalar.limits
    bounds = {
        "minimum": low,
        "maximum": high,
        "minLength": scalar.min_length,
        "maxLength": scalar.max_length,
        "pattern": None if scalar.pattern is None else f"{scalar.pattern[:-1]}\\Z",
    }
    return {**_TYPES.get(scalar.kind, {"type": scalar.kind}), **_given(bounds)}


def _given(bounds: Mapping[str, object]) -> Node:
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _reference(name: str) -> Node:
    return {"$ref": f"#/$defs/{name}"}


def _described(node: Node, text: str) -> Node:
    return {**node, "x-text": _docstring(text)}


def _docstring(text: str) -> str:
    return "\n".join(quoted_docstring((text,), 92))
