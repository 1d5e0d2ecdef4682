"""What each row becomes that the changes of a batch concern, and how often which."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame, Row, SparkSession
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
    dictionaries,
    input_type,
    output_type,
)
from changewire.engines.spark.apply.failures import FAILURE, ROW_ID, has_failed
from changewire.engines.spark.apply.in_spark import (
    OTHER,
    SUMMED,
    decided_beyond,
    decided_in_spark,
    is_beyond,
    newest_changes,
)
from changewire.engines.spark.apply.local import LocalEffects
from changewire.engines.spark.apply.making import local_frame
from changewire.engines.spark.apply.shape import NAMED
from changewire.engines.spark.apply.states import Mark
from changewire.engines.spark.apply.tables import SparkTables, held_rows, held_tombstones
from changewire.tables.mutations import DELETE
from changewire.tables.order import NO_SEQUENCE, OLDEST, Order, Sequence

FEW_LOOKED_UP: Final = 2_000
"""Effects up to which the driver decides on the keys of a large batch that need a look."""

_MOST_BYTES: Final = 2**24
"""Bytes of the rows of these effects at most."""

MANY: Final = 20_000
"""Changes from which on two queries, where the first leaves little to the second, take less time
than one that has all of them read and decided by Python."""


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

        A key is not looked at if all its changes are whole, and newer than anything that is there.

        Args:
            tables: The table and its tombstones.
            floor: Order of the newest truncate of the table.
            mark: The greatest sequence that is there.
            is_new: Whether the batch brings that truncate.
        """
        effects = self.rows
        known = mark.get()
        if floor > OLDEST or (known is None and self.changes < MANY):
            return _counted(decided_in_python(effects, tables, floor, is_new=is_new))
        fitting = effects.where(~has_failed()) if self.can_fail else effects
        newest = newest_changes(fitting, tables.shape.compared)
        found = (
            self._looked_up(newest, fitting, tables)
            if known is None
            else self._by_mark(newest, fitting, tables, known)
        )
        if not self.can_fail:
            return found
        return found.plus(_counted(_failures(effects, tables)))

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
            return _counted(decided_in_python(left, tables, OLDEST, is_new=False))
        first = _counted(decided_in_spark(newest, tables))
        if not first.others:
            return first
        keys = first.decided.where(F.col("action") == OTHER).select("key")
        left = fitting.join(keys, "key", "left_semi")
        return first.plus(_counted(decided_in_python(left, tables, OLDEST, is_new=False)))


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
    keys = F.broadcast(newest.select("key"))
    found = fitting.join(keys, "key", "left_semi")
    # Arrow takes no NULL for a struct whose fields are never NULL.
    columns = (F.col(f.name).cast(f.dataType.simpleString()) for f in found.schema.fields)
    rows = dictionaries(found.select(*columns).toArrow().to_batches())
    nothing = Mark(spark, tables, OLDEST, is_wanted=False)
    made = LocalEffects(spark, [*rows]).decisions(tables, OLDEST, nothing, is_new=False)
    decided = local_frame(spark, made.made, output_type(shape))
    return Decisions(decided, made.tombstones, made.changed, made.counts, made.newest, made.failed)


def _failures(effects: DataFrame, tables: SparkTables) -> DataFrame:
    """Return decisions on the effects that do not fit."""
    failed = effects.where(has_failed()).select(
        F.lit(FAILED).alias("action"), "key", ROW_ID, FAILURE
    )
    return _with(failed, output_type(tables.shape))


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
    together = reduce(DataFrame.unionByName, (_with(part, columns) for part in parts))
    # Spark would join small partitions, and Python take all of them one after the other.
    number = int(effects.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    grouped = together.repartition(number, "key").sortWithinPartitions("key")
    return grouped.mapInArrow(Decide(tables.shape, floor), output_type(tables.shape))


def _with(part: DataFrame, columns: StructType) -> DataFrame:
    """Return the columns of what is decided on; those that a part lacks are NULL."""
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
