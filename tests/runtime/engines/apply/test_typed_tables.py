"""Tables whose rows are columns of a type."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from pyspark.sql.types import (
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)
from tests.runtime.engines.apply.lake import Lake, lake_in
from tests.runtime.engines.apply.ways import DRIVER, SPARK, decided
from tests.samples import examples

import changewire.spark as cws
from changewire.engines.typed.evolve import evolved, joined_type
from changewire.framing import FramingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOSTILE = "a b`c;${env:HOME}{x}'"
AT = datetime(2024, 1, 2, 3, 4, 5, 678000, tzinfo=timezone.utc)
DECLARED = {"id": "LONG", "name": "STRING", "price": "DOUBLE", "at": "DATE", "data": "BYTES"}


def message(op: str, sequence: int, types: dict[str, str], **row: Any) -> bytes:
    """Return a DataWorks message whose schema declares some columns."""
    columns = [{"name": name, "type": kind} for name, kind in types.items()]
    source = {"dbType": "MySQL", "dbName": "d", "tableName": "t"}
    image = {"dataColumn": row}
    payload = {
        "before": image if op == "DELETE" else None,
        "after": None if op == "DELETE" else image,
        "sequenceId": str(sequence),
        "timestamp": {"eventTime": 1, "systemTime": 1, "checkpointTime": 1},
        "op": op,
        "ddl": None,
    }
    schema = {"dataColumn": columns, "primaryKey": ["id"], "source": source}
    return json.dumps({"schema": schema, "payload": payload, "version": "0.0.1"}).encode()


def in_table(name: str, *messages: bytes) -> list[bytes]:
    """Return messages of another table."""
    return [
        one.replace(b'"tableName": "t"', b'"tableName": "%s"' % name.encode()) for one in messages
    ]


def landed(spark: SparkSession, lake: Lake, *batches: list[bytes], **options: Any) -> None:
    """Send batches of messages, and apply them by what users call."""
    for batch in batches:
        first = 100 * lake.files
        lake.send_records([(value, "topic", 0, first + i) for i, value in enumerate(batch)])
    places: dict[str, Any] = lake.outputs()
    query = cws.apply_changes(
        lake.read(spark),
        target=lake.template,
        sink=lake.sink,
        checkpoint=str(lake.root / "checkpoint"),
        trigger={"availableNow": True},
        **places,
        **options,
    )
    cws.await_end(query)


@pytest.mark.parametrize(("sink", "way"), [("delta", DRIVER), ("iceberg", SPARK)])
def test_columns_follow_the_schemas_in_the_messages(
    spark: SparkSession, tmp_path: Path, sink: str, way: str
) -> None:
    """New columns are added, whatever their names; other types are dead letters with both named."""
    lake = lake_in(sink, spark, tmp_path)
    few = {name: DECLARED[name] for name in ("id", "name")}
    other = {**DECLARED, "name": "LONG"}
    hostile = {**DECLARED, HOSTILE: "STRING"}
    at = int(AT.timestamp() * 1000)
    batches = [
        [
            message("INSERT", 1, few, id=1, name="a"),
            message("INSERT", 2, few, id=2, name="b"),
            *in_table("late", message("DELETE", 5, {}, id=1)),
        ],
        [
            message("UPDATE_AFTER", 3, DECLARED, id=1, name="c", price=1.5, at=at, data="AAE="),
            message("INSERT", 4, other, id=3, name=7),
            message("DELETE", 5, few, id=2, name="b"),
            message("INSERT", 6, hostile, id=4, **{HOSTILE: "x"}),
            *in_table("late", message("INSERT", 4, few, id=1, name="a")),
            *in_table("late", message("INSERT", 6, few, id=2, name="b")),
        ],
    ]
    with decided(way):
        landed(spark, lake, *batches, format="dataworks-json", rows="embedded")
    table = spark.read.format(sink).load(f"{lake.folder}/t")
    types = {field.name: field.dataType.simpleString() for field in table.schema.fields}
    types.pop("_changewire")
    assert types == {
        "id": "bigint",
        "name": "string",
        "price": "double",
        "at": "timestamp",
        "data": "binary",
        HOSTILE: "string",
    }
    rows = [row.asDict() for row in table.orderBy("id").drop("_changewire").collect()]
    nothing = dict.fromkeys(types)
    utc = AT.astimezone().replace(tzinfo=None)
    assert rows == [
        {**nothing, "id": 1, "name": "c", "price": 1.5, "at": utc, "data": b"\x00\x01"},
        {**nothing, "id": 4, HOSTILE: "x"},
    ]
    if sink == "delta":
        with pytest.raises(FramingError, match="cannot be read without Spark"):
            lake.verdict("t", 1)  # names that Parquet refuses need column mapping
        assert "columnMapping" in features(lake, "t")
        (step,) = lake.traced("t", 3).steps
        assert step.refused is not None
        assert "column 'name' is string" in step.refused.detail
    (letter,) = spark.read.format(sink).load(lake.outputs()["dead_letters"]).collect()
    assert (letter["code"], letter["offset"], letter["pointer"]) == (
        "schema-mismatch",
        101,
        "/after",
    )
    assert "column 'name' is string, the message has bigint" in letter["message"]
    assert json.loads(bytes(letter["value"]))["payload"]["after"]["dataColumn"]["name"] == 7
    check_late(spark, lake)


def check_late(spark: SparkSession, lake: Lake) -> None:
    """A delete makes no table whose columns nothing has told, and still holds for what comes."""
    table = spark.read.format(lake.sink).load(f"{lake.folder}/late")
    assert dict(table.dtypes)["id"] == "bigint"
    assert [row["name"] for row in table.collect()] == ["b"]
    if lake.sink == "delta":
        assert {lake.verdict("late", key) for key in (1, 2)} == {"same"}


def test_what_does_not_fit_a_type_is_replayed_once(spark: SparkSession, tmp_path: Path) -> None:
    """Rows are columns of the user's type; a dead letter fits a wider one, and only once."""
    lake = Lake(tmp_path)
    write = examples("write")[0]
    fits, misfits = (
        json.dumps({**write, "bins": [{"name": "n", "type": "float", "value": value}]}).encode()
        for value in (1.25, 1.125)
    )
    row = StructType([StructField("n", DecimalType(5, 2))])
    landed(spark, lake, [fits, misfits], format="aerospike-json", rows=row)
    (table,) = lake.tables()
    (found,) = spark.read.format("delta").load(f"{lake.root}/tables/{table}").collect()
    assert found["n"] == Decimal("1.25")
    assert found["aerospike_digest"] == write["key"][2]
    (letter,) = spark.read.format("delta").load(lake.outputs()["dead_letters"]).collect()
    assert (letter["code"], letter["pointer"]) == ("wrong-type", "/after/n")
    assert not features(lake, table)
    replayed = [replay(spark, lake, DecimalType(6, 3)) for _ in range(2)]
    assert [(one.letters, one.marked) for one in replayed] == [(1, 1), (0, 0)]
    (found,) = spark.read.format("delta").load(f"{lake.root}/tables/{table}").collect()
    assert found["n"] == Decimal("1.125")
    assert {"typeWidening"} <= features(lake, table)
    log = spark.read.format("delta").load(lake.outputs()["changes"])
    assert sorted(row["offset"] for row in log.collect()) == [0, 1]


def features(lake: Lake, table: str) -> set[str]:
    """Return what a reader of a table must know beyond the first version of Delta."""
    return set(DeltaTable(lake.folder / table).protocol().reader_features or ())


def replay(spark: SparkSession, lake: Lake, kind: DecimalType) -> cws.Replayed:
    """Replay dead letters with another type of the column ``n``."""
    places: dict[str, Any] = lake.outputs()
    return cws.replay(
        spark,
        format="aerospike-json",
        target=f"{lake.root}/tables/{{table}}",
        checkpoint=str(lake.root / "checkpoint"),
        where="code = 'wrong-type'",
        rows=StructType([StructField("n", kind)]),
        **places,
    )


def fields(**types: Any) -> dict[str, Any]:
    """Return columns of types, in the JSON form of a StructType."""
    found = StructType([StructField(name, kind) for name, kind in types.items()])
    return dict[str, Any](found.jsonValue())


def test_strict_tables_take_no_columns() -> None:
    """A table that is there refuses columns that it lacks and wider types, not narrower ones."""
    there = fields(a=IntegerType())
    brought = [
        ("new", fields(b=StringType())),
        ("wider", fields(a=LongType())),
        ("same", fields(a=IntegerType())),
    ]
    columns, refused = evolved(there, brought, "strict")
    assert columns == there
    assert set(refused) == {"new", "wider"}
    assert evolved(None, brought[:1], "strict").columns == brought[0][1]


def test_columns_that_differ_in_case_only_are_refused() -> None:
    """Catalogs would not tell them apart."""
    _, refused = evolved(fields(a=LongType()), [("x", fields(A=LongType()))])
    assert refused == {"x": "column 'A' differs from 'a' in case only"}


@pytest.mark.parametrize(
    ("one", "other", "wider"),
    [
        (IntegerType(), LongType(), LongType()),
        (LongType(), IntegerType(), LongType()),
        (DecimalType(5, 2), DecimalType(5, 4), DecimalType(7, 4)),
        (DecimalType(38, 0), DecimalType(38, 38), None),
        (LongType(), DoubleType(), None),
        (StringType(), LongType(), None),
    ],
)
def test_types_are_widened_without_loss(one: Any, other: Any, wider: Any) -> None:
    """Two types have a wider one only if that holds every value of both."""
    found = joined_type(one.jsonValue(), other.jsonValue())
    assert found == (wider and wider.jsonValue())
