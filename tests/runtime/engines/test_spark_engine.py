"""The engine in Spark: DataFrames of messages to changes, control events and dead letters."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import (
    BinaryType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)
from tests.samples import FORMAT, MIXED_COUNTS, examples, mixed_messages
from tests.support.session import need

import changewire.spark as cws
from changewire.engines.counts import ConservationError
from changewire.engines.layout import CHANGES_TABLE, DEAD_LETTERS_TABLE
from changewire.engines.spark.frames import checkpointed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def messages(spark: SparkSession) -> DataFrame:
    """The mixed messages as Spark's Kafka source gives them."""
    time = datetime(2024, 1, 2, 3, 4, 5, 678000, tzinfo=timezone.utc)
    rows = [
        (b"k%d" % i, value, "topic", 3, i, time, [("h", b"v")])
        for i, value in enumerate(mixed_messages())
    ]
    kafka = (
        "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, "
        "headers array<struct<key string, value binary>>"
    )
    return spark.createDataFrame(rows, kafka).cache()


@pytest.fixture(scope="module")
def decoded(messages: DataFrame) -> cws.DecodedFrames:
    """The decoded mixed messages."""
    found = cws.decode(messages, format=FORMAT)
    return cws.DecodedFrames(found.rows.cache())


def test_counts_are_those_of_the_messages(decoded: cws.DecodedFrames) -> None:
    """Every element is counted once, by what became of it."""
    counts = decoded.counts.as_dict()
    assert {name: counts[name] for name in MIXED_COUNTS} == MIXED_COUNTS
    assert counts["by_operation"] == {"upsert": 5, "delete": 4, "empty": 2}


def test_each_output_has_its_columns(decoded: cws.DecodedFrames) -> None:
    """Changes and control events have the columns of a change, dead letters their own."""
    assert tuple(decoded.changes.columns) == tuple(decoded.controls.columns) == CHANGES_TABLE
    assert tuple(decoded.dead_letters.columns) == DEAD_LETTERS_TABLE


def test_kafka_columns_are_kept(decoded: cws.DecodedFrames) -> None:
    """Topic, partition, offset, timestamp, headers and key of the record stay with the change."""
    row = decoded.changes.where("offset = 1").first()
    assert row is not None
    assert (row["topic"], row["partition"], bytes(row["record_key"])) == ("topic", 3, b"k1")
    assert (
        row["timestamp"].timestamp()
        == datetime(2024, 1, 2, 3, 4, 5, 678000, timezone.utc).timestamp()
    )
    assert [(item["key"], bytes(item["value"])) for item in row["headers"]] == [("h", b"v")]


def test_dead_letters_keep_the_raw_message(decoded: cws.DecodedFrames) -> None:
    """A dead letter has key and value as they came, the element's index, code and pointer."""
    row = decoded.dead_letters.where("offset = 7").first()
    assert row is not None
    assert (row["element"], row["code"], row["pointer"]) == (1, "missing-property", "/key")
    assert (bytes(row["key"]), bytes(row["value"])) == (b"k7", mixed_messages()[7])


def test_text_values_decode_like_bytes(spark: SparkSession) -> None:
    """A string column `value` alone is enough."""
    frame = spark.createDataFrame([(json.dumps(examples("delete")[0]),)], "value string")
    row = cws.decode(frame, format=FORMAT).changes.first()
    assert row is not None
    assert (row["op"], row["topic"], row["record_key"]) == ("delete", None, None)


def test_comments_of_the_schema_reach_the_table(decoded: cws.DecodedFrames) -> None:
    """Columns carry the descriptions of the change schema."""
    assert decoded.changes.schema["op"].metadata["comment"].startswith("What happened.")


def test_variant_rows_can_be_reached_into(messages: DataFrame) -> None:
    """With rows="variant" the columns of a row are read without parsing text."""
    changes = cws.decode(messages, format=FORMAT, row_schema="variant").changes
    found = changes.select(F.variant_get("after", "$.count", "bigint").alias("count"))
    assert [row["count"] for row in found.where("count is not null").collect()] == [-(2**63)]


ROW = StructType(
    [
        StructField("myString", StringType()),
        StructField("myBlob", BinaryType()),
        StructField("myMap", MapType(StringType(), DoubleType())),
        StructField("count", LongType()),
        StructField("ratio", DoubleType()),
    ]
)


def test_typed_rows_hold_typed_values(messages: DataFrame) -> None:
    """With a StructType the columns of a row have its types, bytes and 64-bit integers included."""
    changes = cws.decode(messages, format=FORMAT, row_schema=ROW).changes
    row = changes.where("offset = 1").select("after.count", "after.ratio", "after.myBlob").first()
    assert row is not None
    assert (row["count"], str(row["ratio"]), row["myBlob"]) == (-(2**63), "nan", None)


def test_columns_that_the_type_lacks_are_kept(messages: DataFrame) -> None:
    """What a row type does not name goes to the attributes, and is not lost."""
    changes = cws.decode(messages, format=FORMAT, row_schema=ROW).changes
    row = changes.where("offset = 1").first()
    assert row is not None
    assert json.loads(row["attributes"])["undeclared"] == {"after": {"flag": True}}


def test_a_value_that_does_not_fit_is_a_dead_letter(messages: DataFrame) -> None:
    """A map whose entry is a list does not fit a map of doubles: the place is named."""
    letters = cws.decode(messages, format=FORMAT, row_schema=ROW).dead_letters
    row = letters.where("offset = 0").first()
    assert row is not None
    assert (row["code"], row["pointer"]) == ("wrong-type", "/after/myMap/l")


@pytest.mark.parametrize("column", ["text", "value int"])
def test_a_frame_without_values_is_refused(spark: SparkSession, column: str) -> None:
    """A DataFrame without binary or string column `value` is refused at once."""
    frame = spark.createDataFrame([], f"{column} string" if column == "text" else column)
    with pytest.raises(TypeError, match="column 'value'"):
        cws.decode(frame, format=FORMAT)


def test_unknown_rows_are_refused(messages: DataFrame) -> None:
    """Rows are JSON text, VARIANT or a StructType, and nothing else."""
    with pytest.raises(ValueError, match=r"the file 'xml' is missing"):
        cws.decode(messages, format=FORMAT, row_schema="xml")


def test_nothing_is_written_when_an_element_is_lost(
    decoded: cws.DecodedFrames, tmp_path: Path
) -> None:
    """A difference between elements and rows fails the job before anything is committed."""
    need("delta")
    lossy = cws.DecodedFrames(decoded.rows.where("offset <> 7 or element <> 1"))
    with pytest.raises(ConservationError, match="15 elements, decoded were 14"):
        cws.write(lossy, str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_what_a_log_has_is_left_out(
    decoded: cws.DecodedFrames, spark: SparkSession, tmp_path: Path
) -> None:
    """A second write appends only what the log lacks, and counts all."""
    log = str(tmp_path / "log")
    first = cws.write(
        cws.DecodedFrames(decoded.rows.where("offset < 7")), log, table_format="parquet"
    )
    again = cws.write(decoded, log, table_format="parquet")
    assert (first.already_in_log, again.already_in_log) == (0, first.counts.elements)
    rows = spark.read.parquet(log)
    assert rows.count() == rows.select("offset", "element").distinct().count()
    assert rows.count() == MIXED_COUNTS["elements"]


def test_elements_without_a_position_are_always_appended(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Nothing says that the log has them."""
    need("delta")
    log = str(tmp_path / "log")
    frame = spark.createDataFrame([(message,) for message in mixed_messages()], "value binary")
    for _ in range(2):
        assert cws.write(cws.decode(frame, format=FORMAT), log).already_in_log == 0
    assert spark.read.format("delta").load(log).count() == 2 * MIXED_COUNTS["elements"]


def test_files_are_a_stream_with_positions(spark: SparkSession, tmp_path: Path) -> None:
    """Each message has the path and the number of its record, whatever the names of files are."""
    need("delta")
    folder = tmp_path / "in"
    folder.mkdir()
    options: dict[str, Any] = {
        "format": FORMAT,
        "log": str(tmp_path / "log"),
        "checkpoint": str(tmp_path / "checkpoint"),
    }
    for name in ("a b%20.jsonl", "\u00e9.jsonl"):
        (folder / name).write_bytes(b"\n".join([json.dumps(examples("write")[0]).encode()] * 3))
        stream, trigger = cws.stream_files(spark, str(folder)), {"availableNow": True}
        cws.await_termination(cws.land(stream, trigger=trigger, **options))
    rows = DeltaTable(options["log"]).to_pyarrow_table(columns=["path", "number"]).to_pylist()
    assert Counter((Path(row["path"]).name, row["number"]) for row in rows) == Counter(
        (name, number) for name in ("a b%20.jsonl", "\u00e9.jsonl") for number in range(3)
    )
    with pytest.raises(ValueError, match="need positions, by which the log knows them again"):
        cws.apply_changes(spark.readStream.text(str(folder)), target="{table}", **options)
    with pytest.raises(ValueError, match="need positions, by which the log knows them again"):
        cws.land(spark.readStream.text(str(folder)), format=FORMAT, log="x/y", checkpoint="c")


def test_one_task_reads_one_file(spark: SparkSession, tmp_path: Path) -> None:
    """Each file is read by a task of its own, and each record knows its file and number."""
    for i in range(5):
        (tmp_path / f"{i}.jsonl").write_bytes(b'{"a": 1}\n{"a": 2}\n')
    frame = cws.read_files(spark, [str(tmp_path)])
    rows = frame.withColumn("task", F.spark_partition_id()).collect()
    assert len({row["task"] for row in rows}) == 5
    assert {(Path(row["path"]).name, row["number"]) for row in rows} == {
        (f"{i}.jsonl", number) for i in range(5) for number in (0, 1)
    }


def test_a_session_of_the_caller_is_used(spark: SparkSession) -> None:
    """Where a session is active, no other one is started."""
    assert cws.session() is spark


def test_keys_and_leniencies_of_other_formats(spark: SparkSession) -> None:
    """Rows have the keys that the reader names, and the leniencies of message and values."""
    schema = '{"type":"struct","fields":[{"field":"before","type":"struct","fields":[]}]}'
    source = '"source":{"namespace":"n","table":"t","ts_ms":5}'
    payload = f'{{"op":"d","ts_ms":6,"before":{{"id":"7","x":1}},"after":{{}},{source}}}'
    frame = spark.createDataFrame([(f'{{"schema":{schema},"payload":{payload}}}',)], "value string")
    decoded = cws.decode(frame, format="lindorm-json", key_columns=["id"])
    (row,) = decoded.rows.select("op", "key", "before", "leniencies").collect()
    assert tuple(row) == (
        "delete",
        '{"id":"7"}',
        '{"id":"7","x":1}',
        ["after-on-delete", "missing-version", "missing-db", *["undeclared-field"] * 2],
    )
    with pytest.raises(ValueError, match="it is for lindorm-json"):
        cws.decode(frame, format="dataworks-json", column_families=["f"])


def test_rows_are_kept_for_a_join_with_themselves(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are not computed by `mapInArrow` again, and are freed afterwards."""
    context: Any = spark.sparkContext

    def stored() -> set[int]:
        return {*context._jsc.getPersistentRDDs()}  # noqa: SLF001 - there is no public name

    before = stored()
    rows = spark.range(10).mapInArrow(lambda batches: batches, "id long")
    with checkpointed(rows) as kept:
        found = kept.join(kept.groupBy("id").count(), "id")
        assert found.count() == 10
        found.explain()
        assert "MapInArrow" not in capsys.readouterr().out
        assert len(stored() - before) == 1
    assert not stored() - before
