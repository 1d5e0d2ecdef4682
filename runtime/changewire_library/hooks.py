"""Hooks of msgspec: exact numbers, and values that only models have; whether two models are one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeAlias

import msgspec

from changewire_library.support import Alone, Extra, Named, OpenTag

FloatHook: TypeAlias = "Callable[[str], Any] | None"
"""What msgspec calls with the text of a number that has a fraction or an exponent."""

_EXACT_DIGITS: Final = 15


def exact_number(text: str) -> float | Decimal:
    """Return a JSON number with fraction or exponent: as a decimal if binary64 cannot represent it.

    A ``float_hook`` of msgspec. Binary64 gives back the digits of numbers that have up to 15
    (IEEE 754).

    Raises:
        ValueError: The exponent has more digits than decimals have; msgspec makes a rejection of
            it.
    """
    if len(text) <= _EXACT_DIGITS and "e" not in text and "E" not in text:
        return float(text)
    number = float(text)
    shortest = repr(number)
    if shortest == text:
        return number
    try:
        exact = Decimal(text)
    except InvalidOperation:
        raise ValueError("Number out of range") from None
    return number if Decimal(shortest) == exact else exact


def read_unknown(kind: type, value: object) -> object:
    """Decode values of models only: unknown properties, an open tag and the like."""
    if issubclass(kind, str) and not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return kind(value)


def write_unknown(value: object) -> object:
    """Encode values of models only: unknown properties, an open tag and the like."""
    if isinstance(value, (Alone, Named, OpenTag)):
        return str(value)
    if isinstance(value, Extra):
        return dict(value)
    raise TypeError(type(value).__name__)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal and of one type; NaN is NaN, wherever it is."""
    if type(one) is not type(other):
        return False
    if isinstance(one, msgspec.Struct):
        return all(same(getattr(one, n), getattr(other, n)) for n in one.__struct_fields__)
    if isinstance(one, Mapping):
        one, other = list(one.items()), list(other.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124 - that is NaN
