"""Keys as text."""

from collections.abc import Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any, Final

import msgspec

_encode: Final = msgspec.json.Encoder(order="deterministic", decimal_format="number").encode
_LONGEST: Final = 100
"""Digits of a number that is written out; JSON has an exponent for longer ones."""


def key_text(key: Mapping[str, Any]) -> str:
    """Return a key as JSON text that is equal for keys which name one row.

    Columns are in the order of their names, and numbers count by their value: 1.0 is 1. Bytes
    are Base64, so unlike `changewire.changes.identity` it takes them for text that looks the same.
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
