"""Streaming queries that append decoded messages to a log: Spark's own sink, or counted batches."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.streaming.query import StreamingQuery

from changewire.changes.decode_options import DecodeKeywords, DecodeOptions, ElementsAs
from changewire.changes.sources import KeysByTable
from changewire.engines.applied import FIRST_REASONS, check_keys, too_many
from changewire.engines.counts import Counts
from changewire.engines.layout import CHANGE
from changewire.engines.options import BatchId, Limit, StreamOptions, allowed
from changewire.engines.spark.cause import named_errors
from changewire.engines.spark.decode import RowsAs, check_positions
from changewire.engines.spark.frames import Frames, persisted
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import log_rows
from changewire.engines.spark.log.write import first_dead_letters
from changewire.engines.spark.messages import frames_by
from changewire.engines.spark.parts import names_in
from changewire.engines.spark.stream.identity import identity
from changewire.engines.spark.stream.progress import observed
from changewire.engines.spark.stream.report import tell

if TYPE_CHECKING:
    from typing_extensions import Unpack

_DEFAULT: Final[Mapping[str, Any]] = {"processingTime": "0 seconds"}
"""Spark's own trigger: a batch as soon as the last one is done."""


def land(
    messages: DataFrame,
    *,
    format: str,
    log: str,
    checkpoint: str,
    table_format: str = "delta",
    elements_as: ElementsAs = "changes",
    row_schema: RowsAs = "json",
    trigger: Mapping[str, Any] | None = None,
    **options: Unpack[DecodeKeywords],
) -> StreamingQuery:
    """Start a query that appends every element of every message to a log, each once.

    A row of the log is a change, a control event or a dead letter; its column ``kind`` says which.
    All rows of a batch are in one commit. The query is Spark's own ``writeStream``, so the options
    of the table format apply. `apply_log` makes tables of the log.

    Args:
        messages: A stream, with the columns that `decode` takes; ``topic``, ``partition`` and
            ``offset``, or ``path`` and ``number``, are needed.
        format: Public name of the format, or ``auto``: each message says which it has.
        log: Path of the log (it has a slash), or name of its table.
        checkpoint: Folder of the query's checkpoint.
        table_format: Format of the log: ``delta``, ``iceberg`` or ``parquet``.
        elements_as: ``changes``, or ``messages`` as they are.
        row_schema: How `before` and `after` are kept: as for `decode`.
        trigger: Keywords of `DataStreamWriter.trigger`; by default Spark's own.
        **options: What messages do not say themselves, see `DecodeKeywords`.

    Returns:
        The running query. `await_termination` raises what stops it.

    Raises:
        ValueError: An argument is not valid, or `messages` is not a stream or has no positions.
        CheckpointError: The checkpoint is that of another query.
        OutputError: The log has other columns, or Spark does not know its format.
    """
    decode_options = DecodeOptions(format, elements_as=elements_as, **options)
    if not messages.isStreaming:
        raise ValueError("land takes a stream; for other DataFrames use `changewire.spark.write`")
    check_positions(messages)
    found = log_rows(observed(frames_by(decode_options, messages, row_schema).rows))
    place, spark = LogPlace(log, table_format), messages.sparkSession
    is_there = place.check(spark, found.schema)
    identity(spark, checkpoint, table_format=table_format, outputs={"log": log, "query": "land"})
    if table_format == "delta" and not is_there:  # its streaming sink drops properties of tables
        place.add(spark.createDataFrame([], found.schema))
    writer = found.writeStream.format(table_format).trigger(**(trigger or _DEFAULT))
    writer = writer.option("checkpointLocation", checkpoint)
    return writer.start(log) if place.is_path else writer.toTable(log)


def land_counted(decoded: Frames, stream: StreamOptions) -> StreamingQuery:
    """Start a query that counts and appends each batch, and calls a listener."""
    if stream.table_format == "parquet":  # a batch that is retried would be in it twice
        raise ValueError("batches are counted into logs of Delta or Iceberg, not of Parquet")
    spark, log = decoded.rows.sparkSession, LogPlace(stream.log, stream.table_format)
    log.check(spark, log_rows(decoded.rows).schema)
    places = {"log": log.target, "query": "run"}
    query = identity(spark, stream.checkpoint, table_format=log.table_format, outputs=places)
    return start_landing(Landing(decoded, stream, query))


@dataclass
class Landing:
    """Appends the batches of a stream to a log, each in one commit.

    Attributes:
        decoded: The stream, decoded.
        stream: How it is written.
        query: Id of the query.
        keys: The rule of keys for logs that feed tables; None for others.
    """

    decoded: Frames
    stream: StreamOptions
    query: str
    keys: KeyRule | None = None

    def __call__(self, rows: DataFrame, number: int) -> None:
        """Append a batch; a retry changes nothing."""
        with named_errors():
            if self.keys is None or not self.keys.has_passed or self._is_counted:
                self._counted(rows, number)
            else:
                self._append(rows, number)

    @property
    def _is_counted(self) -> bool:
        return self.stream.max_dead_letters is not None or self.stream.listener.is_any

    def _counted(self, rows: DataFrame, number: int) -> None:
        started, stream = time.perf_counter(), self.stream
        with persisted(rows) as kept:
            found = replace(self.decoded, rows=kept)
            check_dead_letters(stream.max_dead_letters, found.counts, kept, number)
            if self.keys is not None:
                self.keys.check(kept, LogPlace(stream.log, stream.table_format))
            self._append(kept, number)
            batch, seconds = BatchId(self.query, number), time.perf_counter() - started
            tell(stream.listener, batch, found.counts, found, seconds)

    def _append(self, rows: DataFrame, number: int) -> None:
        log = LogPlace(self.stream.log, self.stream.table_format)
        log.append(log_rows(rows), self.query, number)


@dataclass
class KeyRule:
    """A log that feeds tables has a change with a key, or gets none at all.

    Attributes:
        key_columns: Columns of the key that a user named.
        where: Condition of the rows that feed tables.
        has_passed: Whether there was a change with a key.
    """

    key_columns: Sequence[str] | KeysByTable | None
    where: Column
    has_passed: bool = False

    def check(self, rows: DataFrame, log: LogPlace) -> None:
        """Raise KeysMissingError if no change of a batch or of the log has a key."""
        if self.has_passed:
            return
        changes = rows.where((F.col("kind") == CHANGE) & self.where)
        ((number, keyed),) = changes.agg(F.count("*"), F.count("key")).collect()
        has_tables = bool(keyed)
        if number and not keyed:
            is_keyed = (F.col("kind") == CHANGE) & F.col("key").isNotNull()
            has_tables = not log.read(rows.sparkSession).where(is_keyed).isEmpty()
        keys = number, number - keyed
        check_keys(keys, self.key_columns, lambda: _columns_of(changes), has_tables=has_tables)
        self.has_passed = has_tables


def _columns_of(changes: DataFrame) -> set[str]:
    """Return the columns of the rows of changes, by one job."""
    names = (names_in(name) for name in ("before", "after"))
    filled = (F.coalesce(one, F.array().cast("array<string>")) for one in names)
    return {
        row[0] for row in changes.select(F.explode(F.array_union(*filled))).distinct().collect()
    }


def start_landing(landing: Landing) -> StreamingQuery:
    """Start a query that lands a stream."""
    stream = landing.stream
    writer = observed(landing.decoded.rows).writeStream.foreachBatch(landing)
    writer = writer.option("checkpointLocation", stream.checkpoint)
    return writer.trigger(**(stream.trigger or _DEFAULT)).start()


def check_dead_letters(
    limit: Limit | None, counts: Counts, rows: DataFrame, batch: int = 0
) -> None:
    """Refuse a batch that has too many dead letters, with the first reasons."""
    if limit is None or counts.dead_letters <= allowed(limit, counts.elements):
        return
    first = first_dead_letters(rows, limit=FIRST_REASONS)
    raise too_many(limit, counts.elements, counts.by_error_code, first, batch)
