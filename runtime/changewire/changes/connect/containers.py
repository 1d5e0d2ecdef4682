"""Readers of the types of Kafka Connect that hold others: arrays, maps and structs."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from changewire.changes.connect.errors import ValueMismatch
from changewire.changes.connect.logical import conversion_of
from changewire.changes.connect.notes import DEFAULT_FOR_ABSENT, UNDECLARED_FIELD, Context
from changewire.changes.connect.paths import Path, pointer_of
from changewire.changes.connect.reads import Read, refusal
from changewire.changes.connect.scalars import BOUNDS
from changewire.changes.connect.schema import Node

_NO_BOUNDS: Final = (None, None, None)


def array(node: Node, items: Read) -> Read:
    """Return a reader of arrays."""
    refuse = refusal(node, "an array")

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not list:
            return refuse(value, path)
        return [items(item, context, (path, i)) for i, item in enumerate(value)]

    return read


def object_map(node: Node, values: Read) -> Read:
    """Return a reader of maps with text as keys, which are JSON objects."""
    refuse = refusal(node, "an object, as its keys are strings")

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not dict:
            return refuse(value, path)
        return {key: values(item, context, (path, key)) for key, item in value.items()}

    return read


def pair_map(node: Node, keys: Read, values: Read) -> Read:
    """Return a reader of maps with other keys, which are arrays of pairs; they stay pairs.

    A dictionary would fold keys that Python holds for equal (1, 1.0 and true), and takes no lists.
    """
    refuse = refusal(node, "an array of pairs, as its keys are no strings")

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not list:
            return refuse(value, path)
        pairs: list[tuple[Any, Any]] = []
        for i, pair in enumerate(value):
            at: Path = (path, i)
            if type(pair) is not list or len(pair) != 2:  # noqa: PLR2004 - a pair
                raise ValueMismatch(
                    pointer_of(at), node.pointer, "an array of key and value", pair, "wrong-length"
                )
            key, item = pair
            pairs.append((keys(key, context, (at, 0)), values(item, context, (at, 1))))
        return pairs

    return read


def struct(node: Node, fields: Mapping[str, Read]) -> Read:
    """Return a reader of structs, which are JSON objects.

    Fields keep the order of the message, and absent ones stay absent. A required field must be
    there unless the value is partial; with a default its absence is only noted. A field that the
    schema does not name is kept as JSON has it, and noted.
    """
    refuse = refusal(node, "an object")
    required = frozenset(name for name, field in node.parts.items() if not field.optional)
    # Most values stay as they are, which is seen here: a call for each would double the cost.
    bounds_of = {name: _bounds(part) for name, part in node.parts.items()}.get
    reader_of = fields.get

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is not dict:
            return refuse(value, path)
        row = value.copy()
        for name, item in value.items():
            kind, low, high = bounds_of(name, _NO_BOUNDS)
            if type(item) is not kind or not (kind is str or low <= item <= high):
                row[name] = reader_of(name, _undeclared)(item, context, (path, name))
        if not (context.partial or required <= row.keys()):
            _check_absent(node, required - row.keys(), context, path)
        return row

    return read


def _bounds(node: Node) -> tuple[type | None, Any, Any]:
    return _NO_BOUNDS if conversion_of(node) else BOUNDS.get(node.type, _NO_BOUNDS)


def _undeclared(value: Any, context: Context, path: Path) -> Any:
    context.note(UNDECLARED_FIELD, path)
    return value


def _check_absent(node: Node, absent: frozenset[str], context: Context, path: Path) -> None:
    """Note the required fields that are absent but have a default; raise for one that has none."""
    for name, field in node.parts.items():
        if name in absent:
            at = (path, name)
            if field.default is UNSET:
                expected = "a value: the field is required and has no default"
                raise ValueMismatch(
                    pointer_of(at), field.pointer, expected, UNSET, "missing-property"
                )
            context.note(DEFAULT_FOR_ABSENT, at)
