"""``values.py`` of a family: the values that have a meaning, as ``x-values`` and tags say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from changewire_codegen.names import snake
from changewire_codegen.nodes import AnyDefinition, Family, Property, TaggedRow, children, with_arms
from changewire_codegen.writer import module


def known_values(family: Family) -> list[tuple[AnyDefinition, Property]]:
    """Return the properties and positions some of whose values have a meaning."""
    definitions = with_arms(family.definitions.values())
    own = [d for d in definitions if not isinstance(d, TaggedRow)]
    return [(owner, prop) for owner in own for prop in children(owner) if prop.values]


def values(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    known_value = f"from {package}.support import KnownValue"
    writer = module("Values with a meaning in messages", family, known_value)
    named: dict[str, object] = {}

    def add(name: str, value: object, owner: AnyDefinition) -> None:
        if named.setdefault(name, value) != value:
            raise owner.refusal(f"two constants are called {name}")

    for row in family.definitions.values():
        for arm, tags in zip(row.arms, row.tags, strict=True) if isinstance(row, TaggedRow) else ():
            if tags:
                add(snake(arm.name).upper(), tags[0] if len(tags) == 1 else tags, arm)
    for owner, prop in known_values(family):
        for known in prop.values:
            if isinstance(known["value"], int):
                name = known["means"].replace("-", "_").upper()
                add(name, known["value"], owner)
        rows = ", ".join(_row(known) for known in prop.values)
        add(f"{snake(owner.name)}_{prop.name}".upper(), f"({rows},)", owner)
    for name, value in named.items():
        writer(f"{name}: Final = {value}")
    return writer.text()


def _row(known: Mapping[str, Any]) -> str:
    given = (f"{name}={value!r}" for name, value in known.items() if name != "description")
    return f"KnownValue({', '.join(given)})"
