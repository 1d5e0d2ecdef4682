"""Messages of DataWorks about rows of one table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import changewire as cw

TYPES = {"id": "LONG", "name": "STRING", "price": "DOUBLE"}
EXACT = {"id": "DOUBLE", "name": "STRING"}
"""Types of a table with decimals as keys, which messages have as text."""


def message(
    op: str,
    sequence: int,
    row: dict[str, Any] | None,
    *,
    before: dict[str, Any] | None = None,
    table: str = "t",
    database: str = "d",
    types: dict[str, str] | None = None,
    key: Sequence[str] = ("id",),
) -> bytes:
    """Return a message; a delete has its row before it."""
    if op == "DELETE" and before is None:
        row, before = None, row
    columns = [{"name": name, "type": kind} for name, kind in (types or TYPES).items()]
    payload = {
        "before": before and {"dataColumn": before},
        "after": row and {"dataColumn": row},
        "sequenceId": str(sequence),
        "timestamp": {"eventTime": 1731661114000, "systemTime": 1, "checkpointTime": 1},
        "op": op,
        "ddl": None,
    }
    source = {"dbType": "MySQL", "dbName": database, "tableName": table}
    schema = {"dataColumn": columns, "primaryKey": [*key], "source": source}
    return json.dumps({"schema": schema, "payload": payload, "version": "0.0.1"}).encode()


def records(*values: bytes, start: int = 0, partition: int = 0) -> list[tuple[Any, ...]]:
    """Return messages at consecutive offsets."""
    return [(value, "topic", partition, start + offset) for offset, value in enumerate(values)]


def message_of(change: cw.Change) -> bytes:
    """Return a drawn change as DataWorks says it."""
    ops = {"delete": "DELETE", "update": "UPDATE_AFTER" if change.after else "UPDATE_BEFOR"}
    assert change.sequence is not None
    assert change.source.table is not None
    assert change.source.database is not None
    return message(
        ops.get(change.op, "INSERT"),
        change.sequence.major,
        change.after,
        before=change.key if change.op == "delete" else change.before,
        table=change.source.table,
        database=change.source.database,
        types={"id": "STRING", "a": "DOUBLE", "b": "DOUBLE", "c": "DOUBLE"},
    )
