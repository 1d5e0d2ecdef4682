"""Updates whose images came as two messages: which of them moved a row to another key.

A before image says where a row was. Its key is deleted only if the after image of the same source
and sequence is known and has another key: if that is lost, the row is where it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.layout import DECLARED, EFFECT
from changewire.engines.spark.merge.from_log import is_change, with_effects
from changewire.engines.spark.merge.mutations import PLACE
from changewire.engines.spark.parts import position_columns
from changewire.engines.spark.session import INTERPRETED, changed
from changewire.tables.mutations import DELETE
from changewire_messages.change import Source

_GROUP: Final = ("source", "major")
_BEFORES: Final = "befores"
_MOST: Final = 10_000
"""Updates that are named in a query; for more, a range of sequences is."""


class Moved(NamedTuple):
    """What the images of updates say.

    Attributes:
        deletes: Mutations of kind ``delete``, each with its ``source``.
        waiting: How many before images wait for their after images.
        numbers: How many deletes there are, by their sources.
    """

    deletes: DataFrame
    waiting: int
    numbers: Mapping[Source, int]


def moved(rows: DataFrame, log: DataFrame) -> Moved:
    """Return which keys the updates of a batch left; the log has the rows of the batch too."""
    groups = _groups(rows).localCheckpoint()
    is_open = F.size("before_keys") != F.size("after_keys")
    majors = [
        row["major"] for row in groups.where(is_open).select("major").limit(_MOST + 1).collect()
    ]
    found = _deletes(groups)
    waiting = 0
    if majors:
        are_few = len(majors) <= _MOST
        near = _near(groups.where(is_open), majors if are_few else None)
        wanted = groups.where(is_open).select(*_GROUP).distinct()
        # All that is known of these updates is in the log, also what the batch has.
        updates = with_effects(log.where(is_change() & (F.col("op") == "update") & near))
        known = _groups(updates)
        known = known.join(F.broadcast(wanted) if are_few else wanted, [*_GROUP], "left_semi")
        with changed(rows.sparkSession, INTERPRETED if are_few else {}):
            known = known.localCheckpoint()
        found = _deletes(groups.where(~is_open)).unionByName(_deletes(known))
        waiting = _waiting(known)
    return Moved(found, waiting, _numbers(found))


def moved_in(changes: DataFrame) -> DataFrame:
    """Return which keys the updates among changes left, as `Moved.deletes`."""
    return _deletes(_groups(changes))


def _numbers(deletes: DataFrame) -> dict[Source, int]:
    grouped = deletes.groupBy("source").agg(F.count("*").alias("rows")).collect()
    return {Source(**row["source"].asDict()): row["rows"] for row in grouped}


def _near(groups: DataFrame, majors: list[int] | None) -> Column:
    """Return the condition that a row of a log may be an image of some updates."""
    major = F.col("sequence.major")
    if majors is not None:
        return major.isin(*majors)
    (bounds,) = groups.agg(F.min("major"), F.max("major")).collect()
    return major.between(bounds[0], bounds[1])


def _waiting(groups: DataFrame) -> int:
    """Return how many before images wait for their after images."""
    waits = (F.size("gone") > 0) & (F.size("others") == 0)
    (found,) = groups.where(waits).agg(F.sum(F.size("gone"))).collect()
    return int(found[0] or 0)


def _groups(rows: DataFrame) -> DataFrame:
    """Return the images of each update: its keys before and after, and which of them are gone."""
    is_before, is_alone = F.col(EFFECT) == "before", F.col("before").isNull()
    is_after = is_alone & F.col("after").isNotNull() & (F.col("sequence.minor") == 1)
    is_update = is_change() & (F.col("op") == "update") & F.col(EFFECT).isNotNull()
    halves = rows.where(is_update & (is_before | is_after)).select(
        "source",
        F.col("sequence.major").alias("major"),
        "key",
        is_before.alias("is_before"),
        F.struct(*position_columns()).alias("place"),
    )
    before = F.when(F.col("is_before"), F.struct("key", "place"))
    grouped = (
        halves.where(F.col("major") >= 0)
        .groupBy(*_GROUP)
        .agg(
            F.collect_set(F.when(F.col("is_before"), F.col("key"))).alias("before_keys"),
            F.collect_set(F.when(~F.col("is_before"), F.col("key"))).alias("after_keys"),
            F.collect_list(before).alias(_BEFORES),
        )
    )
    return grouped.withColumns(
        {
            "gone": F.array_except("before_keys", "after_keys"),
            "others": F.array_except("after_keys", "before_keys"),
        }
    )


def _deletes(groups: DataFrame) -> DataFrame:
    """Return the deletes of keys that are gone, where another key is known."""
    is_moved = (F.size("gone") > 0) & (F.size("others") > 0)
    each = groups.where(is_moved).withColumn("one", F.explode(_BEFORES))
    one = F.col("one")
    return each.where(F.array_contains("gone", one["key"])).select(
        "source",
        one["key"].alias("key"),
        F.lit(DELETE).alias("kind"),
        F.lit(None).cast("array<string>").alias("names"),
        "major",
        F.lit(0).cast("bigint").alias("minor"),
        *(one["place"][name].alias(name) for name in PLACE),
        F.lit(None).cast("string").alias("after"),
        F.lit(None).cast("string").alias(DECLARED),
    )
