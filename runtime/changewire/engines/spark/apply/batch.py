"""One batch: landed as every batch is, and merged into the tables that it feeds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.counts import Counts
from changewire.engines.spark.apply.effects import EFFECTS
from changewire.engines.spark.apply.formats import FORMATS
from changewire.engines.spark.apply.known import (
    keep_deletes,
    keep_tables,
    kept_deletes,
    known_tables,
)
from changewire.engines.spark.apply.merge import merge
from changewire.engines.spark.apply.places import keep_truncated, place_of, truncated
from changewire.engines.spark.apply.refuse import refused
from changewire.engines.spark.apply.routes import (
    From,
    Known,
    Routes,
    Sources,
    is_from,
    routes,
    sources_of,
)
from changewire.engines.spark.apply.shape import Shape
from changewire.engines.spark.decode import Decoded
from changewire.engines.spark.stream.batch import BatchWriter
from changewire.engines.spark.stream.errors import KeysMissingError
from changewire.engines.spark.stream.progress import TableCounts
from changewire.engines.spark.stream.sinks import BatchId
from changewire.tables.apply import TRUNCATE
from changewire.tables.effects import DELETE
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order, Position
from changewire.tables.routing import Routing, goes_to_all


@dataclass(frozen=True)
class Applying:
    """How the changes of a query are applied.

    Attributes:
        format: Public name of the messages' format.
        routing: How sources find their targets.
        shape: How tables have their rows.
        sink: Table format.
        checkpoint: Folder of the query's checkpoint.
        apply_as_truncates: Whether truncates are applied.
    """

    format: str
    routing: Routing
    shape: Shape
    sink: str
    checkpoint: str
    apply_as_truncates: bool = False


@dataclass(frozen=True)
class TablesWriter(BatchWriter):
    """Writes the batches of a query that applies changes; what `foreachBatch` takes.

    Attributes:
        applying: How changes are applied.
    """

    applying: Applying

    def _write(self, decoded: Decoded, batch: BatchId) -> tuple[Counts, TableCounts]:
        """Write a batch, then merge it; done again it changes nothing."""
        rows, applying = decoded.rows, self.applying
        known = known_tables(rows.sparkSession, applying.checkpoint)
        sources = sources_of(rows, with_truncates=applying.apply_as_truncates)
        _check_keys(sources, known)
        found = routes(sources.ways, applying.routing, known)
        to_land = refused(
            rows,
            found.refused,
            applying.format,
            with_truncates=applying.apply_as_truncates,
        )
        landed = Decoded(to_land, decoded.rows_as)
        counts = self._land(landed, batch)
        to_all = [one for one in sources.ways if goes_to_all(one[1], one[0])]
        if to_all:
            keep_deletes(applying.checkpoint, batch.number, _effects(rows, to_all))
        tables = Counter(
            key_missing=sources.key_missing, lone_before_unused=sources.lone_before_unused
        )
        for target in found.targets:
            tables += self._merge(rows, target, found)
        keep_tables(rows.sparkSession, applying.checkpoint, batch.number, found.added)
        return counts, dict(sorted((+tables).items()))

    def _merge(self, rows: DataFrame, target: Target, found: Routes) -> Counter[str]:
        """Merge what goes to one table."""
        applying, spark = self.applying, rows.sparkSession
        effects = _effects(rows, found.targets[target])
        namespaces = [namespace for added, namespace in found.added if added == target]
        if namespaces:
            earlier = kept_deletes(spark, applying.checkpoint, namespaces, effects.schema)
            effects = effects if earlier is None else effects.unionByName(earlier)
        place = place_of(
            spark,
            target.name,
            applying.shape,
            FORMATS[applying.sink],
            is_path=applying.routing.template.is_path,
        )
        floor = truncated(spark, place)
        newest = _newest_truncate(rows, found.targets[target])
        if newest > floor:
            keep_truncated(spark, place, newest)
        return merge(effects, place, max(floor, newest), is_new=newest > OLDEST)


def _check_keys(sources: Sources, known: Known) -> None:
    """Refuse a batch in which no change has a key, where none ever had.

    Raises:
        KeysMissingError: It is such a batch.
    """
    if sources.changes and sources.changes == sources.key_missing and not known.names:
        raise KeysMissingError(
            f"none of {sources.changes} changes has a key, so no table can take them; "
            "name the columns of the key by `keys`. Nothing of the batch was written"
        )


def _newest_truncate(rows: DataFrame, ways: list[From]) -> Order:
    """Return the order of the newest truncate that comes from some sources."""
    asked = [one for one in ways if one[1] == TRUNCATE]
    if not asked:
        return OLDEST
    fields = F.struct(*_order_columns())
    found = rows.where(is_from(asked)).where(F.col("sequence").isNotNull())
    newest = found.agg(F.max(fields).alias("newest")).collect()[0]["newest"]
    if newest is None:
        return OLDEST
    sequence, *position = newest
    return Order((sequence["major"], sequence["minor"]), Position(*position))


def _order_columns() -> list[Column]:
    """Return the columns of an order, as `changewire.tables.position_of` makes them."""
    return [
        F.col("sequence"),
        F.coalesce("topic", "path", F.lit("")).alias("topic"),
        F.coalesce("partition", F.lit(-1)).alias("partition"),
        F.coalesce("offset", "number", F.lit(-1)).alias("offset"),
        F.col("element"),
    ]


def _effects(rows: DataFrame, ways: list[From]) -> DataFrame:
    """Return what the changes from some sources do to rows, one row for each effect."""
    effect = F.col("_effect")
    exploded = rows.where(is_from(ways)).withColumn("_effect", F.explode(EFFECTS))
    return exploded.select(
        "source",
        *(effect[name].alias(name) for name in ("key", "kind", "names", "sequence")),
        *_order_columns()[1:],
        F.when(effect["kind"] != DELETE, F.col("after")).alias("values"),
    )
