"""One batch, counted and appended to a log; what `foreachBatch` takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.streaming.query import StreamingQuery

from changewire.engines.applied import FIRST_REASONS, too_many
from changewire.engines.counts import Counts
from changewire.engines.layout import DEAD_LETTER, RECORD_PLACE
from changewire.engines.options import (
    BatchId,
    Limit,
    StreamListener,
    StreamOptions,
    TableCounts,
    allowed,
)
from changewire.engines.spark import observed
from changewire.engines.spark.decode import DecodedFrames
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import log_rows
from changewire.engines.spark.stream.batch_errors import java_cause_named, short_interruption
from changewire.engines.spark.stream.identity import identity
from changewire.engines.spark.stream.progress import as_json, as_text
from changewire.engines.spark.tally import KernelTally


def land_counted(decoded: Frames, log: LogPlace, stream: StreamOptions) -> StreamingQuery:
    """Start a query that appends decoded messages to a log, and tells its listener of each batch.

    Raises:
        ValueError: The decoded messages are not a stream, or a log of Parquet is asked for: a batch
            that is retried would be in it twice.
        CheckpointError: The checkpoint is that of another query.
        OutputError: The log has other columns, or Spark does not know its format.
    """
    if log.sink == "parquet":
        raise ValueError("batches are counted into logs of Delta or Iceberg, not of Parquet")
    spark = decoded.rows.sparkSession
    log.check(spark, log_rows(decoded.rows).schema)
    places = {"log": log.target, "query": "run"}
    query = identity(spark, stream.checkpoint, sink=log.sink, outputs=places)
    native = decoded.native if isinstance(decoded, DecodedFrames) else None
    write = LogWriter(
        query.id,
        log,
        lambda rows: replace(decoded, rows=rows),
        stream.listener,
        stream.max_dead_letters,
        native,
    )
    writer = observed.decoded(decoded.rows).writeStream.foreachBatch(write)
    if stream.trigger is not None:
        writer = writer.trigger(**stream.trigger)
    return writer.option("checkpointLocation", stream.checkpoint).start()


@dataclass(frozen=True)
class LogWriter:
    """Writes the batches of a query that has no tables, and counts them.

    Attributes:
        query: Id of the query.
        log: The log.
        frames: Makes `Frames` of decoded rows.
        listener: Called once for each batch.
        max_dead_letters: How many dead letters a batch may have; None for any number.
        native: Sums what the native kernel does; None if it has no part.
    """

    query: str
    log: LogPlace
    frames: Callable[[DataFrame], Frames]
    listener: StreamListener
    max_dead_letters: Limit | None = None
    native: KernelTally | None = None

    def __call__(self, rows: DataFrame, number: int) -> None:
        """Write a batch; a retry changes nothing.

        Raises:
            ConservationError: The decoded rows do not add up; nothing was written.
            TooManyDeadLettersError: The batch has too many dead letters; nothing was written.
        """
        started = time.perf_counter()
        with java_cause_named(), short_interruption():
            kept = self.frames(rows.persist(StorageLevel.MEMORY_AND_DISK))
            try:
                counts = kept.counts
                if self.native is not None:
                    counts.native = self.native.take()
                check_dead_letters(self.max_dead_letters, counts, kept.rows, number)
                self.log.append(log_rows(kept.rows), self.query, number)
                batch = BatchId(self.query, number)
                seconds = time.perf_counter() - started
                tell(self.listener, batch, counts, kept, {}, seconds)
            finally:
                kept.rows.unpersist()


def tell(  # noqa: PLR0917 - what a listener gets
    listener: StreamListener,
    batch: BatchId,
    counts: Counts,
    decoded: Frames,
    merged: TableCounts,
    seconds: float,
) -> None:
    """Call a listener with a batch that was written."""
    for listen, line in ((listener.notice, as_text), (listener.metrics, as_json)):
        if listen is not None:
            listen(line(batch, counts, merged, seconds))
    if listener.written is not None:
        listener.written(batch, counts, decoded)
    if listener.merged is not None:
        listener.merged(batch, merged)


def check_dead_letters(limit: Limit | None, counts: Counts, rows: DataFrame, batch: int) -> None:
    """Refuse a batch that has too many dead letters.

    Raises:
        TooManyDeadLettersError: With how many there are, and the first reasons, without values.
    """
    if limit is None or counts.dead_letters <= allowed(limit, counts.elements):
        return
    letters = rows.where(F.col("kind") == DEAD_LETTER).orderBy(*RECORD_PLACE)
    first = [row.asDict() for row in letters.limit(FIRST_REASONS).collect()]
    raise too_many(limit, counts.elements, counts.by_error_code, first, batch)
