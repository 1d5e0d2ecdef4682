"""Definitions in the order in which Python can read them."""

from __future__ import annotations

from collections.abc import Iterator

from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import (
    Alias,
    ArrayOf,
    MapOf,
    Nullable,
    Object,
    RefTo,
    Row,
    Type,
    Union,
)

Definitions = dict[str, Object | Row | Union | Alias]


def in_order(definitions: Definitions) -> Definitions:
    """Sort definitions so that each stands after those it refers to.

    Only an object may refer to itself, directly or through others. In such a cycle the unions and
    named types come last: Python reads what they refer to at once, but that of a class later.

    Raises:
        SchemaError: A cycle of references passes through no object.
    """
    done: Definitions = {}
    while len(done) < len(definitions):
        for name in sorted(definitions):
            _visit(name, (), definitions, done)
    return done


def references(definition: Object | Row | Union | Alias) -> list[str]:
    """Return the names that a definition refers to, in its own order."""
    if isinstance(definition, Union):
        return list(definition.arms)
    if isinstance(definition, Alias):
        return list(_names(definition.type))
    children = definition.properties if isinstance(definition, Object) else definition.positions
    return [name for child in children for name in _names(child.type)]


def _names(kind: Type) -> Iterator[str]:
    if isinstance(kind, RefTo):
        yield kind.name
    elif isinstance(kind, Nullable):
        yield from _names(kind.of)
    elif isinstance(kind, ArrayOf):
        yield from _names(kind.items)
    elif isinstance(kind, MapOf):
        yield from _names(kind.values)


def _visit(name: str, path: tuple[str, ...], definitions: Definitions, done: Definitions) -> None:
    if name in done:
        return
    definition = definitions[name]
    if name in path:
        cycle = path[path.index(name) :]
        if not any(isinstance(definitions[step], Object) for step in cycle):
            reason = f"the cycle {' -> '.join((*cycle, name))} passes through no object"
            raise SchemaError(definition.file, definition.pointer, reason)
        return
    for other in references(definition):
        _visit(other, (*path, name), definitions, done)
    read_at_once = isinstance(definition, (Alias, Union))
    if not read_at_once or all(other in done for other in references(definition)):
        done[name] = definition
