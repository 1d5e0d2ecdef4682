"""What a query knows of its log: where changes came from, and what was deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.spark.merge.from_log import is_change, is_truncate, source_columns
from changewire.engines.spark.merge.summary import SourceFacts, facts_columns, facts_of
from changewire.tables.mutations import WRITES
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import (
    WRITE,
    KnownTables,
    Namespace,
    RouteKey,
    Routing,
    find_routes,
    in_order,
    namespace_of,
    route,
)
from changewire_messages.change import Source


class KnownLog:
    """What the log of a query has; a process reads it once, and then adds each batch.

    Attributes:
        tables: The tables that its changes went to.
    """

    def __init__(self, routing: Routing, facts: Mapping[RouteKey, SourceFacts]) -> None:
        """Take what is known of the sources in a log."""
        self.tables = KnownTables()
        self._routing = routing
        self._facts = dict(facts)
        find_routes(in_order(facts), _without_limit(routing), self.tables)

    def add(self, facts: Mapping[RouteKey, SourceFacts]) -> None:
        """Add what is known of the sources of a batch."""
        for key, one in facts.items():
            self._facts[key] = one.plus(self._facts[key]) if key in self._facts else one

    @property
    def has_befores(self) -> bool:
        """Whether before images came as messages of their own."""
        return any(one.has_befores for one in self._facts.values())

    def has_patches(self, target: Target) -> bool:
        """Whether a table may have rows of changes that do not say the whole row."""
        return any(
            one.has_patches and target in self._targets(source, op)
            for (source, op), one in self._facts.items()
        )

    def deleted(self, targets: Iterable[Target]) -> dict[Target, int]:
        """Return the greatest first number of the sequence of a delete, of tables that have one."""
        found = dict.fromkeys(targets)
        for (source, op), one in self._facts.items():
            if one.deleted is None:
                continue
            for target in self._targets(source, op):
                if target in found:
                    found[target] = max(one.deleted, found[target] or one.deleted)
        return {target: number for target, number in found.items() if number is not None}

    def truncated(self, target: Target) -> Order:
        """Return the order of the newest truncate of a table."""
        found = [
            one.truncated
            for (source, op), one in self._facts.items()
            if one.truncated > OLDEST and target in self._targets(source, op)
        ]
        return max(found, default=OLDEST)

    def namespaces(self, target: Target) -> list[Namespace]:
        """Return system and database of the sources that feed a table."""
        return [one for one, members in self.tables.members.items() if target in members]

    def _targets(self, source: Source, op: str) -> tuple[Target, ...]:
        members = self.tables.members.get(namespace_of(source), ())
        return route(op, source, self._routing, members)


def known_log(log: DataFrame | None, routing: Routing, *, with_truncates: bool) -> KnownLog:
    """Return what a log has, by one job; nothing if there is no log."""
    if log is None:
        return KnownLog(routing, {})
    op = F.when(F.col("op").isin(*WRITES), WRITE).otherwise(F.col("op")).alias("op")
    chosen = is_change() | is_truncate() if with_truncates else is_change()
    sums = (column.alias(name) for name, column in facts_columns().items())
    # The operation that is grouped by is not the column that the aggregations read.
    found = log.where(chosen).groupBy(*source_columns(), op).agg(*sums)
    return KnownLog(routing, facts_of(found.collect()))


def _without_limit(routing: Routing) -> Routing:
    return replace(routing, max_new_tables=None)
