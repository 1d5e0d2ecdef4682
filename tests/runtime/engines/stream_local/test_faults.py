"""What happens to topics and brokers while a stream runs, and between two of its runs."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError
from examples.broker import broker, listens
from tests.runtime.engines.stream_local.running import SECONDS, landed, running
from tests.runtime.engines.stream_local.topics import BROKEN, Topic, assert_same, history

import changewire.delta as cwd
from changewire.engines.log import REFUSED
from changewire.engines.merge import appended
from changewire.engines.stream import run, troubles
from changewire.engines.stream.reader import Bounds
from changewire.engines.stream.source import Place

OFTEN = {
    "kafka.topic.metadata.refresh.interval.ms": "500",
    "kafka.topic.metadata.propagation.max.ms": "0",
}
"""Options of a client that soon knows which topics are gone."""

FEW = {
    "kafka.queued.min.messages": "1",
    "kafka.queued.max.messages.kbytes": "1",
    "kafka.fetch.message.max.bytes": "1000",
}
"""Options of a client that fetches few messages ahead."""


@pytest.fixture
def admin(kafka: str) -> AdminClient:
    """What changes topics."""
    return AdminClient({"bootstrap.servers": kafka})


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for new partitions all the time."""
    monkeypatch.setattr(run, "_LOOK_EVERY", 0.2)


def add_partitions(admin: AdminClient, topic: Topic, number: int) -> None:
    """Let a topic have more partitions."""
    for done in admin.create_partitions([NewPartitions(topic.name, number)]).values():
        done.result()
    end = time.monotonic() + SECONDS
    while len(admin.list_topics(topic.name).topics[topic.name].partitions) < number:
        assert time.monotonic() < end


def delete_records(admin: AdminClient, topic: Topic, partition: int, before: int) -> None:
    """Delete the oldest records of a partition, as retention does."""
    place = TopicPartition(topic.name, partition, before)
    for done in admin.delete_records([place]).values():
        done.result()


def has_offsets(topic: Topic) -> bool:
    """Whether the log says where its stream began."""
    commits = (topic.root / "lake" / "log" / "_delta_log").glob("*.json")
    return any(b'"txn"' in commit.read_bytes() for commit in commits)


def test_a_commit_of_which_the_answer_is_lost_is_made_once(
    topic: Topic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delta-rs asks a store again then, and calls what it wrote itself a conflict."""
    row = pa.schema([("id", pa.int64()), ("name", pa.string()), ("price", pa.decimal128(7, 2))])

    def lost(table: DeltaTable, rows: pa.Table, **options: Any) -> None:
        write_deltalake(table.table_uri, rows, **options)
        raise CommitFailedError("this version is there")

    topic.send(history(1, 60))
    cwd.apply_changes(topic.sent, row_schema=row, **topic.places("expected"))
    monkeypatch.setattr(appended, "write_deltalake", lost)
    topic.stream(row_schema=row, batch_size=20)
    made, expected = topic.lake(), topic.lake("expected")
    assert made.log() == expected.log()
    assert made.tables() == expected.tables()
    logs = (DeltaTable(f"{one.root}/log").to_pyarrow_table() for one in (made, expected))
    refused = [log["kind"].to_pylist().count(REFUSED) for log in logs]
    assert refused[0] == refused[1] > 0


@pytest.mark.usefixtures("quick")
def test_partitions_that_are_added_are_read_from_their_beginning(
    topic: Topic, admin: AdminClient
) -> None:
    """While a stream runs, and between two runs, which began with the latest offsets."""
    latest = {"startingOffsets": "latest"}
    with running(topic, source=latest) as found:
        found.until(lambda: has_offsets(topic))
        topic.send(history(1, 10))
        add_partitions(admin, topic, 3)
        topic.send(history(2, 10, partitions=3))
        found.until(lambda: landed(topic) == len(topic.sent))
    assert f"new partitions: {topic.name}/2" in found.lines
    add_partitions(admin, topic, 4)
    topic.send(history(3, 10, partitions=4))
    topic.stream(source=latest)
    assert_same(topic)


def test_deleted_records_are_one_error_or_a_counted_gap(topic: Topic, admin: AdminClient) -> None:
    """The log goes on at an offset that is gone: place, offsets, and the option that goes on."""
    topic.send([(0, BROKEN)] * 5 + [(1, BROKEN)])
    topic.stream()
    topic.send([(0, BROKEN)] * 5)
    delete_records(admin, topic, 0, 8)
    place = f"{topic.name}/0: the log goes on at offset 5, and the oldest offset"
    with pytest.raises(cwd.StreamError, match=f"{place} of the partition is 8; 3 offsets lie"):
        topic.stream()
    assert landed(topic) == 6
    said: list[str] = []
    written: list[str] = []
    outcome = topic.stream(
        source={"failOnDataLoss": "false"}, notice=said.append, metrics=written.append
    )
    assert outcome.stream is not None
    assert (outcome.counts.messages, outcome.stream.offset_gaps) == (2, 3)
    assert said[0] == f"{topic.name}/0: 3 offsets were deleted before they were read"
    assert json.loads(written[0])["offset_gaps"] == 3
    assert topic.stream().counts.messages == 0


def test_records_that_are_deleted_while_a_stream_reads_are_no_silence(
    topic: Topic, admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They vanish after the stream looked where the partition begins."""
    topic.send([(0, BROKEN)] * 9)
    topic.stream()
    topic.send([(0, BROKEN)] * 9)
    begin = run.TopicStream.begin

    def late(stream: Any, places: Any) -> None:
        bounds = stream.reader.bounds

        def earlier(place: Place) -> Bounds:
            found: Bounds = bounds(place)
            return found._replace(oldest=0)

        stream.reader.bounds = earlier
        delete_records(admin, topic, 0, 12)
        begin(stream, places)
        stream.reader.bounds = bounds

    monkeypatch.setattr(run.TopicStream, "begin", late)
    with pytest.raises(cwd.StreamError, match="the oldest offset of the partition is 12"):
        topic.stream()
    outcome = topic.stream(source={"failOnDataLoss": "false"})
    assert outcome.stream is not None
    assert (outcome.counts.messages, outcome.stream.offset_gaps) == (6, 3)


def test_a_topic_that_was_created_again_is_refused(topic: Topic, admin: AdminClient) -> None:
    """Its offsets are those of other records, which the log would take for those that it has."""
    topic.send([(0, BROKEN)] * 5)
    topic.stream()
    for done in admin.delete_topics([topic.name]).values():
        done.result()
    time.sleep(1)
    again = Topic(topic.server, topic.name, topic.root)
    again.send([(0, BROKEN)] * 2)
    with pytest.raises(cwd.StreamError, match="goes on at offset 5, and the partition ends before"):
        again.stream(source={"failOnDataLoss": "false"})


def test_a_stream_outlives_its_broker(tmp_path: Path) -> None:
    """It waits while no broker answers, says so once, and goes on when there is one again.

    The folder of the broker that ended is the same broker, with its topics, when it starts again.
    """
    with broker(tmp_path / "broker") as server:
        topic = Topic(server, "outlived", tmp_path)
        topic.send(history(1, 20))
        stream = running(topic)
        found = stream.__enter__()
        found.until(lambda: landed(topic) == len(topic.sent))
    assert not listens(server)
    found.until(lambda: any("waiting" in line for line in found.lines))
    time.sleep(2)
    with broker(tmp_path / "broker") as again:
        assert again == server
        topic.send(history(2, 20))
        found.until(lambda: landed(topic) == len(topic.sent))
        stream.__exit__(None, None, None)
    waiting = f"no Kafka broker answers on {server}: waiting"
    # Once more if what the client read before that arrives after the first line.
    assert found.lines.count(waiting) in {1, 2}
    assert_same(topic)


def test_a_second_process_on_a_log_is_refused(
    topic: Topic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a lock; and where there is none by the log, when it commits, whoever commits first."""
    topic.send([(0, BROKEN)])
    with running(topic) as found:
        found.until(lambda: landed(topic) == 1)
        with pytest.raises(cwd.OwnerError, match="another stream writes to the log"):
            topic.stream()
    monkeypatch.setattr(run, "claimed", nullcontext)
    begin = run.TopicStream.begin

    def begun(stream: Any, places: Any) -> None:
        begin(stream, places)
        monkeypatch.setattr(run.TopicStream, "begin", begin)
        topic.stream()

    topic.send([(0, BROKEN)] * 2)
    monkeypatch.setattr(run.TopicStream, "begin", begun)
    with pytest.raises(cwd.OwnerError, match="expected batch 1 next, found 2"):
        topic.stream()
    assert topic.lake().log() == topic.expected().log()


def test_transactions_leave_gaps(topic: Topic) -> None:
    """Aborted records are not read, markers are passed over, and nothing is read again."""
    producer = Producer({"bootstrap.servers": topic.server, "transactional.id": topic.name})
    producer.init_transactions(30)
    for is_kept in (True, False, True, False):
        producer.begin_transaction()
        for _ in range(2):
            producer.produce(topic.name, BROKEN, partition=0)
        producer.flush()
        producer.commit_transaction(30) if is_kept else producer.abort_transaction(30)
    outcome = topic.stream()
    assert outcome.stream is not None
    assert (outcome.counts.messages, outcome.stream.offset_gaps) == (4, 8)
    assert outcome.stream.lag_offsets == 0
    again = topic.stream()
    assert again.stream is not None
    assert (again.counts.messages, again.stream.offset_gaps) == (0, 0)


def test_a_topic_that_vanishes_ends_the_stream(
    topic: Topic, admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the partition, and comes if the topic stays away."""
    monkeypatch.setattr(troubles, "_GRACE", 1.0)
    topic.send([(0, BROKEN)])

    def until() -> bool:
        if landed(topic) == 1:
            for done in admin.delete_topics([topic.name]).values():
                done.exception()
        return False

    with pytest.raises(cwd.StreamError, match=rf"{topic.name} \[[01]\]: "):
        topic.stream(continuous=True, batch_every=0.2, source=OFTEN, stop=until)


def test_a_topic_of_a_pattern_that_vanishes_unread_is_a_counted_gap(
    topic: Topic, admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream reads the other topics to their ends, and ends too."""
    monkeypatch.setattr(troubles, "_GRACE", 1.0)
    for _ in range(20):
        topic.send([(0, BROKEN * 40)] * 5)
    other = Topic(topic.server, f"{topic.name}-other", topic.root)
    other.send([(0, BROKEN)])
    source = {"subscribe": "", "subscribePattern": f"{topic.name}.*", "failOnDataLoss": "false"}
    said: list[str] = []

    def until() -> bool:
        if landed(topic):
            for done in admin.delete_topics([topic.name]).values():
                done.exception()
        return False

    outcome = topic.stream(
        source={**source, **OFTEN, **FEW}, batch_size=5, stop=until, notice=said.append
    )
    assert outcome.stream is not None
    lost = len(topic.sent) + len(other.sent) - outcome.counts.messages
    assert outcome.stream.offset_gaps == lost > 0
    assert outcome.stream.lag_offsets is not None
    assert said.count(f"{topic.name}/0: the partition is gone, {lost} offsets unread") == 1
