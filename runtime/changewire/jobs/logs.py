"""Jobs on the log of a stream and its tables, in Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.options import StreamOptions, TableOptions, log_of
from changewire.jobs.checks import choose_engine
from changewire.jobs.topics import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from changewire.engines.spark.merge.replay import Replayed

T = TypeVar("T")


@dataclass(frozen=True)
class StreamLog:
    """The log of a stream, and its tables.

    Attributes:
        output: Folder that `changewire.jobs.topics.stream_topics` wrote.
        target: The tables, as for `changewire.spark.apply_changes`.
        sink: Format of log and tables.
        null_set: Table of writes that name none.
        apply_as_truncates: Whether truncates are applied.
        packages: Maven coordinates of Spark's connectors, for a session that is started.
    """

    output: str
    target: str
    sink: str = "delta"
    null_set: str | None = None
    apply_as_truncates: bool = False
    packages: str | None = None

    @property
    def tables(self) -> dict[str, Any]:
        """What queries of the log take."""
        return {
            "target": TableOptions(self.target).target,
            "sink": self.sink,
            "null_set": self.null_set,
            "apply_as_truncates": self.apply_as_truncates,
        }


def replay_log(
    output: str,
    decode_options: DecodeOptions,
    stream: StreamOptions,
    table_options: TableOptions,
    *,
    where: str | None = None,
    packages: str | None = None,
) -> Replayed:
    """Decode the dead letters of a log again, and apply what is valid by now.

    Args:
        output: Folder that `changewire.jobs.topics.stream_topics` wrote.
        decode_options: The format of the messages, and what they do not say themselves.
        stream: Log, checkpoint and sink of the stream.
        table_options: Which tables changes are applied to.
        where: Condition in SQL on dead letters and refused changes; None for all.
        packages: Maven coordinates of Spark's connectors, for a session that is started.

    Raises:
        JobError: Spark cannot run, the tables do not fit, or the replay failed, whose traceback is
            then in ``failure.txt`` in the output.
    """

    def replay(spark: SparkSession) -> Replayed:
        from changewire.engines.spark.log.place import LogPlace
        from changewire.engines.spark.merge.options import apply_options
        from changewire.engines.spark.merge.replay import replayed

        how = apply_options(
            decode_options,
            log=LogPlace(stream.log, stream.sink),
            checkpoint=stream.checkpoint,
            **vars(table_options),
        )
        return replayed(spark, how, where)

    return _in_spark("the replay failed", output, stream.sink, packages, replay)


def verify_log(log: StreamLog, show: Callable[[Iterator[dict[str, Any]]], T]) -> T:
    """Compare tables with their log, and return what a function makes of the rows that differ.

    Raises:
        JobError: Spark cannot run, or the comparison failed.
    """

    def verify(spark: SparkSession) -> T:
        from changewire.engines.spark.merge.verify import verify

        faults = verify(spark, log_of(log.output, log.sink), **log.tables)
        return show(row.asDict() for row in faults.toLocalIterator())

    return _in_spark("the comparison failed", log.output, log.sink, log.packages, verify)


def rebuild_log(
    log: StreamLog, tables: Sequence[str] | None, where: str | None, deletes: str
) -> list[str]:
    """Make tables anew from their log, and return their names.

    Args:
        log: The log and its tables.
        tables: Names of sources such as ``shop.orders``; None for all.
        where: Condition in SQL on rows of the log; None for all.
        deletes: What becomes of deleted rows: ``remove`` or ``flag``.

    Raises:
        JobError: Spark cannot run, a table does not exist, or the rebuild failed.
    """

    def rebuild(spark: SparkSession) -> list[str]:
        from changewire.engines.spark.merge.rebuild import rebuild

        place = log_of(log.output, log.sink)
        return rebuild(spark, place, tables=tables, where=where, deletes=deletes, **log.tables)

    return _in_spark("the rebuild failed", log.output, log.sink, log.packages, rebuild)


def _in_spark(
    what: str, output: str, sink: str, packages: str | None, job: Callable[[SparkSession], T]
) -> T:
    """Return what a job returns that gets a session; what Spark raises becomes a `JobError`."""
    choose_engine("spark", [])
    from changewire.engines.spark.run import settings
    from changewire.engines.spark.session import session

    with spark_errors(what, output, {}):
        return job(session(settings(packages, sink, output)))
