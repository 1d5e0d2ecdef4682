"""Messages of Kafka topics, by Spark's own source."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, SparkSession

from changewire.engines.options import KafkaOptions
from changewire.engines.spark.kafka.errors import KafkaSourceError, reason
from changewire.engines.spark.kafka.options import checked
from changewire.engines.spark.kafka.reach import check_reachable
from changewire.engines.spark.session import check_jars
from changewire.tested import ran_with

_NO_SOURCE: Final = ("Failed to find data source: kafka", "DATA_SOURCE_NOT_FOUND")
_CONNECTOR: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13"
_NO_CLASS: Final = ("NoClassDefFoundError", "ClassNotFoundException")


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
        KafkaSourceError: The connector, a broker or a topic is not there, or Spark refuses an
            option; its text holds no secret. It is a ValueError too if servers or topics are not
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
        if any(text in str(error) for text in (*_NO_SOURCE, *_NO_CLASS)):
            raise KafkaSourceError(no_connector(spark.version)) from None
        refused = f"Spark refuses the options: {reason(error, texts)}"
        # Without its cause, which shows the options as they are.
        raise KafkaSourceError(refused) from None
    check_reachable(spark, texts)
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
