"""The example of a producer sends what is good and says what is not."""

import json
import re
import subprocess
import sys
from pathlib import Path

from confluent_kafka import DeserializingConsumer
from tests.samples import examples
from tests.support.topics import create

import changewire as cw
from changewire.kafka import ChangewireDeserializer

SCRIPT = Path(__file__).parents[2] / "examples" / "producer.py"
NOT_DELIVERED = (
    r"missing: (\d) not delivered: (?:Unable to produce message: )?"
    r"(?:Broker: Unknown topic or partition|Local: Unknown topic)"
)


def test_the_producer_sends_what_is_good(kafka: str) -> None:
    """Good lines reach the topic in order; bad ones are told by number, with their reasons."""
    write = examples("write")[0]
    good = [{**write, "gen": gen} for gen in range(3)]
    bad = [{**write, "gen": "3", "lut": "3"}, {**write, "gne": 3}]
    lines = [json.dumps(message) for message in (good[0], bad[0], good[1], bad[1], good[2])]
    create(kafka, "produced")
    run = subprocess.run(
        [sys.executable, SCRIPT, kafka, "produced"],
        input="\n".join(lines),
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=60,
    )
    assert run.returncode == 1
    said = run.stderr.splitlines()
    assert [line.partition(":")[0] for line in said] == ["line 2", "line 4"]
    assert said[0].count("wrong-type") == 2
    assert "at /gne: " in said[1]
    settings = {"bootstrap.servers": kafka, "group.id": "produced", "auto.offset.reset": "earliest"}
    read = {"value.deserializer": ChangewireDeserializer()}
    with DeserializingConsumer({**settings, **read}) as consumer:
        consumer.subscribe(["produced"])
        found = [consumer.poll(20) for _ in good]
    models = [message.value() for message in found if message is not None]
    assert models == [cw.decode(json.dumps(message)) for message in good]


def test_a_missing_topic_gives_one(kafka: str) -> None:
    """Messages that no broker took are counted by their reason, and the exit code is 1."""
    at_once = '"topic.metadata.propagation.max.ms": 0, "bootstrap.servers":'
    program = SCRIPT.read_text(encoding="utf-8").replace('"bootstrap.servers":', at_once)
    run = subprocess.run(
        [sys.executable, "-c", program, kafka, "missing"],
        input="\n".join(json.dumps(message) for message in examples("write")[:1] * 2),
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=60,
    )
    lines = [line for line in run.stderr.splitlines() if not line.startswith(("%", "waiting"))]
    # A message that waits when the broker first answers is given up by the client itself.
    found = [re.fullmatch(NOT_DELIVERED, line) for line in lines]
    assert all(found), lines
    assert sum(int(one[1]) for one in found if one) == 2
    assert run.returncode == 1
