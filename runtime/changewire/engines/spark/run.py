"""Files, or by a stream Kafka topics, to a log in Spark, and the content of its report."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.batch_lines import AppliedBatches
from changewire.engines.by_table import Applied, ChangesByTable
from changewire.engines.counts import Counts
from changewire.engines.decode import Decoder
from changewire.engines.errors import StreamError
from changewire.engines.kafka_options import address, option
from changewire.engines.log import check_free
from changewire.engines.messages import counts_of
from changewire.engines.options import (
    AVAILABLE_NOW,
    CATALOG,
    CHECKPOINT,
    FileRun,
    KafkaOptions,
    StreamListener,
    StreamOptions,
    StreamRun,
    TableOptions,
    log_of,
)
from changewire.engines.outcome import Outcome
from changewire.engines.spark.kafka.read import read_kafka
from changewire.engines.spark.log.land import KeyRule, check_dead_letters, land_counted
from changewire.engines.spark.log.place import SETTINGS, LogPlace
from changewire.engines.spark.log.write import written
from changewire.engines.spark.merge.from_log import is_chosen
from changewire.engines.spark.merge.options import ApplyOptions, apply_options
from changewire.engines.spark.merge.query import begun, existing, start, start_applying
from changewire.engines.spark.messages import frames_by
from changewire.engines.spark.read import read_files
from changewire.engines.spark.session import is_remote, session
from changewire.engines.spark.stream.ending import await_termination
from changewire.engines.spark.stream.queries import TableQueries
from changewire.engines.spark.stream.report import CommittedBatches


def run_stream(topics: KafkaOptions, output: str, asked: StreamRun) -> Outcome:
    """Write Kafka topics to a log and tables, as `changewire.jobs.topics.stream_topics` does."""
    started = time.perf_counter()
    stream, tables = asked.stream_options, asked.table_options
    spark = session(settings(asked.packages, stream.table_format, output))
    _check_local(spark)
    counts = counts_of(asked.decode_options)
    batches = CommittedBatches(counts, stream.listener, show_values=asked.show_values)
    summing = StreamListener(written=batches.written, applied=batches.tables.add)
    stream = replace(stream, listener=summing)
    with as_asked():
        query = _started(_topics(spark, topics), asked.decode_options, stream, tables)
    ready = time.perf_counter()
    signal = await_termination(query, progress=batches.committed)
    merged = batches.tables.merged
    return Outcome(
        counts=batches.counts,
        format=asked.decode_options.format,
        inputs=[address(topics)],
        output=output,
        engine=f"spark {spark.version}",
        seconds=time.perf_counter() - started,
        first_dead_letters=batches.letters,
        stream=replace(batches.totals, signal=None if signal is None else signal.name),
        native=batches.counts.native,
        tables=None if tables is None else merged.counts,
        changes_by_table=merged.by_table,
        unmatched=merged.unmatched,
        start_seconds=ready - started,
    )


def run_files(files: Sequence[str], output: str, asked: FileRun) -> Outcome:
    """Land files in a log, and merge it into tables if there are such; paths are absolute."""
    started = time.perf_counter()
    spark = session(settings(asked.packages, "delta", output))
    log = LogPlace(log_of(output, "delta"))
    check_free(log.target)
    with as_asked():
        read = read_files(spark, files, shape=asked.shape)
        frames = frames_by(asked.decode_options, read, asked.row_schema)
        merge = _begun(spark, log, output, asked)
    ready = time.perf_counter()
    check = _check_of(asked, merge and merge[0])
    landed = written(frames, log, show_values=asked.show_values, check=check)
    applied = merge and _applied(spark, *merge, StreamListener(asked.notice))
    return Outcome(
        counts=landed.counts,
        format=asked.decode_options.format,
        inputs=list(files),
        output=log.target,
        engine=f"spark {spark.version}",
        seconds=time.perf_counter() - started,
        first_dead_letters=landed.dead_letters,
        native=landed.counts.native,
        start_seconds=ready - started,
        already_in_log=landed.already_in_log,
        tables=applied and applied.counts,
        changes_by_table=ChangesByTable() if applied is None else applied.by_table,
        unmatched=() if applied is None else applied.unmatched,
    )


def _begun(
    spark: SparkSession, log: LogPlace, output: str, asked: FileRun
) -> tuple[ApplyOptions, str] | None:
    """Return how files are merged into tables, and the id that owns these; None without tables."""
    if asked.table_options is None:
        return None
    _check_local(spark)
    how = apply_options(
        asked.decode_options, asked.table_options, log=log, checkpoint=f"{output}/{CHECKPOINT}"
    )
    return how, begun(spark, how)


def _check_of(
    asked: FileRun, options: ApplyOptions | None
) -> Callable[[DataFrame, Counts], None] | None:
    """Return what checks elements before they are landed; options are those of tables."""
    if options is None and asked.max_dead_letters is None:
        return None

    def check(rows: DataFrame, counts: Counts) -> None:
        check_dead_letters(asked.max_dead_letters, counts, rows)
        if options is not None:
            keys = KeyRule(asked.decode_options.key_columns, is_chosen(options.routing))
            keys.check(rows, options.log)

    return check


def run_log(spark: SparkSession, log: LogPlace, tables: TableOptions, checkpoint: str) -> Applied:
    """Merge a log into tables to its end, and return what became of its changes."""
    how = apply_options(None, tables, log=log, checkpoint=checkpoint)
    return _applied(spark, how, existing(spark, how), StreamListener())


def _applied(
    spark: SparkSession, options: ApplyOptions, query: str, listener: StreamListener
) -> Applied:
    batches = AppliedBatches(listener)
    summing = StreamListener(applied=batches.add)
    await_termination(start_applying(spark, options, query, summing, AVAILABLE_NOW))
    return batches.merged


def _check_local(spark: SparkSession) -> None:
    """Refuse a session that merges its batches in another process."""
    if is_remote(spark):
        raise StreamError(
            "a run counts its batches in this process, and a session of Spark Connect writes them "
            "in another: use `changewire.spark.land` or `apply_changes`"
        )


@contextmanager
def as_asked() -> Generator[None, None, None]:
    """Raise a `StreamError` if options do not fit; later a ValueError is a defect of changewire."""
    try:
        yield
    except ValueError as error:
        raise StreamError(str(error)) from error


def settings(packages: str | None, table_format: str, output: str) -> dict[str, str]:
    """Return the settings of a session; tables in Iceberg's `CATALOG` are folders of the output."""
    catalog = {
        f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
        f"spark.sql.catalog.{CATALOG}.type": "hadoop",
        f"spark.sql.catalog.{CATALOG}.warehouse": str(Path(output).resolve()),
    }
    found = {"spark.jars.packages": packages} if packages else {}
    return {
        **found,
        **SETTINGS.get(table_format, {}),
        **(catalog if table_format == "iceberg" else {}),
    }


def _topics(spark: SparkSession, options: KafkaOptions) -> DataFrame:
    texts = {name: str(value) for name, value in options.items()}
    starts = ("startingOffsets", "startingOffsetsByTimestamp", "startingTimestamp")
    if not any(option(texts, name) for name in starts):  # Spark's own default skips what is there
        options = {**options, "startingOffsets": "earliest"}
    return read_kafka(spark, options)


def _started(
    messages: DataFrame,
    decode_options: DecodeOptions,
    stream: StreamOptions,
    table_options: TableOptions | None,
) -> StreamingQuery | TableQueries:
    if table_options is None:
        return land_counted(frames_by(decode_options, messages), stream)
    log = LogPlace(stream.log, stream.table_format)
    how = apply_options(decode_options, table_options, log=log, checkpoint=stream.checkpoint)
    decoder, triggers = Decoder(decode_options), (stream.trigger, stream.apply_trigger)
    return start(messages, how, decoder, stream.listener, *triggers)
