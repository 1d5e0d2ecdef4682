"""Logical types of Kafka Connect and Debezium."""

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from tests.runtime.changes.connect.helpers import (
    CONNECT,
    DATA,
    NOTES,
    TIME,
    Json,
    field,
    logical,
    read,
    read_with_notes,
    struct,
)

from changewire.changes.connect.reader import compile_schema
from changewire.changes.connect.schema import ConnectSchemaError, ValueMismatch

UTC = timezone.utc
DAY = 24 * 60 * 60
LAST = datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)
LAST_MICROSECOND = (LAST - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
FIRST_SECOND = -62135596800

MONEY = logical("bytes", CONNECT + "Decimal", parameters={"scale": "2"})
VARIABLE = struct(
    field("scale", "int32"), field("value", "bytes"), name=DATA + "VariableScaleDecimal"
)

VALUES: list[tuple[Json, Json, Any]] = [
    (MONEY, "AA==", Decimal("0.00")),
    (MONEY, "fw==", Decimal("1.27")),
    (MONEY, "gA==", Decimal("-1.28")),
    (MONEY, "AIA=", Decimal("1.28")),
    (MONEY, "/w==", Decimal("-0.01")),
    (MONEY, "AYag", Decimal("1000.00")),
    # 38 digits, which no context of Python's rounds here.
    (MONEY, "SztMqFqGxHoJiiI//////w==", Decimal("9" * 36 + ".99")),
    (MONEY, 7, Decimal(7)),
    (MONEY, 1.1, Decimal("1.1")),
    (MONEY, 1e22, Decimal("1e22")),
    (MONEY, Decimal("1.10000000000000000000000000000000000001"), None),
    (logical("bytes", CONNECT + "Decimal", parameters={"scale": "0"}), "/w==", Decimal(-1)),
    (logical("bytes", CONNECT + "Decimal", parameters={"scale": "-3"}), "AQ==", Decimal("1E+3")),
    (VARIABLE, {"scale": 3, "value": "fw=="}, Decimal("0.127")),
    (VARIABLE, {"value": "fw==", "scale": -1}, Decimal("1.27E+3")),
    (logical("int32", CONNECT + "Date"), 0, date(1970, 1, 1)),
    (logical("int32", CONNECT + "Date"), -719162, date.min),
    (logical("int32", TIME + "Date"), 2932896, date.max),
    (logical("int32", CONNECT + "Time"), 0, time()),
    (logical("int32", TIME + "Time"), DAY * 1000 - 1, time(23, 59, 59, 999000)),
    (logical("int64", TIME + "MicroTime"), DAY * 10**6 - 1, time(23, 59, 59, 999999)),
    (logical("int64", TIME + "NanoTime"), DAY * 10**9 - 1000, time(23, 59, 59, 999999)),
    (
        logical("int64", CONNECT + "Timestamp"),
        1465491411815,
        datetime(2016, 6, 9, 16, 56, 51, 815000, UTC),
    ),
    (logical("int64", TIME + "Timestamp"), -1, datetime(1969, 12, 31, 23, 59, 59, 999000, UTC)),
    (logical("int64", TIME + "MicroTimestamp"), LAST_MICROSECOND, LAST),
    (
        logical("int64", TIME + "MicroTimestamp"),
        FIRST_SECOND * 10**6,
        datetime(1, 1, 1, tzinfo=UTC),
    ),
    (
        logical("int64", TIME + "NanoTimestamp"),
        2**63 - 1 - 807,
        datetime(2262, 4, 11, 23, 47, 16, 854775, UTC),
    ),
    (logical("int64", TIME + "MicroDuration"), -1, timedelta(microseconds=-1)),
    (logical("int64", TIME + "MicroDuration"), 2**63 - 1, timedelta(microseconds=2**63 - 1)),
    (logical("int64", TIME + "NanoDuration"), -1000, timedelta(microseconds=-1)),
    (logical("double", TIME + "MicroDuration"), 1.5, 1.5),
    (logical("int32", TIME + "Year"), -44, -44),
    (logical("string", TIME + "Interval"), "P1Y2M3DT4H5M6.7S", "P1Y2M3DT4H5M6.7S"),
    (
        logical("string", TIME + "ZonedTimestamp"),
        "2011-12-03T10:15:30.030431+01:00",
        datetime(2011, 12, 3, 9, 15, 30, 30431, UTC),
    ),
    (logical("string", TIME + "ZonedTimestamp"), "9999-12-31T23:59:59.999999000Z", LAST),
    (
        logical("string", TIME + "ZonedTimestamp"),
        "2020-02-29T00:00-00:00:30",
        datetime(2020, 2, 29, 0, 0, 30, tzinfo=UTC),
    ),
    (
        logical("string", TIME + "IsoTimestamp"),
        "2024-11-20T15:44:43Z",
        datetime(2024, 11, 20, 15, 44, 43, tzinfo=UTC),
    ),
    (logical("string", TIME + "IsoDate"), "2005-05-12Z", date(2005, 5, 12)),
    (logical("string", TIME + "IsoDate"), "2023-11-21", date(2023, 11, 21)),
    (logical("string", TIME + "IsoTime"), "10:30:45.1Z", time(10, 30, 45, 100000)),
    (logical("string", TIME + "ZonedTime"), "10:15:30Z", time(10, 15, 30, tzinfo=UTC)),
    (
        logical("string", TIME + "ZonedTime"),
        "10:15:30.5-01:30",
        time(10, 15, 30, 500000, timezone(-timedelta(hours=1, minutes=30))),
    ),
    (logical("string", DATA + "Enum"), "red", "red"),
    (logical("string", DATA + "EnumSet"), "red,green", "red,green"),
    (logical("string", DATA + "Json"), '{"a": 1}', '{"a": 1}'),
    (logical("string", DATA + "Uuid"), "x", "x"),
    (logical("bytes", DATA + "Bits"), "AQ==", b"\x01"),
]
"""A schema, a JSON value, and what it becomes; None for the value itself."""

KEPT: list[tuple[Json, Json, str]] = [
    (logical("int32", CONNECT + "Date"), -719163, "beyond-range"),
    (logical("int32", TIME + "Date"), 2932897, "beyond-range"),
    (logical("int32", TIME + "Date"), -(2**31), "beyond-range"),
    (logical("int32", CONNECT + "Time"), DAY * 1000, "beyond-range"),
    (logical("int32", TIME + "Time"), -1, "beyond-range"),
    (logical("int64", TIME + "MicroTime"), 3020399 * 10**6, "beyond-range"),
    (logical("int64", TIME + "NanoTime"), -1000, "beyond-range"),
    (logical("int64", TIME + "NanoTime"), 1, "beyond-microseconds"),
    (logical("int64", CONNECT + "Timestamp"), 2**63 - 1, "beyond-range"),
    (logical("int64", TIME + "Timestamp"), -(2**63), "beyond-range"),
    (logical("int64", TIME + "MicroTimestamp"), LAST_MICROSECOND + 1, "beyond-range"),
    (logical("int64", TIME + "MicroTimestamp"), FIRST_SECOND * 10**6 - 1, "beyond-range"),
    (logical("int64", TIME + "NanoTimestamp"), -1, "beyond-microseconds"),
    (logical("int64", TIME + "NanoDuration"), 999, "beyond-microseconds"),
    (logical("string", TIME + "ZonedTimestamp"), "+10000-01-01T00:00:00Z", "beyond-range"),
    (logical("string", TIME + "ZonedTimestamp"), "-0043-03-15T00:00:00Z", "beyond-range"),
    (logical("string", TIME + "ZonedTimestamp"), "0001-01-01T00:00:00+01:00", "beyond-range"),
    (logical("string", TIME + "ZonedTimestamp"), "9999-12-31T23:59:59-00:01", "beyond-range"),
    (
        logical("string", TIME + "IsoTimestamp"),
        "2011-01-11T16:40:30.123456789Z",
        "beyond-microseconds",
    ),
    (logical("string", TIME + "IsoTime"), "02:30:00.000000005Z", "beyond-microseconds"),
    (logical("string", TIME + "IsoDate"), "+999999999-12-31Z", "beyond-range"),
]
"""A schema, a value that Python's type cannot hold, and the note."""

REFUSED: list[tuple[Json, Json, str]] = [
    (MONEY, "", "wrong-length"),
    (MONEY, "A" * 8192, "wrong-length"),
    (MONEY, "1.1", "invalid-base64"),
    (MONEY, float("nan"), "out-of-range"),
    (MONEY, float("inf"), "out-of-range"),
    (MONEY, Decimal("sNaN"), "out-of-range"),
    (MONEY, Decimal("-Infinity"), "out-of-range"),
    (MONEY, Decimal("1e999999"), "out-of-range"),
    (MONEY, Decimal("0e-999999"), "out-of-range"),
    (MONEY, True, "wrong-type"),
    (MONEY, None, "wrong-type"),
    (MONEY, [1], "wrong-type"),
    (VARIABLE, {"scale": 99999, "value": "AQ=="}, "wrong-value"),
    (VARIABLE, {"scale": 1, "value": ""}, "wrong-value"),
    (VARIABLE, {"scale": 1, "value": "AQ==", "more": 1}, "wrong-value"),
    (logical("int32", CONNECT + "Date"), "2020-01-01", "wrong-type"),
    (logical("int64", CONNECT + "Timestamp"), 2**63, "out-of-range"),
    (logical("int64", CONNECT + "Timestamp"), 1.0, "wrong-type"),
    (logical("string", TIME + "ZonedTimestamp"), "2011-12-03T10:15:30", "invalid-time"),
    (logical("string", TIME + "ZonedTimestamp"), "2011-12-03 10:15:30Z", "invalid-time"),
    (logical("string", TIME + "ZonedTimestamp"), "2011-02-29T10:15:30Z", "invalid-time"),
    (logical("string", TIME + "ZonedTimestamp"), "2011-12-03T10:15:30+24:00", "invalid-time"),
    (logical("string", TIME + "ZonedTimestamp"), "2011-12-03T10:15:30Z\n", "invalid-time"),
    (logical("string", TIME + "ZonedTimestamp"), "٢٠١١-12-03T10:15:30Z", "invalid-time"),
    (logical("string", TIME + "ZonedTimestamp"), 5, "wrong-type"),
    (logical("string", TIME + "ZonedTime"), "24:00:00Z", "invalid-time"),
    (logical("string", TIME + "IsoTime"), "10:00:00+01:00", "invalid-time"),
    (logical("string", TIME + "IsoDate"), "2020-13-01", "invalid-time"),
]
"""A schema, a value that it does not allow, and the check that fails."""


@pytest.mark.parametrize(("schema", "value", "typed"), VALUES)
def test_values_become_typed(schema: Json, value: Json, typed: Any) -> None:
    """Each logical type has one Python type, and no digit is lost."""
    found, notes = read_with_notes(schema, value)
    assert repr(found) == repr(value if typed is None else typed)
    assert notes == []
    assert read({**schema, "optional": True}, None) is None


@pytest.mark.parametrize(("schema", "value", "kind"), KEPT)
def test_what_python_cannot_hold_is_kept(schema: Json, value: Json, kind: str) -> None:
    """A value beyond Python's type is never rounded: it stays as it was sent, and is noted."""
    assert read_with_notes(schema, value) == (value, [(kind, "/payload")])
    assert kind in NOTES


@pytest.mark.parametrize(("schema", "value", "rule"), REFUSED)
def test_wrong_values_are_refused(schema: Json, value: Json, rule: str) -> None:
    """A value that the base type or the form of the logical type does not allow is refused."""
    with pytest.raises(ValueMismatch) as caught:
        read(schema, value)
    assert (caught.value.rule, caught.value.pointer) == (rule, "/payload")


@pytest.mark.parametrize(
    ("schema", "value", "typed"),
    [
        (logical("string", "com.example.Money"), "12 EUR", "12 EUR"),
        (logical("int64", CONNECT + "Date"), 5, 5),
        (logical("string", CONNECT + "Decimal"), "1.1", "1.1"),
        (logical("bytes", TIME + "ZonedTimestamp"), "YQ==", b"a"),
        (logical("array", "com.example.Vector", items={"type": "int8"}), [1], [1]),
        (logical("boolean", ""), True, True),
    ],
)
def test_unknown_logical_types_are_noted(schema: Json, value: Json, typed: Any) -> None:
    """A name that is not known, or not for its base type, is noted; the base type is read."""
    found, notes = read_with_notes({"type": "array", "items": schema}, [value])
    assert repr(found) == repr([typed])
    assert notes == [("unknown-logical-type", "/items")]


def test_names_of_structs_are_no_logical_types() -> None:
    """The name of a struct names its record, so there is nothing to note."""
    schema = struct(field("a", "int8"), name="server.inventory.customers.Value")
    assert read_with_notes(schema, {"a": 1}) == ({"a": 1}, [])
    like_a_decimal = struct(field("scale", "int8"), name=DATA + "VariableScaleDecimal")
    assert read_with_notes(like_a_decimal, {"scale": 1}) == ({"scale": 1}, [])


@pytest.mark.parametrize("scale", [None, "", "x", "1.0", "٣", " 1", "99999", "1" * 5000])
def test_decimals_need_a_scale(scale: str | None) -> None:
    """A Decimal without a scale, or with an absurd one, is no schema."""
    parameters = {} if scale is None else {"scale": scale}
    with pytest.raises(ConnectSchemaError) as caught:
        compile_schema(logical("bytes", CONNECT + "Decimal", parameters=parameters))
    assert caught.value.pointer == "/parameters/scale"
