"""Jobs on the log of a stream and its tables, in Spark."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
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
    """The log of a stream in an output folder, and its tables, as `apply_changes` takes them."""

    output: str
    target: str
    table_format: str = "delta"
    default_table: str | None = None
    apply_truncates: bool = False
    packages: str | None = None

    @property
    def tables(self) -> dict[str, Any]:
        """What queries of the log take."""
        return {
            "target": TableOptions(self.target).target,
            "table_format": self.table_format,
            "default_table": self.default_table,
            "apply_truncates": self.apply_truncates,
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

    The stream has log, checkpoint and table format, `where` is a condition in SQL on dead letters
    and refused changes; None takes all.
    """
    with _session("the replay failed", output, stream.table_format, packages) as spark:
        from changewire.engines.spark.log.place import LogPlace
        from changewire.engines.spark.merge.options import apply_options
        from changewire.engines.spark.merge.replay import replayed

        log = LogPlace(stream.log, stream.table_format)
        how = apply_options(decode_options, table_options, log=log, checkpoint=stream.checkpoint)
        return replayed(spark, how, where)


def verify_log(log: StreamLog, show: Callable[[Iterator[dict[str, Any]]], T]) -> T:
    """Compare tables with their log; return the result of a function on the rows that differ."""
    with _session("the comparison failed", log.output, log.table_format, log.packages) as spark:
        from changewire.engines.spark.merge.verify import verify

        faults = verify(spark, log_of(log.output, log.table_format), **log.tables)
        return show(row.asDict() for row in faults.toLocalIterator())


def rebuild_log(
    log: StreamLog, tables: Sequence[str] | None, where: str | None, deletes: str
) -> list[str]:
    """Make tables anew from their log, and return their names.

    The tables are named by sources such as ``shop.orders``, None for all; `where` is a condition
    in SQL on rows of the log.
    """
    with _session("the rebuild failed", log.output, log.table_format, log.packages) as spark:
        from changewire.engines.spark.merge.rebuild import rebuild

        place = log_of(log.output, log.table_format)
        return rebuild(spark, place, tables=tables, where=where, deletes=deletes, **log.tables)


@contextmanager
def _session(
    what: str, output: str, table_format: str, packages: str | None
) -> Generator[SparkSession, None, None]:
    """Give a session; what Spark raises with it becomes a `JobError`."""
    choose_engine("spark", [])
    from changewire.engines.spark.run import settings
    from changewire.engines.spark.session import session

    with spark_errors(what, output, {}):
        yield session(settings(packages, table_format, output))
