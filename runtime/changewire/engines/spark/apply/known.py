"""What a query of Spark keeps in its checkpoint: tables that it fed, and deletes that name none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import LongType, StructField, StructType

from changewire.engines.kept import BATCH, DELETES, TABLES, known_from, target_rows
from changewire.engines.spark.apply.effects import effects_of
from changewire.engines.spark.apply.failures import FAILURE_FIELD, ROW_ID_FIELD
from changewire.engines.spark.apply.large_batch import LargeBatch
from changewire.engines.spark.apply.making import local_frame
from changewire.engines.spark.apply.small_batch import SmallBatch
from changewire.engines.spark.jvm import listing
from changewire.engines.typed.images import IMAGE
from changewire.tables.names import Target
from changewire.tables.routing import KnownTables, Namespace, goes_to_all
from changewire_messages.tables.spark import KNOWN_TARGET, PENDING_DELETE

_OF_BATCH: Final = (ROW_ID_FIELD, FAILURE_FIELD)
"""Columns of effects that say something of their batch alone."""

_NOT_THERE: Final = "PATH_NOT_FOUND"

_read_before: Final[dict[str, dict[Any, list[Row]]]] = {}
"""What was read of the tables of a checkpoint, by what its folder listed before."""


@dataclass(frozen=True)
class SparkCheckpoint:
    """Keeps what later batches need; see `changewire.tables.planner.TableRegistry`.

    Attributes:
        spark: The session.
        folder: Folder of the checkpoint.
        number: Number of the batch.
    """

    spark: SparkSession
    folder: str
    number: int

    def keep_deletes(self, batch: LargeBatch | SmallBatch) -> None:
        """Keep deletes that name no table, as effects with the ``source`` of their changes."""
        to_all = [one for one in batch.sources.route_keys if goes_to_all(one[1], one[0])]
        if to_all:
            deletes = effects_of(batch.landing, to_all)
            self._write(deletes.drop(*(one.name for one in _OF_BATCH), IMAGE), DELETES)

    def keep_tables(self, added: list[tuple[Target, Namespace]]) -> None:
        """Keep the tables that the batch was the first to feed."""
        if added:
            self._write(local_frame(self.spark, target_rows(added), KNOWN_TARGET), TABLES)

    def _write(self, rows: DataFrame, name: str) -> None:
        folder = f"{self.folder}/{name}/{BATCH}={self.number}"
        rows.coalesce(1).write.mode("overwrite").parquet(folder)


def known_tables(spark: SparkSession, checkpoint: str) -> KnownTables:
    """Return the tables that earlier batches fed.

    They are read only if the checkpoint has others than those that were read here before.
    """
    listed = listing(spark, f"{checkpoint}/{TABLES}")
    rows = _read_before.get(checkpoint, {}).get(listed)
    if rows is None:
        found = _read(spark, checkpoint, TABLES, KNOWN_TARGET) if listed != frozenset() else None
        rows = [] if found is None else found.collect()
        if listed is not None:
            _read_before[checkpoint] = {listed: rows}
    return known_from(rows)


def kept_deletes(
    spark: SparkSession, checkpoint: str, namespaces: Iterable[Namespace]
) -> DataFrame | None:
    """Return kept deletes of some namespaces as effects; None if none were ever kept."""
    found = _read(spark, checkpoint, DELETES, PENDING_DELETE)
    if found is None:
        return None
    wanted: Any = F.lit(False)  # noqa: FBT003 - a column of this value
    for system, database in namespaces:
        source = F.col("source")
        wanted |= source["system"].eqNullSafe(system) & source["database"].eqNullSafe(
            F.lit(database)
        )
    nothing = {one.name: F.lit(None).cast(one.dataType) for one in _OF_BATCH}
    return found.where(wanted).drop(BATCH).withColumns(nothing)


def _read(
    spark: SparkSession, checkpoint: str, folder: str, columns: StructType
) -> DataFrame | None:
    numbered = StructType([*columns.fields, StructField(BATCH, LongType())])
    try:
        found = spark.read.schema(numbered).parquet(f"{checkpoint}/{folder}")
        found.schema  # noqa: B018 - Spark Connect looks for the files only now
    except AnalysisException as error:
        if error.getCondition() == _NOT_THERE:
            return None
        raise
    return found
