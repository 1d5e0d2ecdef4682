"""Where in a family a leniency may be used."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.envelopes import MISSING_ENVELOPE, alone_of
from changewire_codegen.nodes import (
    AnyDefinition,
    Family,
    Record,
    Row,
    TaggedRow,
    children,
    with_arms,
)
from changewire_codegen.order import has_extra, reached, references


def named_leniencies(family: Family) -> dict[str, list[str]]:
    """Return the name of each leniency with the places in the schema that allow it."""
    found: dict[str, list[str]] = {}
    for definition in with_arms(family.definitions.values()):
        own = definition.leniencies if isinstance(definition, Record) else ()
        alone = [] if alone_of(definition, family) is None else [MISSING_ENVELOPE]
        for name in (*own, *alone):
            found.setdefault(name, []).append(definition.name)
        for prop in children(definition):
            for name in prop.leniencies:
                found.setdefault(name, []).append(f"{definition.name}.{prop.wire}")
    return dict(sorted(found.items()))


def lenient_names(family: Family) -> set[str]:
    """Return the definitions below which a leniency may be used."""
    own = {
        name
        for name, definition in family.definitions.items()
        if has_extra(definition, family) or any(map(_is_lenient, with_arms([definition])))
    }
    return {name for name in family.definitions if own & reached([name], family)}


def _is_lenient(definition: AnyDefinition) -> bool:
    """Return whether a definition itself, or one of its children, has a leniency."""
    own = isinstance(definition, Record) and definition.leniencies
    return bool(own) or any(prop.leniencies for prop in children(definition))


def chosen_arms(row: TaggedRow, lenient: Mapping[str, AnyDefinition]) -> dict[str, Row]:
    """Return for each arm below which a leniency may be used the first one that has the same."""
    first: dict[str, Row] = {}
    chosen: dict[str, Row] = {}
    for arm in row.arms:
        below = [name for name in references(arm) if name in lenient]
        if below or _is_lenient(arm):
            same = repr((arm.leniencies, [p.leniencies for p in arm.properties]))
            chosen[arm.name] = first.setdefault(arm.name if below else same, arm)
    return chosen
