"""Streams of messages as typed columns: each is there once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.runtime.engines.stream.streams import Stream, stream
from tests.samples import FORMAT, MIXED_COUNTS

import changewire.arrow as cwa
import changewire.spark as cws
from changewire.engines.layout import MESSAGES_TABLE
from changewire.engines.log import MESSAGE_LOG_COLUMNS

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


CONTENT = ("offset", "element", "variant", "content")


def contents_of(table: pa.Table) -> dict[tuple[int, int], tuple[str | None, Any]]:
    """Return variant and content of rows, by offset and element."""
    rows = table.select(CONTENT).to_pylist()
    return {(row["offset"], row["element"]): (row["variant"], row["content"]) for row in rows}


def test_a_stream_lands_each_message_once(spark: SparkSession, tmp_path: Path) -> None:
    """A batch that fails after it was written is retried, and the log has it once."""
    made = stream(tmp_path, 1)
    batches: list[Any] = []

    def once(_batch: Any, counts: Any, frames: cws.MessageFrames) -> None:
        assert frames.messages.columns == [*MESSAGES_TABLE]
        batches.append(counts)
        if len(batches) == 1:
            raise RuntimeError("not committed")

    with pytest.raises(Exception, match="not committed"):
        made.land(spark, elements_as="messages", written=once)
    made.land(spark, elements_as="messages", written=once)
    _, counts = batches
    assert counts.valid == 12
    assert counts.dead_letters == 3
    assert counts.elements == MIXED_COUNTS["elements"]
    assert made.log(spark).columns == [*MESSAGE_LOG_COLUMNS]
    check(made, spark)


def test_the_plain_query_lands_messages(spark: SparkSession, tmp_path: Path) -> None:
    """So does Spark's own sink."""
    made = stream(tmp_path, 1)
    made.land_plainly(spark, elements_as="messages")
    check(made, spark)


def check(made: Stream, spark: SparkSession) -> None:
    """Messages and dead letters of the log are those that Arrow makes, each once."""
    table = pa.table({"value": pa.array(made.sent, pa.binary()), "offset": range(len(made.sent))})
    messages, letters, _ = cwa.messages(table, format=FORMAT).tables()
    log = made.log(spark).toArrow()
    landed = log.filter(pc.equal(log["kind"], "message"))
    assert len(log) - len(landed) == len(letters)
    assert len(landed) == len(messages)
    assert contents_of(landed) == contents_of(messages)
