"""Types of Kafka Connect as column types, in the JSON form that Spark and Delta's log share."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, Final, get_type_hints

from changewire.changes.connect import logical
from changewire.changes.connect.differences import type_words
from changewire.changes.connect.schema import TYPES, Node

DECIMAL_DIGITS: Final = 38
"""Digits of the largest decimal that a column of Spark or Delta has."""

_KEYS: Final = frozenset({"boolean", "integer"})
"""Meanings of the keys of maps that have a column, next to text."""

_OF_PYTHON: Final[Mapping[type, str]] = {date: "date", datetime: "timestamp"}


def column_type(node: Node) -> Any:
    """Return the column type of the values that the reader of a node gives, which has a column."""
    if (node.name, node.type) == logical.DECIMAL:
        return _decimal(int(node.parameters["scale"]))
    conversion = logical.conversion_of(node)
    if conversion:
        return _OF_PYTHON.get(get_type_hints(conversion.convert)["return"], "string")
    make = _CONTAINERS.get(node.type)
    return make(node) if make else TYPES[node.type].column


def struct_type(parts: Mapping[str, Node]) -> dict[str, Any]:
    """Return the struct of some columns; each has its declared type as comment."""
    return {"type": "struct", "fields": [_field(name, part) for name, part in parts.items()]}


def _field(name: str, node: Node) -> dict[str, Any]:
    metadata = {"comment": type_words(node)}
    if not _has_column(node):
        metadata["contentMediaType"] = "application/json"
    kind = column_type(node) if _has_column(node) else "string"
    return {"name": name, "type": kind, "nullable": True, "metadata": metadata}


def _has_column(node: Node) -> bool:
    """Return whether a type has a column; fields of structs within it answer for themselves."""
    if logical.conversion_of(node):
        return True
    if node.type == "struct":
        return bool(node.parts)
    if node.type == "map" and not _is_key(node.parts["keys"]):
        return False
    below = [part for name, part in node.parts.items() if name != "keys"]
    return all(map(_has_column, below))


def _is_key(node: Node) -> bool:
    return node.type == "string" or (
        TYPES[node.type].means in _KEYS and not logical.conversion_of(node)
    )


def _decimal(scale: int) -> str:
    """Return the widest decimal of a scale; one with a negative scale has no fraction."""
    return f"decimal({DECIMAL_DIGITS},{max(scale, 0)})" if scale <= DECIMAL_DIGITS else "string"


def _array(node: Node) -> dict[str, Any]:
    items = column_type(node.parts["items"])
    return {"type": "array", "elementType": items, "containsNull": True}


def _map(node: Node) -> dict[str, Any]:
    key, values = node.parts["keys"], column_type(node.parts["values"])
    # Names of JSON objects stay text, whatever logical type the keys have.
    keys = "string" if key.type == "string" else column_type(key)
    return {"type": "map", "keyType": keys, "valueType": values, "valueContainsNull": True}


_CONTAINERS: Final[Mapping[str, Callable[[Node], dict[str, Any]]]] = {
    "array": _array,
    "map": _map,
    "struct": lambda node: struct_type(node.parts),
}
