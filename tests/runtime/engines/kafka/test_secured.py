"""Topics of a broker that takes TLS and a password, with Spark and without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.samples import FORMAT, MIXED_COUNTS, mixed_messages
from tests.support.secured import LOGIN, PASSWORD, USER, Secured, secured_broker
from tests.support.topics import create, produce

import changewire.delta as cwd
import changewire.spark as cws
from changewire.engines.stream import reader
from changewire.framing import Position, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOPIC = "secured"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker that has the mixed messages."""
    with secured_broker(tmp_path_factory.mktemp("secured") / "broker") as found:
        create(found.plain, TOPIC)
        position = Position(topic=TOPIC, partition=0)
        produce(found.plain, [Record(b"k", value, position) for value in mixed_messages()])
        yield found


def options(secured: Secured, **of_client: str) -> dict[str, str]:
    """Return how the topic is read."""
    return {
        "kafka.bootstrap.servers": secured.server,
        "subscribe": TOPIC,
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "PLAIN",
        **{name.replace("_", "."): value for name, value in of_client.items()},
    }


def local(secured: Secured) -> dict[str, str]:
    """Return how librdkafka reads the topic."""
    return options(
        secured,
        kafka_ssl_ca_location=str(secured.certificate),
        kafka_sasl_username=USER,
        kafka_sasl_password=PASSWORD,
    )


def test_without_spark(secured: Secured, tmp_path: Path) -> None:
    """Options of librdkafka name certificate, user and password."""
    outcome = cwd.stream(local(secured), format=FORMAT, log=f"{tmp_path}/log")
    assert outcome.counts.messages == MIXED_COUNTS["messages"]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"kafka.sasl.password": "wrong-canary"}, "uthentication"),
        ({"kafka.ssl.ca.location": "probe"}, "SSL"),
    ],
)
def test_what_is_refused_is_an_error(
    secured: Secured,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    wrong: dict[str, str],
    text: str,
) -> None:
    """A wrong password, or a certificate that is not trusted, ends the stream at its start."""
    monkeypatch.setattr(reader, "_SECONDS", 5.0)
    with pytest.raises(cwd.KafkaSourceError, match=text) as found:
        cwd.stream({**local(secured), **wrong}, format=FORMAT, log=f"{tmp_path}/log")
    assert "canary" not in str(found.value)


def test_with_spark(spark: SparkSession, secured: Secured) -> None:
    """Options of the Java client name certificate and login."""
    given = options(
        secured,
        kafka_ssl_truststore_type="PEM",
        kafka_ssl_truststore_location=str(secured.certificate),
        kafka_sasl_jaas_config=f'{LOGIN} required username="{USER}" password="{PASSWORD}";',
        startingOffsets="earliest",
    )
    rows = cws.read_kafka(spark, given, streaming=False)
    assert rows.count() == MIXED_COUNTS["messages"]
