"""Messages that may be the value of one of their properties, without the object around it."""

from __future__ import annotations

from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import AnyDefinition, Family, Object, Property, RefTo, Union
from changewire_codegen.order import has_extra

MISSING_ENVELOPE = "missing-envelope"
"""Leniency of a message that is the value of a property alone."""


def alone_property(definition: AnyDefinition) -> Property | None:
    """Return the property whose value may be the whole message; None if an object has none."""
    if not isinstance(definition, Object):
        return None
    return next((prop for prop in definition.properties if prop.alone), None)


def alone_names(family: Family) -> dict[str, str]:
    """Return such a property of each object that has one, by the object's name."""
    found = {name: alone_property(one) for name, one in family.definitions.items()}
    return {name: prop.wire for name, prop in found.items() if prop is not None}


def alone_union(definition: AnyDefinition, family: Family) -> Union | None:
    """Return the union of what may be the whole message instead of an object."""
    prop = alone_property(definition)
    kind = None if prop is None else prop.type
    found = family.definitions.get(kind.name) if isinstance(kind, RefTo) else None
    return found if isinstance(found, Union) else None


def alone_test(definition: Object, union: Union, value: str) -> str:
    """Return the test that a parsed message is the value of the property alone.

    It has the tag of the union, and no property of the object.
    """
    names = tuple(prop.wire for prop in definition.properties)
    return f"{union.tag!r} in {value} and {value}.keys().isdisjoint({names!r})"


def check_alone(family: Family) -> None:
    """Refuse the keyword if it has no meaning."""
    for definition in family.definitions.values():
        prop = alone_property(definition)
        if prop is None or not isinstance(definition, Object):
            continue
        reason = _refusal(definition, prop, family)
        if reason is not None:
            raise SchemaError(definition.file, f"{prop.pointer}/x-alone", reason)


def _refusal(definition: Object, prop: Property, family: Family) -> str | None:
    if not has_extra(definition, family):
        return "only a property of a message may stand alone"
    if definition.tag is not None or sum(other.alone for other in definition.properties) > 1:
        return "only one property, of a message without a tag, may stand alone"
    union = alone_union(definition, family)
    if union is None or not prop.required:
        return "a property that may stand alone must be required, and refer to a union of objects"
    if any(other.name == "alone" for other in definition.properties):
        return "the name 'alone' is taken by a property"
    names = {other.wire for other in definition.properties}
    arms = [family.definitions[name] for name in union.arms]
    for arm in arms:
        if isinstance(arm, Object) and names & {other.wire for other in arm.properties}:
            return f"{arm.name} has a property of a name that the message has too"
    return None
