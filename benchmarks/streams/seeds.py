"""Tables of many rows, for a job to merge into: with the columns that its warm-up made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from benchmarks.streams.history import TABLE
from benchmarks.streams.jobs import Job

FILES: Final = 16
"""Files of a table, each with rows of all ids."""

# OPTIMIZE makes files of 1 GB if nothing is said, and a table of one file has nothing to skip.
_CLUSTERED: Final = (
    "SET spark.databricks.delta.optimize.maxFileSize = 4194304",
    "ALTER TABLE {table} CLUSTER BY (id)",
    "OPTIMIZE {table}",
)
_VECTORS: Final = "ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"

LAYOUTS: Final[Mapping[str, Sequence[str]]] = {
    "plain": (),
    "clustered": _CLUSTERED,
    "deletion vectors": (_VECTORS,),
    "clustered, deletion vectors": (*_CLUSTERED, _VECTORS),
}
"""What is done to a table before changes come."""

_TOMBSTONES: Final = f"{TABLE}__tombstones"
_METADATA: Final = "_changewire"


def seed(spark: SparkSession, job: Job) -> None:
    """Make the table of a job, as large as the job says."""
    warm_up = Path(job.folder, "warm_up")
    columns = spark.read.format("delta").load(str(warm_up / TABLE)).schema
    rows = seeds(spark, job.seed, columns).repartition(FILES)
    rows.write.format("delta").save(job.table)
    if _METADATA in columns.names:
        graves = spark.read.format("delta").load(str(warm_up / _TOMBSTONES)).limit(0)
        graves.write.format("delta").save(str(Path(job.folder, _TOMBSTONES)))
    for statement in LAYOUTS[job.layout]:
        spark.sql(statement.format(table=f"delta.`{job.table}`")).collect()


def seeds(spark: SparkSession, count: int, columns: StructType) -> DataFrame:
    """Return rows that are older than every change, with ids from 0."""
    order: dict[str, Column] = {
        "sequence": F.struct(F.lit(0).alias("major"), F.lit(0).alias("minor")),
        "topic": F.lit("seed"),
        "partition": F.lit(0),
        "offset": F.col("id"),
        "element": F.lit(0),
        "version": F.lit(1),
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
