"""Values of JSON text to the Spark types of typed columns: exactly, or not at all."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import CalendarIntervalType, DataType, StructField, StructType

from changewire.engines.spark.types import struct_columns
from changewire.engines.typed.cells import CellError, cell
from changewire.engines.typed.readings import CHANGE_TEXT, EXACT_TEXT, KEY_TEXT

MIDNIGHT = "2024-01-02T00:00:00+08:00"
NOON = "2024-01-02T12:00:00Z"

FITS = [
    ("boolean", True, True),
    ("tinyint", -128, -128),
    ("smallint", 32767, 32767),
    ("int", 2**31 - 1, 2**31 - 1),
    ("bigint", -(2**63), -(2**63)),
    ("double", 1.5, 1.5),
    ("double", 3, 3.0),
    ("double", "Infinity", float("inf")),
    ("double", "1.5", 1.5),
    ("float", 0.5, 0.5),
    ("float", 0.1, 0.10000000149011612),
    ("decimal(10,2)", "12345678.90", Decimal("12345678.90")),
    ("decimal(10,2)", 1.25, Decimal("1.25")),
    ("decimal(10,2)", "+1.5E3", Decimal(1500)),
    ("decimal(38,0)", 10**37, Decimal(10**37)),
    ("string", "é", "é"),
    ("string", 5, "5"),
    ("string", {"a": [None, "b"]}, '{"a":[null,"b"]}'),
    ("binary", "AA==", b"\x00"),
    ("timestamp", NOON, datetime(2024, 1, 2, 12, tzinfo=timezone.utc)),
    ("timestamp", MIDNIGHT, datetime(2024, 1, 1, 16, tzinfo=timezone.utc)),
    ("timestamp_ntz", NOON, datetime(2024, 1, 2, 12)),  # noqa: DTZ001 - that is the type
    ("timestamp_ntz", MIDNIGHT, datetime(2024, 1, 2)),  # noqa: DTZ001 - that is the type
    ("date", "2024-01-02", date(2024, 1, 2)),
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
    ("double", "1.5x", ""),
    ("double", 2**53 + 1, ""),
    ("double", True, ""),
    ("float", Decimal("0.12345678901234567890"), ""),
    ("float", 1e300, ""),
    ("double", 10**400, ""),
    ("decimal(10,2)", "1.239", ""),
    ("decimal(10,2)", 10**8, ""),
    ("decimal(10,2)", "NaN", ""),
    ("decimal(10,2)", "ten", ""),
    ("decimal(10,2)", True, ""),
    ("binary", "QQ=", ""),
    ("binary", 1, ""),
    ("timestamp", 1617167159548, ""),
    ("date", NOON, ""),
    ("date", "2024-01-01T16:00:00Z", ""),
    ("date", "20240102", ""),
    ("date", 19724, ""),
    ("timestamp_ntz", "2024-01-02", ""),
    ("timestamp_ntz", "2024-01-02T00:00:00", ""),
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
    found = cell(arrow_type(kind), EXACT_TEXT)(value, "", [])
    assert (found, type(found)) == (held, type(held))


@pytest.mark.parametrize(("kind", "value", "pointer"), REFUSED)
def test_a_value_that_does_not_fit_is_refused(
    spark: object, kind: str, value: object, pointer: str
) -> None:
    """Nothing is cut, turned into NULL, or read as another type; the place is named."""
    del spark
    fit = cell(arrow_type(kind), EXACT_TEXT)
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
        cell(kind, EXACT_TEXT)(2**64 - 1, "", [])
    assert caught.value.issue.expected == bounds
    with pytest.raises(CellError) as caught:
        cell(kind, EXACT_TEXT)("1", "", [])
    assert caught.value.issue.expected == bounds.partition(" ")[0]


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (pa.float64(), 10**400, "number of no more digits than double holds"),
        (pa.float32(), 1e300, "number of no more digits than float holds"),
        (pa.decimal128(4, 2), 100, "number of no more digits than decimal(4,2) holds"),
        (pa.decimal128(4, 2), "0.001", "number of no more digits than decimal(4,2) holds"),
        (pa.float64(), "x", "double"),
        (pa.decimal128(4, 2), "x", "decimal(4,2)"),
        (pa.decimal128(4, 2), True, "decimal(4,2)"),
        (pa.decimal128(4, 0), "12_34", "decimal(4,0)"),
        (pa.decimal128(4, 0), " 7\n", "decimal(4,0)"),
        (pa.decimal128(4, 0), "\u0661\u0662", "decimal(4,0)"),
    ],
)
def test_a_number_with_too_many_digits_is_called_that(
    kind: pa.DataType, value: object, words: str
) -> None:
    """The error of a number says that the type holds fewer digits, that of another value not."""
    with pytest.raises(CellError) as caught:
        cell(kind, EXACT_TEXT)(value, "", [])
    assert caught.value.issue.expected.startswith(words)
    assert words.startswith("number") == caught.value.issue.expected.startswith("number")


@pytest.mark.parametrize(
    "value", [2**53 + 1, Decimal("0.12345678901234567890"), "1.00000000000000001"]
)
def test_a_double_of_a_user_rounds_nothing(value: Any) -> None:
    """The error says so, and of a key as well, which has no text for numbers."""
    with pytest.raises(CellError) as caught:
        cell(pa.float64(), EXACT_TEXT)(value, "", [])
    issue = caught.value.issue
    assert (issue.code, issue.expected) == ("rounded-number", "double that keeps all digits")
    with pytest.raises(CellError) as caught:
        cell(pa.float64(), KEY_TEXT)(value, "", [])
    expected = "double" if isinstance(value, str) else "number of no more digits than double holds"
    assert caught.value.issue.expected == expected
    used: list[str] = []
    assert cell(pa.float64(), CHANGE_TEXT)(value, "", used) == float(value)
    assert used == ["rounded-number"]
