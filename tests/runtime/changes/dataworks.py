"""DataWorks messages that tests make."""

from typing import Any

import msgspec

import changewire as cw

TYPES = {"id": "LONG", "name": "STRING"}
EVENT_TIME = 1620457896000
SEQUENCE = 1620457642589000000


def message(op: str, types: Any = None, primary_key: Any = ("id",), **payload: Any) -> Any:
    """Return the model of a message.

    Args:
        op: The operation.
        types: Types of the columns, by name.
        primary_key: Columns of the primary key.
        payload: Other members of the payload; rows are given as columns by name.
    """
    columns = TYPES if types is None else types
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
    """Return the only change of a message of `message`; `keys` are those of `cw.changes`."""
    keys = given.pop("keys", None)
    (found,) = cw.changes(message(op, **given), keys=keys)
    return found
