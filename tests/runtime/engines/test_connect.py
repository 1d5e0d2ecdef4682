"""The engine through a remote session: Spark Connect, whose server is another process."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.runtime.engines.apply import test_typed_tables as typed_tables
from tests.runtime.engines.apply.lake import Lake
from tests.runtime.engines.apply.test_topic import MIXED, check_tables, records, without_engine
from tests.runtime.engines.apply.ways import DRIVER
from tests.runtime.engines.stream.streams import stream
from tests.runtime.engines.stream.test_messages import contents_of, places_of
from tests.runtime.tables.histories import drawn, of_history
from tests.runtime.tables.model import tables_of
from tests.samples import FORMAT
from tests.support.connect import connect_server
from tests.support.topics import create, produce

import changewire.arrow as cwa
import changewire.spark as cws
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.errors import StreamError
from changewire.engines.options import StreamOptions, outputs_below
from changewire.engines.outcome import FIRST_DEAD_LETTERS
from changewire.engines.spark.run_stream import run_stream
from changewire.framing import Position, Record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.matrix

HISTORIES = 40
BATCHES = 2
TEMPLATE = "{system}/{database}/{table}"
PLACES = ("topic", "partition", "offset")
TYPE = "key binary, value binary, topic string, partition int, offset long"


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


def test_a_batch_is_decoded_and_written(remote: SparkSession, tmp_path: Path) -> None:
    """Counts and tables of a folder of messages are what one message after the other gives."""
    made = stream(tmp_path, 1)
    messages = remote.read.parquet(str(tmp_path / "messages"))
    counts, letters = cws.write(cws.decode(messages, format=FORMAT), f"{tmp_path}/out")
    found = Counter[str]()
    for message in made.sent:
        for result, _ in DecodeOptions(FORMAT).elements(message, b"k"):
            found["dead_letters" if not hasattr(result, "op") else "good"] += 1
    assert counts.dead_letters == found["dead_letters"] > 0
    assert counts.changes + counts.controls == found["good"]
    assert len(letters) == min(counts.dead_letters, FIRST_DEAD_LETTERS)
    expected = {
        "changes": counts.changes,
        "controls": counts.controls,
        "dead_letters": counts.dead_letters,
    }
    assert {name: pq.read_table(tmp_path / "out" / name).num_rows for name in expected} == expected


def test_messages_become_typed_columns(remote: SparkSession, tmp_path: Path) -> None:
    """Messages, of a table and of a stream, have the columns that they have in Arrow."""
    made = stream(tmp_path, 2)
    table = pa.table({"value": pa.array(made.sent, pa.binary()), "offset": range(len(made.sent))})
    rows, letters, _ = cwa.messages(table, format=FORMAT).tables()
    expected = [contents_of(rows), places_of(letters)]
    messages = remote.read.parquet(str(tmp_path / "messages"))
    found = cws.messages(messages, format=FORMAT)
    assert [contents_of(found.messages.toArrow()), places_of(found.dead_letters.toArrow())] == (
        expected
    )
    places = {name: str(tmp_path / name) for name in ("bronze", "letters", "checkpoint")}
    query = cws.write_stream(
        cws.messages(made.read(remote), format=FORMAT),
        messages=places["bronze"],
        dead_letters=places["letters"],
        checkpoint=places["checkpoint"],
        sink="delta",
        trigger={"availableNow": True},
    )
    cws.await_end(query)
    bronze, dead = (remote.read.format("delta").load(places[n]) for n in ("bronze", "letters"))
    assert [contents_of(bronze.toArrow()), places_of(dead.toArrow())] == expected


@pytest.mark.parametrize("sink", ["parquet", "delta"])
def test_a_stream_lands_once(remote: SparkSession, tmp_path: Path, sink: str) -> None:
    """Each element of a stream of files is in its output once, also after a second run."""
    made = stream(tmp_path, 2, sink)
    heard: list[int] = []
    cws.await_end(made.start(remote), progress=lambda batch: heard.append(batch.batch))
    assert heard == [0, 1]
    made.land(remote)
    assert made.landed(remote) == made.expected()


def test_tables_end_as_the_model_says(remote: SparkSession, tmp_path: Path) -> None:
    """Histories with moves, deletes, patches and duplicates, in any order, end as the model has."""
    lake, sent = Lake(tmp_path), []
    for number, delivery in enumerate(drawn(HISTORIES)):
        sent += [of_history(number, placed) for batch in delivery for placed in batch]
    size = -(-len(sent) // BATCHES)
    for start in range(0, len(sent), size):
        lake.send(sent[start : start + size])
    lake.apply(remote)
    assert lake.content(remote) == tables_of(sent)


def test_files_of_all_formats_become_tables(remote: SparkSession, tmp_path: Path) -> None:
    """A stream of a folder is applied to tables of Delta as the changes mean."""
    folder = tmp_path / "messages"
    folder.mkdir()
    shutil.copy(MIXED, folder)
    sent = [
        Record(key=row["key"], value=row["value"], position=Position(**{n: row[n] for n in PLACES}))
        for row in pq.read_table(MIXED).to_pylist()
    ]
    tables, _ = without_engine(sent, f"{tmp_path}/{TEMPLATE}")
    apply(Lake(tmp_path), remote.readStream.schema(TYPE).parquet(str(folder)))
    check_tables(remote, "delta", tables)


def test_a_topic_becomes_tables(remote: SparkSession, kafka: str, tmp_path: Path) -> None:
    """So is a topic, which the server reads."""
    create(kafka, "remote")
    sent = produce(kafka, records("remote"))
    tables, _ = without_engine(sent, f"{tmp_path}/{TEMPLATE}")
    options = {"kafka.bootstrap.servers": kafka, "subscribe": "remote"}
    messages = cws.read_kafka(remote, {**options, "startingOffsets": "earliest"})
    apply(Lake(tmp_path), messages)
    check_tables(remote, "delta", tables)


def test_columns_follow_the_schemas_in_the_messages(remote: SparkSession, tmp_path: Path) -> None:
    """Typed tables get columns and wider types as they do without Spark Connect."""
    typed_tables.test_columns_follow_the_schemas_in_the_messages(remote, tmp_path, "delta", DRIVER)


def test_dead_letters_are_replayed(remote: SparkSession, tmp_path: Path) -> None:
    """What did not fit a type of the user's is replayed by a wider one, once."""
    typed_tables.test_what_does_not_fit_a_type_is_replayed_once(remote, tmp_path)


def test_a_run_into_a_report_is_refused(remote: SparkSession, kafka: str, tmp_path: Path) -> None:
    """What a run counts is kept in its own process, which a remote batch never reaches."""
    assert cws.session() is remote
    options = {"kafka.bootstrap.servers": kafka, "subscribe": "no-topic"}
    outputs = outputs_below(str(tmp_path), "delta")
    stream_options = StreamOptions(outputs, str(tmp_path / "checkpoint"))
    with pytest.raises(StreamError, match=r"^a run counts its batches in this process, and a ses"):
        run_stream(
            options,
            str(tmp_path),
            decode_options=DecodeOptions(FORMAT),
            stream_options=stream_options,
        )


def apply(lake: Lake, messages: DataFrame) -> None:
    """Apply messages of all formats to tables of Delta, to their end."""
    outputs: dict[str, Any] = lake.outputs()
    query = cws.apply_changes(
        messages,
        format="auto",
        target=f"{lake.root}/{TEMPLATE}",
        checkpoint=f"{lake.root}/checkpoint",
        trigger={"availableNow": True},
        **outputs,
    )
    cws.await_end(query)
