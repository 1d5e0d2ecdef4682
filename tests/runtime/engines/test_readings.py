"""What a column takes beside its own values, where a schema gave it its type."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from changewire.engines.spark.types import arrow_type, struct_columns
from changewire.engines.typed.cells import CellError, cell, field_cell
from changewire.engines.typed.readings import (
    CHANGE_TEXT,
    KEY_TEXT,
    MESSAGE_SCHEMA,
    ROW_SCHEMA,
    TYPED_BY,
)

AT = datetime(2024, 1, 2, 3, 4, 5, 600000, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("kind", "typed_by", "value", "held"),
    [
        (TimestampType(), ROW_SCHEMA, "2024-01-02T04:04:05.6+01:00", AT),
        (TimestampType(), ROW_SCHEMA, AT, AT),
        (BinaryType(), ROW_SCHEMA, "QUJD", b"ABC"),
        (BinaryType(), ROW_SCHEMA, "", b""),
        (StringType(), ROW_SCHEMA, time(10, 30), "10:30:00"),
        (StringType(), ROW_SCHEMA, date(2024, 1, 2), "2024-01-02"),
        (StringType(), ROW_SCHEMA, AT, "2024-01-02T03:04:05.600000Z"),
        (StringType(), ROW_SCHEMA, Decimal("1.10"), "1.10"),
        (StringType(), ROW_SCHEMA, 2**64 - 1, "18446744073709551615"),
        (DateType(), CHANGE_TEXT, "2024-01-02", date(2024, 1, 2)),
        (DateType(), CHANGE_TEXT, "2024-01-02T00:00:00+08:00", date(2024, 1, 2)),
        (DateType(), KEY_TEXT, "2024-01-02T00:00:00Z", date(2024, 1, 2)),
        (TimestampNTZType(), CHANGE_TEXT, "2024-01-02T03:04:05.6+01:00", AT.replace(tzinfo=None)),
        (TimestampNTZType(), KEY_TEXT, "2024-01-02T03:04:05.6Z", AT.replace(tzinfo=None)),
        (StringType(), MESSAGE_SCHEMA, time(10, 30), "10:30:00"),
        (StringType(), MESSAGE_SCHEMA, timedelta(seconds=-90), "-PT90S"),
        (StringType(), MESSAGE_SCHEMA, Decimal("1E-40"), "1E-40"),
        (DoubleType(), MESSAGE_SCHEMA, Decimal("9.90"), 9.9),
        (ArrayType(DoubleType()), MESSAGE_SCHEMA, [Decimal("9.90"), 1], [9.9, 1.0]),
    ],
)
def test_a_schema_lets_a_column_take_more(
    kind: DataType, typed_by: str, value: Any, held: Any
) -> None:
    """A column that a schema typed reads what messages have for its type."""
    used: list[str] = []
    found = cell(arrow_type(kind), typed_by)(value, "", used)
    assert (found, type(found), used) == (held, type(held), [])


@pytest.mark.parametrize(
    ("kind", "typed_by", "value"),
    [
        (TimestampType(), "", "2024-01-02T03:04:05Z"),
        (TimestampType(), ROW_SCHEMA, "2024-01-02"),
        (TimestampType(), ROW_SCHEMA, "2024-01-02T03:04:05.0000001Z"),
        (TimestampType(), ROW_SCHEMA, "9999-12-31T23:59:59-14:00"),
        (DateType(), CHANGE_TEXT, "2024-01-01T16:00:00Z"),
        (DateType(), CHANGE_TEXT, "2024-01-02T00:00:00"),
        (DateType(), ROW_SCHEMA, "2024-01-02T00:00:00Z"),
        (TimestampNTZType(), CHANGE_TEXT, "2024-01-02"),
        (TimestampNTZType(), ROW_SCHEMA, "2024-01-02T00:00:00Z"),
        (BinaryType(), "", "QUJD"),
        (BinaryType(), ROW_SCHEMA, "*"),
        (StringType(), "", Decimal(1)),
        (StringType(), ROW_SCHEMA, 1),
        (StringType(), ROW_SCHEMA, b"a"),
        (StringType(), MESSAGE_SCHEMA, 1),
        (DoubleType(), "", 2**53 + 1),
        (DoubleType(), ROW_SCHEMA, Decimal("0.12345678901234567890")),
        (DoubleType(), MESSAGE_SCHEMA, 10**400),
        (DoubleType(), MESSAGE_SCHEMA, "1"),
        (DoubleType(), MESSAGE_SCHEMA, True),
        (MapType(IntegerType(), StringType()), MESSAGE_SCHEMA, [(1, "a"), (1, "b")]),
        (MapType(IntegerType(), StringType()), MESSAGE_SCHEMA, [(None, "a")]),
        (MapType(IntegerType(), StringType()), MESSAGE_SCHEMA, {"1": "a"}),
    ],
)
def test_no_column_takes_another_value(kind: DataType, typed_by: str, value: Any) -> None:
    """What has no exact place in the column is refused."""
    with pytest.raises(CellError):
        cell(arrow_type(kind), typed_by)(value, "", [])


def test_a_map_by_arrays_is_no_column() -> None:
    """Keys that hold others have no column, which is said before any message is read."""
    with pytest.raises(ValueError, match="a row has no column of type map<array<int>,int>"):
        cell(arrow_type(MapType(ArrayType(IntegerType()), IntegerType())))


def written(double: float) -> set[Decimal]:
    """Return the numbers that are written for a double: the shortest, and with 1 to 17 digits."""
    return {Decimal(repr(double)), *(Decimal(f"{double:.{digits}e}") for digits in range(17))}


@given(value=st.integers() | st.decimals(allow_nan=False, allow_infinity=False))
def test_rounding_is_counted_exactly_where_digits_are_lost(value: int | Decimal) -> None:
    """A number in a declared double is counted unless the double has all of its digits."""
    used: list[str] = []
    try:
        found = cell(pa.float64(), MESSAGE_SCHEMA)(value, "", used)
    except CellError:
        assert abs(Decimal(value)) > Decimal("1.7e308")
        return
    assert found == float(value)
    assert (used == []) == (found == value or value in written(found))


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_text_holds_any_value(value: Any) -> None:
    """A column of JSON text gives the very value back."""
    field = StructField("c", StringType(), metadata={"contentMediaType": "application/json"})
    (column,) = struct_columns(StructType([field]))
    assert msgspec.json.decode(field_cell(column)(value, "", [])) == value


def test_fields_within_columns_are_typed_by_the_same_schema() -> None:
    """What the metadata of a column says holds for all that it holds."""
    inner = StructType([StructField("at", TimestampType())])
    field = StructField("c", ArrayType(inner), metadata={TYPED_BY: ROW_SCHEMA})
    (column,) = struct_columns(StructType([field]))
    text = "2024-01-02T03:04:05.6Z"
    assert field_cell(column)([{"at": text}], "/after/c", []) == [{"at": AT}]
    with pytest.raises(CellError) as caught:
        field_cell(column)([{"at": 1}], "/after/c", [])
    assert caught.value.issue.pointer == "/after/c/0/at"
