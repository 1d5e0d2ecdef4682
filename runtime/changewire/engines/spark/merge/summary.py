"""What one aggregation says of a batch: its counts, and what is needed to merge it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import itemgetter, or_
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.counts import Counts
from changewire.engines.effects import EFFECTS
from changewire.engines.known import SourceFacts
from changewire.engines.layout import CHANGE
from changewire.engines.spark.decode import group_columns
from changewire.engines.spark.frames import counted_rows, totals
from changewire.engines.spark.merge.from_log import (
    deletes_something,
    is_change,
    is_truncate,
    order_column,
)
from changewire.engines.spark.parts import is_lone_before, position_columns
from changewire.engines.typed.images import IMAGE
from changewire.engines.typed.plan import BatchSources, SchemaOf
from changewire.tables.mutations import DELETE, WRITES
from changewire.tables.order import OLDEST
from changewire.tables.routing import NAMES, RouteKey, in_order, route_op
from changewire.tables.row_state import order_from
from changewire_messages.change import Source


@dataclass(frozen=True)
class BatchFacts:
    """What one aggregation says of a batch.

    Attributes:
        counts: Its counts, checked.
        sources: Where its changes come from.
        facts: What is known of each source.
        least: Least first number of the sequences of writes, by where they come from.
        hard: How many changes need `changewire.tables` to be applied.
        unfitted: How many changes have no `IMAGE`.
        inherited: How many changes have no sequence.
    """

    counts: Counts
    sources: BatchSources
    facts: Mapping[RouteKey, SourceFacts]
    least: Mapping[RouteKey, int]
    hard: int
    unfitted: int
    inherited: int

    def least_of(self, keys: Iterable[RouteKey]) -> int | None:
        """Return the least first number of the writes of some sources; None without any."""
        return min((self.least[key] for key in keys if key in self.least), default=None)


def facts_columns() -> dict[str, Column]:
    """Return aggregations of `SourceFacts`, of the rows of a log or of decoded rows."""
    major = F.col("sequence.major")
    return {
        "deleted": F.max(F.when(is_change() & deletes_something(), major)),
        "truncated": F.max(F.when(is_truncate() & major.isNotNull(), order_column())),
        "befores": F.count_if(is_change() & is_lone_before()),
        "patches": F.count_if(is_change() & (F.col("op") != DELETE) & _may_be_patch()),
    }


def _may_be_patch() -> Column:
    """Return the condition that a write may not say its whole row; it parses no JSON."""
    attributes = F.col("attributes")
    names = (attributes.contains(f'"image":"{image}"') for image in ("patch", "keys"))
    return reduce(or_, names, F.col("after").isNull() & ~is_lone_before())


def facts_of(groups: Iterable[Row]) -> dict[RouteKey, SourceFacts]:
    """Return what is known of each source, by groups with `facts_columns`."""
    found: dict[RouteKey, SourceFacts] = {}
    for group in groups:
        newest = group["truncated"]
        order = OLDEST if newest is None else order_from(newest.asDict())
        one = SourceFacts(group["deleted"], order, group["befores"] > 0, group["patches"] > 0)
        key = route_key(group)
        found[key] = one.plus(found[key]) if key in found else one
    return found


def route_key(group: Any) -> RouteKey:
    """Return where changes of a group come from, and what they do."""
    return Source(**{name: group[name] for name in NAMES}), route_op(group["op"])


def facts_of_batch(rows: DataFrame, *, are_typed: bool, with_truncates: bool) -> BatchFacts:
    """Return what one job says of decoded rows with effects; it fills their cache.

    Args:
        rows: The rows.
        are_typed: Whether the columns of keys are needed.
        with_truncates: Whether truncates are applied.
    """
    major, op = F.col("sequence.major"), F.col("op")
    has_key = is_change()
    last = F.get(EFFECTS, F.size(EFFECTS) - 1)
    is_hard = (last["kind"] == "patch") | last["sequence"].isNull()
    found = {
        **facts_columns(),
        "keyless": F.count_if((F.col("kind") == CHANGE) & F.col("key").isNull()),
        "least": F.min(F.when(has_key & (op != DELETE) & ~is_lone_before(), major)),
        "hard": F.count_if(has_key & (F.size(EFFECTS) > 0) & is_hard),
        "unfitted": F.count_if(has_key & _is_unfitted(rows)),
        "inherited": F.count_if(has_key & F.col("sequence").isNull()),
    }
    groups = [*group_columns(), F.col("source")["system"].alias("system")]
    if are_typed:
        groups.append(F.json_object_keys(F.get(EFFECTS, F.lit(0))["key"]).alias("names"))
    sums = (column.alias(name) for name, column in found.items())
    counted = rows.groupBy(*groups).agg(*totals(), *sums).collect()
    counts = counted_rows(counted, Counts()).checked()
    changes = [one for one in counted if one["kind"] == CHANGE and one["rows"] > one["keyless"]]
    truncates = [one for one in counted if with_truncates and one["op"] == "truncate"]
    least: dict[RouteKey, int] = {}
    for one in changes:
        if one["least"] is not None:
            key = route_key(one)
            least[key] = min(one["least"], least.get(key, one["least"]))
    return BatchFacts(
        counts,
        _sources(changes, truncates, sum(one["keyless"] for one in counted), counts.changes),
        facts_of([*changes, *truncates]),
        least,
        *(sum(one[name] for one in changes) for name in ("hard", "unfitted", "inherited")),
    )


def _sources(
    changes: list[Row], truncates: list[Row], key_missing: int, number: int
) -> BatchSources:
    keys: dict[RouteKey, Counter[tuple[str, ...]]] = {}
    for group in changes:
        if "names" in group and group["names"] is not None:
            found = keys.setdefault(route_key(group), Counter())
            found[tuple(sorted(group["names"]))] += group["rows"]
    return BatchSources(
        route_keys=in_order({route_key(group) for group in (*changes, *truncates)}),
        changes=number,
        key_missing=key_missing,
        keys=keys,
    )


def _is_unfitted(rows: DataFrame) -> Column:
    """Return the condition that a change has effects, and no `IMAGE`."""
    if IMAGE not in rows.columns:
        return F.lit(True)  # noqa: FBT003 - a column of this value
    return F.col(IMAGE).isNull() & (F.size(EFFECTS) > 0)


def schemas_of(rows: DataFrame, routes: set[RouteKey]) -> list[SchemaOf]:
    """Return what stands in the messages of routes, in the order of their first messages.

    The rows have the messages of all changes.
    """
    place = F.struct(*position_columns())
    groups = {
        "op": F.when(F.col("op").isin(*WRITES), "upsert").otherwise(F.col("op")),
        **{name: F.col("source")[name] for name in NAMES},
        "has_row": F.col("after").isNotNull(),
        "fingerprint": F.col("schema_fingerprint"),
    }
    chosen = rows.where(is_change() | is_truncate())
    grouped = chosen.groupBy(*(column.alias(name) for name, column in groups.items())).agg(
        F.min(place).alias("first"), F.min_by("value", place).alias("message")
    )
    return [
        SchemaOf(route_key(group), group["fingerprint"], bytes(group["message"]))
        for group in sorted(grouped.collect(), key=itemgetter("first"))
        if (group["has_row"] or group["fingerprint"] is not None) and route_key(group) in routes
    ]
