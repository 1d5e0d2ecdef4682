"""Definitions that take any value: a validator has nothing to look at there."""

from __future__ import annotations

from dataclasses import replace

from changewire_codegen.nodes import (
    Alias,
    AnyDefinition,
    Anything,
    ArrayOf,
    Family,
    MapOf,
    Nullable,
    Object,
    RefTo,
    Row,
    Type,
)

Definition = AnyDefinition


def silent_names(family: Family) -> set[str]:
    """Return the names of the definitions that take any value."""
    return {
        name
        for name, definition in family.definitions.items()
        if isinstance(definition, Alias) and definition.type == Anything()
    }


def without(silent: set[str], definition: Definition) -> Definition:
    """Return a definition in which what takes any value is not looked at."""
    if isinstance(definition, Object):
        own = tuple(replace(p, type=_simple(p.type, silent)) for p in definition.properties)
        return replace(definition, properties=own)
    if isinstance(definition, Row):
        own = tuple(replace(p, type=_simple(p.type, silent)) for p in definition.positions)
        return replace(definition, positions=own)
    if isinstance(definition, Alias):
        return replace(definition, type=_simple(definition.type, silent))
    return definition


def _simple(kind: Type, silent: set[str]) -> Type:
    if isinstance(kind, RefTo):
        return Anything() if kind.name in silent else kind
    if isinstance(kind, Nullable):
        return replace(kind, of=_simple(kind.of, silent))
    if isinstance(kind, ArrayOf):
        return replace(kind, items=_simple(kind.items, silent))
    if isinstance(kind, MapOf):
        return replace(kind, values=_simple(kind.values, silent))
    return kind
