"""Decoded rows as DataFrames, whatever their kinds are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.counts import Counts
from changewire.engines.layout import DEAD_LETTER, table_of
from changewire.engines.spark.worker import KernelTally
from changewire.version import VERSION

C = TypeVar("C", bound=Counts)


@dataclass(frozen=True)
class Frames(ABC):
    """What decoded changes and messages share."""

    rows: DataFrame
    native: KernelTally | None = None

    @property
    def dead_letters(self) -> DataFrame:
        """Rejected elements: code, place and reason, next to the raw key and value."""
        return self.of_kind(DEAD_LETTER)

    @cached_property
    @abstractmethod
    def counts(self) -> Counts:
        """Counts over all rows, checked; one job over the rows."""

    def of_kind(self, kind: str) -> DataFrame:
        """Return the rows of one kind, with the columns of its output."""
        found = self.rows.where(F.col("kind") == kind)
        if kind == DEAD_LETTER:
            found = found.drop("key").withColumnRenamed("record_key", "key")
            found = found.withColumn("version", F.lit(VERSION))
        return found.select(*table_of(kind))

    def _counted(self, groups: Iterable[Column], counts: C) -> C:
        """Add groups of the rows to counts of nothing yet, and return these, checked."""
        found = self.rows.groupBy(*groups).agg(*totals())
        # In one partition, as each would be a job of its own.
        counted_rows(found.coalesce(1).toLocalIterator(), counts).checked()
        counts.native = None if self.native is None else self.native.take()
        return counts


def totals() -> list[Column]:
    """Return what `Counts.add` takes of a group, next to the columns that make the group."""
    return [
        F.count("*").alias("rows"),
        F.count_if(F.col("element") == 0).alias("messages"),
        F.sum("elements").alias("elements"),
    ]


def counted_rows(groups: Iterable[Row], counts: C) -> C:
    """Add groups of decoded rows, each with its ``leniencies``, to counts, and return these."""
    for group in groups:
        counts.add(group.asDict())
        for name in group["leniencies"] or ():
            counts.leniencies[name] += group["rows"]
    return counts


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
