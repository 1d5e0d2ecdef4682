"""A batch of many changes: decided on in tasks, where its rows are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.counts import Counts
from changewire.engines.spark.apply.effects import effects_of, with_paired_updates
from changewire.engines.spark.apply.failures import ROW_ID, failed, refused
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.plan import TablePlan, plans
from changewire.engines.spark.apply.refused import unrouted
from changewire.engines.spark.apply.sources import is_from, sources_of
from changewire.engines.spark.apply.table_effects import SparkEffects
from changewire.engines.spark.apply.typed_shape import Shape
from changewire.engines.spark.decode import DecodedFrames, RowsAs
from changewire.engines.spark.parts import position_columns
from changewire.engines.typed.sources import BatchSources
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, ChangePosition, Order
from changewire.tables.routing import TRUNCATE, RouteKey, Routes


@dataclass(frozen=True)
class LargeBatch:
    """A batch that is decided on in tasks, as `changewire.tables.planner` plans it.

    Attributes:
        landing: Decoded rows with effects; changes that cannot be applied are dead letters.
        rows: The same with the images of updates paired.
        sources: Where the changes come from.
        options: How changes are applied.
        tables: How each table has its rows; empty until the batch is routed.
        unfitted: How many changes have effects, and no `IMAGE`.
        counts: Counts of what lands, not checked yet; None if they are not known.
    """

    landing: DataFrame
    rows: DataFrame
    sources: BatchSources
    options: ApplyOptions
    tables: dict[Target, TablePlan]
    unfitted: int
    counts: Counts | None

    def routed(self, routes: Routes) -> LargeBatch:
        """Return the batch in which changes are refused that no table can take."""
        options = self.options
        tables, refusals = plans(self.rows.sparkSession, routes, self.sources, options)
        why = unrouted(routes.refused, with_truncates=options.apply_as_truncates)
        why += refusals
        if not why:
            return replace(self, tables=tables)
        rows = refused(self.rows, why, options.decode_options.format)
        return replace(self, landing=rows, rows=rows, tables=tables, counts=None)

    def paired(self) -> tuple[LargeBatch, int]:
        """Return the batch with the images of updates paired, and how many updates had both."""
        rows, number = with_paired_updates(self.landing)
        return replace(self, rows=rows), number

    def without(self, failures: list[DataFrame]) -> LargeBatch:
        """Return the batch in which the changes of `ROW_ID` and `FAILURE` are dead letters too."""
        every = reduce(DataFrame.unionAll, failures)
        name = self.options.decode_options.format
        return replace(self, landing=failed(self.landing, every, name), counts=None)

    def effects(
        self, keys: list[RouteKey], shape: Shape, earlier: DataFrame | None
    ) -> SparkEffects:
        """Return what the changes from some sources, and earlier deletes, do to a table."""
        found = effects_of(self.rows, keys).drop("source")
        if earlier is not None:
            found = found.unionByName(earlier.drop("source"), allowMissingColumns=True)
        is_known = earlier is None and not self.unfitted
        fitted = shape.fitted(found, is_known=is_known)
        can_fail = shape.is_typed and not is_known
        return SparkEffects(fitted, self.sources.changes, can_fail)

    def newest_truncate(self, keys: list[RouteKey]) -> Order:
        """Return the order of the newest truncate that comes from some sources."""
        truncates = [one for one in keys if one[1] == TRUNCATE]
        if not truncates:
            return OLDEST
        fields = F.struct("sequence", *position_columns())
        found = self.rows.where(is_from(truncates) & F.col("sequence").isNotNull())
        newest = found.agg(F.max(fields).alias("newest")).collect()[0]["newest"]
        if newest is None:
            return OLDEST
        sequence, *position = newest
        return Order((sequence["major"], sequence["minor"]), ChangePosition(*position))

    def landed(self, rows_as: RowsAs) -> DecodedFrames:
        """Return what lands."""
        return DecodedFrames(self.landing.drop(ROW_ID), rows_as, self.counts)


def large_batch(rows: DataFrame, options: ApplyOptions) -> LargeBatch:
    """Return a batch of decoded rows with effects and `ROW_ID`; they are counted by one job."""
    found = sources_of(
        rows,
        with_truncates=options.apply_as_truncates,
        are_typed=options.are_typed,
        have_schemas=options.rows == "embedded",
    )
    return LargeBatch(rows, rows, found.sources, options, {}, found.unfitted, found.counts)
