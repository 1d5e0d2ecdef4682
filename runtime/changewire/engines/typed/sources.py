"""What the changes of a batch say of the keys and the columns of their tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from changewire.engines.declared import VOID
from changewire.engines.settings import Settings
from changewire.engines.typed.auto import CarriedColumn
from changewire.engines.typed.there import TableThere
from changewire.engines.user_key import user_key_column
from changewire.tables.mutations import DELETE
from changewire.tables.routing import WRITE, RouteKey, goes_to_all


@dataclass(frozen=True)
class BatchSources:
    """Where the changes of a batch come from, with what typed tables need to be planned.

    Attributes:
        route_keys: Where they come from, in the order in which they find their tables.
        keys: Columns of the keys, by where changes come from; and how many changes have them.
        columns: Columns that their messages declare or show, by where they come from.
        of_keys: Returns the columns that the keys of changes from some of them show.
    """

    route_keys: list[RouteKey]
    keys: dict[RouteKey, Counter[tuple[str, ...]]] = field(default_factory=dict)
    columns: dict[RouteKey, list[CarriedColumn]] = field(default_factory=dict)
    of_keys: Callable[[list[RouteKey]], list[CarriedColumn]] = lambda _: []


def first_keys(routes: list[RouteKey], sources: BatchSources) -> tuple[str, ...] | None:
    """Return the key that most changes have, for a new table; None if only truncates come."""
    found: Counter[tuple[str, ...]] = Counter()
    for route in routes:
        found.update(sources.keys.get(route, {}))
    return max(sorted(found), key=found.__getitem__, default=None)


def carried_columns(
    routes: list[RouteKey], sources: BatchSources, keys: tuple[str, ...]
) -> list[CarriedColumn]:
    """Return the columns of the messages of a table that it can have besides its key."""
    folded = {one.lower(): one for one in keys}
    carried = [
        one
        for route in routes
        for one in sources.columns.get(route, ())
        # A column that differs from the key in case only would make the table unusable.
        if folded.get(one.name.lower(), one.name) == one.name
    ]
    return carried + user_key_column(routes) if carried else []


def key_columns(
    table: TableThere,
    routes: list[RouteKey],
    sources: BatchSources,
    keys: tuple[str, ...],
    settings: Settings,
) -> list[CarriedColumn]:
    """Return the columns of a new table of whose rows only keys are known; none without rows.

    A deleted row that is kept is one, if the delete names its table.
    """
    ops = {WRITE, DELETE} if settings.keeps_deleted else {WRITE}
    making = [one for one in routes if one[1] in ops and not goes_to_all(one[1], one[0])]
    if not making or {*keys} <= table.types.keys():
        return []
    found = [one for one in sources.of_keys(making) if one.name in keys]
    carried = [
        one._replace(kind="string" if one.kind == VOID else one.kind, first=())
        for one in sorted(found, key=lambda one: one.first)
    ]
    return carried + user_key_column(routes) if carried else []
