"""Logs that tests trace rows in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.runtime.changes.dataworks import message
from tests.runtime.engines.version_rows import as_log

import changewire as cw
import changewire.arrow as cwa

TYPES = {"id": "LONG", "name": "STRING", "price": "DOUBLE"}
HISTORY: list[tuple[str, int, dict[str, Any]]] = [
    ("INSERT", 10, {"after": {"id": 1, "name": "a", "price": "9.90"}}),
    ("INSERT", 11, {"after": {"id": 2, "name": "b"}}),
    ("UPDATE_AFTER", 13, {"before": {"id": 1}, "after": {"id": 1, "name": "c\x1b[31m"}}),
    ("UPDATE_AFTER", 12, {"before": {"id": 1}, "after": {"id": 1, "name": "late"}}),
    ("TRUNCATE", 14, {}),
    ("INSERT", 9, {"after": {"id": 1, "name": "older"}}),
]
"""Operation, sequence and images of messages, in their order."""


def history(folder: Path) -> Path:
    """Return an output folder that has the log of the messages of `HISTORY`."""
    lines = [
        cw.encode(message(op, TYPES, sequenceId=str(number), **images))
        for op, number, images in HISTORY
    ]
    (folder / "topic.jsonl").write_bytes(b"\n".join(lines))
    decoded = cwa.decode(folder / "topic.jsonl", format="dataworks-json")
    log = folder / "out" / "log"
    log.mkdir(parents=True)
    pq.write_table(as_log(decoded.rows.read_all()), log / "a.parquet")
    return log.parent


def log_of_changes(folder: Path, *rows: dict[str, Any]) -> Path:
    """Write a log of rows, by default changes."""
    base: dict[str, Any] = dict.fromkeys(
        ("before_key", "before", "event_time", "topic", "partition", "message"), None
    )
    base |= {"kind": "change", "attempt": 0}
    more = {"offset": None, "path": "f", "element": 0, "attributes": "{}", "op": "upsert"}
    source = {"system": "aerospike", "database": "ns", "schema": None, "table": "t"}
    sequence = {"major": 1, "minor": 1}
    full = [
        {**base, **more, "source": source, "sequence": sequence, "number": number, **row}
        for number, row in enumerate(rows)
    ]
    text = {name: pa.string() for name in ("before_key", "before", "after")}
    table = pa.Table.from_pylist(full)
    for name, kind in text.items():
        table = table.set_column(
            table.column_names.index(name), name, table.column(name).cast(kind)
        )
    folder.mkdir(parents=True)
    pq.write_table(table, folder / "a.parquet")
    return folder
