"""When two keys name one row."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import msgspec

Identity = tuple[tuple[str, str, Any], ...]
"""A key as a dictionary of Python takes it: name, kind and value of each column, by name."""

_KINDS: Final[Mapping[type, str]] = {
    bool: "boolean",
    int: "number",
    float: "number",
    Decimal: "number",
    str: "text",
    bytes: "bytes",
    datetime: "time",
}
_encode: Final = msgspec.json.Encoder(order="deterministic", decimal_format="number").encode

_are_plain: Final = frozenset(_KINDS.keys() - {bool}).issuperset
"""Whether values of some types are equal in Python exactly if they are equal in a key."""


def identity_of(key: Mapping[str, Any]) -> Identity:
    """Return what two keys have in common exactly if they name one row.

    The order of columns says nothing, numbers count by their value (1 equals 1.0, but not `True`),
    text is never bytes, and arrays and objects are their JSON text.
    """
    return tuple(sorted((name, *_value(value)) for name, value in key.items()))


def is_one_row(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Return whether two keys name one row, or both are missing."""
    if one is None or other is None:
        return one is other
    if _are_plain(map(type, one.values())) and _are_plain(map(type, other.values())):
        return one == other
    return identity_of(one) == identity_of(other)


def _value(value: Any) -> tuple[str, Any]:
    kind = _KINDS.get(type(value))
    return ("json", _encode(value)) if kind is None else (kind, value)
