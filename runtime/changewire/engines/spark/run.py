"""Files and Kafka topics to tables in Spark: the main job, and the files as a DataFrame."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.options import KafkaOptions
from changewire.engines.outcome import Outcome
from changewire.engines.python.batches import batches
from changewire.engines.spark.decode import BatchFunction, DecodedFrames, RowsAs
from changewire.engines.spark.kafka.options import address
from changewire.engines.spark.kafka.read import read_kafka
from changewire.engines.spark.messages import MessageFrames, frames_by
from changewire.engines.spark.session import session
from changewire.engines.spark.types import INPUT
from changewire.engines.spark.write import write
from changewire.framing import expand
from changewire.framing.shapes import read_together


def read_files(spark: SparkSession, paths: Sequence[str], *, shape: str = "auto") -> DataFrame:
    """Return the messages of files, each with its path and number.

    Args:
        spark: The session.
        paths: Files or folders that every worker can open.
        shape: Shape of the files, see `changewire.framing.SHAPES`.

    Raises:
        FramingError: A path does not exist. What cannot be read later fails the job.
    """
    files = expand(paths)
    table = spark.createDataFrame(list(enumerate(files)), "task long, path string")
    # By range, because hashing could give two files to one task.
    return table.repartitionByRange(max(len(files), 1), "task").mapInArrow(_reader(shape), INPUT)


def run(
    inputs: Sequence[str],
    output: str,
    *,
    decode_options: DecodeOptions,
    rows: RowsAs = "json",
    shape: str = "auto",
    show_values: bool = False,
) -> Outcome:
    """Decode files into Parquet tables below a folder.

    Args:
        inputs: Files or folders that every worker can open.
        output: Folder for ``changes``, ``controls`` and ``dead_letters``, or for ``messages`` and
            ``dead_letters``; those are replaced.
        decode_options: The format of the messages, and what they do not say themselves.
        rows: What ``before`` and ``after`` are, as for `decode`.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
        show_values: Whether the outcome's first dead letters show the start of their values.

    Raises:
        FramingError: A path does not exist.
        ConservationError: The decoded rows do not add up.
    """
    started = time.perf_counter()
    frames = frames_by(decode_options, read_files(session(), inputs, shape=shape), rows)
    times = started, time.perf_counter()
    return _written(frames, inputs, output, decode_options, times, show_values=show_values)


def run_kafka(
    options: KafkaOptions,
    output: str,
    *,
    decode_options: DecodeOptions,
    packages: str | None = None,
    show_values: bool = False,
) -> Outcome:
    """Decode what Kafka topics hold by now, as `changewire.jobs.topics.run_topics` does.

    Raises:
        KafkaSourceError: An option is wrong, or the connector, a broker or a topic is not there.
        ConservationError: The decoded rows do not add up.
    """
    started = time.perf_counter()
    spark = session({"spark.jars.packages": packages} if packages else None)
    frames = frames_by(decode_options, read_kafka(spark, options, streaming=False))
    times = started, time.perf_counter()
    inputs = [address(options)]
    return _written(frames, inputs, output, decode_options, times, show_values=show_values)


def _written(
    frames: DecodedFrames | MessageFrames,
    inputs: Sequence[str],
    output: str,
    decode_options: DecodeOptions,
    times: tuple[float, float],
    *,
    show_values: bool,
) -> Outcome:
    """Write the tables; `times` are those of the start of the run and of the read."""
    started, ready = times
    counts, letters = write(frames, output, show_values=show_values)
    return Outcome(
        counts=counts,
        format=decode_options.format,
        inputs=list(inputs),
        output=output,
        engine=f"spark {frames.rows.sparkSession.version}",
        seconds=time.perf_counter() - started,
        first_dead_letters=letters,
        native=counts.native,
        start_seconds=ready - started,
    )


def _reader(shape: str) -> BatchFunction:
    def each(paths: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in paths:
            files = batch.column("path").to_pylist()
            yield from batches(
                chain.from_iterable(read_together(path, shape=shape) for path in files)
            )

    return each
