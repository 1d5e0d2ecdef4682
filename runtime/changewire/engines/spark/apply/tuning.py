"""How Spark runs the queries of a batch: settings of the session that a stream has for itself."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

from changewire.engines.spark.apply.table_effects import MANY
from changewire.engines.spark.apply.tables import SparkTables
from changewire.engines.spark.session import ADAPTIVE, changed, is_remote

SHUFFLE: Final = "spark.sql.shuffle.partitions"
SNAPSHOT: Final = "spark.databricks.delta.snapshotPartitions"
SETTINGS: Final = {
    # Names of columns stand in SQL text, where they are quoted and mean nothing else.
    "spark.sql.variable.substitute": "false",
    # What is merged was computed, and is kept, before it is merged.
    "spark.databricks.delta.merge.materializeSource": "none",
    # Tasks read more rows of the driver than these; as a part of a plan, it would convert each.
    "spark.sql.execution.arrow.localRelationThreshold": "1MB",
}

_CHANGES: Final = 10_000
_BYTES: Final = 2**24
"""Changes, and bytes of the files of a table, for which a partition of a shuffle is enough."""

_FEW_BYTES: Final = 2**18
"""Bytes of the files of a table of which so few rows are read that no plan need be compiled.

400,000 rows, in 12 MiB, take 5 s longer without.
"""

INTERPRETED: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings by which Spark interprets plans in place of compiling them."""

_FEWEST: Final = 8
_MOST: Final = 50
"""Tasks that read the log of a table of Delta at least, and at most; 50 is its own default."""

_SOME: Final = 2
_AT_ONCE: Final = 4
"""Tables that are read or written side by side: a small one leaves most of a machine to others."""

T = TypeVar("T")


@contextmanager
def batch_settings(spark: SparkSession) -> Generator[None, None, None]:
    """Give a session the settings that batches have, and then those that it had.

    Spark keeps the partitions of the shuffles of a stream in its checkpoint.
    """
    with changed(spark, SETTINGS, SNAPSHOT, ADAPTIVE, SHUFFLE):
        if not is_remote(spark) and spark.conf.get(SNAPSHOT, None) is None:
            tasks = min(_MOST, max(_FEWEST, spark.sparkContext.defaultParallelism))
            spark.conf.set(SNAPSHOT, str(tasks))
        yield


def set_adaptive(spark: SparkSession, changes: int) -> None:
    """Let Spark plan as it runs if a batch has many changes.

    A stream has it off for the sake of its state, of which a batch here has none; plans of small
    batches take longer with it. For use within `batch_settings`.
    """
    spark.conf.set(ADAPTIVE, str(changes >= MANY).lower())


def limit_partitions(spark: SparkSession, changes: int, tables: Iterable[SparkTables]) -> None:
    """Let shuffles have no more partitions than a batch needs.

    Each partition is a task, and a file of the table if it is merged into. They stay as they are if
    the size of a table is not known. For use within `batch_settings`.

    Args:
        spark: The session.
        changes: Changes of the batch.
        tables: Its tables; one that is not there has no size.
    """
    if is_remote(spark):
        return
    sizes = [size for table in tables for size in table.sizes(spark)]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return
    needed = max(changes // _CHANGES, max(known, default=0) // _BYTES)
    enough = max(needed, spark.sparkContext.defaultParallelism)
    spark.conf.set(SHUFFLE, str(min(enough, int(str(spark.conf.get(SHUFFLE))))))


@contextmanager
def interpreted(spark: SparkSession, *, when: bool) -> Generator[None, None, None]:
    """Let Spark compile no plans meanwhile, which takes longer than to run them if rows are few.

    Args:
        spark: The session.
        when: Whether they are, see `are_small`; if not, nothing is changed.
    """
    with changed(spark, INTERPRETED if when else {}):
        yield


def are_small(spark: SparkSession, tables: Iterable[SparkTables]) -> bool:
    """Whether tables have so few rows that plans need not be compiled."""
    sizes = [size for table in tables for size in table.sizes(spark)]
    return all(size is not None and size <= _FEW_BYTES for size in sizes)


def side_by_side(spark: SparkSession, actions: list[Callable[[], T]]) -> list[T]:
    """Return what functions return that read or write tables; several run at a time.

    What one raises is raised once all are done.
    """
    if len(actions) < _SOME:
        return [action() for action in actions]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        # Each gets properties of its own, in which Spark notes what a thread does.
        found = [pool.submit(inheritable_thread_target(spark)(action)) for action in actions]
    return [one.result() for one in found]
