"""Which table each change of a batch goes to, decided once for each source."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Final

from msgspec import Struct, field
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.spark.apply.effects import EFFECTS
from changewire.engines.spark.parts import position_columns
from changewire.tables.apply import TRUNCATE
from changewire.tables.effects import DELETE, WRITES
from changewire.tables.names import Target
from changewire.tables.routing import (
    Namespace,
    Reason,
    Routing,
    goes_to_all,
    namespace_of,
    route,
)
from changewire_messages.change import Source

NAMES: Final = ("system", "database", "schema", "table")
"""Fields of a source."""

From = tuple[Source, str]
"""Where changes come from, and what they do: `WRITE`, `DELETE` or ``truncate``."""

_COUNTS: Final = ("changes", "key_missing", "lone_before_unused")

WRITE: Final = "upsert"
"""Stands for all writes, which go the same way."""


class Known(Struct):
    """Tables that a query has fed.

    Attributes:
        members: Targets by the namespace of their sources.
        names: Targets by their names as catalogs see them that do not tell cases apart.
    """

    members: dict[Namespace, list[Target]] = field(default_factory=dict)
    names: dict[str, Target] = field(default_factory=dict)

    def add(self, target: Target, namespace: Namespace) -> bool:
        """Add a table; return whether it is new to the namespace."""
        self.names.setdefault(target.folded, target)
        members = self.members.setdefault(namespace, [])
        is_new = target not in members
        if is_new:
            members.append(target)
        return is_new


class Routes(Struct):
    """The ways of a batch.

    Attributes:
        targets: Where changes come from, by the table that they go to.
        refused: Why changes cannot be applied, by where they come from.
        added: Tables that were not known, with the namespaces of their sources.
    """

    targets: dict[Target, list[From]] = field(default_factory=dict)
    refused: dict[From, Reason] = field(default_factory=dict)
    added: list[tuple[Target, Namespace]] = field(default_factory=list)


class Sources(Struct):
    """Where the changes of a batch come from, and how many concern no row.

    Attributes:
        ways: Where changes come from. Deletes that go to all tables of a database come last, so
            that the tables which the batch brings are among them.
        changes: How many changes there are.
        key_missing: How many have no key; they go nowhere.
        lone_before_unused: How many are a row before an update, alone, that changes nothing.
        keys: Columns of the keys, by where changes come from, where rows are typed.
        schemas: Likewise what stands in messages, in the order of their first messages.
    """

    ways: list[From]
    changes: int
    key_missing: int
    lone_before_unused: int
    keys: dict[From, set[tuple[str, ...]]]
    schemas: list[SchemaOf]


class SchemaOf(Struct):
    """A schema that stands in messages, or that is missing in some which have rows.

    Attributes:
        way: Where they come from.
        fingerprint: As `Change.schema_fingerprint`; None for messages without a schema.
        message: The first of them.
    """

    way: From
    fingerprint: str | None
    message: bytes


def sources_of(
    rows: DataFrame, *, with_truncates: bool = False, are_typed: bool = False
) -> Sources:
    """Return where the changes of a batch come from; one job over decoded rows with effects.

    Args:
        rows: Decoded rows.
        with_truncates: Whether truncates are changes.
        are_typed: Whether tables have rows of a type.
    """
    is_change = F.col("kind") == CHANGE
    chosen = rows.where(is_change | is_truncate() if with_truncates else is_change)
    groups = {"way": F.when(F.col("op").isin(*WRITES), WRITE).otherwise(F.col("op"))}
    found = {
        "changes": F.count_if(is_change),
        "key_missing": F.count_if(is_change & F.col("key").isNull()),
        "lone_before_unused": F.count_if(F.size(EFFECTS) == 0),
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


def _sources(groups: list[Row]) -> Sources:
    used = [g for g in groups if g["way"] == TRUNCATE or g["changes"] > g["key_missing"]]
    ways = {_from_row(group) for group in used}
    keys: dict[From, set[tuple[str, ...]]] = {}
    typed = [group for group in used if "has_row" in group]
    for group in typed:
        if group["names"] is not None:
            keys.setdefault(_from_row(group), set()).add(tuple(group["names"]))
    schemas = [
        SchemaOf(_from_row(group), group["fingerprint"], bytes(group["message"]))
        for group in sorted(typed, key=itemgetter("first"))
        if group["has_row"] or group["fingerprint"] is not None
    ]
    return Sources(
        ways=sorted(ways, key=lambda one: (one[1] == DELETE, _sortable(one[0]))),
        **{name: sum(group[name] for group in groups) for name in _COUNTS},
        keys=keys,
        schemas=schemas,
    )


def _from_row(row: Row) -> From:
    return Source(**{name: row["source"][name] for name in NAMES}), row["way"]


def _sortable(source: Source) -> list[str]:
    return [getattr(source, name) or "" for name in NAMES]


def routes(sources: Iterable[From], routing: Routing, known: Known) -> Routes:
    """Find the ways of a batch.

    Args:
        sources: `Sources.ways`.
        routing: How sources find their targets.
        known: Tables that are known; those that are new are added.
    """
    found = Routes()
    for source, way in sources:
        namespace = namespace_of(source)
        targets = route(way, source, routing, known.members.get(namespace, ()))
        if not targets and not goes_to_all(way, source):
            found.refused[source, way] = "table-missing"
        for target in targets:
            if known.names.get(target.folded, target) != target:
                found.refused[source, way] = "name-collision"
                continue
            if known.add(target, namespace):
                found.added.append((target, namespace))
            found.targets.setdefault(target, []).append((source, way))
    return found


def is_truncate() -> Column:
    """Return the condition that a row is a truncate."""
    return (F.col("kind") == CONTROL) & (F.col("op") == TRUNCATE)


def is_from(sources: Iterable[From]) -> Any:
    """Return the condition that a row comes from one of some sources."""
    conditions = F.lit(False)  # noqa: FBT003 - a column of this value
    for source, way in sources:
        op = F.col("op").isin(*WRITES) if way == WRITE else F.col("op") == way
        fields = [F.col("source")[name].eqNullSafe(getattr(source, name)) for name in NAMES]
        condition = op
        for one in fields:
            condition = condition & one
        conditions = conditions | condition
    return conditions
