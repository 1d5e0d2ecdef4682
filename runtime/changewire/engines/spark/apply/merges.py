"""What a batch does to each of its tables, decided before anything of it is written."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.effects import EFFECTS
from changewire.engines.layout import CHANGE
from changewire.engines.spark.apply.applying import Applying
from changewire.engines.spark.apply.failures import FAILURE, FAILURE_TYPE, ROW_ID
from changewire.engines.spark.apply.known import kept_deletes
from changewire.engines.spark.apply.merge import Decided, Merge, decide
from changewire.engines.spark.apply.places import place_of
from changewire.engines.spark.apply.plan import Plan
from changewire.engines.spark.apply.routes import is_from
from changewire.engines.spark.parts import position_columns
from changewire.tables.apply import TRUNCATE
from changewire.tables.effects import DELETE
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order, Position
from changewire.tables.ways import From, Routes


class DecidedBatch(NamedTuple):
    """What a batch does to its tables.

    Attributes:
        merges: What it does to each, and what was decided.
        failures: `ROW_ID` and `FAILURE` of the changes that cannot be applied; they have no part in
            `merges`. None if there are no such changes.
    """

    merges: list[tuple[Merge, Decided]]
    failures: DataFrame | None


def merge_of(
    rows: DataFrame, target: Target, found: Routes, plan: Plan, applying: Applying, *, changes: int
) -> Merge:
    """Return what a batch does to one table, which is made if it is not there.

    Args:
        rows: Decoded rows with effects and `ROW_ID`.
        target: The table.
        found: Where changes come from.
        plan: How the table has its rows.
        applying: How changes are applied.
        changes: How many changes the batch has.

    Raises:
        OutputError: The table has other columns.
    """
    spark = rows.sparkSession
    effects = effects_of(rows, found.targets[target])
    namespaces = [namespace for added, namespace in found.added if added == target]
    if namespaces:
        earlier = kept_deletes(spark, applying.checkpoint, namespaces, effects.schema)
        effects = effects if earlier is None else effects.unionByName(earlier)
    if plan.has_changed and plan.shape is not None:
        applying.tables.evolve(spark, target.name, plan.shape.columns)
    place = place_of(spark, target.name, plan.shape, applying.tables)
    truncate = _newest_truncate(rows, found.targets[target])
    return Merge(place.shape.fitted(effects.drop("source")), place, truncate, changes)


def decided(merges: Iterable[Merge]) -> DecidedBatch:
    """Decide what a batch does to its tables, without the changes that cannot be applied.

    A change that fails in one table has no part in the others, so that it is applied as a whole
    when it is replayed.

    Raises:
        ConflictError: Other writers did not let it be done.
    """
    failures: DataFrame | None = None
    left = [*merges]
    while True:
        pairs = [(merge, decide(merge)) for merge in left]
        failed = [one.made.failures() for _, one in pairs if one.made.failed]
        # Deletes that an earlier batch kept are not of this batch, so they cannot be refused here.
        new = (
            reduce(DataFrame.unionAll, failed).where(F.col(ROW_ID).isNotNull()) if failed else None
        )
        if new is None or new.isEmpty():
            return DecidedBatch(pairs, failures)
        failures = new if failures is None else failures.unionAll(new)
        left = [merge.without(new) for merge in left]


def effects_of(rows: DataFrame, ways: list[From]) -> DataFrame:
    """Return what the changes from some sources do to rows, one row for each effect.

    Args:
        rows: Decoded rows with effects and `ROW_ID`; `FAILURE` says which cannot be applied.
        ways: The sources.
    """
    effect = F.col("_effect")
    changes = rows.where((F.col("kind") == CHANGE) & is_from(ways))
    exploded = changes.withColumn("_effect", F.explode(EFFECTS))
    failure = F.col(FAILURE) if FAILURE in rows.columns else F.lit(None).cast(FAILURE_TYPE)
    return exploded.select(
        "source",
        *(effect[name].alias(name) for name in ("key", "kind", "names", "sequence")),
        *position_columns(),
        F.when(effect["kind"] != DELETE, F.col("after")).alias("after"),
        ROW_ID,
        failure.alias(FAILURE),
    )


def _newest_truncate(rows: DataFrame, ways: list[From]) -> Order:
    """Return the order of the newest truncate that comes from some sources."""
    asked = [one for one in ways if one[1] == TRUNCATE]
    if not asked:
        return OLDEST
    fields = F.struct("sequence", *position_columns())
    found = rows.where(is_from(asked) & F.col("sequence").isNotNull())
    newest = found.agg(F.max(fields).alias("newest")).collect()[0]["newest"]
    if newest is None:
        return OLDEST
    sequence, *position = newest
    return Order((sequence["major"], sequence["minor"]), Position(*position))
