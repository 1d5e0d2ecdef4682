"""What cannot be read is said before a query runs, and says no secret."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import pytest
from examples.broker import HOST, free_port
from hypothesis import given
from hypothesis import strategies as st
from tests.support.topics import create

import changewire.spark as cws
from changewire.engines.kafka_options import hidden, reason
from changewire.engines.spark.kafka.read import no_connector
from changewire.tested import ran_with

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SECRETS = ("canary-jaas", "canary-store", "canary-token")
CLIENT = "org.apache.kafka.common.security.plain.PlainLoginModule"
SECRET: dict[str, str] = {
    "kafka.sasl.jaas.config": f'{CLIENT} required username="app" password="{SECRETS[0]}";',
    "kafka.ssl.truststore.password": SECRETS[1],
    "kafka.some.new.credential": SECRETS[2],
}


def refusal(spark: SparkSession, options: dict[str, str], *, streaming: bool = True) -> str:
    """Return what is said where topics cannot be read, and check that no secret is in it."""
    with pytest.raises(cws.KafkaSourceError) as caught:
        cws.read_kafka(spark, {**SECRET, **options}, streaming=streaming)
    error = caught.value
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    assert not [secret for secret in SECRETS if secret in repr(error)]
    return str(error)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "subscribe, subscribePattern, assign$"),
        ({"subscribe": "t"}, "kafka.bootstrap.servers, as HOST:PORT"),
        ({"subscribe": "t", "subscribePattern": "t"}, "not both subscribe and subscribePattern"),
        ({"subscribe": "t", "kafka.bootstrap.servers": "here"}, "expected HOST:PORT, found 'here'"),
        ({"subscribe": "t", "kafka.bootstrap.servers": "h:0"}, "expected HOST:PORT, found 'h:0'"),
    ],
)
def test_servers_and_topics_must_be_named(
    spark: SparkSession, options: dict[str, str], text: str
) -> None:
    """Without them, or with too many, the error names the options."""
    with pytest.raises(ValueError, match=text):
        cws.read_kafka(spark, options)


def test_a_broker_that_is_not_there_is_named(spark: SparkSession) -> None:
    """Each address that was tried stands in the error, which comes at once."""
    ports = [free_port(), free_port()]
    servers = ",".join(f"{HOST}:{port}" for port in ports)
    start = time.monotonic()
    text = refusal(spark, {"kafka.bootstrap.servers": servers, "subscribe": "t"})
    assert text.startswith("no Kafka broker answers: ")
    assert all(f"{HOST}:{port} (" in text for port in ports)
    assert time.monotonic() - start < 10


def test_a_topic_that_is_not_there_is_named(spark: SparkSession, kafka: str) -> None:
    """Of several topics those that are missing stand in the error."""
    create(kafka, "there")
    options = {"kafka.bootstrap.servers": kafka, "subscribe": "there, absent,gone"}
    assert refusal(spark, options).startswith(f"no topic absent, gone on {kafka}: ")


def test_a_refusal_of_the_client_tells_its_reason(spark: SparkSession, kafka: str) -> None:
    """What Kafka's client refuses is reported in its words, with what may be secret left out."""
    jaas = SECRET["kafka.sasl.jaas.config"].rstrip(";")
    options = {
        "kafka.bootstrap.servers": kafka,
        "subscribe": "t",
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.jaas.config": jaas,
    }
    text = f"the topics on {kafka} cannot be read: IllegalArgumentException: "
    assert refusal(spark, options).startswith(text)


@pytest.mark.parametrize("streaming", [True, False])
def test_a_refusal_of_spark_tells_its_reason(
    spark: SparkSession, kafka: str, *, streaming: bool
) -> None:
    """What Spark's source refuses is reported in its words, with what may be secret left out."""
    options = {
        "kafka.bootstrap.servers": kafka,
        "subscribe": "t",
        "kafka.auto.offset.reset": SECRETS[2],
    }
    text = refusal(spark, options, streaming=streaming)
    assert text.startswith("Spark refuses the options: ")
    assert "auto.offset.reset" in text


def test_what_spark_shows_of_messages_has_no_secret(spark: SparkSession, kafka: str) -> None:
    """Neither the DataFrame nor the plans of a batch read show a secret."""
    create(kafka, "shown")
    options = {**SECRET, "kafka.bootstrap.servers": kafka, "subscribe": "shown"}
    messages = cws.read_kafka(spark, options, streaming=False)
    shown = f"{messages!r} {cws.read_kafka(spark, options)!r} {plans(messages)}"
    assert "KafkaRelation" in shown
    assert not [secret for secret in SECRETS if secret in shown]


def test_secrets_may_stay_in_a_file(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    """What a provider of Kafka's client fills in reaches the client, and no plan of a stream."""
    create(kafka, "provided")
    file = tmp_path / "client.properties"
    file.write_text(f"protocol=PLAINTEXT\npassword={SECRETS[1]}\n", encoding="utf-8")
    provider = "org.apache.kafka.common.config.provider.FileConfigProvider"
    options = {
        "kafka.bootstrap.servers": kafka,
        "subscribe": "provided",
        "kafka.config.providers": "file",
        "kafka.config.providers.file.class": provider,
        "kafka.security.protocol": f"${{file:{file}:protocol}}",
        "kafka.ssl.truststore.password": f"${{file:{file}:password}}",
    }
    assert cws.read_kafka(spark, options, streaming=False).isEmpty()
    shown = plans(cws.read_kafka(spark, options))
    assert "StreamingRelation" in shown
    assert SECRETS[1] not in shown


def plans(messages: DataFrame) -> str:
    """Return all plans of a DataFrame."""
    found = messages.sparkSession.sql("EXPLAIN EXTENDED SELECT * FROM {m}", m=messages).collect()
    return str(found)


def test_values_that_may_be_secret_are_hidden() -> None:
    """Of options that are not known to be harmless neither the value nor a part of it is shown."""
    options = {
        "kafka.sasl.jaas.config": "Module required username=app password=longsecret;",
        "kafka.sasl.oauthbearer.jwks": '{"k": "quoted-secret"}',
        "Kafka.Bootstrap.Servers": "host:9092",
        "kafka.ssl.truststore.location": "/store.jks",
        "kafka.ssl.keystore.key": "-----BEGIN KEY-----\nc2VjcmV0\n-----END KEY-----",
        "failOnDataLoss": "false",
    }
    text = "longsecret; quoted-secret, c2VjcmV0 at host:9092 /store.jks false"
    assert hidden(text, options) == "[hidden]; [hidden], [hidden] at host:9092 /store.jks false"


@given(
    secret=st.text(ascii_uppercase, min_size=4),
    value=st.sampled_from(
        ["{}", 'module required password="{}";', "module required password={};", "begin\n{}\nend"]
    ),
    said=st.sampled_from(["{}", "option '{}' is bad", 'entry "{}\\";"', "a\nb{}c"]),
)
def test_no_secret_is_told(secret: str, value: str, said: str) -> None:
    """Wherever a secret stands in an option, and in what Spark says, the reason is without it."""
    options = {"kafka.any": value.format(secret)}
    assert secret not in reason(said.format(secret), options)
    assert secret not in reason(said.format(options["kafka.any"]), options)


@pytest.fixture
def without_jars(spark: SparkSession) -> Iterator[None]:
    """Let the thread of this test look for classes in Spark's own jars alone."""
    session: Any = spark
    jvm = session._jvm  # noqa: SLF001 - its only name
    thread = jvm.java.lang.Thread.currentThread()
    with_jars = thread.getContextClassLoader()
    thread.setContextClassLoader(jvm.java.lang.ClassLoader.getSystemClassLoader())
    yield
    thread.setContextClassLoader(with_jars)


@pytest.mark.usefixtures("without_jars")
def test_a_missing_connector_is_named_as_spark_wants_it(spark: SparkSession) -> None:
    """A Spark without the connector gets the line that starts one with it."""
    text = refusal(spark, {"kafka.bootstrap.servers": "h:1", "subscribe": "t"})
    assert text.startswith("this Spark has no Kafka connector")
    tested = ran_with(spark.version)
    assert tested is not None
    assert f"  --packages {tested.kafka}" in text.splitlines()
    assert "spark-token-provider-kafka-0-10_2.13" in text


def test_an_untested_spark_is_told_the_connector_of_its_version() -> None:
    """Spark and its own connector have one version."""
    line = "  --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.9.1"
    assert line in no_connector("4.9.1").splitlines()
