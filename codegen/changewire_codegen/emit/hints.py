"""Types to the annotations of models: what msgspec decodes, and the bounds that it checks."""

from __future__ import annotations

from collections.abc import Mapping

from changewire_codegen.nodes import (
    Anything,
    ArrayOf,
    Choice,
    Kind,
    MapOf,
    Nullable,
    RefTo,
    Scalar,
    Type,
)
from changewire_codegen.types import is_loose

_NAMES: Mapping[Kind, str] = {
    "null": "None",
    "boolean": "bool",
    "integer": "int",
    "number": "float",
    "double": "float",
    "string": "str",
    "bytes": "bytes",
    "binary": "bytes",
    "datetime": "datetime",
}


def hint(kind: Type) -> str:  # noqa: PLR0911 - one for each kind of type
    """Return the annotation of a type.

    An integer of 64 bits beside a number keeps its bounds: msgspec decodes every integer as the
    integer, so they hold for all of them, which is what the dialect says.
    """
    if isinstance(kind, Anything) or is_loose(kind):
        return "Any"
    if isinstance(kind, RefTo):
        return kind.name
    if isinstance(kind, Nullable):
        return f"{hint(kind.of)} | None"
    if isinstance(kind, Choice):
        names = [_scalar(option) for option in kind.options if option.kind != "null"]
        return " | ".join([*names, "None"] if len(names) < len(kind.options) else names)
    if isinstance(kind, MapOf):
        return f"dict[{'Any' if kind.any_keys else 'str'}, {hint(kind.values)}]"
    if isinstance(kind, ArrayOf):
        bounds = {"min_length": kind.min_items, "max_length": kind.max_items}
        return _annotated(f"list[{hint(kind.items)}]", bounds)
    return _scalar(kind)


def _scalar(scalar: Scalar) -> str:
    if scalar.enum is not None:
        return f"Literal[{', '.join(map(repr, scalar.enum))}]"
    low, high = scalar.limits
    bounds = {
        "ge": low,
        "le": high,
        "min_length": scalar.min_length,
        "max_length": scalar.max_length,
        "pattern": None if scalar.pattern is None else f"{scalar.pattern[:-1]}\\Z",
    }
    return _annotated(_NAMES[scalar.kind], bounds)


def _annotated(name: str, bounds: Mapping[str, object]) -> str:
    given = [f"{word}={bound!r}" for word, bound in bounds.items() if bound is not None]
    return f"Annotated[{name}, Meta({', '.join(given)})]" if given else name
