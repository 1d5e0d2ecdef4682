"""What each row becomes that the changes of a batch concern, and how often which."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.spark.apply.decide import (
    BEYOND,
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
from changewire.engines.spark.apply.in_spark import OTHER
from changewire.engines.spark.apply.shape import NAMED
from changewire.engines.spark.apply.tables import SparkTables, held_rows, held_tombstones
from changewire.engines.spark.types import nullable
from changewire.tables.order import NO_SEQUENCE, Order, Sequence


@dataclass(frozen=True)
class Decisions:
    """What rows become, in Spark.

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
        is_perhaps = (F.col("action") == TOMBSTONE) & F.col(BEYOND)
        is_changed = (F.col("action") == ROW) | F.col("expected").isNotNull() | is_perhaps
        return self.decided.where(is_changed)

    def plus(self, other: Decisions) -> Decisions:
        """Return these decisions and those on other keys."""
        return Decisions(
            self.decided.unionByName(other.decided),
            self.tombstones + other.tombstones,
            self.changed + other.changed,
            self.counts + other.counts,
            max(self.newest, other.newest),
            self.failed + other.failed,
            keys=self.keys + other.keys,
            is_blind=self.is_blind or other.is_blind,
            perhaps=self.perhaps + other.perhaps,
        )


def failures_of(effects: DataFrame, tables: SparkTables) -> DataFrame:
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
    together = with_known(effects, keys, tables, is_all=is_new)
    # Spark would join small partitions, and Python take all of them one after the other.
    number = int(effects.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    grouped = together.repartition(number, "key").sortWithinPartitions("key")
    return grouped.mapInArrow(Decide(tables.shape, floor), output_type(tables.shape))


def with_known(
    effects: DataFrame | None, keys: DataFrame, tables: SparkTables, *, is_all: bool = False
) -> DataFrame:
    """Return effects and what the tables have of keys, with columns of `input_type`.

    Args:
        effects: Effects, if they are in Spark.
        keys: As `held_rows` takes them, and so is `is_all`.
        tables: The table and its tombstones.
        is_all: Whether rows of other keys are returned too.
    """
    rows = held_rows(tables, keys, is_all=is_all)
    parts = [
        part.withColumn("origin", F.lit(origin))
        for origin, part in (
            (EFFECT_ROW, effects),
            (TOMBSTONE_ROW, held_tombstones(tables, keys)),
            (TABLE_ROW, rows),
        )
        if part is not None
    ]
    # Arrow takes no NULL for a struct whose fields are never NULL.
    columns = nullable(input_type(tables.shape))
    return reduce(DataFrame.unionByName, (filled(part, columns) for part in parts))


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


def counted(decided: DataFrame) -> Decisions:
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
