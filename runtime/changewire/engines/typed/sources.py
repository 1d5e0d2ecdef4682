"""Where the changes of a batch come from, with what typed tables need to be planned."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from msgspec import Struct

from changewire.tables.routing import RouteKey


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


@dataclass(frozen=True)
class BatchSources:
    """Where the changes of a batch come from, with what typed tables need to be planned.

    Attributes:
        route_keys: Where they come from, in the order in which they find their tables.
        changes: How many changes there are.
        key_missing: How many of them have no key; they go nowhere.
        keys: Columns of the keys, by where changes come from; and how many changes have them.
        schemas: What stands in messages, in the order of their first messages.
    """

    route_keys: list[RouteKey]
    changes: int
    key_missing: int
    keys: dict[RouteKey, Counter[tuple[str, ...]]] = field(default_factory=dict)
    schemas: list[SchemaOf] = field(default_factory=list)
