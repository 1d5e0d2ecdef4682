"""A writer of typed values that shares no code with ours: what Kafka's converter would write."""

import base64
from collections.abc import Callable
from datetime import datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

from tests.runtime.changes.connect.helpers import Json

UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SCALE = 4


def write(schema: Json, value: Any) -> Json:
    """Return the JSON of a typed value."""
    if value is None:
        return None
    type_, name = schema["type"], schema.get("name", "").rpartition(".")[2]
    writers = {"array": _array, "map": _map, "struct": _struct}
    if type_ in writers:
        return writers[type_](schema, value)
    return _SCALARS[name or type_](value)


def unscaled(number: int) -> str:
    """Return the Base64 text of an integer in as few bytes as Java takes."""
    length = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return base64.b64encode(number.to_bytes(length, "big", signed=True)).decode()


def _array(schema: Json, value: Any) -> Json:
    return [write(schema["items"], item) for item in value]


def _map(schema: Json, value: Any) -> Json:
    if schema["keys"]["type"] == "string":
        return {key: write(schema["values"], item) for key, item in value.items()}
    return [[write(schema["keys"], k), write(schema["values"], v)] for k, v in value]


def _struct(schema: Json, value: Any) -> Json:
    fields = {field["field"]: field for field in schema["fields"]}
    return {name: write(fields[name], item) for name, item in value.items()}


def _same(value: Json) -> Json:
    return value


def _decimal(value: Decimal) -> Json:
    sign, digits, exponent = value.as_tuple()
    assert exponent == -SCALE
    number = int("".join(map(str, digits)))
    return unscaled(-number if sign else number)


def _microseconds(value: Any) -> int:
    if isinstance(value, time):
        assert value.tzinfo is None
        value = EPOCH + timedelta(0, value.second, value.microsecond, 0, value.minute, value.hour)
    assert value.tzinfo is UTC
    since: timedelta = value - EPOCH
    return since // timedelta(microseconds=1)


def _text(value: Any) -> Json:
    return value.isoformat().removesuffix("+00:00") + "Z"


_SCALARS: dict[str, Callable[[Any], Json]] = {
    **dict.fromkeys(
        ("boolean", "int8", "int16", "int32", "int64", "float", "double", "string"), _same
    ),
    "bytes": lambda value: base64.b64encode(value).decode(),
    "Decimal": _decimal,
    "Date": lambda value: (value - EPOCH.date()).days,
    "Time": lambda value: _microseconds(value) // 1000,
    "MicroTime": _microseconds,
    "NanoTime": lambda value: _microseconds(value) * 1000,
    "Timestamp": lambda value: _microseconds(value) // 1000,
    "MicroTimestamp": _microseconds,
    "MicroDuration": lambda value: value // timedelta(microseconds=1),
    **dict.fromkeys(("ZonedTimestamp", "IsoDate", "IsoTime"), _text),
}
"""What writes a scalar, by the last part of its logical name, else by its type."""
