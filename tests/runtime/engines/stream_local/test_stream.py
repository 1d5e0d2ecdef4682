"""A topic becomes a log and tables, as a file of the same messages does."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from deltalake import DeltaTable
from tests.runtime.engines.merge.messages import message
from tests.runtime.engines.stream_local.topics import (
    BROKEN,
    FORMAT,
    TYPES,
    Topic,
    assert_same,
    history,
)
from tests.samples import FORMAT as AEROSPIKE
from tests.samples import mixed_messages

import changewire.delta as cwd


def test_a_topic_becomes_what_a_file_of_it_does(topic: Topic) -> None:
    """Log and tables are the same; a second run adds nothing, and a third what came since."""
    topic.send(history(1, 60))
    first = topic.stream()
    assert first.counts.messages == len(topic.sent)
    assert first.counts.dead_letters == sum(one.value == BROKEN for one in topic.sent)
    assert first.stream is not None
    assert (first.stream.batches, first.stream.lag_offsets, first.stream.offset_gaps) == (1, 0, 0)
    assert first.inputs == [f"kafka://{topic.server}/{topic.name}"]
    assert_same(topic)
    again = topic.stream()
    assert (again.counts.messages, again.tables) == (0, {})
    topic.send(history(2, 40))
    later = topic.stream()
    assert later.counts.messages == len(topic.sent) - first.counts.messages
    assert later.already_in_log == 0
    assert later.stream is not None
    assert later.stream.query == first.stream.query
    assert_same(topic)


@pytest.mark.parametrize("seed", range(3))
def test_limits_of_batches_do_not_matter(topic: Topic, seed: int) -> None:
    """Whatever the batches are, and wherever runs begin, log and tables are the same."""
    draw = Random(seed)  # noqa: S311 - not a secret
    for part in range(3):
        topic.send(history(10 * seed + part, draw.randrange(40)))
        topic.stream(batch_size=draw.choice([1, 3, 10, 1000]), continuous=False)
    assert_same(topic)


def test_records_keep_all_that_they_have(topic: Topic) -> None:
    """Record keys, headers and times are in the log, of any messages and none."""
    topic.send([(0, value) for value in mixed_messages()])
    cwd.stream(topic.options, format=AEROSPIKE, log=topic.places()["log"])
    places: dict[str, Any] = {**topic.places("expected"), "format": AEROSPIKE}
    cwd.apply_changes(topic.sent, **places)
    assert topic.lake().rows() == topic.lake("expected").rows()
    assert not (topic.root / "lake" / "tables").exists()


def test_messages_are_kept_as_they_are(topic: Topic) -> None:
    """A log of messages has typed columns, and goes on where it ended."""
    log = topic.places()["log"]
    for _ in range(2):
        topic.send([(0, value) for value in mixed_messages()])
        found = cwd.stream(topic.options, format=AEROSPIKE, log=log, elements_as="messages")
        assert (found.counts.messages, found.counts.dead_letters) == (13, 3)
    rows = DeltaTable(log).to_pyarrow_table()
    assert (len(rows), len({*rows["offset"].to_pylist()})) == (30, 26)
    with pytest.raises(cwd.OutputError, match="a column op of type string is needed"):
        cwd.stream(topic.options, format=AEROSPIKE, log=log)


def test_lines_say_what_batches_did(topic: Topic) -> None:
    """A line of JSON for each batch and each merge has the numbers that Spark's have."""
    topic.send([(0, value) for _, value in history(3, 10)])
    told: list[str] = []
    said: list[str] = []
    topic.stream(batch_size=5, metrics=told.append, notice=said.append)
    lines = [json.loads(line) for line in told]
    assert [line["batch"] for line in lines if "rows" in line][:2] == [0, 1]
    assert sum(line["rows"] for line in lines if "rows" in line) == len(topic.sent)
    assert {"messages", "elements", "lag_offsets", "lag_seconds", "offset_gaps"} <= {*lines[0]}
    assert lines[0]["lag_offsets"] == len(topic.sent) - 5
    assert "changes_by_table" in lines[-1]
    assert said[0].startswith("batch 0: 5 messages, ")
    assert said[-1].startswith("tables, batch ")


def test_the_log_says_how_far_it_is(topic: Topic) -> None:
    """Its commits have the next offset of each partition; a group of the user's sees them.

    No pattern matches the topic in which Kafka keeps those of groups.
    """
    topic.send([(0, BROKEN)] * 3 + [(1, BROKEN)])
    group = f"{topic.name}-group"
    topic.stream(source={"kafka.group.id": group})
    log = DeltaTable(topic.places()["log"])
    app = f"changewire/{log.metadata().id}"
    assert log.transaction_version(app) == 1
    assert log.transaction_version(f"{app}/{topic.name}/0") == 3
    assert log.transaction_version(f"{app}/{topic.name}/1") == 1
    reader = Consumer({"bootstrap.servers": topic.server, "group.id": group})
    places = [TopicPartition(topic.name, number) for number in range(2)]
    assert [one.offset for one in reader.committed(places, timeout=10)] == [3, 1]
    assert "__consumer_offsets" in reader.list_topics().topics
    reader.close()
    pattern = {"subscribe": "", "subscribePattern": f"(__|{topic.name}).*"}
    other = topic.places("other")["log"]
    found = cwd.stream({**topic.options, **pattern}, format=FORMAT, log=other)
    assert found.counts.messages == 4


def test_what_is_there_is_passed_over_if_asked(topic: Topic) -> None:
    """From the latest offsets on: they are kept before any record comes."""
    topic.send([(0, BROKEN)] * 3)
    latest = {"startingOffsets": "latest"}
    assert topic.stream(source=latest).counts.messages == 0
    topic.send([(0, BROKEN), (1, BROKEN)])
    assert topic.stream(source=latest).counts.messages == 2
    starts = {"startingOffsets": json.dumps({topic.name: {"0": 3, "1": -1}})}
    found = cwd.stream({**topic.options, **starts}, format=FORMAT, log=topic.places("other")["log"])
    assert found.counts.messages == 1


def test_changes_without_keys_are_refused_before_anything_is_landed(topic: Topic) -> None:
    """As often as the stream is started; with a key it goes on."""
    row = {"id": 1, "name": "a", "price": None}
    topic.send([(0, message("INSERT", 1, row, types=TYPES, key=()))])
    for _ in range(2):
        with pytest.raises(cwd.KeysMissingError):
            topic.stream()
        assert topic.lake().log() == []
    assert topic.stream(key_columns=["id"]).tables == {"inserted": 1}


def test_a_log_of_a_file_goes_on_as_a_stream(topic: Topic) -> None:
    """A log without offsets is read from the earliest one, and what it has is left out."""
    topic.send(history(4, 20))
    cwd.apply_changes(topic.sent[:15], **topic.places())
    outcome = topic.stream()
    assert outcome.already_in_log == 15
    assert_same(topic)
