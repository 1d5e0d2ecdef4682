"""Dates of a task's time zone, and integers without a sign, in columns of every engine."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql.types import (
    DateType,
    DecimalType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)
from tests.runtime.engines.merge.lake import lake_in
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.rows import dataworks_insert, frame, plain, rows_after

import changewire.arrow as cwa
import changewire.delta as cwd
import changewire.spark as cws
from changewire.engines.options import Engine
from changewire.jobs.files import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "dataworks-json"
ZONE = "Asia/Shanghai"
MIDNIGHT_MS = 1731600000000
"""2024-11-15, midnight in Shanghai."""

CLOCK = datetime(2024, 11, 15)  # noqa: DTZ001 - what the clock shows
INSTANT = datetime(2024, 11, 14, 16, tzinfo=timezone.utc)
DAY = date(2024, 11, 15)
TYPES = {"id": "LONG", "day": "DATE", "at": "DATE", "clock": "DATE"}
ROW = pa.schema(
    {
        "id": pa.int64(),
        "day": pa.date32(),
        "at": pa.timestamp("us", "UTC"),
        "clock": pa.timestamp("us"),
    }
)
SPARK_ROW = StructType(
    [
        StructField("id", LongType()),
        StructField("day", DateType()),
        StructField("at", TimestampType()),
        StructField("clock", TimestampNTZType()),
    ]
)
SENT = {"id": 1, "day": MIDNIGHT_MS, "at": MIDNIGHT_MS, "clock": MIDNIGHT_MS}
HELD = {"id": 1, "day": DAY, "at": INSTANT, "clock": CLOCK}
UNSIGNED = 2**64 - 1


def dates(milliseconds: int = MIDNIGHT_MS) -> bytes:
    """Return an insert of a row with three dates."""
    return dataworks_insert(TYPES, id=1, day=milliseconds, at=milliseconds, clock=milliseconds)


def test_a_date_is_held_by_columns_of_three_types() -> None:
    """A date column has the day, a timestamp the time, one without zone what the clock showed."""
    found = cwa.decode([dates()], format=FORMAT, row_schema=ROW, time_zone=ZONE)
    assert found.changes.read_all()["after"].to_pylist() == [HELD]


def test_a_time_of_day_is_no_date() -> None:
    """A date column refuses a time at which the clock does not show midnight."""
    found = cwa.decode([dates(MIDNIGHT_MS + 1)], format=FORMAT, row_schema=ROW, time_zone=ZONE)
    assert found.dead_letters.read_all()["pointer"].to_pylist() == ["/after/day"]
    found = cwa.decode([dates()], format=FORMAT, row_schema=ROW)  # which is 16:00 in UTC
    assert found.dead_letters.read_all()["pointer"].to_pylist() == ["/after/day"]


@pytest.mark.parametrize(
    ("zone", "text"),
    [(ZONE, "2024-11-15T00:00:00+08:00"), ("UTC", "2024-11-14T16:00:00Z")],
)
def test_rows_of_json_text_show_the_clock_and_its_offset(
    zone: str, text: str, tmp_path: Path
) -> None:
    """In memory and in tables of changes a date is the same text, which names one time."""
    after = f'{{"id":1,"day":"{text}","at":"{text}","clock":"{text}"}}'
    found = cwa.decode([dates()], format=FORMAT, time_zone=zone).changes.read_all()
    assert found["after"].to_pylist() == [after]
    file = tmp_path / "in.jsonl"
    file.write_bytes(dates() + b"\n")
    run([str(file)], str(tmp_path / "out"), format=FORMAT, time_zone=zone, engine="python")
    assert pq.read_table(tmp_path / "out" / "log")["after"].to_pylist() == [after]


@pytest.mark.parametrize("engine", ["python", "spark"])
def test_dates_that_are_read_in_utc_are_counted(
    engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each date counts unless the zone is given, also if that is UTC."""
    if engine == "spark":
        request.getfixturevalue("spark")
    file = tmp_path / "in.jsonl"
    file.write_bytes(dates() + b"\n" + dates() + b"\n")
    counted = []
    for number, zone in enumerate((None, "UTC", ZONE) if engine == "python" else (None,)):
        out = str(tmp_path / str(number))
        done = run([str(file)], out, format=FORMAT, time_zone=zone, engine=engine)
        counted.append(done.counts.leniencies["date-read-in-utc"])
    assert counted == [6, 0, 0][: len(counted)]


def test_tables_of_delta_rs_hold_dates(tmp_path: Path) -> None:
    """Rows are columns of the types, a day names a row, and versions of rows read their text."""
    for number, sequence in enumerate((1, 2)):
        file = tmp_path / f"{number}.jsonl"
        one = message("INSERT", sequence, SENT, types=TYPES)
        file.write_bytes(one + b"\n")
        cwd.apply_changes(
            str(file),
            format=FORMAT,
            target=str(tmp_path / "t"),
            row_schema=ROW,
            key_columns=["day"],
            time_zone=ZONE,
            log=str(tmp_path / "log"),
        )
    (row,) = (
        DeltaTable(str(tmp_path / "t")).to_pyarrow_table().drop_columns("_changewire").to_pylist()
    )
    assert row == HELD
    versions = cwa.history(str(tmp_path / "log"), table="d.t", row_schema=ROW)
    assert {name: versions[name].to_pylist()[-1] for name in HELD} == HELD


def test_spark_holds_dates(spark: SparkSession) -> None:
    """Rows of a StructType have the same three values."""
    decoded = cws.decode(frame(spark, dates()), format=FORMAT, row_schema=SPARK_ROW, time_zone=ZONE)
    (row,) = rows_after(decoded)
    assert {**plain(row), "clock": row["clock"]} == HELD


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_tables_of_spark_hold_dates(spark: SparkSession, tmp_path: Path, table_format: str) -> None:
    """Columns without a zone are made with a table, and added to one that has none."""
    lake = lake_in(table_format, spark, tmp_path)
    for columns, sequence in ((2, 1), (4, 2)):
        one = message("INSERT", sequence, SENT, types=TYPES)
        rows = StructType(SPARK_ROW.fields[:columns])
        lake.send_records(records(one, start=sequence))
        lake.apply_messages(spark, format=FORMAT, row_schema=rows, time_zone=ZONE)
    (row,) = spark.read.format(table_format).load(f"{lake.tables}/t").drop("_changewire").collect()
    assert {**plain(row), "clock": row["clock"]} == HELD


@pytest.mark.parametrize(
    ("rows", "held"),
    [
        ("json", '{"id":18446744073709551615}'),
        (pa.schema({"id": pa.decimal128(20, 0)}), {"id": Decimal(UNSIGNED)}),
        (
            pa.schema(
                [pa.field("id", pa.string(), metadata={"contentMediaType": "application/json"})]
            ),
            {"id": str(UNSIGNED)},
        ),
    ],
)
def test_integers_without_a_sign_land_in_decimals_and_text(rows: Any, held: Any) -> None:
    """The value is exact, and counted."""
    found = cwa.decode(
        [dataworks_insert({"id": "LONG"}, id=UNSIGNED)], format=FORMAT, row_schema=rows
    )
    assert found.changes.read_all()["after"].to_pylist() == [held]
    assert found.counts.leniencies["unsigned-long"] == 1


@pytest.mark.parametrize("rows", [pa.schema({"id": pa.int64()}), "embedded"])
def test_integers_without_a_sign_are_too_large_for_bigint(rows: Any) -> None:
    """The dead letter says which integers the column holds."""
    found = cwa.decode(
        [dataworks_insert({"id": "LONG"}, id=UNSIGNED)], format=FORMAT, row_schema=rows
    )
    (letter,) = found.dead_letters.read_all().to_pylist()
    assert (letter["code"], letter["pointer"]) == ("wrong-type", "/after/id")
    assert "expected bigint from -2^63 to 2^63 - 1, found integer" in letter["message"]


def test_integers_without_a_sign_in_spark(spark: SparkSession) -> None:
    """A DECIMAL(20, 0) holds the value, a bigint refuses it."""
    one = frame(spark, dataworks_insert({"id": "LONG"}, id=UNSIGNED))
    fits = cws.decode(
        one, format=FORMAT, row_schema=StructType([StructField("id", DecimalType(20, 0))])
    )
    assert [row["id"] for row in rows_after(fits)] == [Decimal(UNSIGNED)]
    refused = cws.decode(one, format=FORMAT, row_schema=StructType([StructField("id", LongType())]))
    (letter,) = refused.dead_letters.select("pointer").collect()
    assert letter["pointer"] == "/after/id"
    text = StructType(
        [StructField("id", StringType(), metadata={"contentMediaType": "application/json"})]
    )
    assert [row["id"] for row in rows_after(cws.decode(one, format=FORMAT, row_schema=text))] == [
        str(UNSIGNED)
    ]


def test_numbers_that_are_not_finite_land_in_doubles() -> None:
    """NaN and the infinities, as text of any case, are those of a double."""
    sent = [dataworks_insert({"v": "DOUBLE"}, v=text) for text in ("infinity", "-Infinity", "nan")]
    found = cwa.decode(sent, format=FORMAT, row_schema=pa.schema({"v": pa.float64()}))
    values = [row["v"] for row in found.changes.read_all()["after"].to_pylist()]
    assert str(values) == "[inf, -inf, nan]"
    assert found.counts.leniencies["non-finite-text"] == 3
