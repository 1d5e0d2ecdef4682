"""Whether a broker is there, and the topics on it, before a query runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from changewire.engines.servers import connection_refusal
from changewire.engines.spark.kafka.errors import KafkaSourceError, reason
from changewire.engines.spark.kafka.options import TOPICS, addresses, option
from changewire.engines.spark.session import is_remote

TIMEOUTS: Final = ("kafka.request.timeout.ms", "kafka.default.api.timeout.ms")
MILLISECONDS: Final = "10000"
"""How long the look at the topics may take: Kafka and Spark would try for minutes."""

_FAILED: Final = "Error occurred during query planning"
_CAUSED: Final = re.compile(r"^Caused by: (?:[a-z]\w*\.)*(.+)$", re.MULTILINE)
_NO_TOPIC: Final = "UnknownTopicOrPartitionException"


def check_reachable(spark: SparkSession, options: Mapping[str, str]) -> None:
    """Check that the driver reaches a broker and finds the topics there.

    Over Spark Connect the driver is elsewhere: only Spark itself is asked there.

    Raises:
        KafkaSourceError: No server accepts a connection, or a topic is not there, or Spark may not
            read it.
    """
    if not is_remote(spark):
        _check_servers(options)
    messages = _bounded(spark, options)
    failure = _failure(messages)
    servers = ", ".join(f"{host}:{port}" for host, port in addresses(options))
    if _NO_TOPIC in failure:
        missing = _missing(spark, options)
        raise KafkaSourceError(f"no topic {missing} on {servers}: create it, or correct its name")
    cause = reason(_cause(messages), options) if failure else ""
    if cause:
        raise KafkaSourceError(f"the topics on {servers} cannot be read: {cause}")


def _check_servers(options: Mapping[str, str]) -> None:
    """Connect to one server, as a Kafka client would."""
    refusals = []
    for host, port in addresses(options):
        refusal = connection_refusal(host, port)
        if not refusal:
            return
        refusals.append(f"{host}:{port} ({refusal})")
    raise KafkaSourceError(f"no Kafka broker answers: {', '.join(refusals)}")


def _failure(messages: DataFrame) -> str:
    """Return what Spark says where it cannot plan a read; empty if it can.

    Planning a batch read asks the broker for the topics' partitions and offsets, and reads nothing.
    """
    spark = messages.sparkSession
    try:
        plan = spark.sql("EXPLAIN SELECT offset FROM {messages}", messages=messages).collect()
    except Exception as error:  # noqa: BLE001 - what Spark, Py4J and gRPC raise has no class in common
        return str(error)
    text = "\n".join(str(row[0]) for row in plan)
    return text if _FAILED in text else ""


def _cause(messages: DataFrame) -> str:
    """Return the innermost reason why a read fails; an EXPLAIN gives the outermost alone."""
    try:
        messages.isEmpty()
    except Exception as error:  # noqa: BLE001 - as above
        causes = _CAUSED.findall(str(error))
        return str(causes[-1]) if causes else str(error)
    return ""


def _bounded(spark: SparkSession, options: Mapping[str, str]) -> DataFrame:
    """Return a read of all that the topics hold, with bounds on how long their look-up takes."""
    wanted = ("kafka.", *(name.lower() for name in TOPICS))
    given = {name: text for name, text in options.items() if name.lower().startswith(wanted)}
    # Kafka's client checks one against the other, so it gets either both of ours or those given.
    timed = any(option(given, name) for name in TIMEOUTS)
    bounds = {} if timed else dict.fromkeys(TIMEOUTS, MILLISECONDS)
    reader = spark.read.format("kafka").option("fetchOffset.numRetries", 1)
    return reader.options(**given, **bounds).load()


def _missing(spark: SparkSession, options: Mapping[str, str]) -> str:
    """Return the names of the topics that are not there, or what was asked for."""
    (asked,) = [option(options, name) for name in TOPICS if option(options, name)]
    names = [name.strip() for name in option(options, "subscribe").split(",") if name.strip()]
    servers = {name: text for name, text in options.items() if name.lower().startswith("kafka.")}
    reads = {name: _bounded(spark, {**servers, "subscribe": name}) for name in names}
    missing = [name for name, messages in reads.items() if _NO_TOPIC in _failure(messages)]
    return ", ".join(missing or [asked])
