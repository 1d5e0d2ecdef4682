"""Topics of many messages, each with its own values, as the formats' connectors write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pyarrow as pa

from benchmarks import messages

EVENT = 1617167159548
"""Time of the first event, in milliseconds since the Unix epoch."""

WITH_SCHEMA = "lindorm-json, with its schema"
"""Messages of this format that say what types the columns of their rows have."""

CONNECT_TYPES: Mapping[str, Mapping[str, Any]] = {
    "id": {"type": "int64"},
    "name": {"type": "string"},
    "city": {"type": "string"},
    "balance": {"type": "double"},
    "is_active": {"type": "boolean"},
    "created_at": {
        "type": "int64",
        "name": "org.apache.kafka.connect.data.Timestamp",
        "version": 1,
    },
}
"""The types that they say, as Kafka Connect does."""


def format_of(topic: str) -> str:
    """Return the format of the messages of a topic."""
    return topic.partition(",")[0]


def table(topic: str, count: int) -> Any:
    """Return messages of a topic as a table with the column ``value``."""
    random, make = Random(1), _MAKERS[topic]
    return pa.table(
        {"value": pa.array([messages.wire(make(random, i)) for i in range(count)], pa.binary())}
    )


def _aerospike(random: Random, i: int) -> dict[str, Any]:
    """Return a message of about 0.4 KB: nine writes to a delete."""
    if random.randrange(10) == 0:
        return {**messages.schema("Delete")["examples"][0], "lut": EVENT + i}
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


def _lindorm_with_schema(random: Random, i: int) -> dict[str, Any]:
    """Return the same, of about 0.9 KB, with the schema of its row."""
    row = [{**kind, "field": name, "optional": True} for name, kind in CONNECT_TYPES.items()]
    images = [
        {"field": name, "type": "struct", "optional": True, "fields": row}
        for name in ("before", "after")
    ]
    schema = {"type": "struct", "optional": False, "fields": images}
    return {**_lindorm(random, i), "schema": schema}


_MAKERS: Mapping[str, Callable[[Random, int], dict[str, Any]]] = {
    "aerospike-json": _aerospike,
    "dataworks-json": _dataworks,
    "lindorm-json": _lindorm,
    WITH_SCHEMA: _lindorm_with_schema,
}
