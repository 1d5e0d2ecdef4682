"""What the changes of a large batch do to a table: looked at are only the keys that need it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.spark.apply.decide import BEYOND, FAILED, dictionaries, output_type
from changewire.engines.spark.apply.decisions import (
    Decisions,
    counted,
    decided_in_python,
    failures_of,
    with_known,
)
from changewire.engines.spark.apply.failures import ROW_ID, has_failed
from changewire.engines.spark.apply.in_spark import (
    OTHER,
    SUMMED,
    decided_beyond,
    decided_in_spark,
    is_beyond,
    newest_changes,
)
from changewire.engines.spark.apply.local import decided_here
from changewire.engines.spark.apply.making import local_frame
from changewire.engines.spark.apply.shape import NAMED
from changewire.engines.spark.apply.states import Mark
from changewire.engines.spark.apply.tables import SparkTables
from changewire.engines.spark.session import static_plans
from changewire.tables.mutations import DELETE
from changewire.tables.order import OLDEST, Order, Sequence

FEW_LOOKED_UP: Final = 2_000
"""Effects up to which the driver decides on the keys of a large batch that need a look."""

_MOST_BYTES: Final = 2**24
"""Bytes of the rows of these effects at most."""

MANY: Final = 20_000
"""Changes from which on two queries, where the first leaves little to the second, take less time
than one that has all of them read and decided by Python."""


@dataclass(frozen=True)
class SparkEffects:
    """What the changes of a batch do to the rows of one table.

    Attributes:
        rows: One row for each effect, as `Shape.fitted` returns them.
        changes: How many changes the batch has, about.
        can_fail: Whether some of them may have `FAILURE`.
    """

    rows: DataFrame
    changes: int
    can_fail: bool = True

    @property
    def spark(self) -> SparkSession:
        """The session."""
        return self.rows.sparkSession

    def without(self, failures: DataFrame) -> SparkEffects:
        """Return what is left without some changes, which have `ROW_ID`."""
        left = self.rows.join(failures.select(ROW_ID), ROW_ID, "left_anti")
        return replace(self, rows=left)

    def decisions(
        self, tables: SparkTables, floor: Order, mark: Mark, *, is_new: bool
    ) -> Decisions:
        """Return what each row becomes.

        A key is not looked at if all its changes are whole, and the newest of them is newer than
        anything that is there.

        Args:
            tables: The table and its tombstones.
            floor: Order of the newest truncate of the table.
            mark: The greatest sequence that is there.
            is_new: Whether the batch brings that truncate.
        """
        effects = self.rows
        known = mark.get()
        if floor > OLDEST or (known is None and self.changes < MANY):
            return counted(decided_in_python(effects, tables, floor, is_new=is_new))
        fitting = effects.where(~has_failed()) if self.can_fail else effects
        newest = newest_changes(fitting, tables.shape.compared)
        found = (
            self._looked_up(newest, fitting, tables)
            if known is None
            else self._by_mark(newest, fitting, tables, known)
        )
        if not self.can_fail:
            return found
        return found.plus(counted(failures_of(effects, tables)))

    def _by_mark(
        self, newest: DataFrame, fitting: DataFrame, tables: SparkTables, known: Sequence
    ) -> Decisions:
        """Return what each row becomes, by a look at the keys alone that need one."""
        marked = newest.withColumn(BEYOND, is_beyond(known)).localCheckpoint(eager=False)
        groups = {group[BEYOND]: group for group in marked.groupBy(BEYOND).agg(*_sums()).collect()}
        found = _beyond(marked.where(BEYOND), groups.get(True), tables)
        if (rest := groups.get(False)) is None:
            return found
        others = marked.where(~F.col(BEYOND))
        if rest["effects"] <= FEW_LOOKED_UP and (rest["bytes"] or 0) <= _MOST_BYTES:
            looked_up = _in_driver(fitting, others, tables)
        else:
            looked_up = self._looked_up(others, fitting, tables)
        return found.plus(replace(looked_up, keys=Counter(looked_up=rest["keys"])))

    def _looked_up(self, newest: DataFrame, fitting: DataFrame, tables: SparkTables) -> Decisions:
        """Return what rows become, of keys that are all looked at, in tasks."""
        if self.changes < MANY:
            left = fitting.join(newest.select("key"), "key", "left_semi")
            return counted(decided_in_python(left, tables, OLDEST, is_new=False))
        first = counted(decided_in_spark(newest, tables))
        if not first.others:
            return first
        keys = first.decided.where(F.col("action") == OTHER).select("key")
        left = fitting.join(keys, "key", "left_semi")
        return first.plus(counted(decided_in_python(left, tables, OLDEST, is_new=False)))


def _sums() -> list[Column]:
    """Return what is counted of keys, of the columns of `newest_changes`."""
    is_delete = F.col("kind") == DELETE
    return [
        F.count("*").alias("keys"),
        F.count_if(is_delete).alias("deletes"),
        F.max("sequence").alias("newest"),
        *(F.sum(name).alias(name) for name in SUMMED),
    ]


def _beyond(newest: DataFrame, sums: Row | None, tables: SparkTables) -> Decisions:
    """Return decisions on keys that need no look.

    Args:
        newest: As `newest_changes` returns them.
        sums: What was counted of them; None if there are none.
        tables: The table and its tombstones.
    """
    decided = decided_beyond(newest, tables.shape)
    if sums is None:
        return Decisions(decided.limit(0), 0, 0, Counter())
    failed = 0
    if not tables.shape.is_typed:  # rows were made by Python
        decided = decided.localCheckpoint(eager=False)
        failed = decided.where(F.col("action") == FAILED).count()
    counts = Counter(applied=sums["changes"], duplicate=sums["duplicates"], stale=sums["stale"])
    return Decisions(
        decided,
        tombstones=sums["deletes"],
        changed=sums["keys"] - sums["deletes"] - failed,
        counts=+counts,
        newest=tuple(sums["newest"]),
        failed=failed,
        keys=Counter(beyond_mark=sums["keys"]),
        is_blind=True,
        perhaps=sums["deletes"],
    )


def _in_driver(fitting: DataFrame, newest: DataFrame, tables: SparkTables) -> Decisions:
    """Return what rows become, of few keys that are all looked at, decided in the driver."""
    spark, shape = fitting.sparkSession, tables.shape
    keys = F.broadcast(newest.select("key", NAMED))
    effects = fitting.join(keys.select("key"), "key", "left_semi")
    with static_plans(spark):
        found = with_known(effects, keys, tables).toArrow()
    made = decided_here(spark, shape, dictionaries(found.to_batches()), OLDEST)
    decided = local_frame(spark, made.made, output_type(shape))
    return Decisions(decided, made.tombstones, made.changed, made.counts, made.newest, made.failed)
