"""Schemas compiled to readers: each type is looked up once, when the schema is compiled."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET

from changewire.changes.connect import containers, logical
from changewire.changes.connect.containers import struct
from changewire.changes.connect.reads import (
    DEFAULT_FOR_NULL,
    FLOAT_ALIAS,
    UNKNOWN_LOGICAL_TYPE,
    Context,
    Note,
    Path,
    Read,
)
from changewire.changes.connect.scalars import SCALARS, exact_decimal
from changewire.changes.connect.schema import ConnectSchemaError, Node, ValueMismatch, parse_schema


class Reader:
    """Reads values under one schema. It never changes, so threads may share it."""

    __slots__ = ("fields", "function", "kind", "notes")

    def __init__(
        self, kind: str, function: Read, fields: Mapping[str, "Reader"], notes: tuple[Note, ...]
    ) -> None:
        self.kind: str = kind
        self.function: Read = function
        self.fields: Mapping[str, Reader] = fields
        self.notes: tuple[Note, ...] = notes

    def read(
        self, value: object, at: str, *, partial: bool = False, notes: list[Note] | None = None
    ) -> Any:
        """Return the typed value of what JSON has."""
        if notes is not None and self.notes:
            notes.extend(self.notes)
        return self.function(value, Context(notes=notes, partial=partial), at)


def compile_schema(schema: object, *, replace_null_with_default: bool = True) -> Reader | None:
    """Return the reader of a schema; None for null and the empty object, which change no value."""
    node = parse_schema(schema)
    return None if node is None else _compile(node, replace_null_with_default)


def _compile(node: Node, replace: bool) -> Reader:  # noqa: FBT001 - passed on at every level
    parts = {name: _compile(part, replace) for name, part in node.parts.items()}
    read = _reader(node, {name: part.function for name, part in parts.items()})
    if node.default is not UNSET and (replace or not node.optional):
        read = _with_default(read, _default(node, read))
    notes = [*_notes(node), *(note for part in parts.values() for note in part.notes)]
    fields = parts if node.type == "struct" else {}
    return Reader(node.name or node.type, read, fields, tuple(notes))


def _reader(node: Node, parts: Mapping[str, Read]) -> Read:
    if (node.name, node.type) == logical.DECIMAL:
        return exact_decimal(node)
    make = SCALARS.get(node.type)
    base = make(node) if make else _CONTAINERS[node.type](node, parts)
    conversion = logical.conversion_of(node)
    return logical.converted(node, base, conversion) if conversion else base


def _map(node: Node, parts: Mapping[str, Read]) -> Read:
    if node.parts["keys"].type == "string":
        return containers.object_map(node, parts["values"])
    return containers.pair_map(node, parts["keys"], parts["values"])


_CONTAINERS: Final[Mapping[str, Callable[[Node, Mapping[str, Read]], Read]]] = {
    "array": lambda node, parts: containers.array(node, parts["items"]),
    "map": _map,
    "struct": struct,
}


def _default(node: Node, read: Read) -> Any:
    """Return the typed default of a node."""
    at = f"{node.pointer}/default"
    try:
        return read(node.default, Context(notes=None, partial=False), at)
    except ValueMismatch as error:
        raise ConnectSchemaError(error.pointer, error.expected, error.actual) from None


def _with_default(read: Read, default: Any) -> Read:
    """Return a reader that takes the default for null: always the same object."""

    def read_or_default(value: Any, context: Context, path: Path) -> Any:
        if value is None:
            context.note(DEFAULT_FOR_NULL, path)
            return default
        return read(value, context, path)

    return read_or_default


def _notes(node: Node) -> list[Note]:
    kinds = {FLOAT_ALIAS: node.aliased, UNKNOWN_LOGICAL_TYPE: logical.is_unknown(node)}
    return [Note(kind, node.pointer) for kind, holds in kinds.items() if holds]
