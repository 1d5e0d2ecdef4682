"""The tables of a batch, several of them merged at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from queue import SimpleQueue
from typing import Final, TypeAlias
from uuid import uuid4

from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

from changewire.engines.spark.jvm import cloned_session
from changewire.engines.spark.merge.part import TablePart
from changewire.engines.spark.merge.part_merge import Batch, PartMerge
from changewire.engines.spark.merge.plan import There
from changewire.engines.spark.session import is_remote

_FEWEST: Final = 2
_MOST: Final = 8
"""Tables that are merged at once by default, at least and at most; see `threads_of`."""

_GLOBAL: Final = "spark.sql.globalTempDatabase"

_Parts: TypeAlias = Sequence[tuple[TablePart, There]]


def merge_parts(batch: Batch, parts: _Parts) -> list[PartMerge]:
    """Merge the parts of a batch into their tables; the first error ends it.

    Sessions of their own keep the settings of each merge apart, and their catalogs.
    """
    sessions = _sessions(batch, min(threads_of(batch), len(parts)))
    if not sessions:
        return [PartMerge(batch, part)(there) for part, there in parts]
    free = SimpleQueue[SparkSession]()
    for one in sessions:
        free.put(one)
    with _shared(batch) as within:

        def merge(one: tuple[TablePart, There]) -> PartMerge:
            session = free.get()
            try:
                return PartMerge(within(session), one[0])(one[1])
            finally:
                free.put(session)

        return _at_once(batch.spark, len(sessions), merge, parts)


def threads_of(batch: Batch) -> int:
    """Return how many tables are merged at once."""
    asked = batch.query.options.tables.merge_threads
    if asked is not None or is_remote(batch.spark):
        return asked or 1
    return max(_FEWEST, min(_MOST, batch.spark.sparkContext.defaultParallelism))


def _sessions(batch: Batch, number: int) -> list[SparkSession]:
    """Return sessions like that of the batch, which its query keeps; none if one is enough."""
    sessions = batch.query.sessions
    while number > 1 and len(sessions) < number:
        found = cloned_session(batch.spark)
        if found is None:
            return []
        sessions.append(found)
    return sessions[:number] if number > 1 else []


@contextmanager
def _shared(batch: Batch) -> Generator[Callable[[SparkSession], Batch]]:
    """Yield a function that returns the batch as another session has it."""
    spark, name = batch.spark, f"changewire_{uuid4().hex}"
    folder = spark.conf.get(_GLOBAL)
    frames = {"rows": batch.rows, "log": batch.log}
    if batch.befores is not None:
        frames["befores"] = batch.befores

    def within(session: SparkSession) -> Batch:
        found = {one: session.table(f"{folder}.{name}_{one}") for one in frames}
        return replace(batch, rows=found["rows"], befores=found.get("befores"), log=found["log"])

    try:
        for one, frame in frames.items():
            frame.createGlobalTempView(f"{name}_{one}")
        yield within
    finally:
        for one in frames:
            spark.catalog.dropGlobalTempView(f"{name}_{one}")


def _at_once(
    spark: SparkSession,
    threads: int,
    merge: Callable[[tuple[TablePart, There]], PartMerge],
    parts: _Parts,
) -> list[PartMerge]:
    """Merge parts in threads; at the first error jobs are cancelled, awaited, and it is raised."""
    context, tag = spark.sparkContext, f"changewire-{uuid4().hex}"

    def tagged(one: tuple[TablePart, There]) -> PartMerge:
        context.addJobTag(tag)
        return merge(one)

    with ThreadPoolExecutor(threads, "changewire-merge") as pool:
        target = inheritable_thread_target(spark)(tagged)
        futures = [pool.submit(target, one) for one in parts]
        try:
            for one in as_completed(futures):
                one.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            context.cancelJobsWithTag(tag)
            raise
        return [one.result() for one in futures]
