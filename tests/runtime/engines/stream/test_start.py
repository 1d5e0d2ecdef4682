"""What a query is refused for before it starts, and how it ends."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType
from tests.runtime.engines.stream.streams import Landed, stream
from tests.samples import FORMAT, mixed_messages

import changewire.spark as cws
from changewire.engines.spark.log.place import existing_schema, lack

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_checkpoint_of_another_log_is_refused(landed: Landed, spark: SparkSession) -> None:
    """A checkpoint keeps its log: in another one its old batches would be missing."""
    root = landed.stream.root
    elsewhere = str(root / "elsewhere")
    with pytest.raises(cws.CheckpointError) as caught:
        landed.stream.start(spark, log=elsewhere)
    assert str(caught.value) == (
        f"{root}/checkpoint: this is the checkpoint of another query, with log "
        f"'{root}/log' and not '{elsewhere}'; choose another"
    )


def test_a_checkpoint_of_a_foreign_query_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """A checkpoint that another program began is not taken over."""
    made = stream(tmp_path, 1)
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "metadata").write_text('{"id":"e57a4d5a"}')
    with pytest.raises(cws.CheckpointError, match="of a query that is not of changewire"):
        made.start(spark)


def test_a_damaged_identity_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """What stands in the checkpoint in place of the identity is not taken for a new one."""
    made = stream(tmp_path, 1)
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "changewire").write_text('{"id": 1}')
    with pytest.raises(cws.CheckpointError, match="checkpoint/changewire is damaged: Expected"):
        made.start(spark)


def test_a_checkpoint_of_another_kind_of_query_is_refused(
    landed: Landed, spark: SparkSession
) -> None:
    """The sink of Spark does not know the batches of a query that counts them, nor does it."""
    with pytest.raises(cws.CheckpointError, match="with query 'run' and not 'land'"):
        landed.stream.land_plainly(spark)


def test_a_log_of_another_type_is_refused(landed: Landed, spark: SparkSession) -> None:
    """Rows of other types do not go to what is there; the message names column and types."""
    root = landed.stream.root
    kind = StructType([StructField("n", LongType())])
    with pytest.raises(cws.OutputError) as caught:
        landed.stream.start(spark, row_schema=kind, checkpoint=str(root / "new"))
    assert str(caught.value) == (
        "log: a column before of type struct<n:bigint> is needed, and "
        f"{root}/log has string; choose another log and checkpoint"
    )


def test_a_format_that_is_not_there_is_named(spark: SparkSession, tmp_path: Path) -> None:
    """A session that does not know a format is refused before a query starts."""
    with pytest.raises(cws.OutputError, match="does not know the format nowhere"):
        existing_schema(spark, "nowhere", str(tmp_path / "log"))


@pytest.mark.parametrize(
    ("version", "table_format", "recorded"),
    [
        ("4.0.1", "delta", "start it with --packages io.delta:delta-spark_2.13:4.0.1 --conf "),
        ("4.0.3", "iceberg", "start it with --packages org.apache.iceberg:iceberg-spark-runtime"),
        ("4.2.0", "iceberg", "runs with it is listed at https://iceberg.apache.org/"),
        ("4.9.0", "delta", "runs with it is listed at https://docs.delta.io/"),
        ("4.0.1", "csv", "does not know the format csv"),
    ],
)
def test_the_line_that_a_session_needs_is_told(
    version: str, table_format: str, recorded: str
) -> None:
    """It names the jars that ran with this Spark, or the page that says which do."""
    assert recorded in lack(version, table_format)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"table_format": "parquet"}, "into logs of Delta or Iceberg, not of Parquet"),
        ({"max_dead_letters": "5"}, "max_dead_letters is a number such as 100"),
        ({"max_dead_letters": "101%"}, "max_dead_letters is a number such as 100"),
        ({"max_dead_letters": -1}, "max_dead_letters is a number such as 100"),
        ({"max_dead_letters": True}, "max_dead_letters is a number such as 100"),
    ],
)
def test_options_are_checked_at_once(
    spark: SparkSession, tmp_path: Path, options: dict[str, Any], reason: str
) -> None:
    """A wrong option is refused before anything is written."""
    made = stream(tmp_path, 1)
    with pytest.raises(ValueError, match=reason):
        made.start(spark, **options)
    assert not (tmp_path / "checkpoint").exists()


def test_only_streams_land(spark: SparkSession, tmp_path: Path) -> None:
    """Messages that are not a stream are for `write`, and streams are not for it."""
    made = stream(tmp_path, 1)
    frame = spark.createDataFrame([(mixed_messages()[0],)], "value binary")
    places: dict[str, Any] = {
        "log": str(tmp_path / "log"),
        "checkpoint": str(tmp_path / "checkpoint"),
    }
    with pytest.raises(ValueError, match=r"land takes a stream; .*`changewire\.spark\.write`"):
        cws.land(frame, format=FORMAT, **places)
    with pytest.raises(ValueError, match=r"write takes no stream; use `changewire\.spark\.land`"):
        cws.write(cws.decode(made.read(spark), format=FORMAT), places["log"])


def test_a_sink_that_is_none_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """The error names those that are there."""
    made = stream(tmp_path, 1, "delta")
    made.table_format = "csv"
    with pytest.raises(
        ValueError, match="no table_format 'csv'; there are: delta, iceberg, parquet"
    ):
        made.land_plainly(spark)


def test_typed_rows_land_as_columns(spark: SparkSession, tmp_path: Path) -> None:
    """With a row type the log has typed columns; what does not fit is a dead letter."""
    made = stream(tmp_path, 1)
    kind = StructType([StructField("count", LongType()), StructField("myString", StringType())])
    made.land(spark, row_schema=kind)
    rows = made.log(spark).where("offset = 1").select("after.count").collect()
    assert [row["count"] for row in rows] == [-(2**63)]


def test_a_signal_ends_a_query_after_its_batch(spark: SparkSession, tmp_path: Path) -> None:
    """A query that would run for ever ends in good order, and goes on later."""
    made = stream(tmp_path, 1)
    for number in (signal.SIGINT, signal.SIGTERM):

        def notice(line: str, number: signal.Signals = number) -> None:
            assert line.startswith("batch ")
            os.kill(os.getpid(), number)

        before = signal.getsignal(number)
        query = made.start(spark, trigger={"processingTime": "100 milliseconds"}, notice=notice)
        assert cws.await_termination(query) is number
        assert signal.getsignal(number) is before
        assert not query.isActive
        assert made.landed(spark) == made.expected()
        made.send(mixed_messages())
