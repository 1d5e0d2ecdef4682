"""Logical types: what the name of a schema makes of its base type.

Names and units are those of Kafka's ``org.apache.kafka.connect.data`` and of Debezium's
``io.debezium.time`` and ``io.debezium.data``.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from changewire.changes.connect import times
from changewire.changes.connect.reads import BEYOND_RANGE, Context, Path, Read, refusal
from changewire.changes.connect.scalars import MAX_BYTES, MAX_SCALE, decimal_of_struct
from changewire.changes.connect.schema import TYPES, Node
from changewire.changes.values import from_milliseconds
from changewire.changes.vendors import connect_values as values

LOGICAL_TYPES: Final = {(known.value, known.of): known for known in values.CONNECT_SCHEMA_NAME}
"""Logical types, by their name and base type."""

DECIMAL: Final = next(key for key, known in LOGICAL_TYPES.items() if known.means == "decimal")
"""Read by itself: a JSON number may be where its base type would have Base64 text."""


class Conversion(NamedTuple):
    """What turns a value of the base type into one of the logical type."""

    convert: Callable[[Any], Any]
    expected: str = ""
    rule: str = "invalid-time"


_TIMESTAMP: Final = Conversion(times.timestamp_of_text, "a date and time with an offset")

_CONVERSIONS: Final[Mapping[str, Conversion]] = {
    "date-days": Conversion(times.date_of_days),
    "time-milliseconds": Conversion(times.time_of_milliseconds),
    "time-microseconds": Conversion(times.time_of_microseconds),
    "time-nanoseconds": Conversion(times.time_of_nanoseconds),
    "timestamp-milliseconds": Conversion(from_milliseconds),
    "timestamp-microseconds": Conversion(times.timestamp_of_microseconds),
    "timestamp-nanoseconds": Conversion(times.timestamp_of_nanoseconds),
    "duration-microseconds": Conversion(times.duration_of_microseconds),
    "duration-nanoseconds": Conversion(times.duration_of_nanoseconds),
    "timestamp-text": _TIMESTAMP,
    "zoned-time-text": Conversion(times.time_of_text, "a time with an offset"),
    "utc-time-text": Conversion(times.local_time_of_text, "a time in UTC"),
    "date-text": Conversion(times.date_of_text, "a date in UTC"),
    "decimal-struct": Conversion(
        decimal_of_struct,
        f"a scale of at most {MAX_SCALE} and 1 to {MAX_BYTES} bytes",
        "wrong-value",
    ),
}
"""What makes the values of logical types that are of another type than the base."""


def conversion_of(node: Node) -> Conversion | None:
    """Return the conversion that a node asks for; None if it asks for none that is known."""
    known = LOGICAL_TYPES.get((node.name or "", node.type))
    if known is None or (known.means == "decimal-struct" and not _is_decimal(node.parts)):
        return None
    return _CONVERSIONS.get(known.means)


def _is_decimal(parts: Mapping[str, Node]) -> bool:
    """Return whether the fields of a struct are a scale of 32 bits and an unscaled value."""
    types = {name: (TYPES[part.type], part.name) for name, part in parts.items()}
    found = {name: (known.means, known.bits, named) for name, (known, named) in types.items()}
    return found == {"scale": ("integer", 32, None), "value": ("base64", 0, None)}


def is_unknown(node: Node) -> bool:
    """Return whether a node names a logical type that is not known, or not for its base type."""
    is_named = node.name is not None and node.type != "struct"
    return is_named and (node.name, node.type) not in LOGICAL_TYPES


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
