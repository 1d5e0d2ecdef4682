"""Which property distinguishes the arms of a union."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NoReturn

from changewire_codegen.errors import SchemaError
from changewire_codegen.names import escape_pointer, title_problem
from changewire_codegen.nodes import AnyDefinition, Object, Scalar, Tag, Union

Definitions = dict[str, AnyDefinition]


def resolve_unions(definitions: Definitions) -> None:
    """Give every union its tag and every arm its value.

    An arm whose tag is an enum becomes one object for each value, and a union of them under its
    own name.
    """
    for union in [d for d in definitions.values() if isinstance(d, Union)]:
        arms = [_arm(union, name, definitions) for name in union.arms]
        tag = _common_tag(union, arms)
        names = [name for arm in arms for name in _tagged(arm, tag, definitions)]
        tags = tuple(_value(definitions[name]) for name in names)
        _check_tags(union, tags)
        definitions[union.name] = replace(union, tag=tag, arms=tuple(names), tags=tags)
        _check_open_arm(definitions[union.name], definitions)
    _check_lone_arms(definitions)


def _check_lone_arms(definitions: Definitions) -> None:
    """Refuse an object that leaves values to other arms, but is not an arm of a union."""
    opened = {union.open_arm for union in definitions.values() if isinstance(union, Union)}
    for name, found in definitions.items():
        tag = found.tag if isinstance(found, Object) else None
        if tag is not None and tag.value is None and name not in opened:
            pointer = f"{found.pointer}/properties/{escape_pointer(tag.wire)}/not"
            raise SchemaError(found.file, pointer, "only the tag of an open arm may have a 'not'")


def _arm(union: Union, name: str, definitions: Definitions) -> Object:
    arm = definitions[name]
    if not isinstance(arm, Object):
        _refuse(union, f"ambiguous union: {name} is not an object with properties")
    return arm


def _values(arm: Object) -> dict[str, tuple[str, ...]]:
    """Return the properties that may be a tag, each with its values; none in an open arm."""
    found: dict[str, tuple[str, ...]] = {}
    for prop in arm.properties:
        if not prop.required or not isinstance(prop.type, Scalar) or prop.type.kind != "string":
            continue
        if arm.tag is not None and arm.tag.wire == prop.wire:
            found[prop.wire] = ()
        elif prop.type.enum is not None:
            found[prop.wire] = tuple(str(value) for value in prop.type.enum)
    return found


def _common_tag(union: Union, arms: list[Object]) -> str:
    common = sorted(set(_values(arms[0])).intersection(*(_values(arm) for arm in arms[1:])))
    if len(common) != 1:
        asked = "one required property in common that is a const or an enum of strings"
        _refuse(union, f"ambiguous union: the arms need exactly {asked}")
    return common[0]


def _tagged(arm: Object, tag: str, definitions: Definitions) -> list[str]:
    """Return the names of the objects that an arm stands for, each with one tag."""
    values = _values(arm)[tag]
    if len(values) == 1:
        definitions[arm.name] = replace(arm, tag=Tag(tag, values[0]))
    if len(values) <= 1:
        return [arm.name]
    names: list[str] = []
    for value in values:
        name = _arm_name(arm.name, value)
        problem = title_problem(name)
        if problem is not None:
            pointer = f"{arm.pointer}/properties/{escape_pointer(tag)}/enum/{values.index(value)}"
            raise SchemaError(arm.file, pointer, f"{problem} (the arm of {value!r})")
        if name in definitions:
            raise SchemaError(arm.file, arm.pointer, f"name clash: {name} is also a title")
        own = tuple(
            replace(p, type=Scalar("string", enum=(value,))) if p.wire == tag else p
            for p in arm.properties
        )
        definitions[name] = replace(arm, name=name, properties=own, tag=Tag(tag, value))
        names.append(name)
    head = (arm.name, arm.description, arm.file, arm.pointer)
    shape = replace(arm, tag=Tag(tag, values[0], models=dict(zip(values, names, strict=True))))
    definitions[arm.name] = Union(*head, tag=tag, arms=tuple(names), tags=values, shape=shape)
    return names


def _arm_name(title: str, value: str) -> str:
    """Return the name of the arm for a value of an enum, which may begin like the title."""
    words = "".join(word.capitalize() for word in re.split(r"[^A-Za-z0-9]+", value))
    return words if words.startswith(title) and words != title else title + words


def _value(definition: AnyDefinition) -> str | None:
    return definition.tag.value if isinstance(definition, Object) and definition.tag else None


def _check_tags(union: Union, tags: tuple[str | None, ...]) -> None:
    twice = next((tag for tag in tags if tags.count(tag) > 1), union)
    if twice is None:
        _refuse(union, "ambiguous union: at most one arm may be open")
    if twice is not union:
        _refuse(union, f"ambiguous union: two arms have the tag {twice!r}")


def _check_open_arm(union: AnyDefinition, definitions: Definitions) -> None:
    if not isinstance(union, Union) or union.open_arm is None:
        return
    arm = definitions[union.open_arm]
    known = {tag for tag in union.tags if tag is not None}
    if isinstance(arm, Object) and arm.tag is not None and set(arm.tag.known) != known:
        pointer = f"{arm.pointer}/properties/{arm.tag.wire}/not/enum"
        reason = f"an open arm must exclude the tags of the other arms, which are {sorted(known)}"
        raise SchemaError(arm.file, pointer, reason)


def _refuse(union: Union, reason: str) -> NoReturn:
    raise SchemaError(union.file, union.pointer, reason)
