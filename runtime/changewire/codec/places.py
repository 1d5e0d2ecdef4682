"""Places in models as they are on the wire: a position where that is an array, else a name."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET

from changewire_messages.support import Path


@cache
def steps_of(kind: Any) -> Mapping[str, int | str]:
    """Return for each field of a model its position or its name on the wire."""
    fields = [field for field in msgspec.structs.fields(kind) if field.name != "extra"]
    if kind.__struct_config__.array_like:
        return {field.name: i for i, field in enumerate(fields)}
    return {field.name: field.encode_name.removeprefix("@") for field in fields}


def place_in(model: msgspec.Struct, *names: str, at: Path = ()) -> Path:
    """Return the place of a field of a model, which stands at a place itself."""
    value: Any = model
    for name in names:
        if getattr(value, "alone", UNSET) != name:
            kind: Any = type(value)
            at = (at, steps_of(kind)[name])
        value = getattr(value, name)
    return at
