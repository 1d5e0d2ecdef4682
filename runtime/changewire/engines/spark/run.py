"""Files and Kafka topics to tables in Spark: the main job."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pyspark.sql import DataFrame

from changewire.changes.reading import Reading
from changewire.engines.outcome import Outcome
from changewire.engines.spark.decode import decode
from changewire.engines.spark.files import read_files
from changewire.engines.spark.kafka import KafkaOptions, address, read_kafka
from changewire.engines.spark.session import session
from changewire.engines.spark.write import write


def run(
    inputs: Sequence[str],
    output: str,
    *,
    reading: Reading,
    shape: str = "auto",
    show_values: bool = False,
) -> Outcome:
    """Decode files into Parquet tables below a folder.

    Args:
        inputs: Files or folders that every worker can open.
        output: Folder for ``changes``, ``controls`` and ``dead_letters``; those are replaced.
        reading: The format of the messages, and what they do not say themselves.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
        show_values: Whether the outcome's first dead letters show the start of their values.

    Raises:
        FramingError: A path does not exist.
        ConservationError: The decoded rows do not add up.
    """
    started = time.perf_counter()
    messages = read_files(session(), inputs, shape=shape)
    times = started, time.perf_counter()
    return _written(messages, inputs, output, reading, times, show_values=show_values)


def run_kafka(
    options: KafkaOptions,
    output: str,
    *,
    reading: Reading,
    packages: str | None = None,
    show_values: bool = False,
) -> Outcome:
    """Decode what Kafka topics hold by now into Parquet tables below a folder.

    Args:
        options: Options of Spark's Kafka source, as `read_kafka` takes them.
        output: Folder for ``changes``, ``controls`` and ``dead_letters``; those are replaced.
        reading: The format of the messages, and what they do not say themselves.
        packages: Maven coordinates of Spark's Kafka connector, for a session that is started.
        show_values: Whether the outcome's first dead letters show the start of their values.

    Raises:
        KafkaSourceError: An option is wrong, or the connector, a broker or a topic is not there.
        ConservationError: The decoded rows do not add up.
    """
    started = time.perf_counter()
    spark = session({"spark.jars.packages": packages} if packages else None)
    messages = read_kafka(spark, options, streaming=False)
    times = started, time.perf_counter()
    inputs = [address(options)]
    return _written(messages, inputs, output, reading, times, show_values=show_values)


def _written(
    messages: DataFrame,
    inputs: Sequence[str],
    output: str,
    reading: Reading,
    times: tuple[float, float],
    *,
    show_values: bool,
) -> Outcome:
    """Write the tables; `times` are those of the start of the run and of the read."""
    started, ready = times
    decoded = decode(
        messages,
        format=reading.format,
        image=reading.image,
        keys=reading.keys,
        families=reading.families,
        digests=reading.digests,
        null_value=reading.null_value,
    )
    counts, letters = write(decoded, output, show_values=show_values)
    return Outcome(
        counts=counts,
        format=reading.format,
        inputs=list(inputs),
        output=output,
        engine=f"spark {messages.sparkSession.version}",
        seconds=time.perf_counter() - started,
        first_dead_letters=letters,
        start_seconds=ready - started,
    )
