"""JSON numbers that binary64 cannot hold, as decimals."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

FloatHook = Callable[[str], Any] | None
"""What msgspec calls with the text of a number that has a fraction or an exponent."""

_EXACT_DIGITS: Final = 15


def exact_number(text: str) -> float | Decimal:
    """Return a JSON number with fraction or exponent: as a decimal where binary64 cannot hold it.

    A ``float_hook`` of msgspec. Numbers of up to 15 digits are exact in binary64 (IEEE 754).
    """
    number = float(text)
    if len(text) <= _EXACT_DIGITS or Decimal(repr(number)) == Decimal(text):
        return number
    return Decimal(text)
