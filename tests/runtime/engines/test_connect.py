"""The engine through a remote session: Spark Connect, whose server is another process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType
from tests.chaos.checks import outcome
from tests.chaos.messages import PARTITIONS, History
from tests.chaos.plan import Job
from tests.runtime.engines.merge.lake import Lake
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge.test_once import check, sent
from tests.runtime.engines.stream.streams import Stream, stream
from tests.runtime.engines.stream.test_messages import check as check_messages
from tests.runtime.tables.histories import drawn, of_history
from tests.runtime.tables.model import tables_of
from tests.samples import FORMAT
from tests.support.connect import connect_server
from tests.support.topics import create, produce

import changewire.spark as cws
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.errors import StreamError
from changewire.engines.options import AVAILABLE_NOW, StreamOptions, StreamRun
from changewire.engines.outcome import FIRST_DEAD_LETTERS
from changewire.engines.spark.run import run_stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = pytest.mark.matrix

HISTORIES = 40
BATCHES = 2
DATAWORKS = "dataworks-json"
INT, LONG = IntegerType(), LongType()


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session of a server of its own; the client has no JVM."""
    from pyspark.sql import SparkSession

    kept = dict(os.environ)
    with connect_server(tmp_path_factory.mktemp("connect")) as address:
        session = SparkSession.builder.remote(address).getOrCreate()
        yield session
        session.stop()
    os.environ.clear()  # PySpark notes there that all sessions of the process are remote
    os.environ.update(kept)


def test_the_session_is_the_active_one(remote: SparkSession) -> None:
    """Who has a remote session gets that, and no local one beside it."""
    assert cws.session() is remote
    assert type(remote).__module__.startswith("pyspark.sql.connect")


def test_a_batch_is_decoded_and_written_once(remote: SparkSession, tmp_path: Path) -> None:
    """The log has what one message after the other gives; a second run finds all of it there."""
    made = stream(tmp_path, 1)
    decoded = cws.decode(remote.read.parquet(str(tmp_path / "messages")), format=FORMAT)
    counts, known, letters = cws.write(decoded, made.place.target)
    assert made.landed(remote) == made.expected()
    assert counts.dead_letters > 0
    assert counts.elements == made.expected().total()
    assert len(letters) == min(counts.dead_letters, FIRST_DEAD_LETTERS)
    assert known == 0
    assert cws.write(decoded, made.place.target).already_in_log == counts.elements
    assert made.landed(remote) == made.expected()


def test_messages_land_as_they_are(remote: SparkSession, tmp_path: Path) -> None:
    """Messages of a stream have the columns that they have in Arrow."""
    made = stream(tmp_path, 2)
    made.land_plainly(remote, elements_as="messages")
    check_messages(made, remote)


@pytest.mark.parametrize("table_format", ["parquet", "delta"])
def test_a_stream_lands_once(remote: SparkSession, tmp_path: Path, table_format: str) -> None:
    """Each element of a stream of files is in the log once, also after a second run."""
    made = stream(tmp_path, 2, table_format)
    heard: list[int] = []
    for _ in range(2):
        query = landing(made, remote)
        cws.await_termination(query, progress=lambda batch: heard.append(batch.batch))
    assert heard == [0, 1]
    assert made.landed(remote) == made.expected()


def landing(made: Stream, remote: SparkSession) -> StreamingQuery:
    """Start a query that lands a stream."""
    return cws.land(
        made.read(remote),
        format=FORMAT,
        log=made.place.target,
        table_format=made.table_format,
        checkpoint=str(made.root / "checkpoint"),
        trigger=AVAILABLE_NOW,
    )


def test_tables_end_as_the_model_says(remote: SparkSession, tmp_path: Path) -> None:
    """Histories with moves, deletes, patches and duplicates, in any order, end as the model has."""
    lake, every = Lake(tmp_path, lands_in_spark=True), []
    for number, delivery in enumerate(drawn(HISTORIES)):
        every += [of_history(number, placed) for batch in delivery for placed in batch]
    size = -(-len(every) // BATCHES)
    for start in range(0, len(every), size):
        lake.send(every[start : start + size])
    lake.apply(remote)
    assert lake.content(remote) == tables_of(every, befores_wait=True)


def test_what_no_table_takes_is_refused(remote: SparkSession, tmp_path: Path) -> None:
    """Tables, dead letters and refused changes of a stream of files are what they must be."""
    lake = Lake(tmp_path, lands_in_spark=True)
    lake.send_records(records(*sent()))
    lake.apply_messages(remote, format=DATAWORKS)
    check(remote, lake)


def test_a_topic_becomes_tables(remote: SparkSession, kafka: str, tmp_path: Path) -> None:
    """So are those of a topic of two formats, which the server reads."""
    job = Job(str(tmp_path), kafka, "remote", "delta", 100)
    create(kafka, job.topic, partitions=PARTITIONS)
    produced = produce(kafka, History(1).records(200, job.topic))
    options = {"kafka.bootstrap.servers": kafka, "subscribe": job.topic}
    query = cws.apply_changes(
        cws.read_kafka(remote, {**options, "startingOffsets": "earliest"}),
        format="auto",
        log=job.log,
        target=job.target,
        checkpoint=job.checkpoint,
        row_schema="json",
        trigger=AVAILABLE_NOW,
    )
    cws.await_termination(query)
    found = outcome(remote, job, produced)
    assert not found.is_bad
    assert found.elements == len(produced)


def test_columns_follow_the_schemas_in_the_messages(remote: SparkSession, tmp_path: Path) -> None:
    """Typed tables get columns and wider types as they do without Spark Connect."""
    lake = Lake(tmp_path, lands_in_spark=True)
    narrow, wide = {"id": "LONG"}, {"id": "LONG", "name": "STRING"}
    lake.send_records(records(message("INSERT", 1, {"id": 1}, types=narrow)))
    lake.send_records(records(message("INSERT", 2, {"id": 2, "name": "b"}, types=wide), start=1))
    lake.apply_messages(remote, format=DATAWORKS, row_schema="embedded")
    rows = lake.table(remote, "t").select("id", "name").orderBy("id").collect()
    assert [tuple(row) for row in rows] == [(1, None), (2, "b")]


def test_refused_changes_are_replayed(remote: SparkSession, tmp_path: Path) -> None:
    """What did not fit a type of the user's is replayed by a wider one, once."""
    lake = Lake(tmp_path, lands_in_spark=True)
    many = message("INSERT", 1, {"id": 2**40, "name": "a"})
    lake.send_records(records(many, message("INSERT", 1, {"id": 1, "name": "a"})))
    name = StructField("name", StringType())
    narrow, wide = (StructType([StructField("id", kind), name]) for kind in (INT, LONG))
    lake.apply_messages(remote, format=DATAWORKS, row_schema=narrow)
    log, target = lake.places["log"], lake.places["target"]
    assert cws.refused(remote, log).count() == 1
    done = [cws.replay(remote, format=DATAWORKS, **lake.places, row_schema=wide) for _ in range(2)]
    assert [(one.refused, one.closed) for one in done] == [(1, 1), (0, 0)]
    assert not cws.verify(remote, log, target=target).count()
    assert {row["id"] for row in lake.table(remote, "t").collect()} == {1, 2**40}


def test_tables_are_made_anew(remote: SparkSession, tmp_path: Path) -> None:
    """A row that something else removed is named, and made again from the log."""
    lake = Lake(tmp_path, lands_in_spark=True)
    rows = [{"id": number, "name": "a"} for number in range(3)]
    lake.send_records(records(*(message("INSERT", 1, row) for row in rows)))
    lake.apply_messages(remote, format=DATAWORKS)
    log, target = lake.places["log"], lake.places["target"]
    remote.sql(f"DELETE FROM delta.`{lake.tables / 't'}` WHERE `key` = '{{\"id\":1}}'")  # noqa: S608
    assert [row["fault"] for row in cws.verify(remote, log, target=target).collect()] == ["missing"]
    cws.rebuild(remote, log, target=target)
    assert not cws.verify(remote, log, target=target).count()
    assert cws.current(remote, log, table="d.t").count() == len(rows)


def test_a_run_into_a_report_is_refused(remote: SparkSession, kafka: str, tmp_path: Path) -> None:
    """What a run counts is kept in its own process, which a remote batch never reaches."""
    assert cws.session() is remote
    options = {"kafka.bootstrap.servers": kafka, "subscribe": "no-topic"}
    stream_options = StreamOptions(str(tmp_path / "log"), str(tmp_path / "checkpoint"))
    with pytest.raises(StreamError, match=r"^a run counts its batches in this process, and a ses"):
        run_stream(options, str(tmp_path), StreamRun(DecodeOptions(FORMAT), stream_options))
