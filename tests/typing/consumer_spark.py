"""DataFrames and streams as a Spark job uses them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import changewire as cw
import changewire.spark as cws

ROWS: cws.RowsAs = "variant"
SCHEMA: cws.RowSchema = {"title": "User", "type": "object", "properties": {}}
OPTIONS: cws.KafkaOptions = {"kafka.bootstrap.servers": "broker:9092", "subscribe": "users"}
FAILURES: tuple[type[Exception], ...] = (
    cws.ConservationError,
    cws.CheckpointError,
    cws.ConflictError,
    cws.KeysMissingError,
    cws.OutputError,
    cws.OwnerError,
    cws.TooManyDeadLettersError,
)


def batch(inputs: list[str], output: str) -> int:
    """Append the elements of files to a log; return how many were refused."""
    spark: SparkSession = cws.session({"spark.ui.enabled": "false"})
    messages: DataFrame = cws.read_files(spark, inputs)
    decoded: cws.DecodedFrames = cws.decode(messages, format="auto", row_schema=ROWS)
    if decoded.native is not None:
        decoded.native.take()
    counts, known, letters = cws.write(decoded, output)
    schemas: cw.Schemas = cws.schemas(messages, format="dataworks-json")
    return counts.dead_letters + known + len(letters) + schemas.rejected


def typed() -> StructType:
    """Return the columns of a user's rows."""
    row: StructType = cws.row_type(SCHEMA)
    return row


def landed(spark: SparkSession, lake: Path) -> str:
    """Land a topic until it is told to end; return what ended it."""
    try:
        messages = cws.read_kafka(spark, OPTIONS)
    except (cws.KafkaOptionsError, cws.KafkaSourceError) as error:
        raise SystemExit(str(error)) from error
    query = cws.land(
        messages,
        format="aerospike-json",
        log=str(lake / "log"),
        checkpoint=str(lake / "checkpoint"),
        trigger={"availableNow": True},
    )
    try:
        heard = cws.await_termination(query)
    except FAILURES as error:
        return str(error)
    return heard.name if heard else "all was read"


def bronze(messages: DataFrame, lake: Path) -> int:
    """Keep the messages of a topic as they are, of files and as a stream; return how many."""
    found: cws.MessageFrames = cws.messages(messages, format="lindorm-json")
    columns: StructType = cws.message_type("lindorm-json", variant=["Insert", "Update"])
    written = cws.write(found, str(lake))
    query = cws.land(
        messages,
        format="lindorm-json",
        elements_as="messages",
        log=str(lake / "bronze"),
        checkpoint=str(lake / "checkpoint"),
    )
    cws.await_termination(query)
    return written.counts.elements - found.counts.valid - len(columns)


def merged(messages: DataFrame, lake: Path, since: datetime) -> int | None:
    """Merge changes into tables, apply dead letters again, and remove old deleted rows."""
    orders: cws.TableSettings = {"partition_by": ["ordered_on"], "deletes": "remove"}
    options: cws.ApplyKeywords = {
        "tables": {"shop.orders": orders},
        "deletes": "flag",
    }
    spark, log, target = messages.sparkSession, str(lake / "log"), str(lake / "{table}")
    queries: cws.TableQueries = cws.apply_changes(
        messages if messages.isStreaming else cws.stream_files(spark, str(lake / "in")),
        format="auto",
        log=log,
        target=target,
        checkpoint=str(lake / "checkpoint"),
        **options,
    )
    queries.awaitTermination()
    again: cws.Replayed = cws.replay(
        spark,
        log,
        format="auto",
        target=target,
        checkpoint=str(lake / "checkpoint"),
        where="code = 'unknown-variant'",
        **options,
    )
    if again.closed and not cws.verify(spark, log, target=target).isEmpty():
        cws.unapplied(spark, log).show()
        cws.rebuild(spark, log, target=target, tables=["shop.orders"], deletes="flag")
        settings = {"shop.orders": orders}
        cws.rebuild(spark, log, target=target, row_schema="auto", settings=settings)
    cws.adopt_table(spark, f"{lake}/users", key_columns=["id"])
    if not cws.close_dead_letters(spark, log, where="offset < 5", by="ann", why="sent again"):
        return None
    return cws.purge(spark, log, table=f"{lake}/orders", older_than=since)


def looked_at(spark: SparkSession, log: str) -> list[DataFrame]:
    """Return what a log says."""
    rows: DataFrame = cws.current(spark, log, table="shop.users")
    versions: DataFrame = cws.history(spark, log, table="shop.users", row_schema="variant")
    return [rows, versions, cws.dead_letters(spark, log), cws.refused(spark, log)]


def explained(spark: SparkSession, log: str) -> list[str]:
    """Return why changes did nothing to a row."""
    history: cws.History = cws.trace(spark, log, {"id": 1}, table="shop.users")
    steps: list[cws.Step] = history.steps
    refusals: list[cws.StepRefusal | None] = [step.refused for step in steps]
    return [one.reason for one in refusals if one is not None]
