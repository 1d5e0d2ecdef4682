"""Where the changes of a batch come from, with what typed tables need to be planned."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pyarrow as pa
from msgspec import Struct

from changewire.tables.batch import BatchChange, RowBatch
from changewire.tables.order import ChangePosition
from changewire.tables.planner import BatchSummary
from changewire.tables.routing import Refusal, RouteKey


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
class BatchSources(BatchSummary):
    """Where the changes of a batch come from, with what typed tables need to be planned.

    Attributes:
        keys: Columns of the keys, by where changes come from; and how many changes have them.
        schemas: What stands in messages, in the order of their first messages.
    """

    keys: dict[RouteKey, Counter[tuple[str, ...]]] = field(default_factory=dict)
    schemas: list[SchemaOf] = field(default_factory=list)


def sources_in(changes: RowBatch, rows: pa.Table, *, are_typed: bool) -> BatchSources:
    """Return where the changes of decoded rows come from.

    Keys and schemas are those of typed tables; without ``value`` messages are empty.
    """
    summary = changes.summary()
    routed = [one for one in changes.changes if one.is_routed] if are_typed else []
    keys: dict[RouteKey, Counter[tuple[str, ...]]] = {}
    schemas: dict[Any, tuple[ChangePosition, SchemaOf]] = {}
    fields = rows.select(["after", "schema_fingerprint"]).to_pylist() if routed else []
    for one in routed:
        row = fields[one.index]
        if (names := _key_names(one)) is not None:
            keys.setdefault(one.route, Counter())[names] += 1
        what = (one.route, row["after"] is not None, row["schema_fingerprint"])
        place = one.order.position
        has_schema = what[1] or what[2] is not None
        if has_schema and (what not in schemas or place < schemas[what][0]):
            message = rows["value"][one.index].as_py() if "value" in rows.column_names else b""
            schemas[what] = place, SchemaOf(one.route, row["schema_fingerprint"], message)
    ordered = [schema for _, schema in sorted(schemas.values(), key=lambda pair: pair[0])]
    return BatchSources(**vars(summary), keys=keys, schemas=ordered)


def _key_names(change: BatchChange) -> tuple[str, ...] | None:
    """Return the columns of the key that a change names a row by; None if it concerns none."""
    if isinstance(change.mutations, Refusal) or not change.mutations:
        return None
    key = change.mutations[0].key
    return tuple(msgspec.json.decode(key, type=dict[str, msgspec.Raw]))
