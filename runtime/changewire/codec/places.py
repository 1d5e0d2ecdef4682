"""Places in models as they are on the wire: a position in an array, else a name."""

import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from changewire_messages.support import Path
from changewire_messages.unknown import OPEN_TAG

Flat: TypeAlias = tuple[str, str, tuple[str, ...]]
"""A property of any name, the map next to it, and the property by which it is found."""


@cache
def flat_of(kind: Any) -> Flat | None:
    """Return the two properties of a model whose map has its entries in the message itself."""
    package = sys.modules.get(kind.__module__.rpartition(".")[0])
    found: Flat | None = getattr(package, "FLAT", {}).get(kind.__name__)
    return found


def name_beside(message: Any, flat: Flat) -> str:
    """Return the name that the property next to the entries of a map has on the wire."""
    return flat[0] if message.named is UNSET else message.named


@cache
def steps_of(kind: Any) -> Mapping[str, int | str]:
    """Return for each field of a model its position or its name on the wire."""
    fields = [field for field in msgspec.structs.fields(kind) if field.name != "extra"]
    if flat_of(kind) is not None:
        fields = [field for field in fields if field.encode_name != "@named"]
    if kind.__struct_config__.array_like:
        return {field.name: i for i, field in enumerate(fields)}
    config = kind.__struct_config__
    own = {"@alone", f"@{config.tag_field}" if config.tag == OPEN_TAG else ""}
    names = {field.name: field.encode_name for field in fields}
    return {name: wire[1:] if wire in own else wire for name, wire in names.items()}


def place_in(model: msgspec.Struct, *names: str, at: Path = ()) -> Path:
    """Return the place of a field of a model, which has a place itself."""
    value: Any = model
    for name in names:
        kind: Any = type(value)
        step, flat = steps_of(kind)[name], flat_of(kind)
        if flat is not None and step == flat[0]:
            step = name_beside(value, flat)
        if getattr(value, "alone", UNSET) != name and (flat is None or step != flat[1]):
            at = (at, step)
        value = getattr(value, name)
    return at
