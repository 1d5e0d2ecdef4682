"""What a query knows of earlier batches: the tables that it fed, and deletes that name none.

Both are kept in the checkpoint, a folder for each batch, which the batch overwrites when it is
retried.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Final

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import LongType, StructField, StructType

from changewire.engines.spark.apply.failures import FAILURE_FIELD, ROW_ID_FIELD
from changewire.engines.spark.jvm import listing
from changewire.tables.names import Target
from changewire.tables.routing import KnownTables, Namespace
from changewire_messages.tables.spark import KNOWN_TARGET, PENDING_DELETE

_TABLES: Final = "changewire_tables"
_DELETES: Final = "changewire_deletes"
_OF_BATCH: Final = (ROW_ID_FIELD, FAILURE_FIELD)
"""Columns of effects that say something of their batch alone."""

_NOT_THERE: Final = "PATH_NOT_FOUND"

_read_before: Final[dict[str, dict[Any, list[Row]]]] = {}
"""What was read of the tables of a checkpoint, by what its folder listed before."""


def known_tables(spark: SparkSession, checkpoint: str) -> KnownTables:
    """Return the tables that earlier batches fed.

    They are read only if the checkpoint has others than those that were read here before.
    """
    known, listed = KnownTables(), listing(spark, f"{checkpoint}/{_TABLES}")
    rows = _read_before.get(checkpoint, {}).get(listed)
    if rows is None:
        found = _read(spark, checkpoint, _TABLES, KNOWN_TARGET) if listed != frozenset() else None
        rows = [] if found is None else sorted(found.collect(), key=itemgetter("batch"))
        if listed is not None:
            _read_before[checkpoint] = {listed: rows}
    for row in rows:
        known.add(Target(row["name"], tuple(row["origin"])), (row["system"], row["database"]))
    return known


def keep_tables(
    spark: SparkSession, checkpoint: str, batch: int, added: Iterable[tuple[Target, Namespace]]
) -> None:
    """Keep the tables that a batch was the first to feed."""
    rows = [_row(target, namespace) for target, namespace in added]
    if rows:
        found = spark.range(1).select(F.explode(F.array(*rows)).alias("row")).select("row.*")
        _write(found, checkpoint, _TABLES, batch)


def _row(target: Target, namespace: Namespace) -> Column:
    """Return a row of `KNOWN_TARGET`."""
    origin = F.array(*map(F.lit, target.origin)).cast("array<string>")
    values = [*map(F.lit, (*namespace, target.name)), origin]
    named = zip(KNOWN_TARGET.fields, values, strict=True)
    return F.struct(*(value.cast(field.dataType).alias(field.name) for field, value in named))


def keep_deletes(checkpoint: str, batch: int, deletes: DataFrame) -> None:
    """Keep deletes that name no table, for tables to come.

    Args:
        checkpoint: Folder of the checkpoint.
        batch: Number of the batch.
        deletes: Effects, with the ``source`` of their changes.
    """
    _write(deletes.drop(*(one.name for one in _OF_BATCH)), checkpoint, _DELETES, batch)


def kept_deletes(
    spark: SparkSession, checkpoint: str, namespaces: Iterable[Namespace]
) -> DataFrame | None:
    """Return kept deletes of some namespaces as effects; None if none were ever kept."""
    found = _read(spark, checkpoint, _DELETES, PENDING_DELETE)
    if found is None:
        return None
    wanted: Any = F.lit(False)  # noqa: FBT003 - a column of this value
    for system, database in namespaces:
        source = F.col("source")
        wanted |= source["system"].eqNullSafe(system) & source["database"].eqNullSafe(
            F.lit(database)
        )
    nothing = {one.name: F.lit(None).cast(one.dataType) for one in _OF_BATCH}
    return found.where(wanted).drop("batch").withColumns(nothing)


def _write(rows: DataFrame, checkpoint: str, folder: str, batch: int) -> None:
    rows.coalesce(1).write.mode("overwrite").parquet(f"{checkpoint}/{folder}/batch={batch}")


def _read(
    spark: SparkSession, checkpoint: str, folder: str, columns: StructType
) -> DataFrame | None:
    numbered = StructType([*columns.fields, StructField("batch", LongType())])
    try:
        found = spark.read.schema(numbered).parquet(f"{checkpoint}/{folder}")
        found.schema  # noqa: B018 - Spark Connect looks for the files only now
    except AnalysisException as error:
        if error.getCondition() == _NOT_THERE:
            return None
        raise
    return found
