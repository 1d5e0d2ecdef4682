"""DataWorks messages that tests make."""

from typing import Any

import msgspec
from msgspec import UNSET

import changewire as cw

TYPES = {"id": "LONG", "name": "STRING"}
EVENT_TIME = 1620457896000
SEQUENCE = 1620457642589000000
OPTIONS = ("key_columns", "row_image", "time_zone")


def message(op: str, types: Any = None, primary_key: Any = UNSET, **payload: Any) -> Any:
    """Return the model of a message.

    Args:
        op: The operation.
        types: Types of the columns, by name.
        primary_key: Columns of the primary key; ``id`` unless given, if there is such a column.
        payload: Other members of the payload; rows are given as columns by name.
    """
    columns = TYPES if types is None else types
    if primary_key is UNSET:
        primary_key = ["id"] if "id" in columns else None
    rows = {place: payload.pop(place) for place in ("before", "after") if place in payload}
    schema = {
        "dataColumn": [{"name": name, "type": kind} for name, kind in columns.items()],
        "primaryKey": primary_key,
        "source": {"dbType": "MySQL", "dbName": "shop", "tableName": "users"},
    }
    body: dict[str, Any] = {
        "op": op,
        "sequenceId": str(SEQUENCE),
        "timestamp": {"eventTime": EVENT_TIME},
        "ddl": None,
        **{place: {"dataColumn": row} for place, row in rows.items()},
        **payload,
    }
    return decoded({"schema": schema, "payload": body, "version": "0.0.1"})


def decoded(wire: Any) -> Any:
    """Return the model of a parsed message."""
    return cw.decode(msgspec.json.encode(wire), format="dataworks-json")


def change(op: str, **given: Any) -> cw.Change:
    """Return the only change of a message of `message`; `OPTIONS` are those of `cw.changes`."""
    options = {name: given.pop(name) for name in OPTIONS if name in given}
    (found,) = cw.changes(message(op, **given), **options)
    return found
