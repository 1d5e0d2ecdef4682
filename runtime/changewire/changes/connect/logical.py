"""Logical types: what the name of a schema makes of its base type.

Names and units are those of Kafka's ``org.apache.kafka.connect.data`` and of Debezium's
``io.debezium.time`` and ``io.debezium.data``.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from changewire.changes.connect import times
from changewire.changes.connect.reads import BEYOND_RANGE, Context, Path, Read, refusal
from changewire.changes.connect.scalars import MAX_BYTES, MAX_SCALE, decimal_of_struct
from changewire.changes.connect.schema import Node
from changewire.changes.values import from_milliseconds

DECIMAL: Final = ("org.apache.kafka.connect.data.Decimal", "bytes")
"""Read by itself: a JSON number may be where its base type would have Base64 text."""

_VARIABLE_SCALE_DECIMAL: Final = "io.debezium.data.VariableScaleDecimal"
_SCALE_AND_VALUE: Final = {"scale": ("int32", None), "value": ("bytes", None)}
_TIME: Final = "io.debezium.time."
_DATA: Final = "io.debezium.data."


class Conversion(NamedTuple):
    """What turns a value of the base type into one of the logical type."""

    convert: Callable[[Any], Any]
    expected: str = ""
    rule: str = "invalid-time"


_TIMESTAMP: Final = Conversion(times.timestamp_of_text, "a date and time with an offset")

CONVERSIONS: Final[Mapping[tuple[str, str], Conversion]] = {
    ("org.apache.kafka.connect.data.Date", "int32"): Conversion(times.date_of_days),
    ("org.apache.kafka.connect.data.Time", "int32"): Conversion(times.time_of_milliseconds),
    ("org.apache.kafka.connect.data.Timestamp", "int64"): Conversion(from_milliseconds),
    (_TIME + "Date", "int32"): Conversion(times.date_of_days),
    (_TIME + "Time", "int32"): Conversion(times.time_of_milliseconds),
    (_TIME + "MicroTime", "int64"): Conversion(times.time_of_microseconds),
    (_TIME + "NanoTime", "int64"): Conversion(times.time_of_nanoseconds),
    (_TIME + "Timestamp", "int64"): Conversion(from_milliseconds),
    (_TIME + "MicroTimestamp", "int64"): Conversion(times.timestamp_of_microseconds),
    (_TIME + "NanoTimestamp", "int64"): Conversion(times.timestamp_of_nanoseconds),
    (_TIME + "MicroDuration", "int64"): Conversion(times.duration_of_microseconds),
    (_TIME + "NanoDuration", "int64"): Conversion(times.duration_of_nanoseconds),
    (_TIME + "ZonedTimestamp", "string"): _TIMESTAMP,
    (_TIME + "IsoTimestamp", "string"): _TIMESTAMP,
    (_TIME + "ZonedTime", "string"): Conversion(times.time_of_text, "a time with an offset"),
    (_TIME + "IsoTime", "string"): Conversion(times.local_time_of_text, "a time in UTC"),
    (_TIME + "IsoDate", "string"): Conversion(times.date_of_text, "a date in UTC"),
    (_VARIABLE_SCALE_DECIMAL, "struct"): Conversion(
        decimal_of_struct,
        f"a scale of at most {MAX_SCALE} and 1 to {MAX_BYTES} bytes",
        "wrong-value",
    ),
}
"""Logical types, by their name and base type, whose values are of another type than the base."""

PLAIN: Final = frozenset(
    {
        (_TIME + "Year", "int32"),
        # Years and months have no fixed length, so this text is no duration.
        (_TIME + "Interval", "string"),
        # Its older form, rounded where it was made.
        (_TIME + "MicroDuration", "double"),
        *((_DATA + name, "string") for name in ("Enum", "EnumSet", "Json", "Xml", "Uuid", "Ltree")),
        (_DATA + "Bits", "bytes"),
    }
)
"""Logical types, by their name and base type, whose values are those of the base."""


def conversion_of(node: Node) -> Conversion | None:
    """Return the conversion that a node asks for; None if it asks for none that is known."""
    if node.name == _VARIABLE_SCALE_DECIMAL:
        parts = {name: (part.type, part.name) for name, part in node.parts.items()}
        if parts != _SCALE_AND_VALUE:
            return None
    return CONVERSIONS.get((node.name or "", node.type))


def is_unknown(node: Node) -> bool:
    """Return whether a node names a logical type that is not known, or not for its base type."""
    if node.name is None or node.type == "struct":
        return False
    key = (node.name, node.type)
    return not (key == DECIMAL or key in PLAIN or key in CONVERSIONS)


def converted(node: Node, base: Read, conversion: Conversion) -> Read:
    """Return a reader that turns what the base reader returns into the logical type."""
    convert, expected, rule = conversion
    refuse = refusal(node, expected)

    def read(value: Any, context: Context, path: Path) -> Any:
        found = base(value, context, path)
        if found is None:
            return None
        try:
            return convert(found)
        except times.UnrepresentableError as kept:
            context.note(str(kept), path)
        except OverflowError:
            context.note(BEYOND_RANGE, path)
        except ValueError:
            return refuse(value, path, expected, rule)
        return found

    return read
