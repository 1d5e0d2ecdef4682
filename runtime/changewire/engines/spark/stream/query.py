"""A streaming query that lands decoded messages, each effect once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from changewire.engines.spark import observed
from changewire.engines.spark.decode import Decoded
from changewire.engines.spark.kafka import KafkaOptions
from changewire.engines.spark.stream import limit as limits
from changewire.engines.spark.stream.batch import BatchListener, BatchWriter, Listener
from changewire.engines.spark.stream.compatible import check_output
from changewire.engines.spark.stream.identity import identity
from changewire.engines.spark.stream.letters import letters_topic
from changewire.engines.spark.stream.output import KINDS, Output
from changewire.engines.spark.stream.sinks import SINKS, Sink
from changewire.engines.typed_files import BY_STREAM


def write_stream(
    decoded: Decoded,
    *,
    change_log: str,
    controls: str,
    dead_letters: str,
    checkpoint: str,
    sink: Sink = "delta",
    trigger: Mapping[str, Any] | None = None,
    max_dead_letters: limits.Limit | None = None,
    notice: Listener | None = None,
    metrics: Listener | None = None,
    written: BatchListener | None = None,
    dead_letters_topic: str | None = None,
    kafka: KafkaOptions | None = None,
) -> StreamingQuery:
    """Start a query that appends changes, control events and dead letters, each to its output.

    Every batch is decoded once. Nothing of it is written before ``elements = changes + controls +
    dead_letters`` was found to hold. A batch that Spark does again, because the query ended before
    its commit, changes no output a second time.

    Args:
        decoded: From `decode`, of a streaming DataFrame.
        change_log: Path of the output of changes, or the name of a Delta table. What has a slash is
            a path.
        controls: The same for control events.
        dead_letters: The same for dead letters.
        checkpoint: Folder of Spark's checkpoint, one for each query.
        sink: Format of the outputs.
        trigger: Arguments of `DataStreamWriter.trigger`, such as ``{"availableNow": True}``.
        max_dead_letters: A batch with more dead letters stops the query before it is written: a
            number, or a share of its elements such as ``"5%"``.
        notice: Called with a line to read for each batch.
        metrics: Called with a line of JSON for each batch. A batch that is done again has two.
        written: Called with id, counts and decoded rows of each batch that was written; the rows
            are kept while it runs.
        dead_letters_topic: A Kafka topic that gets the dead letters as well, at least once.
        kafka: Options of its producer, such as ``kafka.bootstrap.servers``; those that are not
            behind ``kafka.`` are left out, so that the options of `read_kafka` will do.

    Returns:
        The running query. What stops it is told by `await_end`.

    Raises:
        ValueError: `decoded` is no stream, two outputs are at one place, or there is no such sink
            or limit.
        CheckpointError: The checkpoint is that of another query.
        OutputError: An output has another schema, or Spark does not know its format.
        KafkaSourceError: The topic for dead letters is not there.
    """
    targets = {"dead_letters": dead_letters, "controls": controls, "change_log": change_log}

    def writer(query: str, outputs: list[Output]) -> BatchWriter:
        told = (notice, metrics, written, topic)
        return BatchWriter(query, sink, outputs, decoded.rows_as, max_dead_letters, *told)

    check_limit(max_dead_letters)
    spark = decoded.rows.sparkSession
    topic = letters_topic(spark, dead_letters_topic, kafka or {}) if dead_letters_topic else None
    return start(decoded, targets, writer, checkpoint=checkpoint, sink=sink, trigger=trigger)


def start(
    decoded: Decoded,
    targets: Mapping[str, str],
    writer: Callable[[str, list[Output]], BatchWriter],
    *,
    checkpoint: str,
    sink: str,
    trigger: Mapping[str, Any] | None,
    others: Mapping[str, str] | None = None,
) -> StreamingQuery:
    """Check the outputs of a query and its checkpoint, and start it.

    Args:
        decoded: A stream.
        targets: Where each output is.
        writer: Returns what writes the batches, by the id of the query and its outputs.
        checkpoint: Folder of Spark's checkpoint.
        sink: Format of the outputs.
        trigger: Arguments of `DataStreamWriter.trigger`.
        others: What else makes two runs the same query, by name.

    Raises:
        ValueError: `decoded` is no stream, two outputs are at one place, or there is no such sink.
        CheckpointError: The checkpoint is that of another query.
        OutputError: An output has another schema, or Spark does not know its format.
    """
    outputs = [Output(name, targets[name]) for name in KINDS]
    _check_arguments(decoded, outputs, sink)
    spark = decoded.rows.sparkSession
    for output in outputs:
        check_output(spark, sink, output, output.schema(decoded))
    places = {**targets, **(others or {})}
    query = identity(spark, checkpoint, sink=sink, outputs=places)
    rows = observed.decoded(decoded.rows)
    stream = rows.writeStream.foreachBatch(writer(query.id, outputs))
    if trigger is not None:
        stream = stream.trigger(**trigger)
    return stream.option("checkpointLocation", checkpoint).start()


def check_limit(limit: limits.Limit | None) -> None:
    """Refuse what is no limit of dead letters.

    Raises:
        ValueError: It is none.
    """
    if limit is not None:
        limits.allowed(limit, 0)


def _check_arguments(decoded: Decoded, outputs: list[Output], sink: str) -> None:
    if sink not in SINKS:
        raise ValueError(f"no sink {sink!r}; there are: {', '.join(SINKS)}")
    if not decoded.rows.isStreaming:
        raise ValueError(
            "the messages are no stream: `changewire.spark.write` takes them, and merges no table. "
            f"For tables {BY_STREAM}"
        )
    if sink == "iceberg" and any(output.is_path for output in outputs):
        raise ValueError("tables of iceberg have names, and no paths")
    if len({output.target.rstrip("/") for output in outputs}) < len(outputs):
        raise ValueError("change_log, controls and dead_letters are three places, not fewer")
