"""Decimals of Kafka Connect and Debezium, with every digit."""

import decimal
import re
from decimal import Decimal
from typing import Any, Final

from changewire.changes.connect.errors import ConnectSchemaError
from changewire.changes.connect.reads import Context, Path, Read, refusal
from changewire.changes.connect.schema import Node
from changewire.changes.values import base64_bytes

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
    says how many of its digits stand behind the point. A JSON number (``decimal.format=numeric``)
    is the value itself, of whatever scale: an integer or a Decimal exactly, a float by the shortest
    text that stands for it. Digits that a parser lost when it made the float are not known here.
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
