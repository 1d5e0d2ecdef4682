"""What each row becomes that the changes of a batch concern, and how often which."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.spark.apply.decide import (
    EFFECT_ROW,
    FAILED,
    ROW,
    TABLE_ROW,
    TOMBSTONE,
    TOMBSTONE_ROW,
    Decide,
    input_type,
    output_type,
)
from changewire.engines.spark.apply.failures import FAILURE, ROW_ID, has_failed
from changewire.engines.spark.apply.in_spark import OTHER, decided_in_spark
from changewire.engines.spark.apply.shape import NAMED
from changewire.engines.spark.apply.tables import SparkTables, held_rows, held_tombstones
from changewire.tables.order import NO_SEQUENCE, OLDEST, Order, Sequence

MANY: Final = 20_000
"""Changes from which on two queries, where the first leaves little to the second, take less time
than one that has all of them read and decided by Python."""


@dataclass(frozen=True)
class Decisions:
    """What rows become; all of their keys were looked at.

    Attributes:
        decided: Columns as `output_type` has them; computed once.
        tombstones: How many tombstones they have.
        changed: How many rows are written or removed.
        counts: What became of the changes.
        newest: The greatest sequence that is written.
        failed: How many effects cannot be applied.
        others: How many keys are not decided yet.
        keys: As `local.LocalDecisions` has it, and so are `is_blind` and `perhaps`.
    """

    decided: DataFrame
    tombstones: int
    changed: int
    counts: Counter[str]
    newest: Sequence = NO_SEQUENCE
    failed: int = 0
    others: int = 0
    keys: Counter[str] = field(default_factory=Counter)
    is_blind: bool = False
    perhaps: int = 0

    def failures(self) -> DataFrame | None:
        """Return `ROW_ID` and `FAILURE` of the effects of the batch that cannot be applied.

        Deletes that an earlier batch kept have no `ROW_ID`, and are not among them: they are not of
        this batch, so they cannot be refused here. None if there are none.
        """
        if not self.failed:
            return None
        is_failed = (F.col("action") == FAILED) & F.col(ROW_ID).isNotNull()
        found = self.decided.where(is_failed).select(ROW_ID, FAILURE)
        return None if found.isEmpty() else found

    def buried(self) -> DataFrame:
        """Return ``key`` and ``metadata`` of the tombstones."""
        return self.decided.where(F.col("action") == TOMBSTONE).select("key", "metadata")

    def rows(self) -> DataFrame:
        """Return the rows that are written or removed."""
        is_changed = (F.col("action") == ROW) | F.col("expected").isNotNull()
        return self.decided.where(is_changed)


@dataclass(frozen=True)
class SparkEffects:
    """What the changes of a batch do to the rows of one table.

    Attributes:
        rows: One row for each effect, as `Shape.fitted` returns them.
        changes: How many changes the batch has, about.
    """

    rows: DataFrame
    changes: int

    @property
    def spark(self) -> SparkSession:
        """The session."""
        return self.rows.sparkSession

    def without(self, failures: DataFrame) -> SparkEffects:
        """Return what is left without some changes, which have `ROW_ID`."""
        left = self.rows.join(failures.select(ROW_ID), ROW_ID, "left_anti")
        return replace(self, rows=left)

    def decisions(
        self, tables: SparkTables, floor: Order, mark: object, *, is_new: bool
    ) -> Decisions:
        """Return what each row becomes.

        Args:
            tables: The table and its tombstones.
            floor: Order of the newest truncate of the table.
            mark: Nothing is left out by it.
            is_new: Whether the batch brings that truncate.
        """
        del mark
        effects, is_typed = self.rows, tables.shape.is_typed
        if self.changes < MANY or floor > OLDEST:
            return _counted(decided_in_python(effects, tables, floor, is_new=is_new))
        fitting = effects.where(~has_failed()) if is_typed else effects
        found = decided_in_spark(fitting, tables)
        if is_typed:
            found = found.unionByName(_failures(effects, tables))
        first = _counted(found)
        if not first.others:
            return first
        keys = first.decided.where(F.col("action") == OTHER).select("key")
        left = fitting.join(keys, "key", "left_semi")
        rest = _counted(decided_in_python(left, tables, floor, is_new=is_new))
        return Decisions(
            first.decided.unionByName(rest.decided),
            first.tombstones + rest.tombstones,
            first.changed + rest.changed,
            first.counts + rest.counts,
            max(first.newest, rest.newest),
            first.failed + rest.failed,
        )


def _failures(effects: DataFrame, tables: SparkTables) -> DataFrame:
    """Return decisions on the effects that do not fit."""
    failed = effects.where(has_failed()).select(
        F.lit(FAILED).alias("action"), "key", ROW_ID, FAILURE
    )
    return filled(failed, output_type(tables.shape))


def decided_in_python(
    effects: DataFrame, tables: SparkTables, floor: Order, *, is_new: bool
) -> DataFrame:
    """Return what rows become, decided by `Decide`."""
    keys = effects.where(~has_failed()).groupBy("key").agg(F.first(NAMED).alias(NAMED))
    rows = held_rows(tables, keys, is_all=is_new)
    parts = [
        effects.withColumn("origin", F.lit(EFFECT_ROW)),
        held_tombstones(tables, keys).withColumn("origin", F.lit(TOMBSTONE_ROW)),
        *([] if rows is None else [rows.withColumn("origin", F.lit(TABLE_ROW))]),
    ]
    columns = input_type(tables.shape)
    together = reduce(DataFrame.unionByName, (filled(part, columns) for part in parts))
    # Spark would join small partitions, and Python take all of them one after the other.
    number = int(effects.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    grouped = together.repartition(number, "key").sortWithinPartitions("key")
    return grouped.mapInArrow(Decide(tables.shape, floor), output_type(tables.shape))


def filled(part: DataFrame, columns: StructType) -> DataFrame:
    """Return some columns; those that a part lacks are NULL."""
    return part.select(
        *(
            (F.col(f.name) if f.name in part.columns else F.lit(None))
            .cast(f.dataType)
            .alias(f.name)
            for f in columns.fields
        )
    )


def _counted(decided: DataFrame) -> Decisions:
    """Compute decisions, and count them."""
    # Persisted rows would be computed anew as soon as a table that they were read from is written.
    rows = decided.localCheckpoint(eager=False)
    groups = rows.groupBy("action", F.to_json("counts").alias("counts"))
    expected = F.count_if(F.col("expected").isNotNull())
    newest = F.max("metadata.sequence").alias("newest")
    found = groups.agg(F.count("*").alias("n"), expected.alias("expected"), newest).collect()
    number: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for group in found:
        number[group["action"]] += group["n"]
        if group["counts"]:
            counts.update({k: n * group["n"] for k, n in json.loads(group["counts"]).items()})
    removed = sum(group["expected"] for group in found if group["action"] != ROW)
    changed = number[ROW] + removed
    sequences = (tuple(group["newest"]) for group in found if group["newest"] is not None)
    greatest = max(sequences, default=NO_SEQUENCE)
    tombstones, failed, others = number[TOMBSTONE], number[FAILED], number[OTHER]
    return Decisions(rows, tombstones, changed, counts, greatest, failed, others)
