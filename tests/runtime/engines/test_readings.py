"""What a column takes of JSON text beside its own values."""

from __future__ import annotations

from datetime import date, datetime, timezone
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
    EXACT_TEXT,
    KEY_TEXT,
    MESSAGE_SCHEMA,
    TYPED_BY,
    reading_of_rows,
)

AT = datetime(2024, 1, 2, 3, 4, 5, 600000, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("kind", "reading", "value", "held"),
    [
        (TimestampType(), EXACT_TEXT, "2024-01-02T04:04:05.6+01:00", AT),
        (BinaryType(), EXACT_TEXT, "QUJD", b"ABC"),
        (BinaryType(), EXACT_TEXT, "", b""),
        (StringType(), EXACT_TEXT, 2**64 - 1, "18446744073709551615"),
        (StringType(), EXACT_TEXT, [1, {"a": None}], '[1,{"a":null}]'),
        (StringType(), EXACT_TEXT, "1.10", "1.10"),
        (DoubleType(), EXACT_TEXT, "9.90", 9.9),
        (DateType(), CHANGE_TEXT, "2024-01-02", date(2024, 1, 2)),
        (DateType(), CHANGE_TEXT, "2024-01-02T00:00:00+08:00", date(2024, 1, 2)),
        (DateType(), KEY_TEXT, "2024-01-02T00:00:00Z", date(2024, 1, 2)),
        (TimestampNTZType(), CHANGE_TEXT, "2024-01-02T03:04:05.6+01:00", AT.replace(tzinfo=None)),
        (TimestampNTZType(), KEY_TEXT, "2024-01-02T03:04:05.6Z", AT.replace(tzinfo=None)),
        (DoubleType(), CHANGE_TEXT, Decimal("9.90"), 9.9),
        (ArrayType(DoubleType()), CHANGE_TEXT, ["9.90", 1], [9.9, 1.0]),
        (MapType(IntegerType(), StringType()), EXACT_TEXT, [[1, "a"]], [(1, "a")]),
    ],
)
def test_text_represents_other_values(kind: DataType, reading: str, value: Any, held: Any) -> None:
    """A column reads what the JSON text of rows has for its type."""
    used: list[str] = []
    found = cell(arrow_type(kind), reading)(value, "", used)
    assert (found, type(found), used) == (held, type(held), [])


@pytest.mark.parametrize(
    ("kind", "reading", "value"),
    [
        (TimestampType(), EXACT_TEXT, "2024-01-02"),
        (TimestampType(), EXACT_TEXT, "2024-01-02T03:04:05.0000001Z"),
        (TimestampType(), EXACT_TEXT, "9999-12-31T23:59:59-14:00"),
        (DateType(), CHANGE_TEXT, "2024-01-01T16:00:00Z"),
        (DateType(), CHANGE_TEXT, "2024-01-02T00:00:00"),
        (DateType(), EXACT_TEXT, "20240102"),
        (DateType(), EXACT_TEXT, "2024-02-30"),
        (TimestampNTZType(), CHANGE_TEXT, "2024-01-02"),
        (BinaryType(), EXACT_TEXT, "*"),
        (DoubleType(), EXACT_TEXT, 2**53 + 1),
        (DoubleType(), EXACT_TEXT, Decimal("0.12345678901234567890")),
        (DoubleType(), CHANGE_TEXT, 10**400),
        (DoubleType(), CHANGE_TEXT, "1e1"),
        (DoubleType(), CHANGE_TEXT, True),
        (DoubleType(), KEY_TEXT, "1"),
        (MapType(IntegerType(), StringType()), CHANGE_TEXT, [[1, "a"], [1, "b"]]),
        (MapType(IntegerType(), StringType()), CHANGE_TEXT, [[None, "a"]]),
        (MapType(IntegerType(), StringType()), CHANGE_TEXT, {"1": "a"}),
    ],
)
def test_no_column_takes_another_value(kind: DataType, reading: str, value: Any) -> None:
    """What has no exact place in the column is refused."""
    with pytest.raises(CellError):
        cell(arrow_type(kind), reading)(value, "", [])


def test_a_map_by_arrays_is_no_column() -> None:
    """Keys that hold others have no column, which is said before any message is read."""
    with pytest.raises(ValueError, match="a row has no column of type map<array<int>,int>"):
        cell(arrow_type(MapType(ArrayType(IntegerType()), IntegerType())), EXACT_TEXT)


def written(double: float) -> set[Decimal]:
    """Return the numbers that are written for a double: the shortest, and with 1 to 17 digits."""
    return {Decimal(repr(double)), *(Decimal(f"{double:.{digits}e}") for digits in range(17))}


@given(value=st.integers() | st.decimals(allow_nan=False, allow_infinity=False))
def test_rounding_is_counted_exactly_where_digits_are_lost(value: int | Decimal) -> None:
    """A number in a declared double is counted unless the double has all of its digits."""
    used: list[str] = []
    try:
        found = cell(pa.float64(), CHANGE_TEXT)(value, "", used)
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
    assert msgspec.json.decode(field_cell(column, EXACT_TEXT)(value, "", [])) == value


def test_fields_within_columns_are_read_as_their_column() -> None:
    """What text represents in a column, it represents in all that the column holds."""
    inner = StructType([StructField("at", TimestampType())])
    (column,) = struct_columns(StructType([StructField("c", ArrayType(inner))]))
    text = "2024-01-02T03:04:05.6Z"
    assert field_cell(column, EXACT_TEXT)([{"at": text}], "/after/c", []) == [{"at": AT}]
    with pytest.raises(CellError) as caught:
        field_cell(column, EXACT_TEXT)([{"at": 1}], "/after/c", [])
    assert caught.value.issue.pointer == "/after/c/0/at"


def test_only_schemas_of_messages_let_numbers_be_rounded() -> None:
    """Columns say that such a schema gave them their types; another metadata does not count."""
    plain = pa.field("a", pa.float64())
    of_messages = plain.with_metadata({TYPED_BY: MESSAGE_SCHEMA})
    assert reading_of_rows([plain, plain.with_metadata({TYPED_BY: "row-schema"})]) == EXACT_TEXT
    assert reading_of_rows([plain, of_messages]) == CHANGE_TEXT
