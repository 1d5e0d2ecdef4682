"""Decoded rows as DataFrames, whatever their kinds are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructType

from changewire.engines.counts import Counts
from changewire.engines.layout import DEAD_LETTER, table_of
from changewire.engines.spark.jvm import same_session
from changewire.version import VERSION

C = TypeVar("C", bound=Counts)


@dataclass(frozen=True)
class Frames(ABC):
    """What decoded changes and messages share.

    Attributes:
        rows: One row for each element, with its `kind`.
    """

    rows: DataFrame

    @property
    def dead_letters(self) -> DataFrame:
        """Rejected elements: code, place and reason, beside the raw key and value."""
        return self.of_kind(DEAD_LETTER)

    @cached_property
    @abstractmethod
    def counts(self) -> Counts:
        """Counts over all rows, checked."""

    def of_kind(self, kind: str) -> DataFrame:
        """Return the rows of one kind, with the columns of its output."""
        found = self.rows.where(F.col("kind") == kind)
        if kind == DEAD_LETTER:
            found = found.drop("key").withColumnRenamed("record_key", "key")
            found = found.withColumn("version", F.lit(VERSION))
        return found.select(*table_of(kind))


def local_rows(spark: SparkSession, rows: pa.Table, kind: StructType) -> DataFrame:
    """Return rows of the driver as a DataFrame, which is part of the plans that it is used in.

    Args:
        spark: The session; which one is the active one stays as it is.
        rows: The rows.
        kind: Their columns.
    """
    with same_session(spark):
        return spark.createDataFrame(rows, kind)


def totals() -> list[Column]:
    """Return what `Counts.add` takes of a group, beside the columns that make the group."""
    return [
        F.count("*").alias("rows"),
        F.count_if(F.col("element") == 0).alias("messages"),
        F.sum("elements").alias("elements"),
    ]


def counted(groups: DataFrame, counts: C) -> C:
    """Add groups of decoded rows to counts, and return these, checked; see `counted_rows`.

    Raises:
        ConservationError: Decoded rows do not add up.
    """
    # In one partition, as each would be a job of its own.
    return counted_rows(groups.coalesce(1).toLocalIterator(), counts).checked()


def counted_rows(groups: Iterable[Row], counts: C) -> C:
    """Add groups of decoded rows to counts, and return these.

    Args:
        groups: Rows of `Counts.add`, each with its ``leniencies``.
        counts: Counts of nothing yet.
    """
    for group in groups:
        counts.add(group.asDict())
        for name in group["leniencies"] or ():
            counts.leniencies[name] += group["rows"]
    return counts
