"""When two keys name one row."""

from collections.abc import Mapping
from datetime import datetime
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
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
_LONGEST: Final = 100
"""Digits of a number that is written out; JSON has an exponent for longer ones."""


def identity_of(key: Mapping[str, Any]) -> Identity:
    """Return what two keys have in common exactly if they name one row.

    The order of columns says nothing, numbers count by their value (1 is 1.0, and no `True`),
    text is never bytes, and arrays and objects are their JSON text.
    """
    return tuple(sorted((name, *_value(value)) for name, value in key.items()))


def _value(value: Any) -> tuple[str, Any]:
    kind = _KINDS.get(type(value))
    return ("json", _encode(value)) if kind is None else (kind, value)


def key_text(key: Mapping[str, Any]) -> str:
    """Return a key as JSON text that is equal for keys which name one row.

    Columns are in the order of their names, and numbers count by their value: 1.0 is 1. Bytes
    are Base64, so unlike `identity_of` it takes them for text that looks the same.
    """
    return _encode({name: _number(value) for name, value in key.items()}).decode()


def _number(value: Any) -> Any:
    if type(value) not in {float, Decimal}:
        return value
    number = Decimal(repr(value)) if type(value) is float else value
    if not number.is_finite():
        return value
    digits = len(number.as_tuple().digits)
    short = number.normalize(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX))
    is_whole = short == short.to_integral_value() and short.adjusted() < _LONGEST
    return int(short) if is_whole else short
