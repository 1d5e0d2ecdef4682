"""Messages of tables that have settings."""

from __future__ import annotations

from typing import Any

from tests.runtime.engines.merge.messages import message

TYPES = {"id": "LONG", "day": "STRING", "kind": "STRING"}
PROPERTIES = {"delta.logRetentionDuration": "interval 7 days", "shop.owner": "billing"}
PARTITIONED: dict[str, Any] = {
    "*": {"properties": PROPERTIES},
    "d.t": {"columns": {"day": "date"}, "partition_by": ["day"]},
}


def write(number: int, sequence: int = 1, table: str = "t", **row: Any) -> bytes:
    """Return a message that inserts or replaces a row."""
    return message("INSERT", sequence, {"id": number, **row}, table=table, types=TYPES)


def first() -> list[bytes]:
    """Return messages of two tables; none has the day of its first row."""
    return [write(1), write(2, day="2026-01-02"), write(1, table="u")]


def later() -> list[bytes]:
    """Return messages that move rows to other partitions, and one that no partition has."""
    gone = message("DELETE", 2, {"id": 2}, types=TYPES)
    return [write(1, 2, day="2026-01-03"), gone, write(3, day="soon")]


FAULTS: tuple[tuple[dict[str, Any], str], ...] = (
    (
        {"partition_by": ["year"]},
        "no message has a value of column 'year' yet; give its type by `columns`",
    ),
    (
        {"partition_by": ["kind"], "columns": {"kind": "array<string>"}},
        "column 'kind' is array<string>, which has no order",
    ),
    (
        {"partition_by": ["kind"], "columns": {"kind": "binary"}},
        "column 'kind' is binary, which delta-rs does not read as a partition",
    ),
    (
        {"partition_by": ["id"], "columns": {"id": "string"}},
        "column 'id' of the key is text, which as a partition has NULL for ''",
    ),
)
"""Settings of tables of Delta that cannot be made, and why."""
