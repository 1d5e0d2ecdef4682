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
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def identity_of(key: Mapping[str, Any]) -> Identity:
    """Return what two keys have in common exactly if they name one row.

    The order of columns says nothing, numbers are what they are worth (1 is 1.0, and no `True`),
    text is never bytes, and arrays and objects are their JSON text.
    """
    return tuple(sorted((name, *_value(value)) for name, value in key.items()))


def _value(value: Any) -> tuple[str, Any]:
    kind = _KINDS.get(type(value))
    return ("json", _encode(value)) if kind is None else (kind, value)
