"""Values to the Spark types of typed columns: exactly, or not at all."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import CalendarIntervalType, DataType, StructField, StructType

from changewire.engines.spark.types import struct_columns
from changewire.engines.typed.cells import CellError, cell

NOW = datetime(2024, 1, 2, tzinfo=timezone.utc)
MIDNIGHT = datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=8)))
NOON = datetime(2024, 1, 2, 12, tzinfo=timezone.utc)

FITS = [
    ("boolean", True, True),
    ("tinyint", -128, -128),
    ("smallint", 32767, 32767),
    ("int", 2**31 - 1, 2**31 - 1),
    ("bigint", -(2**63), -(2**63)),
    ("double", 1.5, 1.5),
    ("double", 3, 3.0),
    ("double", "Infinity", float("inf")),
    ("float", 0.5, 0.5),
    ("decimal(10,2)", "12345678.90", Decimal("12345678.90")),
    ("decimal(10,2)", 1.25, Decimal("1.25")),
    ("decimal(38,0)", 10**37, Decimal(10**37)),
    ("string", "é", "é"),
    ("binary", b"\x00", b"\x00"),
    ("timestamp", NOW, NOW),
    ("timestamp", MIDNIGHT, MIDNIGHT),
    ("timestamp_ntz", NOON, datetime(2024, 1, 2, 12)),  # noqa: DTZ001 - that is the type
    ("timestamp_ntz", MIDNIGHT, datetime(2024, 1, 2)),  # noqa: DTZ001 - that is the type
    ("date", date(2024, 1, 2), date(2024, 1, 2)),
    ("date", NOW, date(2024, 1, 2)),
    ("date", MIDNIGHT, date(2024, 1, 2)),
    ("decimal(20,0)", 2**64 - 1, Decimal(2**64 - 1)),
    ("array<int>", [1, None], [1, None]),
    ("map<string,bigint>", {"a": 1, "b": None}, {"a": 1, "b": None}),
    ("struct<a: int, b: string>", {"a": 1}, {"a": 1}),
]

REFUSED: list[tuple[str, Any, str]] = [
    ("boolean", 1, ""),
    ("boolean", "true", ""),
    ("tinyint", 128, ""),
    ("int", 2**31, ""),
    ("int", 1.0, ""),
    ("int", True, ""),
    ("bigint", 2**63, ""),
    ("bigint", "17", ""),
    ("double", "1.5", ""),
    ("double", 2**53 + 1, ""),
    ("double", True, ""),
    ("float", 0.1, ""),
    ("float", 1e300, ""),
    ("double", 10**400, ""),
    ("decimal(10,2)", "1.239", ""),
    ("decimal(10,2)", 10**8, ""),
    ("decimal(10,2)", "NaN", ""),
    ("decimal(10,2)", "ten", ""),
    ("decimal(10,2)", True, ""),
    ("string", 5, ""),
    ("string", {"a": 1}, ""),
    ("binary", "QQ==", ""),
    ("timestamp", 1617167159548, ""),
    ("date", NOON, ""),
    ("date", MIDNIGHT.astimezone(timezone.utc), ""),
    ("date", "2024-01-02", ""),
    ("timestamp_ntz", "2024-01-02T00:00:00Z", ""),
    ("timestamp_ntz", date(2024, 1, 2), ""),
    ("array<int>", "x", ""),
    ("array<int>", [1, "x"], "/1"),
    ("map<string,int>", [1], ""),
    ("map<string,int>", {"a/b": "x"}, "/a~1b"),
    ("struct<a: int>", 1, ""),
    ("struct<a: int>", {"b": 1}, "/b"),
    ("struct<a: array<int>>", {"a": [True]}, "/a/0"),
]


def arrow_type(text: str) -> pa.DataType:
    """Return the type of a DDL text, as rows of Spark have it in Arrow."""
    row = DataType.fromDDL(f"c {text}")
    assert isinstance(row, StructType)
    return struct_columns(row).field("c").type


@pytest.mark.parametrize(("kind", "value", "held"), FITS)
def test_a_value_that_fits_is_held_exactly(
    spark: object, kind: str, value: object, held: object
) -> None:
    """A column holds the very value."""
    del spark
    found = cell(arrow_type(kind))(value, "", [])
    assert (found, type(found)) == (held, type(held))


@pytest.mark.parametrize(("kind", "value", "pointer"), REFUSED)
def test_a_value_that_does_not_fit_is_refused(
    spark: object, kind: str, value: object, pointer: str
) -> None:
    """Nothing is rounded, cut, parsed or turned into NULL; the place is named."""
    del spark
    fit = cell(arrow_type(kind))
    with pytest.raises(CellError) as caught:
        fit(value, "", [])
    assert caught.value.issue.pointer == pointer


def test_a_type_that_no_value_can_have_is_refused() -> None:
    """A row type with an impossible column is refused where it is given."""
    with pytest.raises(ValueError, match="a row has no column of type interval"):
        struct_columns(StructType([StructField("c", CalendarIntervalType())]))


@pytest.mark.parametrize(
    ("kind", "bounds"),
    [
        (pa.int8(), "tinyint from -128 to 127"),
        (pa.int16(), "smallint from -32768 to 32767"),
        (pa.int32(), "int from -2^31 to 2^31 - 1"),
        (pa.int64(), "bigint from -2^63 to 2^63 - 1"),
    ],
)
def test_an_integer_beyond_its_column_is_told_the_bounds(kind: pa.DataType, bounds: str) -> None:
    """The error names the range, since the value is an integer too; of a text it names the type."""
    with pytest.raises(CellError) as caught:
        cell(kind)(2**64 - 1, "", [])
    assert caught.value.issue.expected == bounds
    with pytest.raises(CellError) as caught:
        cell(kind)("1", "", [])
    assert caught.value.issue.expected == bounds.partition(" ")[0]


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (pa.float64(), 2**53 + 1, "number of no more digits than double holds"),
        (pa.float64(), Decimal("0.12345678901234567890"), "number of no more digits than double"),
        (pa.float32(), 0.1, "number of no more digits than float holds"),
        (pa.decimal128(4, 2), 100, "number of no more digits than decimal(4,2) holds"),
        (pa.decimal128(4, 2), "0.001", "number of no more digits than decimal(4,2) holds"),
        (pa.float64(), "x", "double"),
        (pa.decimal128(4, 2), "x", "decimal(4,2)"),
        (pa.decimal128(4, 2), True, "decimal(4,2)"),
    ],
)
def test_a_number_with_too_many_digits_is_called_that(
    kind: pa.DataType, value: object, words: str
) -> None:
    """The error of a number says that the type holds fewer digits, that of another value not."""
    with pytest.raises(CellError) as caught:
        cell(kind)(value, "", [])
    assert caught.value.issue.expected.startswith(words)
    assert words.startswith("number") == caught.value.issue.expected.startswith("number")
