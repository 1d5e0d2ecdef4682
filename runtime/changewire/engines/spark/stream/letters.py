"""Dead letters as records of a Kafka topic, with the headers that Kafka Connect gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.options import BatchId, StreamOptions
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.kafka.options import checked
from changewire.engines.spark.kafka.reach import check_reachable
from changewire.engines.spark.types import HEADERS

CONNECT: Final = "__connect.errors."
"""Begins Connect's names, see its ``DeadLetterQueueReporter``."""

OURS: Final = "changewire."

_CONSTANT: Final = {
    "connector.name": "changewire",
    "stage": "VALUE_CONVERTER",
    "class.name": "changewire.decode",
    "exception.class.name": "changewire.DecodeError",
}
_UNKNOWN: Final = {"topic": "", "partition": "-1", "offset": "-1"}
"""What Connect says of a record that came from no topic."""


@dataclass(frozen=True)
class DeadLettersTopic:
    """A Kafka topic that gets dead letters.

    Attributes:
        topic: Its name.
        options: Options of the producer, behind ``kafka.``.
    """

    topic: str
    options: Mapping[str, str]

    def send(self, decoded: Frames, batch: BatchId) -> None:
        """Send the dead letters of a batch, at least once.

        Those that were read from this very topic are left out: they would come back for ever.
        """
        letters = decoded.dead_letters
        others = letters.where(~F.col("topic").eqNullSafe(self.topic))
        writer = as_records(others, batch).write.format("kafka").options(**self.options)
        writer.option("topic", self.topic).save()


def topic_of(spark: SparkSession, options: StreamOptions) -> DeadLettersTopic | None:
    """Return the topic for dead letters of a stream, after a check that it exists; None if none.

    Raises:
        KafkaSourceError: A broker or the topic is not there, or no broker is named.
    """
    topic, given = options.dead_letters_topic, options.kafka or {}
    if not topic:
        return None
    client = {name: value for name, value in given.items() if name.lower().startswith("kafka.")}
    texts = checked({**client, "subscribe": topic})
    check_reachable(spark, texts)
    return DeadLettersTopic(topic, {name: texts[name] for name in client})


def as_records(letters: DataFrame, batch: BatchId) -> DataFrame:
    """Return dead letters as records: key, value and headers as received, and why they are here.

    Our headers come last, and Kafka's clients take the last of a name, so that a dead letter that
    is read and rejected again shows its second rejection first.
    """
    texts = {
        **{f"{CONNECT}{name}": _or(name, unknown) for name, unknown in _UNKNOWN.items()},
        **{f"{CONNECT}{name}": F.lit(value) for name, value in _CONSTANT.items()},
        f"{CONNECT}task.id": F.lit(batch.number),
        f"{CONNECT}exception.message": F.col("message"),
        **{f"{OURS}{name}": F.col(name) for name in ("element", "code", "pointer", "format")},
        f"{OURS}version": F.col("version"),
        f"{OURS}query": F.lit(batch.query),
    }
    added = F.array(*(_header(name, value) for name, value in texts.items()))
    received = F.coalesce(F.col("headers"), F.array().cast(HEADERS))
    headers = F.concat(received, added).alias("headers")
    return letters.select("key", "value", headers)


def _or(name: str, unknown: str) -> Column:
    return F.coalesce(F.col(name).cast("string"), F.lit(unknown))


def _header(name: str, value: Column) -> Column:
    text = value.cast("string").cast("binary")
    return F.struct(F.lit(name).alias("key"), text.alias("value"))
