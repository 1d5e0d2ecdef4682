"""Which property distinguishes the arms of a union."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from changewire_codegen.names import escape_pointer, snake, title_problem
from changewire_codegen.nodes import AnyDefinition, Object, Scalar, Tag, Union
from changewire_codegen.order import references

Definitions = dict[str, AnyDefinition]


def resolve_unions(definitions: Definitions) -> None:
    """Give every union its tag, and every arm the class of each of its values."""
    classes = dict.fromkeys(definitions, "a title")
    for union in [d for d in definitions.values() if isinstance(d, Union)]:
        arms = [_arm(union, name, definitions) for name in union.arms]
        tag = _common_tag(union, arms)
        tags: dict[str, str] = {}
        for arm in arms:
            values = _values(arm)[tag]
            twice = next((value for value in values if value in tags), None)
            if twice is not None:
                raise union.refusal(f"ambiguous union: two arms have the tag {twice!r}")
            tags |= dict.fromkeys(values, arm.name)
            if arm.tag is not None and arm.tag.wire != tag:
                both = f"{arm.tag.wire!r} already, and {tag!r} here"
                raise union.refusal(f"ambiguous union: the tag of {arm.name} is {both}")
            if values and not (arm.tag and arm.tag.models):
                models = _models(arm, tag, values, classes)
                definitions[arm.name] = replace(arm, tag=Tag(tag, models))
        definitions[union.name] = replace(union, tag=tag, tags=tags)
        _check_open_arms(union, tags, arms)
    _check_lone_arms(definitions)


def _check_lone_arms(definitions: Definitions) -> None:
    """Refuse an object that leaves values to missing arms, and references to arms."""
    opened = {union.open_arm for union in definitions.values() if isinstance(union, Union)}
    for name, found in definitions.items():
        tag = found.tag if isinstance(found, Object) else None
        if tag is not None and not tag.models and name not in opened:
            pointer = f"{found.pointer}/properties/{escape_pointer(tag.wire)}/not"
            raise found.refusal("only the tag of an open arm may have a 'not'", pointer)
        for other in () if isinstance(found, Union) else map(definitions.get, references(found)):
            if isinstance(other, Object) and other.tag is not None:  # only unions check a tag
                raise found.refusal(f"{other.name} is an arm of a union: refer to the union")


def _arm(union: Union, name: str, definitions: Definitions) -> Object:
    arm = definitions[name]
    if not isinstance(arm, Object):
        raise union.refusal(f"ambiguous union: {name} is not an object with properties")
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
        raise union.refusal(f"ambiguous union: the arms need exactly {asked}")
    return common[0]


def _models(
    arm: Object, tag: str, values: tuple[str, ...], classes: dict[str, str]
) -> dict[str, str]:
    """Return the name of the class for each value of an arm."""
    if len(values) == 1:
        return {values[0]: arm.name}
    models: dict[str, str] = {}
    for i, value in enumerate(values):
        name = models[value] = _class_name(arm.name, value)
        problem = title_problem(name)
        if problem is not None:
            pointer = f"{arm.pointer}/properties/{escape_pointer(tag)}/enum/{i}"
            raise arm.refusal(f"{problem} (the arm of {value!r})", pointer)
        other = classes.get(name) if name != arm.name else None
        if other is not None:
            raise arm.refusal(f"name clash: {name} is also {other}")
        classes[name] = f"the class for {value!r} of {arm.name}"
    return models


def _class_name(title: str, value: str) -> str:
    """Return the title and the value in PascalCase; the title just once if the value begins so."""
    words = [word.capitalize() for word in re.split(r"[^A-Za-z0-9]+", value) if word]
    is_there = snake(title).split("_")[0].capitalize() in words[:1]
    return "".join(words if is_there else [title, *words])


def _check_open_arms(union: Union, tags: Mapping[str, str], arms: list[Object]) -> None:
    opened = [arm for arm in arms if arm.name not in tags.values()]
    if len(opened) > 1:
        raise union.refusal("ambiguous union: at most one arm may be open")
    for arm in opened:
        if arm.tag is not None and set(arm.tag.known) != set(tags):
            pointer = f"{arm.pointer}/properties/{arm.tag.wire}/not/enum"
            asked = "an open arm must exclude the tags of the other arms, which are"
            raise arm.refusal(f"{asked} {sorted(tags)}", pointer)
