"""The content of a log: sources of its changes, and deletes; the same in each engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from msgspec.structs import replace

from changewire.changes.sources import dotted
from changewire.engines.errors import OutputError
from changewire.tables.chosen import SeenTables
from changewire.tables.names import Target
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import (
    KnownTables,
    Namespace,
    RouteKey,
    Routing,
    SourceOf,
    find_routes,
    goes_to_all,
    in_order,
    named_source,
    namespace_of,
    route,
    takes,
)
from changewire_messages.change import Source


@dataclass(frozen=True)
class SourceFacts:
    """What is known of the changes of one source and operation.

    Attributes:
        deleted: Greatest first number of the sequence of a change that deletes a row; None without.
        truncated: Order of the newest truncate.
        has_befores: Whether there is a before image that came as a message of its own.
        has_patches: Whether there may be a change that does not say the whole row.
    """

    deleted: int | None = None
    truncated: Order = OLDEST
    has_befores: bool = False
    has_patches: bool = False

    def plus(self, other: SourceFacts) -> SourceFacts:
        """Return what is known by both."""
        found = [one.deleted for one in (self, other) if one.deleted is not None]
        return SourceFacts(
            max(found, default=None),
            max(self.truncated, other.truncated),
            self.has_befores or other.has_befores,
            self.has_patches or other.has_patches,
        )


class KnownLog:
    """What the log of a query has; a process reads it once, and then adds each batch.

    Attributes:
        tables: The tables that its changes went to.
        seen: The tables of the source that its changes had, also those that are left out.
    """

    def __init__(
        self,
        routing: Routing,
        facts: Mapping[RouteKey, SourceFacts],
        exists: Callable[[Target], bool] = lambda _: True,
        source_of: SourceOf = lambda _: None,
    ) -> None:
        """Take how sources find their targets, and what is known of each source in a log.

        It is asked whether a table exists if two sources want one place, and which source a table
        remembers that takes one alone: a query that was killed before it refused the second one
        must not take that for the first.
        """
        self.tables: KnownTables = KnownTables()
        self.seen: SeenTables = SeenTables(routing.chosen)
        if not routing.chosen.are_all:
            self.seen.add({dotted(named_source(op, source, routing)) for source, op in facts})
        self._routing = routing
        self._facts = dict(facts)
        keys = in_order(facts)
        for one in _contested(keys, routing):
            if exists(one[0]):
                self.tables.add(*one)
        find_routes(keys, replace(routing, max_new_tables=None), self.tables, source_of)

    def add(self, facts: Mapping[RouteKey, SourceFacts]) -> None:
        """Add what is known of the sources of a batch."""
        for key, one in facts.items():
            self._facts[key] = self._facts.get(key, SourceFacts()).plus(one)

    @property
    def has_befores(self) -> bool:
        """Whether before images came as messages of their own."""
        return any(one.has_befores for one in self._facts.values())

    def has_befores_of(self, target: Target) -> bool:
        """Whether before images of a table's rows came as messages of their own."""
        return any(self._facts_of(target, lambda one: one.has_befores))

    def has_patches(self, target: Target) -> bool:
        """Whether a table may have rows of changes that do not say the whole row."""
        return any(self._facts_of(target, lambda one: one.has_patches))

    def truncated(self, target: Target) -> Order:
        """Return the order of the newest truncate of a table."""
        found = self._facts_of(target, lambda one: one.truncated > OLDEST)
        return max((one.truncated for one in found), default=OLDEST)

    def _facts_of(
        self, target: Target, wanted: Callable[[SourceFacts], bool]
    ) -> Iterator[SourceFacts]:
        """Yield the wanted information on the sources that feed a table."""
        for (source, op), one in self._facts.items():
            if wanted(one) and target in self.targets(source, op):
                yield one

    def deleted(self, targets: Iterable[Target], flagged: Collection[Target]) -> dict[Target, int]:
        """Return the greatest first number of the sequence of a delete that a table may lack.

        Tables without one are left out. A table in which deleted rows are flagged has all
        deletes, but for those that name no table and came before it.
        """
        found = dict.fromkeys(targets)
        for (source, op), one in self._facts.items():
            if one.deleted is None:
                continue
            for target in self.targets(source, op):
                if target in found and (target not in flagged or goes_to_all(op, source)):
                    found[target] = max(one.deleted, found[target] or one.deleted)
        return {target: number for target, number in found.items() if number is not None}

    def namespaces(self, target: Target) -> list[Namespace]:
        """Return system and database of the sources that feed a table."""
        return [one for one, members in self.tables.members.items() if target in members]

    def targets(self, source: Source, op: str) -> tuple[Target, ...]:
        """Return the tables that changes of a source go to."""
        routing, sources = self._routing, self.tables.sources
        members = self.tables.members.get(namespace_of(source), ())
        found = route(op, source, routing, members)
        return tuple(one for one in found if takes(sources.get(one), op, source, routing))

    def names(self, target: Target, routes: Iterable[RouteKey] = ()) -> list[str]:
        """Return the names of a table: of its target's fields, and of the sources that feed it.

        These are sources of the log, and of routes.
        """
        found = self._sources_of(target) | self._dotted(routes) | {".".join(target.origin)}
        return sorted(filter(None, found))

    def account(self, target: Target, routes: Iterable[RouteKey]) -> str:
        """Return the name of a table: of its only source, or else of its target's fields."""
        sources = self._sources_of(target) | self._dotted(routes)
        return sources.pop() if len(sources) == 1 else ".".join(target.origin) or target.name

    def all_names(self) -> list[str]:
        """Return the names of all tables."""
        tables = {*self.tables.names.values()}
        fed = (one for one in self._facts if not tables.isdisjoint(self.targets(*one)))
        return sorted(filter(None, self._dotted(fed) | {".".join(one.origin) for one in tables}))

    def _sources_of(self, target: Target) -> set[str]:
        """Return the `dotted` names of the sources that feed a table."""
        return self._dotted(one for one in self._facts if target in self.targets(*one))

    def _dotted(self, routes: Iterable[RouteKey]) -> set[str]:
        return {
            dotted(named_source(op, source, self._routing))
            for source, op in routes
            if not goes_to_all(op, source)
        }

    def chosen(self, names: Iterable[str] | None) -> list[Target]:
        """Return the tables, or those of some names: of a source, or of the target's fields.

        An OutputError says which tables there are instead of one that the log does not have.
        """
        every = {one: self._sources_of(one) for one in self.tables.names.values()}
        if names is None:
            return [*every]
        taken = {one: {*found, ".".join(one.origin)} for one, found in every.items()}
        wanted = {*names}
        missing = sorted(wanted.difference(*taken.values()))
        if missing:
            there = ", ".join(sorted({*chain.from_iterable(every.values())}))
            named = ", ".join(one or "''" for one in missing)
            raise OutputError(f"the log has no table {named}; it has: {there}")
        return [one for one, found in taken.items() if not wanted.isdisjoint(found)]


def _contested(keys: Iterable[RouteKey], routing: Routing) -> list[tuple[Target, Namespace]]:
    """Return the targets of which another one has the name, but for the case of letters."""
    found: dict[str, dict[Target, Namespace]] = {}
    for source, op in keys:
        for target in route(op, source, routing, ()):
            found.setdefault(target.folded, {}).setdefault(target, namespace_of(source))
    return [one for targets in found.values() if len(targets) > 1 for one in targets.items()]
