"""A family as one JSON Schema, from which datamodel-code-generator writes the models.

What JSON Schema cannot say of a class travels as keywords with ``x-``, which only templates read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from changewire_codegen.alone import alone_property
from changewire_codegen.emit.checks import row_checks
from changewire_codegen.emit.conditions import model_rules
from changewire_codegen.names import snake
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
    Type,
)
from changewire_codegen.order import has_extra, parsed_apart
from changewire_codegen.types import is_loose
from changewire_codegen.writer import quoted_docstring

Node = dict[str, Any]

IMPORTED: Mapping[str, str] = {
    "Alone": "{package}.support.Alone",
    "Extra": "{package}.support.Extra",
    "Float64": "{package}.support.Float64",
    "Int32": "{package}.support.Int32",
    "Int64": "{package}.support.Int64",
    "Raw": "msgspec.Raw",
    "any": "typing.Any",
}
"""Definitions that are imported under their names; no title is one of these."""

ALONE = "`{}` if the message is the value of this property, without the object around it."
EXTRA = "{} that the schema does not name, by JSON Pointer; unset if there are none."

_INTEGERS = {INT32: "Int32", INT64: "Int64"}
_SCALARS: Mapping[Kind, Node] = {
    "double": {"type": "number"},
    "bytes": {"type": "string", "format": "binary"},
    "binary": {"type": "string", "format": "binary"},
    "datetime": {"type": "string", "format": "date-time"},
}


def document(family: Family) -> Node:
    """Return the schema: a definition for each of the family, and those that are imported."""
    own = {name: _definition(d, family) for name, d in family.definitions.items()}
    return {"$defs": {**{name: {} for name in IMPORTED}, **own}}


def aliases(family: Family) -> dict[str, str]:
    """Return the fields whose names are not those of their properties."""
    return {
        f"{definition.name}.{wire}": prop.attribute
        for definition in family.definitions.values()
        if isinstance(definition, Object)
        for prop in definition.properties
        for wire in [prop.wire]
        if wire != prop.attribute
    } | {"@alone": "alone", "@extra": "extra"}


def _definition(definition: AnyDefinition, family: Family) -> Node:
    doc = {"x-doc": _docstring(definition.description)}
    if isinstance(definition, (Object, Row)):
        return {**_class(definition, family), **doc}
    if isinstance(definition, Alias):
        return {**_node(definition.type), **doc}
    return {"oneOf": [_reference(arm) for arm in definition.arms], **doc}


def _class(definition: Object | Row, family: Family) -> Node:
    is_row = isinstance(definition, Row)
    fields: dict[str, Node] = {}
    if isinstance(definition, Row):
        required = [prop.name for prop in definition.positions]
        for prop in definition.positions:
            fields[prop.name] = _described(_position(prop, definition), prop.description)
        checks = row_checks(definition, family)
    else:
        required = [prop.wire for prop in definition.properties if prop.required]
        for prop in definition.properties:
            fields[prop.wire] = _property(prop, definition)
        checks = model_rules(definition, family)
    alone = alone_property(definition)
    if alone is not None:
        fields["@alone"] = _described(_reference("Alone"), ALONE.format(alone.wire))
    if has_extra(definition, family):
        what = "Positions" if is_row else "Properties"
        fields["@extra"] = _described(_reference("Extra"), EXTRA.format(what))
    for at, field in enumerate(fields.values()):
        field["x-at"] = at
    options: Node = {"forbid_unknown_fields": definition.name not in parsed_apart(family)}
    if is_row:
        options["array_like"] = True
    if not is_row or any("default" in field for field in fields.values()):
        options["kw_only"] = True
    return {
        "type": "object",
        "properties": fields,
        "required": required,
        "x-options": options,
        "x-checks": checks,
    }


def _position(prop: Property, row: Row) -> Node:
    """Return the node of a position; a default at the last one would let a shorter array pass."""
    kind = prop.type
    constants = kind.enum if isinstance(kind, Scalar) else None
    if constants is None or len(constants) != 1 or prop is row.positions[-1]:
        return _node(kind)
    return {**_node(kind), "default": constants[0]}


def _property(prop: Property, owner: Object) -> Node:
    if owner.tag is not None and prop.wire == owner.tag.wire:
        return _described({"const": owner.tag.value or OPEN_TAG}, prop.description)
    if not prop.repeated:
        return _described(_node(prop.type), prop.description)
    text = f"The JSON text of `{prop.name}`, as it was received."
    more = {
        "x-name": prop.name,
        "x-type": repeated_type(prop),
        "x-reader": reader(owner, prop),
        "x-value": _docstring(prop.description),
    }
    return {**_described(_reference("Raw"), text), **more}


def repeated_type(prop: Property) -> str:
    """Return the annotation of what the text of a repeated property says."""
    kind = prop.type.of if isinstance(prop.type, Nullable) else prop.type
    assert isinstance(kind, RefTo)  # noqa: S101 - the builder refuses other types
    return f"{kind.name} | None" if isinstance(prop.type, Nullable) else kind.name


def reader(owner: Object, prop: Property) -> str:
    """Return the name of the function that reads the text of a repeated property."""
    return f"_{snake(owner.name)}_{prop.name}"


def _node(kind: Type) -> Node:
    """Return the node of a type, in the form that makes no more names than it must."""
    if isinstance(kind, Anything) or is_loose(kind):
        return {}
    if isinstance(kind, RefTo):
        return _reference(kind.name)
    if isinstance(kind, MapOf):
        keys = {"propertyNames": _reference("any")} if kind.any_keys else {}
        return {"type": "object", "additionalProperties": _node(kind.values), **keys}
    if isinstance(kind, ArrayOf):
        bounds = {"minItems": kind.min_items, "maxItems": kind.max_items}
        return {"type": "array", "items": _node(kind.items), **_given(bounds)}
    if isinstance(kind, Nullable):
        return _or_null(_node(kind.of))
    if isinstance(kind, Choice):
        options = [option for option in kind.options if option.kind != "null"]
        nodes = [_scalar(option) for option in options]
        if any("minimum" in node or "maximum" in node for node in nodes):
            nodes = [_reference("Float64") if node == {"type": "number"} else node for node in nodes]
        if len(options) == len(kind.options):
            return {"anyOf": nodes}
        return _or_null(*nodes)
    return _scalar(kind)


def _or_null(*nodes: Node) -> Node:
    """Return the node of some types or null; a list of types keeps the bounds in their place."""
    if len(nodes) == 1 and "type" in nodes[0] and "additionalProperties" not in nodes[0]:
        return {**nodes[0], "type": [nodes[0]["type"], "null"]}
    return {"anyOf": [*nodes, {"type": "null"}]}


def _scalar(scalar: Scalar) -> Node:
    if scalar.enum is not None:
        return {"enum": list(scalar.enum)}
    low, high = scalar.limits
    if scalar.kind == "integer" and (low, high) in _INTEGERS:
        return _reference(_INTEGERS[low, high])
    bounds = {
        "minimum": low,
        "maximum": high,
        "minLength": scalar.min_length,
        "maxLength": scalar.max_length,
        "pattern": None if scalar.pattern is None else f"{scalar.pattern[:-1]}\\Z",
    }
    return {**_SCALARS.get(scalar.kind, {"type": scalar.kind}), **_given(bounds)}


def _given(bounds: Mapping[str, object]) -> Node:
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _reference(name: str) -> Node:
    return {"$ref": f"#/$defs/{name}"}


def _described(node: Node, text: str) -> Node:
    return {**node, "x-text": _docstring(text)}


def _docstring(text: str) -> str:
    return "\n".join(quoted_docstring((text,), 92))
