"""Rows as columns that the schema in the messages declares."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from tests.runtime.changes import lindorm
from tests.runtime.engines.merge.lake import Lake
from tests.runtime.engines.merge.messages import records
from tests.runtime.engines.rows import (
    AT,
    AT_MS,
    aerospike,
    dataworks_insert,
    frame,
    lindorm_insert,
    plain,
    rows_after,
)

import changewire.arrow as cwa
import changewire.delta as cwd
import changewire.spark as cws
from changewire.engines.spark.log.rows import refused as refused_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONNECT = "org.apache.kafka.connect.data."


DATAWORKS_TYPES = {
    "id": "LONG",
    "price": "DOUBLE",
    "at": "DATE",
    "photo": "BYTES",
    "name": "STRING",
    "ok": "BOOLEAN",
    "place": "GEOMETRY",
}


def dataworks_schema(types: Any = None) -> Any:
    """Return the schema of a message, parsed."""
    return json.loads(dataworks_insert(types or DATAWORKS_TYPES))["schema"]


def test_the_schema_of_dataworks_messages_types_rows(spark: SparkSession) -> None:
    """Each declared type has its column, and all values are the very ones."""
    message = dataworks_insert(
        DATAWORKS_TYPES,
        id=-(2**63),
        price="9.90",
        at=AT_MS,
        photo="QUJD",
        name="é",
        ok=True,
        place={"x": 1},
    )
    decoded = cws.decode(
        frame(spark, message), format="dataworks-json", row_schema=dataworks_schema()
    )
    (row,) = rows_after(decoded)
    assert plain(row) == {
        "id": -(2**63),
        "price": 9.9,
        "at": AT,
        "photo": b"ABC",
        "name": "é",
        "ok": True,
        "place": '{"x":1}',
    }
    used = {
        "date-read-in-utc": 1,
        "missing-before": 1,
        "numeric-text": 1,
        "unknown-column-type": 1,
    }
    assert decoded.counts.leniencies == used


def test_rounding_to_a_declared_double_is_counted(spark: SparkSession) -> None:
    """What a DOUBLE cannot hold is rounded and counted; a number beyond all doubles is refused."""
    values = ["0.12345678901234567890", 2**53 + 1, "1e-400", 0.5, "1.10", "1e400"]
    messages = [dataworks_insert({"price": "DOUBLE"}, price=value) for value in values]
    schema = json.dumps(dataworks_schema({"price": "DOUBLE"}))
    decoded = cws.decode(frame(spark, *messages), format="dataworks-json", row_schema=schema)
    rows = decoded.rows.select("after.price", "leniencies", "pointer").collect()
    found = {(row["price"], "rounded-number" in row["leniencies"], row["pointer"]) for row in rows}
    assert found == {
        (0.12345678901234568, True, None),
        (2.0**53, True, None),
        (0.0, True, None),
        (0.5, False, None),
        (1.1, False, None),
        (None, False, "/after/price"),
    }


LINDORM_SCHEMA = lindorm.declared(
    id="int64",
    small="int8",
    price={"type": "bytes", "name": f"{CONNECT}Decimal", "parameters": {"scale": "2"}},
    wide={"type": "bytes", "name": f"{CONNECT}Decimal", "parameters": {"scale": "40"}},
    day={"type": "int32", "name": f"{CONNECT}Date"},
    at={"type": "int64", "name": f"{CONNECT}Timestamp"},
    clock={"type": "int32", "name": f"{CONNECT}Time"},
    photo="bytes",
    ratio="double",
    not_finite="double",
    home={"type": "struct", "fields": [{"field": "city", "type": "string", "optional": True}]},
    prices={"type": "array", "items": {"type": "double"}},
    by_name={"type": "map", "keys": {"type": "string"}, "values": {"type": "int32"}},
    by_number={"type": "map", "keys": {"type": "int32"}, "values": {"type": "string"}},
)


def test_the_schema_of_lindorm_messages_types_rows(spark: SparkSession) -> None:
    """Each type of Kafka Connect has its column, logical and nested ones too."""
    message = lindorm_insert(
        LINDORM_SCHEMA,
        id=2**63 - 1,
        small=-128,
        price="BNI=",
        wide="AQ==",
        day=18755,
        at=AT_MS,
        clock=36_000_500,
        photo="QUJD",
        ratio=0.1,
        not_finite="NaN",
        home={"city": None},
        prices=[0.5, 1],
        by_name={"a": 1},
        by_number=[[1, "a"], [2, "b"]],
    )
    decoded = cws.decode(frame(spark, message), format="lindorm-json", row_schema=LINDORM_SCHEMA)
    (row,) = rows_after(decoded)
    found = plain(row)
    assert str(found.pop("not_finite")) == "nan"
    assert found == {
        "id": 2**63 - 1,
        "small": -128,
        "price": Decimal("12.34"),
        "wide": "1E-40",
        "day": date(2021, 5, 8),
        "at": AT,
        "clock": "10:00:00.500000",
        "photo": b"ABC",
        "ratio": 0.1,
        "home": {"city": None},
        "prices": [0.5, 1.0],
        "by_name": {"a": 1},
        "by_number": {1: "a", 2: "b"},
    }
    assert str(found["price"]) == "12.34"


def test_rounding_in_lindorm_rows_is_counted(spark: SparkSession) -> None:
    """A double with more digits than it holds is rounded under the same name."""
    schema = lindorm.declared(ratio="double")
    source = '"source": {"namespace": "n", "table": "t", "ts_ms": 1}'
    payload = f'{{"op": "c", "ts_ms": 1, "after": {{"ratio": 0.12345678901234567890}}, {source}}}'
    message = f'{{"schema": {json.dumps(schema)}, "payload": {payload}}}'.encode()
    decoded = cws.decode(frame(spark, message), format="lindorm-json", row_schema=schema)
    assert [row["ratio"] for row in rows_after(decoded)] == [0.12345678901234568]
    missing = dict.fromkeys(("missing-before", "missing-db", "missing-version"), 1)
    assert decoded.counts.leniencies == {"rounded-number": 1, **missing}


def test_columns_of_hbase_rows_are_binary(spark: SparkSession) -> None:
    """The cells of an HBase table are bytes, under the names that their families give them."""
    schema = lindorm.declared(ROW="string", f_a="string")
    message = lindorm_insert(schema, ROW="cm93", f_a="QUJD")
    decoded = cws.decode(
        frame(spark, message), format="lindorm-json", row_schema=schema, column_families=["f"]
    )
    (row,) = rows_after(decoded)
    assert plain(row) == {"ROW": b"row", "f:a": b"ABC"}


def of_two_formats() -> list[bytes]:
    """Return inserts of two formats with schemas, and one of a format without any."""
    insert = dataworks_insert({"id": "LONG", "day": "DATE"}, id=7, day=0)
    declared = lindorm.declared(id="int32", note="string")
    return [
        insert.replace(b'"users"', b'"orders"'),
        lindorm_insert(declared, id=3, note="a"),
        aerospike(("id", "int", 1)),
    ]


AUTO_TABLES = {
    "orders": {"id": 7, "day": datetime(1970, 1, 1, tzinfo=timezone.utc)},
    "users": {"id": 3, "note": "a"},
}


def test_each_format_declares_its_own_columns(tmp_path: Path) -> None:
    """With the format auto, each message is typed by the schema that its own format finds in it."""
    decoded = cwa.decode(of_two_formats(), format="auto", row_schema="embedded").rows.read_all()
    assert decoded["kind"].to_pylist() == ["change"] * 3
    first, second, _ = (
        {name: value for name, value in row.items() if value is not None}
        for row in decoded["after"].to_pylist()
    )
    assert [first, second] == [*AUTO_TABLES.values()]
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"\n".join(of_two_formats()))
    cwd.apply_changes(
        str(file),
        format="auto",
        key_columns=["id"],
        row_schema="embedded",
        target=f"{tmp_path}/tables/{{table}}",
        log=f"{tmp_path}/log",
    )
    for name, row in AUTO_TABLES.items():
        table = DeltaTable(str(tmp_path / "tables" / name)).to_pyarrow_table()
        assert table.drop_columns("_changewire").to_pylist() == [row]
    log = DeltaTable(f"{tmp_path}/log").to_pyarrow_table().to_pylist()
    assert [one["kind"] for one in log] == ["change"] * 3


def test_spark_types_each_message_by_its_format(spark: SparkSession, tmp_path: Path) -> None:
    """Tables of Spark are those of the engine without it."""
    lake = Lake(tmp_path)
    lake.send_records(records(*of_two_formats()))
    lake.apply_messages(spark, format="auto", key_columns=["id"], row_schema="embedded")
    for name, row in AUTO_TABLES.items():
        (found,) = lake.table(spark, name).drop("_changewire").collect()
        assert plain(found) == row
    assert refused_rows(spark, lake.places["log"]).count() == 0


def test_a_schema_of_a_message_needs_the_name_of_its_format() -> None:
    """A schema alone does not say which format it is of."""
    with pytest.raises(ValueError, match="read by the format that it has: name it"):
        cwa.decode([], format="auto", row_schema='{"dataColumn": []}')
