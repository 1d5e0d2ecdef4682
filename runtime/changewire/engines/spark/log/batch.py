"""One batch, counted and appended to a log; what `foreachBatch` takes."""

from __future__ import annotations

import time
from dataclasses import replace

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.streaming.query import StreamingQuery

from changewire.engines.applied import FIRST_REASONS, too_many
from changewire.engines.counts import Counts
from changewire.engines.layout import DEAD_LETTER, RECORD_PLACE
from changewire.engines.options import BatchId, Limit, StreamOptions, allowed
from changewire.engines.spark.cause import named_errors
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import log_rows
from changewire.engines.spark.stream.identity import identity
from changewire.engines.spark.stream.progress import observed
from changewire.engines.spark.stream.report import tell


def land_counted(decoded: Frames, stream: StreamOptions) -> StreamingQuery:
    """Start a query that appends decoded messages to a log, and tells its listener of each batch.

    A batch whose rows do not add up, or that has too many dead letters, is not written; a retry of
    one that is written changes nothing.

    Raises:
        ValueError: A log of Parquet is asked for: a batch that is retried would be in it twice.
        CheckpointError: The checkpoint is that of another query.
        OutputError: The log has other columns, or Spark does not know its format.
    """
    if stream.sink == "parquet":
        raise ValueError("batches are counted into logs of Delta or Iceberg, not of Parquet")
    spark, log = decoded.rows.sparkSession, LogPlace(stream.log, stream.sink)
    log.check(spark, log_rows(decoded.rows).schema)
    places = {"log": log.target, "query": "run"}
    query = identity(spark, stream.checkpoint, sink=log.sink, outputs=places)

    def write(rows: DataFrame, number: int) -> None:
        started = time.perf_counter()
        with named_errors():
            kept = replace(decoded, rows=rows.persist(StorageLevel.MEMORY_AND_DISK))
            try:
                counts = kept.counts
                check_dead_letters(stream.max_dead_letters, counts, rows, number)
                log.append(log_rows(rows), query, number)
                seconds = time.perf_counter() - started
                tell(stream.listener, BatchId(query, number), counts, kept, {}, seconds)
            finally:
                rows.unpersist()

    writer = observed(decoded.rows).writeStream.foreachBatch(write)
    if stream.trigger is not None:
        writer = writer.trigger(**stream.trigger)
    return writer.option("checkpointLocation", stream.checkpoint).start()


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
