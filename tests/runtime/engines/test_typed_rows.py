"""Rows as columns of a StructType that the user wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.sql.types import (
    DecimalType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)
from tests.runtime.changes import lindorm
from tests.runtime.engines.rows import (
    AT,
    AT_MS,
    HEAD,
    dataworks_insert,
    frame,
    lindorm_insert,
    plain,
    rows_after,
)

import changewire.spark as cws
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.spark.types import struct_columns
from changewire.engines.typed.decode import TypedDecoder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("compiled")

CONNECT = "org.apache.kafka.connect.data."


def test_a_decimal_of_the_user_holds_or_refuses(spark: SparkSession) -> None:
    """DECIMAL(p, s) holds the very number; one that does not fit is a dead letter."""
    values = ["9.90", 1.25, "1.239"]
    messages = [dataworks_insert({"price": "DOUBLE"}, price=value) for value in values]
    kind = StructType([StructField("price", DecimalType(10, 2))])
    decoded = cws.decode(frame(spark, *messages), format="dataworks-json", row_schema=kind)
    rows = decoded.rows.select("kind", "pointer", "after.price").collect()
    assert sorted(map(str, rows)) == [
        "Row(kind='change', pointer=None, price=Decimal('1.25'))",
        "Row(kind='change', pointer=None, price=Decimal('9.90'))",
        "Row(kind='dead_letter', pointer='/after/price', price=None)",
    ]


def test_a_double_of_the_user_rounds_nothing(spark: SparkSession) -> None:
    """In a type that the user wrote, a number that a double does not hold is a dead letter."""
    values = ["0.12345678901234567890", 2**53 + 1, "9.90"]
    messages = [dataworks_insert({"price": "DOUBLE"}, price=value) for value in values]
    kind = StructType([StructField("price", DoubleType())])
    decoded = cws.decode(frame(spark, *messages), format="dataworks-json", row_schema=kind)
    assert [row["price"] for row in rows_after(decoded)] == [9.9]
    letters = decoded.dead_letters.select("code", "pointer").collect()
    assert [tuple(row) for row in letters] == [("wrong-type", "/after/price")] * 2


def test_a_struct_type_types_lindorm_rows(spark: SparkSession) -> None:
    """The user's own type works for any format; a value of another type is a dead letter."""
    schema = lindorm.declared(at={"type": "int64", "name": f"{CONNECT}Timestamp"}, name="string")
    good = lindorm_insert(schema, at=AT_MS, name="a")
    late = lindorm_insert(schema, at=2**62, name="b")
    kind = StructType([StructField("at", TimestampType()), StructField("name", StringType())])
    decoded = cws.decode(frame(spark, good, late), format="lindorm-json", row_schema=kind)
    assert [plain(row) for row in rows_after(decoded)] == [{"at": AT, "name": "a"}]
    assert [row["pointer"] for row in decoded.dead_letters.collect()] == ["/after/at"]


def test_depth_ends_no_job() -> None:
    """A value that is nested deeper than its column can be read is a dead letter."""
    levels = 100
    field = StructField("k", StringType(), metadata={"contentMediaType": "application/json"})
    for _ in range(levels):
        field = StructField("k", StructType([field]))
    opened, closed = '{"k":' * levels, "}" * levels
    deep = [opened + "[" * depth + "]" * depth + closed for depth in range(600, 900, 10)]
    bins = [f'[{{"name": "k", "type": "map", "value": {value}}}]' for value in deep]
    messages = [f'{HEAD}, "lut": 1, "bins": {b}}}'.encode() for b in bins]
    batch = pa.RecordBatch.from_pydict({"value": pa.array(messages, pa.binary())})
    decode = TypedDecoder(DecodeOptions("aerospike-json"), struct_columns(StructType([field])))
    codes = [code for rows in decode(batch) for code in rows.column("code").to_pylist()]
    assert (codes[0], set(codes) - {None, "too-deep"}) == (None, set())


def test_an_absent_value_ends_no_job(spark: SparkSession) -> None:
    """A column that may not be NULL by its type may be absent from a message all the same."""
    kind = StructType([StructField("id", LongType(), nullable=False)])
    message = dataworks_insert({"id": "LONG"})
    decoded = cws.decode(frame(spark, message), format="dataworks-json", row_schema=kind)
    assert [row["id"] for row in rows_after(decoded)] == [None]


def test_a_dead_letter_of_a_mixed_topic_names_its_format() -> None:
    """Where each message has a format of its own, a value that does not fit names that one."""
    message = dataworks_insert({"price": "DOUBLE"}, price="1.239")
    kind = StructType([StructField("price", DecimalType(10, 2))])
    values = pa.RecordBatch.from_pydict({"value": pa.array([message], pa.binary())})
    (rows,) = TypedDecoder(DecodeOptions("auto"), struct_columns(kind))(values)
    (row,) = rows.to_pylist()
    assert (row["kind"], row["format"]) == ("dead_letter", "dataworks-json")
