"""Where the changes of a batch come from: one query of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.counts import Counts
from changewire.engines.effects import EFFECTS
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.spark.decode import group_columns
from changewire.engines.spark.frames import counted_rows, totals
from changewire.engines.spark.parts import position_columns
from changewire.engines.typed.images import IMAGE
from changewire.engines.typed.sources import BatchSources, SchemaOf
from changewire.tables.mutations import WRITES
from changewire.tables.routing import NAMES, TRUNCATE, WRITE, RouteKey, in_order
from changewire_messages.change import Source


class SourcesFound(NamedTuple):
    """What one job says of a batch.

    Attributes:
        sources: Where its changes come from.
        unfitted: How many of them have effects, and no `IMAGE`.
        counts: Its counts, not checked yet.
    """

    sources: BatchSources
    unfitted: int
    counts: Counts


def sources_of(
    rows: DataFrame,
    *,
    with_truncates: bool = False,
    are_typed: bool = False,
    have_schemas: bool = False,
) -> SourcesFound:
    """Return where the changes of a batch come from, and its counts.

    One job over decoded rows with effects, and one more for schemas that stand in messages.
    Truncates are changes if they are applied; typed tables need to know keys too.
    """
    is_change = F.col("kind") == CHANGE
    found = {
        "key_missing": F.count_if(is_change & F.col("key").isNull()),
        "lone_before_unused": F.count_if(is_change & (F.size(EFFECTS) == 0)),
        "unfitted": F.count_if(is_change & _is_unfitted(rows)),
    }
    groups = [*group_columns(), F.col("source")["system"].alias("system")]
    if are_typed:
        groups.append(F.json_object_keys(F.get(EFFECTS, F.lit(0))["key"]).alias("names"))
    sums = (column.alias(name) for name, column in found.items())
    counted = rows.groupBy(*groups).agg(*totals(), *sums).collect()
    used = [one for one in counted if _is_used(one, with_truncates=with_truncates)]
    sources = _sources(used)
    if have_schemas:
        chosen = rows.where(is_change & F.col("key").isNotNull() | is_truncate())
        sources = replace(sources, schemas=[*_schemas(chosen, {*sources.route_keys})])
    return SourcesFound(sources, _sum(used, "unfitted"), counted_rows(counted, Counts()))


def _is_used(group: Row, *, with_truncates: bool) -> bool:
    """Whether a group is of changes, or of truncates that are applied."""
    is_applied = with_truncates and group["kind"] == CONTROL and group["op"] == TRUNCATE
    return is_applied or bool(group["kind"] == CHANGE)


def _sources(groups: list[Row]) -> BatchSources:
    changes = [group for group in groups if group["kind"] == CHANGE]
    truncates = (group for group in groups if group["kind"] == CONTROL)
    named = [group for group in changes if group["rows"] > group["key_missing"]]
    keys: dict[RouteKey, Counter[tuple[str, ...]]] = {}
    for group in named:
        if "names" in group and group["names"] is not None:
            keys.setdefault(_route_key(group), Counter())[tuple(group["names"])] += group["rows"]
    return BatchSources(
        route_keys=in_order({_route_key(group) for group in (*named, *truncates)}),
        changes=_sum(changes, "rows"),
        key_missing=_sum(changes, "key_missing"),
        lone_before_unused=_sum(changes, "lone_before_unused"),
        keys=keys,
    )


def _sum(groups: Iterable[Row], name: str) -> int:
    return sum(group[name] for group in groups)


def _schemas(rows: DataFrame, routes: set[RouteKey]) -> Iterator[SchemaOf]:
    """Yield what stands in the messages of routes, in the order of their first messages."""
    place = F.struct(*position_columns())
    groups = {
        "op": _route_op(),
        **{name: F.col("source")[name] for name in NAMES},
        "has_row": F.col("after").isNotNull(),
        "fingerprint": F.col("schema_fingerprint"),
    }
    grouped = rows.groupBy(*(column.alias(name) for name, column in groups.items())).agg(
        F.min(place).alias("first"), F.min_by("value", place).alias("message")
    )
    for group in sorted(grouped.collect(), key=itemgetter("first")):
        route = _route_key(group)
        has_schema = group["has_row"] or group["fingerprint"] is not None
        if has_schema and route in routes:
            yield SchemaOf(route, group["fingerprint"], bytes(group["message"]))


def _route_key(row: Row) -> RouteKey:
    op = WRITE if row["op"] in WRITES else row["op"]
    return Source(**{name: row[name] for name in NAMES}), op


def _route_op() -> Column:
    return F.when(F.col("op").isin(*WRITES), WRITE).otherwise(F.col("op"))


def _is_unfitted(rows: DataFrame) -> Column:
    """Return the condition that a change has effects, and no `IMAGE`."""
    if IMAGE not in rows.columns:
        return F.lit(True)  # noqa: FBT003 - a column of this value
    return F.col(IMAGE).isNull() & (F.size(EFFECTS) > 0)


def is_truncate() -> Column:
    """Return the condition that a row is a truncate."""
    return (F.col("kind") == CONTROL) & (F.col("op") == TRUNCATE)


def is_from(keys: Iterable[RouteKey]) -> Any:
    """Return the condition that a row comes from one of some sources."""
    conditions = F.lit(False)  # noqa: FBT003 - a column of this value
    for source, op in keys:
        condition = F.col("op").isin(*WRITES) if op == WRITE else F.col("op") == op
        for name in NAMES:
            part = F.col("source")[name]
            condition = condition & part.eqNullSafe(getattr(source, name))
        conditions = conditions | condition
    return conditions
