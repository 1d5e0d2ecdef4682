"""Where the changes of a batch come from: one query of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final

from msgspec import Struct
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.effects import EFFECTS
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.spark.apply.images import IMAGE
from changewire.engines.spark.parts import position_columns
from changewire.tables.mutations import WRITES
from changewire.tables.planner import BatchSummary
from changewire.tables.routing import NAMES, TRUNCATE, WRITE, RouteKey, in_order
from changewire_messages.change import Source

_COUNTS: Final = ("changes", "key_missing", "lone_before_unused", "unfitted")


@dataclass(frozen=True)
class BatchSources(BatchSummary):
    """Where the changes of a batch come from, with what typed tables need to be planned.

    Attributes:
        keys: Columns of the keys, by where changes come from; and how many changes have them.
        schemas: What stands in messages, in the order of their first messages.
        unfitted: How many changes have no `IMAGE`.
    """

    keys: dict[RouteKey, Counter[tuple[str, ...]]] = field(default_factory=dict)
    schemas: list[SchemaOf] = field(default_factory=list)
    unfitted: int = 0


class SchemaOf(Struct):
    """A schema that stands in messages, or that is missing in some which have rows.

    Attributes:
        route: Where they come from.
        fingerprint: As `Change.schema_fingerprint`; None for messages without a schema.
        message: The first of them.
    """

    route: RouteKey
    fingerprint: str | None
    message: bytes


def sources_of(
    rows: DataFrame, *, with_truncates: bool = False, are_typed: bool = False
) -> BatchSources:
    """Return where the changes of a batch come from; one job over decoded rows with effects.

    Truncates are changes if they are applied; typed tables need to know keys and schemas too.
    """
    is_change = F.col("kind") == CHANGE
    chosen = rows.where(is_change | is_truncate() if with_truncates else is_change)
    groups = {"op": F.when(F.col("op").isin(*WRITES), WRITE).otherwise(F.col("op"))}
    found = {
        "changes": F.count_if(is_change),
        "key_missing": F.count_if(is_change & F.col("key").isNull()),
        "lone_before_unused": F.count_if(F.size(EFFECTS) == 0),
        "unfitted": F.count_if(is_change & _is_unfitted(rows)),
    }
    if are_typed:
        has_row = F.col("after").isNotNull()
        groups["names"] = F.json_object_keys(F.get(EFFECTS, F.lit(0))["key"])
        groups["has_row"] = has_row
        groups["fingerprint"] = F.col("schema_fingerprint")
        found["first"] = F.min(F.struct(*position_columns()))
        found["message"] = F.min_by("value", F.struct(*position_columns()))
    grouped = chosen.groupBy("source", *(c.alias(name) for name, c in groups.items()))
    return _sources(grouped.agg(*(c.alias(name) for name, c in found.items())).collect())


def _sources(groups: list[Row]) -> BatchSources:
    used = [g for g in groups if g["op"] == TRUNCATE or g["changes"] > g["key_missing"]]
    routes = {_route_key(group) for group in used}
    keys: dict[RouteKey, Counter[tuple[str, ...]]] = {}
    typed = [group for group in used if "has_row" in group]
    for group in typed:
        if group["names"] is not None:
            keys.setdefault(_route_key(group), Counter())[tuple(group["names"])] += group["changes"]
    schemas = [
        SchemaOf(_route_key(group), group["fingerprint"], bytes(group["message"]))
        for group in sorted(typed, key=itemgetter("first"))
        if group["has_row"] or group["fingerprint"] is not None
    ]
    return BatchSources(
        route_keys=in_order(routes),
        **{name: sum(group[name] for group in groups) for name in _COUNTS},
        keys=keys,
        schemas=schemas,
    )


def _route_key(row: Row) -> RouteKey:
    return Source(**{name: row["source"][name] for name in NAMES}), row["op"]


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
