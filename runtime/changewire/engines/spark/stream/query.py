"""A streaming query that writes decoded messages, each effect once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from changewire.engines.options import (
    BY_STREAM,
    SINKS,
    BatchListener,
    KafkaOptions,
    Limit,
    Listener,
    MessageOutputs,
    Sink,
    StreamListener,
    StreamOptions,
    StreamOutputs,
)
from changewire.engines.spark import observed
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.messages import MessageFrames
from changewire.engines.spark.reports import TaskReports
from changewire.engines.spark.session import check_jars
from changewire.engines.spark.stream.batch import BatchWriter
from changewire.engines.spark.stream.compatible import check_output
from changewire.engines.spark.stream.identity import identity
from changewire.engines.spark.stream.letters import topic_of
from changewire.engines.spark.stream.output import Output, outputs_of
from changewire.engines.spark.tally import KernelTally


def write_stream(
    decoded: DecodedFrames | MessageFrames,
    *,
    changes: str | None = None,
    controls: str | None = None,
    messages: str | None = None,
    dead_letters: str,
    checkpoint: str,
    sink: Sink = "delta",
    trigger: Mapping[str, Any] | None = None,
    max_dead_letters: Limit | None = None,
    notice: Listener | None = None,
    metrics: Listener | None = None,
    written: BatchListener | None = None,
    dead_letters_topic: str | None = None,
    kafka: KafkaOptions | None = None,
) -> StreamingQuery:
    """Start a query that appends changes, control events and dead letters, each to its output.

    Of what `messages` returns it appends messages and dead letters. Every batch is decoded once.
    Nothing of it is written before ``elements = changes + controls + dead_letters``, of messages
    ``elements = valid + dead_letters``, was found to hold. If the query ends before Spark commits a
    batch, Spark retries the batch, and the retry changes no output a second time.

    Args:
        decoded: From `decode` or `messages`, of a streaming DataFrame.
        changes: Path of the output of changes, or the name of a Delta table. What has a slash is
            a path.
        controls: Path or table of the control events.
        messages: Path or table of the messages, in place of `changes` and `controls`.
        dead_letters: Path or table of the dead letters.
        checkpoint: Folder of Spark's checkpoint, one for each query.
        sink: Format of the outputs.
        trigger: Arguments of `DataStreamWriter.trigger`, such as ``{"availableNow": True}``.
        max_dead_letters: A batch with more dead letters stops the query before it is written: a
            number, or a share of its elements such as ``"5%"``.
        notice: Called with a line to read for each batch.
        metrics: Called with a line of JSON for each batch. A batch that is retried has two.
        written: Called with id, counts and decoded rows of each batch that was written; the rows
            are kept while it runs.
        dead_letters_topic: A Kafka topic that gets the dead letters as well, at least once.
        kafka: Options of its producer, such as ``kafka.bootstrap.servers``. Others than those
            behind ``kafka.`` are ignored, so the options of `read_kafka` can be passed.

    Returns:
        The running query. `await_end` raises what stops it.

    Raises:
        ValueError: `decoded` is no stream, an output is missing or not one of its outputs, two
            outputs are at one place, or there is no such sink or limit.
        CheckpointError: The checkpoint is that of another query.
        OutputError: An output has another schema, or Spark does not know its format.
        KafkaSourceError: The topic for dead letters is not there.
    """
    listener = StreamListener(notice, metrics, written)
    given = {"changes": changes, "controls": controls, "messages": messages}
    outputs = _outputs({**given, "dead_letters": dead_letters}, decoded)
    options = StreamOptions(
        outputs, checkpoint, sink, trigger, max_dead_letters, dead_letters_topic, kafka, listener
    )
    return write_decoded(decoded, options)


def _outputs(
    given: Mapping[str, str | None], decoded: DecodedFrames | MessageFrames
) -> StreamOutputs | MessageOutputs:
    """Return the outputs of a stream.

    Raises:
        ValueError: One is missing, or is not for such rows.
    """
    places = {name: place for name, place in given.items() if place is not None}
    if places.keys() != decoded.outputs.keys():
        made = "messages" if isinstance(decoded, MessageFrames) else "decode"
        raise ValueError(
            f"what `{made}` returns goes to {', '.join(decoded.outputs)}; given were: "
            f"{', '.join(places)}"
        )
    kind = MessageOutputs if isinstance(decoded, MessageFrames) else StreamOutputs
    return kind(**places)


def write_decoded(decoded: DecodedFrames | MessageFrames, options: StreamOptions) -> StreamingQuery:
    """Start the query of `write_stream`."""
    topic = topic_of(decoded.rows.sparkSession, options)
    frames: Callable[[DataFrame], Frames] = MessageFrames
    tally: KernelTally | None = None
    reports: TaskReports | None = None
    if isinstance(decoded, DecodedFrames):
        frames = partial(DecodedFrames, rows_as=decoded.rows_as)
        tally, reported = decoded.native, decoded.reported
        reports = None if reported is None else reported.of(decoded.rows)

    def writer(query: str) -> BatchWriter[Frames]:
        return BatchWriter(query, options, frames, topic, native=tally, reports=reports)

    return start(decoded, options, writer)


def start(
    decoded: Frames,
    options: StreamOptions,
    writer: Callable[[str], Callable[[DataFrame, int], None]],
    *,
    others: Mapping[str, str] | None = None,
) -> StreamingQuery:
    """Check the outputs of a query and its checkpoint, and start it.

    Args:
        decoded: A stream.
        options: How it is written.
        writer: Returns what writes the batches, by the id of the query.
        others: What else makes two runs the same query, by name.

    Raises:
        ValueError: `decoded` is no stream, two outputs are at one place, or there is no such sink.
        CheckpointError: The checkpoint is that of another query.
        OutputError: An output has another schema, or Spark does not know its format.
        StreamError: The session has a connector that is for another Spark.
    """
    outputs, sink = outputs_of(options.outputs), options.sink
    _check_arguments(decoded, outputs, sink)
    spark = decoded.rows.sparkSession
    check_jars(spark)
    for output in outputs:
        check_output(spark, sink, output, output.rows(decoded).schema)
    places = {**options.outputs._asdict(), **(others or {})}
    query = identity(spark, options.checkpoint, sink=sink, outputs=places)
    rows = observed.decoded(decoded.rows)
    stream = rows.writeStream.foreachBatch(writer(query.id))
    if options.trigger is not None:
        stream = stream.trigger(**options.trigger)
    return stream.option("checkpointLocation", options.checkpoint).start()


def _check_arguments(decoded: Frames, outputs: Sequence[Output], sink: str) -> None:
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
        *names, last = (output.name for output in outputs)
        raise ValueError(f"{', '.join(names)} and {last} must be different places")
