"""The source of an AUTO CDC flow is what Spark asks for, and leads to the right table.

The Spark at hand has no such flows, so the test says in plain Python what they do: of each key the
row with the greatest sequence stays, or none where that is a delete.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    LongType,
    StringType,
    StructField,
    StructType,
)
from tests.runtime.changes import dataworks
from tests.runtime.tables.model import key_of, tables_of
from tests.samples import examples

import changewire as cw
import changewire.spark as cws
from changewire.tables import Placed, Position

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

ROW = StructType([StructField("id", LongType()), StructField("name", StringType())])
USERS = cws.pipelines.auto_cdc(ROW, ["id"], table="users")
KEYS, SEQUENCE, IS_DELETE = 12, "_changewire_sequence", "_changewire_is_delete"
TYPE = "value binary, topic string, partition int, offset long"


def history(count: int) -> list[bytes]:
    """Return messages of a few rows, out of order: writes, deletes, moved keys, lone halves."""
    random = Random(7)  # noqa: S311 - no secrets
    found = []
    for number in range(count):
        old, new = ({"id": random.randrange(KEYS), "name": f"{number}-{i}"} for i in (0, 1))
        op, rows = random.choice(
            [
                ("INSERT", {"after": new}),
                ("UPDATE_AFTER", {"before": {**new, "name": "x"}, "after": new}),
                ("UPDATE_AFTER", {"before": old, "after": new}),
                ("UPDATE_BEFOR", {"before": old}),
                ("DELETE", {"before": old}),
            ]
        )
        message = dataworks.message(op, sequenceId=str(1000 + number // 2), **rows)
        found.append(cw.encode(message))
    random.shuffle(found)
    return found


def records(spark: SparkSession, messages: list[bytes]) -> DataFrame:
    """Return messages as Kafka's source gives them."""
    rows = [(message, "t", 0, offset) for offset, message in enumerate(messages)]
    return spark.createDataFrame(rows, TYPE)


def decoded(messages: DataFrame, **options: Any) -> cws.Decoded:
    """Return decoded messages whose rows are users."""
    given: dict[str, Any] = {"format": "dataworks-json", "rows": ROW, **options}
    return cws.decode(messages, **given)


def applied(view: list[Row]) -> dict[Any, Any]:
    """Return what a flow of type 1 makes of a source: the newest row of each key."""
    newest: dict[Any, Row] = {}
    for row in view:
        held = newest.get(row["id"])
        if held is None or row[SEQUENCE] > held[SEQUENCE]:
            newest[row["id"]] = row
    return {key: row["name"] for key, row in newest.items() if not row[IS_DELETE]}


@pytest.fixture(scope="module", name="rows")
def rows_of_the_view(spark: SparkSession) -> list[Row]:
    """The rows of the source of a history."""
    return USERS.view(decoded(records(spark, history(200)))).collect()


def test_a_flow_makes_the_right_table(rows: list[Row]) -> None:
    """The newest row of each key is the row that the semantics of changes say."""
    changes = [
        Placed(change, Position("t", 0, offset, 0))
        for offset, message in enumerate(history(200))
        for change in cw.changes(cw.decode(message))
    ]
    expected = tables_of(changes)["users"]
    found = {key_of({"id": id_}): {"id": id_, "name": n} for id_, n in applied(rows).items()}
    assert found == expected
    assert 0 < len(expected) < KEYS


def test_a_source_is_what_a_flow_asks_for(spark: SparkSession, rows: list[Row]) -> None:
    """Keys and sequence are columns, never NULL; the sequence has an order and no equals."""
    arguments = USERS.arguments()
    assert arguments == {
        "keys": ["id"],
        "sequence_by": SEQUENCE,
        "apply_as_deletes": IS_DELETE,
        "except_column_list": [SEQUENCE, IS_DELETE],
    }
    view = USERS.view(decoded(records(spark, [])))
    assert view.columns == ["id", "name", SEQUENCE, IS_DELETE]
    assert view.schema[IS_DELETE].dataType == BooleanType()
    assert view.select(F.max(arguments["sequence_by"])).schema  # of a type with an order only
    assert view.where(F.expr(arguments["apply_as_deletes"])).schema == view.schema
    assert not [row for row in rows if None in (row["id"], row[SEQUENCE], row[IS_DELETE])]
    assert len({(row["id"], row[SEQUENCE]) for row in rows}) == len(rows)
    assert {row[IS_DELETE] for row in rows} == {True, False}


def test_a_stream_stays_one(spark: SparkSession, tmp_path: Path) -> None:
    """The source of a flow has to be a stream, and a view of a stream is."""
    messages = records(spark, history(20))
    messages.write.parquet(str(tmp_path / "messages"))
    stream = spark.readStream.schema(TYPE).parquet(str(tmp_path / "messages"))
    view = USERS.view(decoded(stream))
    assert view.isStreaming
    query = (
        view.writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "view"))
    )
    query.awaitTermination()
    found = spark.read.parquet(str(tmp_path / "view")).collect()
    assert applied(found) == applied(USERS.view(decoded(messages)).collect())


def test_what_is_left_out_is_told(spark: SparkSession) -> None:
    """A change without a key is not in the view, one without a sequence is, as the oldest."""
    row = {"id": 1, "name": "a"}
    messages = [
        cw.encode(dataworks.message("INSERT", after=row, sequenceId=None)),
        cw.encode(dataworks.message("INSERT", after=row, primary_key=())),
    ]
    found = decoded(records(spark, messages))
    assert [r["offset"] for r in USERS.left_out(found).collect()] == [1]
    (only,) = USERS.view(found).collect()
    assert (only["id"], only[SEQUENCE]["major"]) == (1, -(2**63))
    other = cws.pipelines.auto_cdc(ROW, ["id"], table="orders")
    assert other.view(found).isEmpty()


def test_keys_that_rows_lack(spark: SparkSession) -> None:
    """Records of Aerospike are named by their digest; patches and touches are left out."""
    digest = StructType([StructField("aerospike_digest", BinaryType())])
    kind = StructType([StructField("myString", StringType())])
    cdc = cws.pipelines.auto_cdc(kind, digest, table="set", database="ns")
    write, delete = examples("write")[0], examples("delete")[0]
    no_set = {**delete, "key": ["ns", None, *delete["key"][2:]]}
    touch = {**write, "bins": []}
    messages = [json.dumps(message).encode() for message in (write, no_set, touch)]
    found = decoded(records(spark, messages), format="aerospike-json", rows=kind)
    rows = sorted(cdc.view(found).collect(), key=lambda row: bool(row[IS_DELETE]))
    assert [(r["aerospike_digest"], r["myString"], r[IS_DELETE]) for r in rows] == [
        (bytearray(b"abcdefghijklmnopqrst"), "a string value", False),
        (bytearray(b"abcdefghijklmnopqrst"), None, True),
    ]
    assert [r["offset"] for r in cdc.left_out(found).collect()] == [2]
    patches = decoded(records(spark, messages), format="aerospike-json", rows=kind, image="patch")
    assert {r["offset"] for r in cdc.left_out(patches).collect()} == {0, 2}


def test_names_are_quoted_and_checked() -> None:
    """A key with a dot is one column, and names that flows reserve are refused."""
    odd = StructType([StructField(name, LongType()) for name in ("a.b", "c`d", "e")])
    cdc = cws.pipelines.auto_cdc(odd, ["a.b", "c`d", "e"])
    assert cdc.arguments()["keys"] == ["`a.b`", "`c``d`", "e"]
    for name in ("__START_AT", "__end_at", "__spark_autocdc_x", SEQUENCE):
        with pytest.raises(ValueError, match="AUTO CDC reserves these names"):
            cws.pipelines.auto_cdc(StructType([*ROW.fields, StructField(name, LongType())]), ["id"])
    for keys in ([], "id", ["no"]):
        with pytest.raises(ValueError, match="keys are columns of the row"):
            cws.pipelines.auto_cdc(ROW, keys)


def test_rows_must_be_the_same_columns(spark: SparkSession) -> None:
    """Rows as JSON text have no columns to make a table of."""
    with pytest.raises(ValueError, match="decode with these columns as rows"):
        USERS.view(decoded(records(spark, []), rows="json"))
