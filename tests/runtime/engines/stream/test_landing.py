"""What a streaming query lands: every element, in the columns of the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable
from tests.runtime.engines.stream.streams import AT, Landed, stream
from tests.samples import FORMAT, MIXED_COUNTS, mixed_messages

import changewire.spark as cws
from changewire.engines.counts import ConservationError
from changewire.engines.options import allowed
from changewire.engines.spark.frames import Frames
from changewire.version import VERSION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_every_element_lands_once(landed: Landed, spark: SparkSession) -> None:
    """Each element of each message is in the log once."""
    assert landed.stream.landed(spark) == landed.stream.expected()


def test_readers_without_spark_see_every_row(landed: Landed) -> None:
    """A log of Delta is a table like any other."""
    found = DeltaTable(landed.stream.place.target).to_pyarrow_table(columns=["kind"])
    assert len(found) == landed.stream.expected().total()


@pytest.mark.parametrize("table_format", ["delta", "parquet", "iceberg"])
def test_the_plain_query_lands_the_same(
    spark: SparkSession, tmp_path: Path, table_format: str
) -> None:
    """Spark's own sinks append every element once, also when the query goes on later."""
    made = stream(tmp_path, 1, table_format)
    if table_format == "iceberg":
        made.name = f"ice.{tmp_path.name}.log"
    made.land_plainly(spark)
    made.send(mixed_messages())
    made.land_plainly(spark)
    assert made.landed(spark) == made.expected()


@pytest.mark.parametrize("is_plain", [False, True])
def test_delta_has_statistics_where_files_are_skipped(
    spark: SparkSession, tmp_path: Path, *, is_plain: bool
) -> None:
    """Times and places have them, and text has not; later batches leave it at that."""
    made = stream(tmp_path, 2, "delta")
    (made.land_plainly if is_plain else made.land)(spark)
    log = Path(made.place.target, "_delta_log")
    texts = [file.read_text(encoding="utf-8") for file in log.glob("*.json")]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    (metadata,) = (line["metaData"] for line in lines if "metaData" in line)
    columns = "event_time,timestamp,partition,offset,path,number,sequence.major"
    assert metadata["configuration"] == {"delta.dataSkippingStatsColumns": columns}
    stats = [json.loads(line["add"]["stats"]) for line in lines if "add" in line]
    assert {*stats[0]["nullCount"]} == {*columns.split(",")[:-1], "sequence"}


def test_sums_are_what_the_source_delivered(landed: Landed) -> None:
    """Over the life of a query the counts of its batches add up to the rows of the source."""
    batches = [json.loads(line) for line in landed.metrics]
    assert sum(batch["messages"] for batch in batches) == landed.delivered
    assert landed.delivered == len(landed.stream.sent)
    assert sum(batch["elements"] for batch in batches) == sum(
        batch[name] for batch in batches for name in ("changes", "controls", "dead_letters")
    )


def test_each_batch_has_a_line_of_json(landed: Landed) -> None:
    """A line has query, batch, counts and codes; all lines have the same query."""
    batches = [json.loads(line) for line in landed.metrics]
    assert [batch["batch"] for batch in batches] == [0, 1]
    assert len({batch["query"] for batch in batches}) == 1
    for batch in batches:
        assert {name: batch[name] for name in MIXED_COUNTS} == MIXED_COUNTS
        assert sum(batch["by_error_code"].values()) == MIXED_COUNTS["dead_letters"]
        assert batch["seconds"] > 0
        assert batch["version"] == VERSION


def test_each_batch_has_a_line_to_read(landed: Landed) -> None:
    """A readable line has the batch and its counts."""
    assert [text.partition(";")[0] for text in landed.notices] == [
        f"batch {number}: 13 messages, 15 elements: 9 changes, 2 control events, 4 dead letters"
        for number in (0, 1)
    ]


def test_dead_letters_have_all_that_is_known(landed: Landed, spark: SparkSession) -> None:
    """A dead letter has its record whole, the element, why, and by which version."""
    letters = landed.stream.log(spark).where("offset = 7 AND kind = 'dead_letter'")
    names = ("topic", "partition", "offset", "headers", "timestamp", "element", "attempt")
    reasons = ("code", "pointer", "message", "format", "version", "record_key", "value")
    row = letters.select(*names, *reasons).collect()[0].asDict(recursive=True)
    assert row.pop("message").startswith("aerospike-json: at /key: ")
    assert row.pop("timestamp").timestamp() == AT.timestamp()
    assert bytes(row.pop("value")) == mixed_messages()[7]
    assert row == {
        "topic": "t",
        "partition": 3,
        "offset": 7,
        "record_key": b"k",
        "headers": [{"key": "h", "value": b"v"}],
        "element": 1,
        "attempt": 0,
        "code": "missing-property",
        "pointer": "/key",
        "format": FORMAT,
        "version": VERSION,
    }


def test_dead_letters_can_be_decoded_again(landed: Landed, spark: SparkSession) -> None:
    """Dead letters of a log are messages again, with the same verdict."""
    letters = cws.dead_letters(spark, landed.stream.place.target).where("element = 0")
    messages = letters.drop("key").withColumnRenamed("record_key", "key")
    again = cws.decode(messages, format=FORMAT).dead_letters
    columns = ["offset", "code", "pointer", "key", "topic"]
    assert sorted(map(tuple, again.select(columns).collect())) == sorted(
        map(tuple, messages.select(columns).collect())
    )


def test_nothing_is_written_when_an_element_is_lost(spark: SparkSession, tmp_path: Path) -> None:
    """A difference between elements and rows stops the query before anything is committed."""
    made = stream(tmp_path, 1)

    def lossy(decoded: Frames) -> Frames:
        return cws.DecodedFrames(decoded.rows.where("offset <> 7 or element <> 1"))

    with pytest.raises(ConservationError, match="15 elements, decoded were 14"):
        made.land(spark, wrap=lossy)
    assert not Path(made.place.target).exists()
    assert not list((tmp_path / "checkpoint" / "commits").glob("[0-9]*"))
    made.land(spark)
    assert made.landed(spark) == made.expected()


def test_a_query_that_refuses_too_much_stops(spark: SparkSession, tmp_path: Path) -> None:
    """The message has numbers, codes and first reasons, no value; nothing was written."""
    made = stream(tmp_path, 1)
    with pytest.raises(cws.TooManyDeadLettersError) as caught:
        made.land(spark, max_dead_letters="25%")
    text = str(caught.value)
    assert text.startswith("batch 0: 4 of 15 elements are dead letters (")
    assert "max_dead_letters is 25%. Nothing of the batch was written." in text
    assert "topic t, partition 3, offset 7, element 1: aerospike-json: at /key: " in text
    assert not Path(made.place.target).exists()
    made.land(spark, max_dead_letters=4)
    assert made.landed(spark) == made.expected()


@pytest.mark.parametrize(
    ("limit", "elements", "most"),
    [(0, 9, 0), (7, 3, 7), ("5%", 40, 2), ("0.5 %", 1000, 5), ("100%", 3, 3), ("0%", 9, 0)],
)
def test_a_limit_is_a_number_or_a_share(limit: int | str, elements: int, most: float) -> None:
    """A share is one of the batch's elements."""
    assert allowed(limit, elements) == pytest.approx(most)
