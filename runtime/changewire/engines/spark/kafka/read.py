"""Messages of Kafka topics, by Spark's own source; a broker and the topics are looked for first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from changewire.engines.kafka_options import (
    TOPICS,
    KafkaSourceError,
    addresses,
    check_answers,
    checked,
    option,
    reason,
)
from changewire.engines.options import KafkaOptions
from changewire.engines.spark.session import check_jars, is_remote
from changewire.tested import ran_with

_NO_CONNECTOR: Final = (
    *("Failed to find data source: kafka", "DATA_SOURCE_NOT_FOUND"),
    *("NoClassDefFoundError", "ClassNotFoundException"),
)
_CONNECTOR: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13"

_TIMEOUTS: Final = ("kafka.request.timeout.ms", "kafka.default.api.timeout.ms")
_MILLISECONDS: Final = "10000"
"""How long the look at the topics may take: Kafka and Spark would try for minutes."""

_FAILED: Final = "Error occurred during query planning"
_CAUSED: Final = re.compile(r"^Caused by: (?:[a-z]\w*\.)*(.+)$", re.MULTILINE)
_NO_TOPIC: Final = "UnknownTopicOrPartitionException"


def read_kafka(spark: SparkSession, options: KafkaOptions, *, streaming: bool = True) -> DataFrame:
    """Return the messages of Kafka topics, for `decode` and all that takes a DataFrame of messages.

    It is Spark's own source ``kafka``, whose every option passes through; nothing is read before a
    query runs. That the topics can be read is checked at once. Offset gaps, as compaction and
    transactions leave them, are no error.

    Args:
        spark: The session; it needs the jars of Spark's Kafka connector.
        options: Options of the source, `as its guide lists them
            <https://spark.apache.org/docs/latest/structured-streaming-kafka-integration.html>`_:
            ``kafka.bootstrap.servers``, one of ``subscribe``, ``subscribePattern`` and ``assign``,
            ``startingOffsets``, ``maxOffsetsPerTrigger``, any ``kafka.*`` of the client. Headers
            are included unless ``includeHeaders`` says otherwise, and a broker waits 10 ms for
            records that are not there, unless ``kafka.fetch.max.wait.ms`` does.
        streaming: False reads what is there, by default from the earliest offset to the latest.

    Returns:
        A DataFrame with the columns ``key``, ``value``, ``topic``, ``partition``, ``offset``,
        ``timestamp``, ``timestampType`` and ``headers``.

    Raises:
        KafkaSourceError: The connector, a broker or a topic is missing, or Spark refuses an
            option; its text has no secret. It is a ValueError too if servers or topics are not
            named, or an address is wrong.
        StreamError: The session's connector is for another Spark.
    """
    check_jars(spark)
    texts = checked(options)
    reader = spark.readStream if streaming else spark.read
    try:
        messages = reader.format("kafka").options(**texts).load()
        messages.schema  # noqa: B018 - Spark Connect looks for the source only now
    except Exception as error:  # noqa: BLE001 - what Spark, Py4J and gRPC raise has no class in common
        if any(text in str(error) for text in _NO_CONNECTOR):
            raise KafkaSourceError(no_connector(spark.version)) from None
        refused = f"Spark refuses the options: {reason(error, texts)}"
        # Without its cause, which shows the options as they are.
        raise KafkaSourceError(refused) from None
    _check_reachable(spark, texts)
    return messages


def no_connector(version: str) -> str:
    """Return what to do if a session lacks the connector of its Spark, in several lines."""
    tested = ran_with(version)
    connector = tested.kafka if tested and tested.kafka else f"{_CONNECTOR}:{version}"
    return (
        "this Spark has no Kafka connector: give `changewire stream`, spark-submit or pyspark\n"
        f"  --packages {connector}\n"
        "The connector needs the jar spark-token-provider-kafka-0-10_2.13 of the same version, "
        "which --packages fetches too; if a mirror lacks it, that of an earlier 4.x will do."
    )


def _check_reachable(spark: SparkSession, options: Mapping[str, str]) -> None:
    """Check that a broker and the topics exist; over Spark Connect the driver is elsewhere."""
    if not is_remote(spark):
        check_answers(options)
    messages = _bounded(spark, options)
    failure = _failure(messages)
    if not failure:
        return
    named = ", ".join(f"{host}:{port}" for host, port in addresses(options))
    if _NO_TOPIC in failure:
        missing = _missing(spark, options)
        raise KafkaSourceError(f"no topic {missing} on {named}: create it, or correct its name")
    try:
        messages.isEmpty()
    except Exception as error:  # noqa: BLE001 - as above
        causes = _CAUSED.findall(str(error))  # an EXPLAIN gives the outermost alone
        cause = reason(causes[-1] if causes else error, options)
        raise KafkaSourceError(f"the topics on {named} cannot be read: {cause}") from None


def _failure(messages: DataFrame) -> str:
    """Return what Spark says if it cannot plan a read; it asks the broker, and reads nothing."""
    spark = messages.sparkSession
    try:
        plan = spark.sql("EXPLAIN SELECT offset FROM {messages}", messages=messages).collect()
    except Exception as error:  # noqa: BLE001 - as above
        return str(error)
    text = "\n".join(str(row[0]) for row in plan)
    return text if _FAILED in text else ""


def _bounded(spark: SparkSession, options: Mapping[str, str]) -> DataFrame:
    """Return a read of all that the topics have, with bounds on how long their look-up takes."""
    wanted = ("kafka.", *(name.lower() for name in TOPICS))
    given = {name: text for name, text in options.items() if name.lower().startswith(wanted)}
    # Kafka's client checks one against the other, so it gets either both of ours or those given.
    timed = any(option(given, name) for name in _TIMEOUTS)
    bounds = {} if timed else dict.fromkeys(_TIMEOUTS, _MILLISECONDS)
    reader = spark.read.format("kafka").option("fetchOffset.numRetries", 1)
    return reader.options(**given, **bounds).load()


def _missing(spark: SparkSession, options: Mapping[str, str]) -> str:
    """Return the names of the topics that are missing, or the requested ones."""
    asked = next(filter(None, (option(options, name) for name in TOPICS)))
    names = [name.strip() for name in option(options, "subscribe").split(",") if name.strip()]
    servers = {name: text for name, text in options.items() if name.lower().startswith("kafka.")}
    reads = {name: _bounded(spark, {**servers, "subscribe": name}) for name in names}
    missing = [name for name, messages in reads.items() if _NO_TOPIC in _failure(messages)]
    return ", ".join(missing or [asked])
