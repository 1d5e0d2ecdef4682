"""What changes mean for tables, without an engine."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import changewire as cw
from changewire.framing import Position as Place
from changewire.tables import (
    ChangePosition,
    MemoryTables,
    PositionedChange,
    Result,
    Routing,
    Target,
    apply_changes,
    metadata_of,
    position_of,
    safe_name,
    state_from,
    target_of,
    template_of,
    vacuum,
)


def applied(changes: list[cw.Change], topic: str) -> dict[str, int]:
    """Return how many changes had which effect, and how many tombstones are forgotten."""
    tables, now = MemoryTables(), datetime.now(timezone.utc)
    routing = Routing(template_of("lake.{database}.{table}"))
    batch: list[PositionedChange] = []
    for offset, change in enumerate(changes):
        position: ChangePosition = position_of(Place(topic=topic, partition=0, offset=offset))
        batch.append(PositionedChange(change, position))
    result: Result = apply_changes(tables, batch, routing, now)
    forgotten: int = vacuum(tables, now - timedelta(days=7))
    return {**result.counts, "forgotten": forgotten}


def named(change: cw.Change) -> str:
    """Return the name of the table that a change goes to."""
    target: Target | None = target_of(template_of("{database}.{table}"), change.source)
    return target.name if target else safe_name("no table")


def copied(column: dict[str, object]) -> dict[str, object]:
    """Return the metadata of a row, read and written again."""
    return metadata_of(state_from(column, {"id": 1}))
