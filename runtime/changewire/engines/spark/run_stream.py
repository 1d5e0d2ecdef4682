"""Kafka topics to a log and its tables as a streaming query, which resumes where it ended."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.errors import StreamError
from changewire.engines.messages import counts_of
from changewire.engines.options import CATALOG, KafkaOptions, StreamOptions, TableOptions
from changewire.engines.outcome import Outcome
from changewire.engines.spark.kafka.options import address, option
from changewire.engines.spark.kafka.read import read_kafka
from changewire.engines.spark.log.batch import land_counted
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.merge.options import apply_options
from changewire.engines.spark.merge.query import start
from changewire.engines.spark.messages import frames_by
from changewire.engines.spark.session import is_remote, session
from changewire.engines.spark.stream.compatible import SETTINGS
from changewire.engines.spark.stream.ending import await_end
from changewire.engines.spark.stream.totals import CommittedBatches


def run_stream(
    options: KafkaOptions,
    output: str,
    *,
    decode_options: DecodeOptions,
    stream_options: StreamOptions,
    table_options: TableOptions | None = None,
    packages: str | None = None,
    show_values: bool = False,
) -> Outcome:
    """Write Kafka topics to a log and tables, as `changewire.jobs.topics.stream_topics` does.

    A new checkpoint begins at the earliest offset, unless ``startingOffsets`` says otherwise.

    Raises:
        KafkaSourceError: An option is wrong, or the connector, a broker or a topic is not there.
        StreamError: Checkpoint or outputs do not fit, a batch has too many dead letters, or the
            session is one of Spark Connect.
        ConservationError: The rows of a batch do not add up.
        ValueError: There is no such sink.
    """
    started = time.perf_counter()
    spark = _local_session(packages, stream_options.sink, output)
    batches = CommittedBatches(
        counts_of(decode_options), stream_options.listener, show_values=show_values
    )
    counted = replace(stream_options, listener=batches.listener)
    query = _started(spark, _from_earliest(options), decode_options, counted, table_options)
    ready = time.perf_counter()
    signal = await_end(query, progress=batches.committed)
    return Outcome(
        counts=batches.counts,
        format=decode_options.format,
        inputs=[address(options)],
        output=output,
        engine=f"spark {spark.version}",
        seconds=time.perf_counter() - started,
        first_dead_letters=batches.letters,
        stream=batches.stream(None if signal is None else signal.name),
        native=batches.counts.native,
        tables=None if table_options is None else dict(sorted(batches.tables.items())),
        start_seconds=ready - started,
    )


def settings(packages: str | None, sink: str, output: str) -> dict[str, str]:
    """Return the settings of a session that is started.

    Iceberg gets a catalog `CATALOG`, whose tables are folders of the output.
    """
    found = {"spark.jars.packages": packages} if packages else {}
    catalog = {
        f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
        f"spark.sql.catalog.{CATALOG}.type": "hadoop",
        f"spark.sql.catalog.{CATALOG}.warehouse": str(Path(output).resolve()),
    }
    return {**found, **SETTINGS.get(sink, {}), **(catalog if sink == "iceberg" else {})}


def _local_session(packages: str | None, sink: str, output: str) -> SparkSession:
    """Return a session whose driver is this process."""
    spark = session(settings(packages, sink, output))
    if is_remote(spark):
        raise StreamError(
            "a run counts its batches in this process, and a session of Spark Connect writes them "
            "in another: use `changewire.spark.land` or `apply_changes`"
        )
    return spark


def _started(
    spark: SparkSession,
    options: KafkaOptions,
    decode_options: DecodeOptions,
    stream: StreamOptions,
    table_options: TableOptions | None,
) -> StreamingQuery:
    messages, log = read_kafka(spark, options), LogPlace(stream.log, stream.sink)
    if table_options is None:
        return land_counted(frames_by(decode_options, messages), log, stream)
    how = apply_options(decode_options, table_options, log=log, checkpoint=stream.checkpoint)
    return start(messages, how, stream.listener, stream.trigger)


def _from_earliest(options: KafkaOptions) -> KafkaOptions:
    """Return options that say where to begin; Spark's own default skips what is there."""
    texts = {name: str(value) for name, value in options.items()}
    starts = any(option(texts, f"startingOffsets{form}") for form in ("", "ByTimestamp"))
    starts = starts or bool(option(texts, "startingTimestamp"))
    return options if starts else {**options, "startingOffsets": "earliest"}
