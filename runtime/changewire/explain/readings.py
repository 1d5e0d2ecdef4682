"""Meaning of a value for a person: times as dates, Base64 as bytes, bytes as text if they are."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from msgspec.msgpack import Ext

from changewire.changes.values import EPOCH, base64_bytes
from changewire.explain.schema import Node

_UNITS: Final[dict[str, Any]] = {
    "microseconds": (timedelta(microseconds=1), "microseconds"),
    "milliseconds": (timedelta(milliseconds=1), "milliseconds"),
    "seconds": (timedelta(seconds=1), "seconds"),
}
"""Of a unit, how long it is, and what ISO 8601 text is written to."""


def reading(value: object, node: Node) -> str:
    """Return the meaning of a value; empty if that is the value itself."""
    if type(value) is int:
        return _time(value, node)
    if type(value) is str and node.get("contentEncoding") == "base64":
        data = base64_bytes(value)
        return "" if data is None else _bytes(data)
    return typed_reading(value)


def typed_reading(value: object) -> str:
    """Return what bytes, a time or a decimal say; empty for what JSON has as it is."""
    if isinstance(value, bytes):
        return _bytes(value)
    if isinstance(value, Ext):
        return f"extension type {value.code}, {_bytes(bytes(value.data))}"
    if isinstance(value, (date, time)):  # a datetime is a date
        return value.isoformat().replace("+00:00", "Z")
    return str(value) if isinstance(value, (Decimal, timedelta)) else ""


def _time(number: int, node: Node) -> str:
    """Return a time; if the schema says that a number means something else, that."""
    unknown = node.get("x-unknown", {}).get(str(number))
    if "x-unit" not in node or unknown:
        return f"{number} means {unknown}" if unknown else ""
    step, precision = _UNITS[node["x-unit"]]
    try:
        found: datetime = EPOCH + number * step
    except OverflowError:  # the year is before 1 or after 9999
        return ""
    return found.isoformat(timespec=precision).replace("+00:00", "Z")


def _bytes(data: bytes) -> str:
    """Return length and content of bytes: as text where that prints, otherwise in hexadecimal."""
    length = f"{len(data):,} byte{'' if len(data) == 1 else 's'}"
    if not data:
        return length
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    return f'{length}: "{text}"' if text and text.isprintable() else f"{length}: 0x{data.hex()}"
