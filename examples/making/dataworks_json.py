"""Items, accounts and Oracle rows, as DataWorks real-time synchronization sends them."""

import gzip
from collections.abc import Iterator, Mapping
from itertools import count
from random import Random
from typing import Final

from examples.making.altering import Alteration, cut, having, lacking, replaced
from examples.making.history import START
from examples.making.rows import FIRST, STATES, WORDS, Json
from examples.making.schemas import examples
from examples.making.shapes import Record, among, kcat, lines, text
from examples.making.tables import Event, events

ROW_ID: Final = "#alibaba_rds_row_id#"
ITEM: Final = {"id": "LONG", "name": "STRING", "price": "DOUBLE", "made": "DATE"}
ACCOUNT: Final = {ROW_ID: "LONG", "owner": "STRING", "open": "BOOLEAN", "balance": "DOUBLE"}
ASSET: Final = {"ID": "LONG", "STATE": "STRING", "rowid": "STRING"}

_SECOND: Final = 1000
_LOADED: Final = 12


def files() -> dict[str, bytes]:
    """Return the content of each file by its name."""
    rng = Random(20260104)  # noqa: S311 - made-up people, no secrets
    others = [alter(GOOD) for _, alter in (*DAMAGES, *LENIENT)]
    return {
        "document.jsonl": lines(map(text, examples("dataworks_json", "message"))),
        "items.jsonl.gz": gzip.compress(lines(items(rng)), mtime=0),
        "accounts.kcat.jsonl": kcat("dataworks.accounts", "dataworks", _accounts(rng)),
        "assets.jsonl": lines(among(list(_assets(rng)), others)),
    }


def items(rng: Random) -> Iterator[bytes]:
    """Yield the initial load, then transactions of changes, each one message, and events."""
    schema = _schema("shop", "items", ITEM, ["id"])
    numbers = count(START * 1_000_000)
    for number, event in enumerate(events(rng, _item, 200)):
        if number < _LOADED:
            yield _message(schema, _payload("INSERT", Event(None, event.after or event.before)))
            continue
        if number % 20 == 0:
            for op in ("TRANSACTION_END", "MHEARTBEAT", "TRANSACTION_BEGIN"):
                yield _message(schema if op != "MHEARTBEAT" else _NO_SCHEMA, _event(op, number))
        if number == 100:  # noqa: PLR2004 - half way
            yield _message(schema, _event("ALTER", number, "ALTER TABLE items ADD COLUMN tag TEXT"))
            schema = _schema("shop", "items", {**ITEM, "tag": "STRING"}, ["id"])
        yield _message(schema, _payload(_operation(event), event, next(numbers), number))
    yield _message(schema, _event("QUERY", 200, "UPDATE items SET price = price * 1.1"))
    yield _message(schema, _event("TRUNCATE", 201, "TRUNCATE TABLE items"))
    yield _message(schema, _event("SAVEPOINT", 202))


def _item(rng: Random, number: int) -> Json:
    """Return an item; its price is a decimal at the source, which comes as numeric text."""
    price = f"{rng.randrange(99, 90_000) / 100:.2f}"
    made = START - number * 86_400_000
    return {"name": rng.choice(WORDS), "price": price, "made": made}


def _accounts(rng: Random) -> Iterator[Record]:
    """Yield a table without a primary key, each update being two messages."""
    schema = _schema("bank", "accounts", ACCOUNT, None)
    for number, event in enumerate(events(rng, _account, 90, key=ROW_ID)):
        key = text({ROW_ID: (event.after or event.before or {})[ROW_ID]})
        sequence = (START + number) * 1_000_000
        for op, half in _halves(event):
            yield key, _message(schema, _payload(op, half, sequence, number))
    yield b"a-tombstone", None


def _halves(event: Event) -> Iterator[tuple[str, Event]]:
    """Yield an update as two messages, and anything else as one."""
    if event.before and event.after:
        yield "UPDATE_BEFOR", Event(event.before, None)
        yield "UPDATE_AFTER", Event(None, event.after)
    else:
        yield _operation(event), event


def _account(rng: Random, number: int) -> Json:
    balance = round(rng.uniform(-50, 900), 2)
    return {"owner": rng.choice(FIRST), "open": number % 7 != 0, "balance": balance}


def _assets(rng: Random) -> Iterator[bytes]:
    """Yield rows of Oracle, with its change numbers and row identifiers."""
    schema = _schema("erp", "ASSETS", ASSET, ["ID"], dbType="oracle", schemaName="PROD")
    for number, event in enumerate(events(rng, _asset, 80, key="ID")):
        payload = _payload(_operation(event), event, START * 1_000_000 + number, number)
        yield _message(schema, {**payload, "scn": str(9_000_000 + number)})


def _asset(rng: Random, number: int) -> Json:
    return {"STATE": rng.choice(STATES), "rowid": f"AAAR3sAAEAAAACX{number:03}"}


def _operation(event: Event) -> str:
    if event.after is None:
        return "DELETE"
    return "INSERT" if event.before is None else "UPDATE_AFTER"


def _schema(
    database: str, table: str, types: Mapping[str, str], key: list[str] | None, **more: str
) -> Json:
    source = {"dbType": "MySQL", "dbName": database, "tableName": table, **more}
    columns = [{"name": name, "type": kind} for name, kind in types.items()]
    return {"dataColumn": columns, "primaryKey": key, "source": source}


_NO_SCHEMA: Final[Json] = {"dataColumn": None, "primaryKey": None, "source": None}


def _payload(op: str, event: Event, sequence: int = -1, number: int | None = None) -> Json:
    """Return the payload of a change of a row; without a number it is of the initial load."""
    time = -1 if number is None else START + number * 60 * _SECOND
    return {
        "before": event.before and {"dataColumn": event.before},
        "after": event.after and {"dataColumn": event.after},
        "sequenceId": str(sequence),
        "timestamp": {"eventTime": time, "systemTime": START, "checkpointTime": time},
        "op": op,
        "ddl": None,
    }


def _event(op: str, number: int, statement: str | None = None) -> Json:
    """Return the payload of an event that is of no row; its times are those of a heartbeat."""
    time = START + number * 60 * _SECOND
    return {
        "before": None,
        "after": None,
        "sequenceId": None if op == "MHEARTBEAT" else str(time * 1_000_000),
        "timestamp": {"eventTime": time, "checkpointTime": time},
        "op": op,
        "ddl": statement and {"text": statement, "ddlMeta": "rO0ABXQAA2RkbA=="},
    }


def _message(schema: Json, payload: Json) -> bytes:
    return text({"schema": schema, "payload": payload, "version": "0.0.1"})


_ROW: Final[Json] = {"ID": 7, "STATE": "new"}
_BEFORE: Final[Json] = {"dataColumn": _ROW}

GOOD: Final[Json] = {
    "schema": _schema("erp", "ASSETS", ASSET, ["ID"]),
    "payload": _payload("INSERT", Event(None, _ROW), START * 1_000_000, 1),
    "version": "0.0.1",
}
"""What each damage is done to."""

_DELETED: Final[Json] = {
    "before": _BEFORE,
    "sequenceId": str(START * 1_000_000),
    "timestamp": {"eventTime": START},
    "op": "DELETE",
    "ddl": None,
}

DAMAGES: Final[tuple[tuple[str, Alteration], ...]] = (
    ("truncated", cut(30)),
    ("contradicts-schema", having("payload", "after", "dataColumn", ID="7")),
    ("wrong-value", having("payload", sequenceId="not a number")),
    ("missing-property", lacking("payload", "timestamp")),
    ("wrong-type", having("payload", sequenceId=7)),
    ("out-of-range", having("payload", "timestamp", eventTime=2**60)),
    ("invalid-json", replaced(b'"new"', b"'new'")),
)
"""The code by which each damaged message is rejected, and how it is made of a good one."""

LENIENT: Final[tuple[tuple[str, Alteration], ...]] = (
    ("after-on-delete", having("payload", op="DELETE", before=_BEFORE)),
    ("before-on-insert", having("payload", before=_BEFORE)),
    ("update-before-spelt-out", having("payload", op="UPDATE_BEFORE", before=_BEFORE, after=None)),
    ("after-on-update-before", having("payload", op="UPDATE_BEFOR", before=_BEFORE)),
    ("unknown-property", having(task="sync-7")),
    ("undeclared-column", having("payload", "after", dataColumn={**_ROW, "NOTE": "new"})),
    ("missing-before", lacking("payload", "before")),
    ("missing-after", having(payload=_DELETED)),
    ("missing-sequence-id", lacking("payload", "sequenceId")),
    ("missing-ddl", lacking("payload", "ddl")),
    ("missing-data-column", lacking("schema", "dataColumn")),
    ("missing-primary-key", lacking("schema", "primaryKey")),
    ("missing-source", having("schema", source=None)),
    ("missing-db-type", lacking("schema", "source", "dbType")),
    ("missing-db-name", lacking("schema", "source", "dbName")),
    ("missing-table-name", lacking("schema", "source", "tableName")),
    ("empty-name", having("schema", "source", dbName="")),
)
"""What is accepted though the document does not have it, by the name it is counted under."""
