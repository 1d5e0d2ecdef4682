"""Tables of many rows, for a job to merge into: with the columns that its warm-up made."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

import changewire.spark as cws
from benchmarks.by_hand import dataworks
from benchmarks.streams.history import TABLE
from benchmarks.streams.jobs import Job

FILES: Final = 16
"""Files of a table, each with rows of all ids."""

_METADATA: Final = "_changewire"


def seed(spark: SparkSession, job: Job) -> None:
    """Make the table of a job, as large as the job says."""
    columns = spark.read.format("delta").load(str(Path(job.folder, "warm_up", TABLE))).schema
    rows = seeds(spark, job.seed, columns).repartition(FILES)
    rows.write.format("delta").save(job.table)
    if _METADATA in columns.names:
        cws.adopt_table(spark, job.table, key_columns=[dataworks.KEY])


def seeds(spark: SparkSession, count: int, columns: StructType) -> DataFrame:
    """Return rows that are older than every change, with ids from 0."""
    order: dict[str, Column] = {
        "major": F.lit(0),
        "minor": F.lit(0),
        "topic": F.lit("seed"),
        "partition": F.lit(0),
        "offset": F.col("id"),
        "element": F.lit(0),
        "deleted": F.lit(False),  # noqa: FBT003 - a column of this value
    }
    values: dict[str, Column] = {
        "id": F.col("id"),
        "name": F.concat(F.lit("Anne "), F.col("id")),
        "balance": F.rand(1) * 100_000,
        "created_at": F.timestamp_seconds(F.lit(1_600_000_000) + F.col("id")),
        "sequence": F.lit(0),
    }
    if _METADATA in columns.names:
        (fields,) = (
            f.dataType.fields for f in columns.fields if isinstance(f.dataType, StructType)
        )
        values[_METADATA] = F.struct(
            *(order.get(f.name, F.lit(None)).cast(f.dataType).alias(f.name) for f in fields)
        )
    return spark.range(count).select(
        *(values[f.name].cast(f.dataType).alias(f.name) for f in columns.fields)
    )
