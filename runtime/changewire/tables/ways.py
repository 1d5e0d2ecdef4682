"""The ways of a batch: which tables its changes go to, decided once for each source."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field

from changewire.tables.effects import DELETE, WRITES
from changewire.tables.names import Target
from changewire.tables.routing import (
    REFUSALS,
    Namespace,
    Refusal,
    Routing,
    apply_failed,
    goes_to_all,
    namespace_of,
    route,
)
from changewire_messages.change import Source

NAMES: Final = ("system", "database", "schema", "table")
"""Fields of a source."""

From = tuple[Source, str]
"""Where changes come from, and what they do: `WRITE`, `DELETE` or ``truncate``."""

WRITE: Final = "upsert"
"""Stands for all writes, which go the same way."""


class Known(Struct):
    """Tables that were fed.

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
    refused: dict[From, Refusal] = field(default_factory=dict)
    added: list[tuple[Target, Namespace]] = field(default_factory=list)


def way_of(op: str) -> str:
    """Return what stands for an operation in the ways of a batch."""
    return WRITE if op in WRITES else op


def in_order(ways: Iterable[From]) -> list[From]:
    """Return where changes come from, in the order in which they find their tables.

    Deletes that go to all tables of a database come last, so that the tables which the batch
    brings are among them.
    """
    return sorted(ways, key=lambda one: (one[1] == DELETE, _sortable(one[0])))


def _sortable(source: Source) -> list[str]:
    return [getattr(source, name) or "" for name in NAMES]


def routes(ways: Iterable[From], routing: Routing, known: Known) -> Routes:
    """Find the ways of a batch; changes from where routing raises an exception are refused.

    Args:
        ways: Where its changes come from, `in_order`.
        routing: How sources find their targets.
        known: Tables that are known; those that are new are added.
    """
    found = Routes()
    for one in ways:
        try:
            targets = _targets(one, routing, known)
        except Exception as error:  # noqa: BLE001 - one hostile name must not end the stream
            found.refused[one] = apply_failed(error, "/source", "routing")
            continue
        _add(found, one, targets, known)
    return found


def _targets(one: From, routing: Routing, known: Known) -> tuple[Target, ...]:
    source, way = one
    return route(way, source, routing, known.members.get(namespace_of(source), ()))


def _add(found: Routes, one: From, targets: tuple[Target, ...], known: Known) -> None:
    """Add the targets of changes that come from somewhere, or why there are none."""
    source, way = one
    namespace = namespace_of(source)
    if not targets and not goes_to_all(way, source):
        found.refused[one] = REFUSALS["table-missing"]
    for target in targets:
        if known.names.get(target.folded, target) != target:
            found.refused[one] = REFUSALS["name-collision"]
            continue
        if known.add(target, namespace):
            found.added.append((target, namespace))
        found.targets.setdefault(target, []).append(one)
