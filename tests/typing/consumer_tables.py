"""What changes mean for tables, without an engine."""

from __future__ import annotations

from collections import Counter

import changewire as cw
from changewire.framing import Position as Place
from changewire.tables import (
    ChangePosition,
    Chosen,
    MemoryTables,
    PositionedChange,
    Result,
    Routing,
    Target,
    apply_changes,
    position_of,
    safe_name,
    target_of,
    template_of,
)


def applied(changes: list[cw.Change], topic: str) -> dict[str, int]:
    """Return how many changes had which effect, and how many no table took, by their codes."""
    tables = MemoryTables()
    chosen = Chosen(only=("shop.*",), excepted=("shop.tmp_*",))
    routing = Routing(template_of("lake.{database}.{table}"), chosen=chosen)
    batch: list[PositionedChange] = []
    for offset, change in enumerate(changes):
        position: ChangePosition = position_of(Place(topic=topic, partition=0, offset=offset))
        batch.append(PositionedChange(change, position))
    result: Result = apply_changes(tables, batch, routing)
    codes: list[str] = [code for _, code in result.refused]
    return {**result.counts, **Counter(codes)}


def named(change: cw.Change) -> str:
    """Return the name of the table that a change goes to."""
    target: Target | None = target_of(template_of("{database}.{table}"), change.source)
    return target.name if target else safe_name("no table")
