"""DataFrames and streams as a Spark job uses them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import changewire as cw
import changewire.spark as cws
from changewire.changes.decode_options import DecodeOptions

ROWS: cws.RowsAs = "variant"
SCHEMA: cws.RowSchema = {"title": "User", "type": "object", "properties": {}}
OPTIONS: cws.KafkaOptions = {"kafka.bootstrap.servers": "broker:9092", "subscribe": "users"}
FAILURES: tuple[type[cws.StreamError], ...] = (
    cws.CheckpointError,
    cws.ConflictError,
    cws.KeysMissingError,
    cws.OutputError,
    cws.TooManyDeadLettersError,
)


def batch(inputs: list[str], output: str) -> int:
    """Write the tables of files; return how many elements were refused."""
    spark: SparkSession = cws.session({"spark.ui.enabled": "false"})
    messages: DataFrame = cws.read_files(spark, inputs)
    decoded: cws.DecodedFrames = cws.decode(messages, format="auto", rows=ROWS)
    if decoded.native is not None:
        decoded.native.take()
    counts, letters = cws.write(decoded, output)
    schemas: cw.Schemas = cws.schemas(messages, format="dataworks-json")
    return counts.dead_letters + len(letters) + schemas.refused


def job(inputs: list[str], output: str) -> float:
    """Do what the command `run` does in Spark; return the seconds that it took."""
    return cws.run(inputs, output, decode_options=DecodeOptions("auto")).seconds


def typed() -> StructType:
    """Return the columns of a user's rows."""
    row: StructType = cws.row_type(SCHEMA)
    return row


def landed(spark: SparkSession, lake: Path) -> str:
    """Land a topic until it is told to end; return what ended it."""
    try:
        messages = cws.read_kafka(spark, OPTIONS)
    except cws.KafkaSourceError as error:
        raise SystemExit(str(error)) from error
    query = cws.write_stream(
        cws.decode(messages, format="aerospike-json"),
        changes=str(lake / "changes"),
        controls=str(lake / "controls"),
        dead_letters=str(lake / "dead_letters"),
        checkpoint=str(lake / "checkpoint"),
        trigger={"availableNow": True},
    )
    try:
        heard = cws.await_end(query)
    except FAILURES as error:
        return str(error)
    return heard.name if heard else "all was read"


def bronze(messages: DataFrame, lake: Path) -> int:
    """Keep the messages of a topic as they are, of files and as a stream; return how many."""
    found: cws.MessageFrames = cws.messages(messages, format="lindorm-json")
    columns: StructType = cws.message_type("lindorm-json", variant=["Insert", "Update"])
    counts, _ = cws.write(found, str(lake))
    messages_at, dead_letters, checkpoint = map(str, (lake / f"{i}" for i in range(3)))
    query = cws.write_stream(
        found, messages=messages_at, dead_letters=dead_letters, checkpoint=checkpoint
    )
    cws.await_end(query)
    return counts.elements - found.counts.valid - len(columns)


def merged(messages: DataFrame, lake: Path, since: datetime) -> int:
    """Merge changes into tables, apply dead letters again, and forget old tombstones."""
    spark, target = messages.sparkSession, str(lake / "{table}")
    changes, controls, dead_letters, checkpoint = map(str, (lake / f"{i}" for i in range(4)))
    query = cws.apply_changes(
        messages,
        format="auto",
        target=target,
        changes=changes,
        controls=controls,
        dead_letters=dead_letters,
        checkpoint=checkpoint,
    )
    query.awaitTermination()
    again: cws.Replayed = cws.replay(
        spark,
        format="auto",
        target=target,
        changes=changes,
        controls=controls,
        dead_letters=dead_letters,
        checkpoint=checkpoint,
    )
    adopted: int = cws.adopt(spark, target, keys=["id"])
    return adopted + again.marked + cws.vacuum(spark, target, older_than=since)


def current(log: DataFrame) -> DataFrame:
    """Return the rows of a table as they are now, by every version of each."""
    return cws.history(log, table="shop.users", rows="variant").where("is_current")


def declared(log: DataFrame, schema: str) -> DataFrame:
    """Return versions with the columns that a schema from the messages declares."""
    return cws.history(log, table="hbase.t", rows=schema, format="lindorm-json", families=["f"])
