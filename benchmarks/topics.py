"""Topics of many messages, each with its own values, as the formats' connectors write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pyarrow as pa

from benchmarks import messages

EVENT = 1617167159548
"""Time of the first event, in milliseconds since the Unix epoch."""


def table(format: str, count: int) -> Any:
    """Return messages of a format as a table with the column ``value``."""
    random, make = Random(1), _MAKERS[format]
    return pa.table(
        {"value": pa.array([messages.wire(make(random, i)) for i in range(count)], pa.binary())}
    )


def _aerospike(random: Random, i: int) -> dict[str, Any]:
    """Return a message of about 0.4 KB: nine writes to a delete."""
    if random.randrange(10) == 0:
        return {**messages.schema("delete")["examples"][0], "lut": EVENT + i}
    write = messages.small()
    visits = {"name": "visits", "type": "int", "value": random.randrange(2**40)}
    bins = [*write["bins"][: random.randrange(1, 4)], visits]
    return {**write, "lut": EVENT + i, "bins": bins}


def _row(random: Random, i: int) -> dict[str, Any]:
    return {
        "id": i,
        "name": f"Anne {i}",
        "city": random.choice(["Athens", "Bergen", "Cork", "Delft"]),
        "balance": random.randrange(10**7) / 100,
        "is_active": random.choice([True, False]),
        "created_at": EVENT - random.randrange(10**9),
    }


def _dataworks(random: Random, i: int) -> dict[str, Any]:
    """Return a message of about 0.8 KB: inserts, updates and deletes."""
    from benchmarks.by_hand import dataworks  # it needs PySpark, which other formats do not

    op, row = random.choice(["INSERT", "UPDATE_AFTER", "DELETE"]), _row(random, i)
    row = {"dataColumn": {**row, "balance": f"{row['balance']:.2f}"}}  # as decimals are sent
    columns = [{"name": name, "type": kind} for name, (kind, _) in dataworks.COLUMNS.items()]
    source = {"dbType": "MySQL", "dbName": "shop", "tableName": "customers"}
    time = {"eventTime": EVENT + i, "systemTime": EVENT + i + 977, "checkpointTime": EVENT}
    return {
        "schema": {"dataColumn": columns, "primaryKey": [dataworks.KEY], "source": source},
        "payload": {
            "before": row if op == "DELETE" else None,
            "after": None if op == "DELETE" else row,
            "sequenceId": str(1620457642589000000 + i),
            "timestamp": time,
            "op": op,
            "ddl": None,
        },
        "version": "0.0.1",
    }


def _lindorm(random: Random, i: int) -> dict[str, Any]:
    """Return a message of about 0.4 KB: inserts, updates and deletes."""
    op, row = random.choice("cud"), _row(random, i)
    source = {
        "version": "v1.0",
        "db": "ld-xxxx",
        "namespace": "default",
        "table": "customers",
        "ts_ms": EVENT + i,
    }
    payload = {"op": op, "ts_ms": EVENT + i + 8, "before": row if op != "c" else None}
    after = {} if op == "d" else {"after": {**row, "balance": 0.5}}
    return {"schema": {}, "payload": {**payload, **after, "source": source}}


_MAKERS: Mapping[str, Callable[[Random, int], dict[str, Any]]] = {
    "aerospike-json": _aerospike,
    "dataworks-json": _dataworks,
    "lindorm-json": _lindorm,
}
