"""What changed between two schemas: which column came, went, or is another type now."""

from collections.abc import Iterator, Mapping
from typing import Final, Literal

import msgspec

from changewire.changes.connect import logical
from changewire.changes.connect.schema import ConnectSchemaError, Node, parse_schema
from changewire_messages.support import pointer_token

MAX_PATHS: Final = 8_000_000
"""Characters that the paths of all columns may have: a long name is in the path of each column
below it."""

Kind = Literal["added", "removed", "type-changed", "optional-changed"]


class Difference(msgspec.Struct, frozen=True):
    """One difference between two schemas.

    Attributes:
        path: The column: a JSON Pointer into the values.
        kind: What happened to it.
        old: Its type before, with ``?`` where null is a value; None if it was not there.
        new: Its type now, likewise.
    """

    path: str
    kind: Kind
    old: str | None
    new: str | None


def columns(schema: object) -> dict[str, str]:
    """Return the type of every column of a schema, by JSON Pointer into the values."""
    return {path: _type(node) for path, node in _columns(schema).items()}


def differences(old_schema: object, new_schema: object) -> list[Difference]:
    """Return how two schemas differ: first what the old one has, in its order, then what is new."""
    old, new = _columns(old_schema), _columns(new_schema)
    found = [item for path in old for item in _changes(path, old[path], new.get(path))]
    found.extend(_changes(path, None, new[path])[0] for path in new if path not in old)
    return found


def _columns(schema: object) -> Mapping[str, Node]:
    root = parse_schema(schema)
    found: dict[str, Node] = {}
    room = MAX_PATHS
    for path, node in () if root is None else _walk("", root):
        room -= len(path)
        if room < 0:
            raise ConnectSchemaError(node.pointer, f"paths of {MAX_PATHS} characters in all")
        found[path] = node
    return found


def _walk(path: str, node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the columns of a node; a struct within another is one itself."""
    inner = node.type == "struct" and not logical.conversion_of(node)
    if path or not inner:
        yield path, node
    if inner:
        for name, part in node.parts.items():
            yield from _walk(f"{path}/{pointer_token(name)}", part)


def _changes(path: str, old: Node | None, new: Node | None) -> list[Difference]:
    before = None if old is None else type_words(old)
    after = None if new is None else type_words(new)
    if old is None or new is None:
        return [Difference(path, "added" if old is None else "removed", before, after)]
    kinds: dict[Kind, bool] = {
        "type-changed": _type(old) != _type(new),
        "optional-changed": old.optional != new.optional,
    }
    return [Difference(path, kind, before, after) for kind, holds in kinds.items() if holds]


def type_words(node: Node) -> str:
    """Return the type of a column, with ``?`` where null is a value."""
    return _type(node) + "?" * node.optional


def _type(node: Node) -> str:
    """Return the type of a column: of a struct the word alone, for its fields are columns."""
    return "struct" if node.type == "struct" and not logical.conversion_of(node) else _whole(node)


def _whole(node: Node) -> str:
    """Return a type with all that it has."""
    if node.type == "struct" and not logical.conversion_of(node):
        fields = (f"{name}:{_item(part)}" for name, part in node.parts.items())
        return f"struct<{','.join(fields)}>"
    logical_type = f":{node.name}" if node.name else ""
    if (node.name, node.type) == logical.DECIMAL:
        logical_type += f"({node.parameters.get('scale')})"
    inner = "" if node.type == "struct" else ",".join(map(_item, node.parts.values()))
    return f"{node.type}{f'<{inner}>' if inner else ''}{logical_type}"


def _item(node: Node) -> str:
    return _whole(node) + "?" * node.optional
