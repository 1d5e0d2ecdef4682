"""Decoded rows as DataFrames, whatever their kinds are."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.counts import Counts
from changewire.engines.layout import DEAD_LETTER, table_of
from changewire.engines.spark.jvm import free_rows
from changewire.engines.spark.worker import KernelTally
from changewire.version import VERSION

C = TypeVar("C", bound=Counts)


@dataclass(frozen=True)
class Frames:
    """What decoded changes and messages share."""

    rows: DataFrame
    native: KernelTally | None = None

    @property
    def dead_letters(self) -> DataFrame:
        """Rejected elements: code, place and reason, next to the raw key and value."""
        return self.of_kind(DEAD_LETTER)

    @cached_property
    def counts(self) -> Counts:
        """Counts over all rows, checked; one job over the rows.

        Raises:
            ConservationError: Decoded rows do not add up.
        """
        return self._counted(Counts(), *_by_operation())

    def of_kind(self, kind: str) -> DataFrame:
        """Return the rows of one kind, with the columns of its output."""
        found = self.rows.where(F.col("kind") == kind)
        if kind == DEAD_LETTER:
            found = found.drop("key").withColumnRenamed("record_key", "key")
            found = found.withColumn("version", F.lit(VERSION))
        return found.select(*table_of(kind))

    def _counted(self, counts: C, *named: Column) -> C:
        """Add all rows to counts of nothing yet, by the columns that name them; return these."""
        totals = (
            F.count("*").alias("rows"),
            F.count_if(F.col("element") == 0).alias("messages"),
            F.sum("elements").alias("elements"),
        )
        groups = self.rows.groupBy("kind", "code", "leniencies", *named).agg(*totals)
        # In one partition, as each would be a job of its own.
        for group in groups.coalesce(1).toLocalIterator():
            counts.add(group.asDict())
            for name in group["leniencies"] or ():
                counts.leniencies[name] += group["rows"]
        counts.checked().native = None if self.native is None else self.native.take()
        return counts


def _by_operation() -> list[Column]:
    """Return the columns by which `Counts` names changes and control events."""
    source, minor = F.col("source"), F.col("sequence.minor")
    is_half = F.col("after").isNull() & F.col("before").isNotNull()
    is_before = (F.col("op") == "update") & is_half & (minor.isNull() | (minor == 0))
    return [
        F.col("op"),
        F.coalesce(is_before, F.lit(False)).alias("is_before"),  # noqa: FBT003 - a column
        *(source[name].alias(name) for name in ("database", "schema", "table")),
        F.floor(F.unix_seconds("event_time") / 3600).alias("hour"),
    ]


@contextmanager
def persisted(rows: DataFrame) -> Generator[DataFrame, None, None]:
    """Keep rows meanwhile; they are computed once.

    Spark keeps a row more quickly as one struct than column by column.
    """
    kept = rows.select(F.struct("*").alias("row")).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield kept.select("row.*")
    finally:
        kept.unpersist()


@contextmanager
def checkpointed(rows: DataFrame) -> Generator[DataFrame, None, None]:
    """Keep rows meanwhile; they are computed once, also for a plan that joins them with themselves.

    There Spark does not know rows of `mapInArrow` again that `persisted` keeps.
    """
    kept = rows.localCheckpoint(eager=False)
    try:
        yield kept
    finally:
        free_rows(kept)
