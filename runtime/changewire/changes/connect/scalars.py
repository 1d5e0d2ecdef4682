"""Readers of the types of Kafka Connect that have no others."""

import decimal
import math
import re
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from changewire.changes.connect.reads import ROUNDED_NUMBER, Context, Path, Read, refusal
from changewire.changes.connect.schema import TYPES, WORDS, ConnectSchemaError, Node
from changewire.changes.values import base64_bytes
from changewire_messages.support import KnownValue

MAX_SCALE: Final = 16_383
"""Largest scale, either way: the one of PostgreSQL. What writes out the zeros of a larger one may
fill the memory."""

MAX_BYTES: Final = 4_096
"""Bytes of the largest unscaled value, of some 9,800 digits; its cost grows with their square."""

_SCALE: Final = re.compile(r"[+-]?\d{1,10}", re.ASCII)
# A context that rounds nothing.
_EXACT: Final = decimal.Context(
    prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.Inexact]
)


def exact_decimal(node: Node) -> Read:
    """Return a reader of ``org.apache.kafka.connect.data.Decimal``.

    Text is the Base64 of the unscaled value, big-endian in two's complement; ``parameters.scale``
    says how many of its digits are behind the point. A JSON number (``decimal.format=numeric``)
    is the value itself, of whatever scale: an integer or a Decimal exactly, a float by the shortest
    text that represents it. Digits that a parser lost when it made the float are not known here.
    """
    scale = _scale(node)
    refuse = refusal(node, "Base64 text of an integer, or a number")

    def read(value: Any, _context: Context, path: Path) -> Any:
        if type(value) is str:
            data = base64_bytes(value)
            if data is None:
                return refuse(value, path, "Base64 text", "invalid-base64")
            if not 0 < len(data) <= MAX_BYTES:
                return refuse(value, path, f"1 to {MAX_BYTES} bytes", "wrong-length")
            return scaled(data, scale)
        if type(value) is int or type(value) is float or type(value) is Decimal:
            found = Decimal(repr(value)) if type(value) is float else Decimal(value)
            if found.is_finite() and abs(found.adjusted()) <= MAX_SCALE:
                return found
            return refuse(value, path, f"a number of at most {MAX_SCALE} digits", "out-of-range")
        return refuse(value, path)

    return read


def scaled(unscaled: bytes, scale: int) -> Decimal:
    """Return the decimal of an unscaled value and a scale, exactly."""
    value = Decimal(int.from_bytes(unscaled, "big", signed=True))
    return value.scaleb(-scale, _EXACT)


def decimal_of_struct(row: dict[str, Any]) -> Decimal:
    """Return the decimal of an `io.debezium.data.VariableScaleDecimal`, a struct of two fields."""
    if row.keys() != {"scale", "value"}:
        raise ValueError
    scale, data = row["scale"], row["value"]
    if scale is None or abs(scale) > MAX_SCALE or not data or len(data) > MAX_BYTES:
        raise ValueError
    return scaled(data, scale)


def _scale(node: Node) -> int:
    text = node.parameters.get("scale", "")
    if not _SCALE.fullmatch(text) or abs(int(text)) > MAX_SCALE:
        expected = f"the scale as text, from -{MAX_SCALE} to {MAX_SCALE}"
        raise ConnectSchemaError(f"{node.pointer}/parameters/scale", expected, text)
    return int(text)


# The largest doubles of which the nearest value of so many bits is finite.
_LARGEST: Final = {32: math.nextafter(2.0**128 - 2.0**103, 0), 64: sys.float_info.max}


def _bounds(known: KnownValue) -> tuple[type, Any, Any]:
    if known.means == "integer":
        return int, -(2 ** (known.bits - 1)), 2 ** (known.bits - 1) - 1
    if known.means == "number":
        return float, -_LARGEST[known.bits], _LARGEST[known.bits]
    return (bool, False, True) if known.means == "boolean" else (str, None, None)


_BOUNDED: Final = frozenset({"boolean", "integer", "number", "text"})

BOUNDS: Final = {name: _bounds(known) for name, known in TYPES.items() if known.means in _BOUNDED}
"""The Python type of a type's values, with the least and the largest; text has none."""

_MOST_DIGITS: Final = 17
"""Digits that tell every double from any other (IEEE 754); nothing writes more."""

_NOT_FINITE: Final = frozenset({"NaN", "Infinity", "-Infinity"})


def plain(node: Node) -> Read:
    """Return a reader of true and false, or of text."""
    kind = BOUNDS[node.type][0]
    refuse = refusal(node, WORDS[kind])

    def read(value: Any, _context: Context, path: Path) -> Any:
        return value if type(value) is kind else refuse(value, path)

    return read


def integer(node: Node) -> Read:
    """Return a reader of JSON integers of 8 to 64 bits: 1.0 is not one.

    Kafka's converter cuts off what does not fit. Here it is rejected: a value would be another one.
    """
    _, low, high = BOUNDS[node.type]
    expected = f"an integer from {low} to {high}"
    refuse = refusal(node, expected)

    def read(value: Any, _context: Context, path: Path) -> Any:
        if type(value) is int:
            if low <= value <= high:
                return value
            return refuse(value, path, expected, "out-of-range")
        return refuse(value, path)

    return read


def number(node: Node) -> Read:
    """Return a reader of floating-point numbers; integers and Decimals become the nearest double.

    A number of 32 bits stays the double that has its digits: rounding it to 32 bits would give it
    others. NaN and the infinities stay the texts that Kafka's converter writes for them (and reads
    back as 0): JSON has no numbers for them.
    """
    _, low, high = BOUNDS[node.type]
    refuse = refusal(node, f"a number of type {node.type}")
    in_range = f"a number in the range of {node.type}"

    def read(value: Any, context: Context, path: Path) -> Any:
        if type(value) is float:
            if low <= value <= high:
                return value
            return refuse(value, path, in_range, "out-of-range")
        if type(value) is int or type(value) is Decimal:
            double = nearest_double(value)
            if not low <= double <= high:
                return refuse(value, path, in_range, "out-of-range")
            if is_rounded(double, value):
                context.note(ROUNDED_NUMBER, path)
            return double
        if type(value) is str and value in _NOT_FINITE:
            return value
        return refuse(value, path)

    return read


def binary(node: Node) -> Read:
    """Return a reader of bytes, which are Base64 text (RFC 4648, section 4; padding required)."""
    refuse = refusal(node, "Base64 text")

    def read(value: Any, _context: Context, path: Path) -> Any:
        if type(value) is not str:
            return refuse(value, path)
        found = base64_bytes(value)
        return refuse(value, path, "Base64 text", "invalid-base64") if found is None else found

    return read


def nearest_double(value: int | Decimal) -> float:
    """Return the nearest double; infinite without one, and for text that is not a number."""
    try:
        return float(value)
    except (OverflowError, ValueError):
        return float("inf")


def is_rounded(double: float, value: int | Decimal) -> bool:
    """Return whether the nearest double of a number is neither the number nor has its digits.

    It has them if they are written for it: Java writes 4.9E-324 for the least double,
    and Java before 19 9.999999999999999E22 for 1e23. Python writes fewer digits for both.
    """
    if double == value or Decimal(repr(double)) == value:
        return False
    return not (type(value) is Decimal and _has_digits(double, value))


def _has_digits(double: float, value: Decimal) -> bool:
    """Return whether a double, rounded to as many digits as a number has, is that number."""
    digits = len(value.as_tuple().digits)
    return 0 < digits <= _MOST_DIGITS and Decimal(f"{double:.{digits - 1}e}") == value


_SCALARS: Final[Mapping[str, Callable[[Node], Read]]] = {
    "boolean": plain,
    "integer": integer,
    "number": number,
    "text": plain,
    "base64": binary,
}

SCALARS: Final = {
    name: _SCALARS[known.means] for name, known in TYPES.items() if known.means in _SCALARS
}
"""What makes the reader of each of these types."""
