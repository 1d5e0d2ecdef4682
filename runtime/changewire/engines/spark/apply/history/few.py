"""The versions of the rows that a small batch concerns, made in the driver: few jobs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from changewire.engines.changelog.logged import LoggedChange, paired
from changewire.engines.changelog.versions import plain_rows
from changewire.engines.spark.apply.failures import FAILURE
from changewire.engines.spark.apply.history.effects import effects_of
from changewire.engines.spark.apply.history.keys import (
    Rows,
    VersionsByKey,
    end_of,
    fitter,
    input_type,
)
from changewire.engines.spark.apply.history.tables import HistoryTables
from changewire.engines.spark.apply.making import local_frame
from changewire.engines.spark.apply.shape import NAMED
from changewire.engines.spark.apply.typed_shape import Shape

MOST: Final = 20_000
"""Versions and deletes that the driver holds; a row may have any number of them."""


class FewEffects(NamedTuple):
    """What the changes of a small batch do to the rows of a table.

    Attributes:
        batches: Columns of `keys.input_type`.
        shape: How the table has its rows.
    """

    batches: list[pa.RecordBatch]
    shape: Shape

    def frame(self, spark: SparkSession) -> DataFrame:
        """Return them in Spark."""
        return local_frame(spark, [*plain_rows(self.batches)], input_type(self.shape))

    def versions(self, spark: SparkSession, tables: HistoryTables) -> Rows | None:
        """Return what becomes of versions, as `keys.output_type` has it.

        None if the table has more of these rows than the driver is to hold.
        """
        effects = [row for row in plain_rows(self.batches) if row[FAILURE] is None]
        named = [{"key": key, NAMED: of_key} for key, of_key in _named(effects).items()]
        columns = [StructField("key", StringType()), StructField(NAMED, self.shape.named_type)]
        keys = local_frame(spark, named, StructType(columns))
        held = tables.held(keys, is_all=False, with_truncates=True).limit(MOST + 1)
        # Spark takes a limit that is the last step in several jobs, each of more partitions.
        held = held.sortWithinPartitions("key").toArrow()
        if len(held) > MOST:
            return None
        known = [*plain_rows(held.to_batches())]
        truncates = [end_of(row) for row in known if row["key"] is None]
        of_keys = (row for row in known if row["key"] is not None)
        rows = sorted(chain(effects, of_keys), key=itemgetter("key"))
        return [*VersionsByKey(self.shape, truncates).versions(rows)]


def few_effects(changes: Iterable[LoggedChange], shape: Shape) -> FewEffects:
    """Return what changes of a table do to its rows."""
    return FewEffects([*fitter(shape)([effects_of(paired(changes))])], shape)


def _named(effects: Rows) -> dict[str, object]:
    return {row["key"]: row[NAMED] for row in effects}
