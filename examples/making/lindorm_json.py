"""Customers, orders and cells of an HBase table, as Lindorm's data subscription sends them."""

import gzip
from collections.abc import Iterator
from random import Random
from typing import Final

from examples.making.altering import Alteration, cut, having, lacking, replaced
from examples.making.connect import BYTES, INT64, MONEY, STRING, TIMESTAMP, Types, envelope
from examples.making.history import START
from examples.making.rows import FIRST, LAST, STATES, Json, base64
from examples.making.schemas import examples
from examples.making.shapes import Record, among, kcat, lines, parquet, text
from examples.making.tables import Event, events

CUSTOMER: Final[Types] = {
    "id": INT64,
    "first_name": STRING,
    "last_name": STRING,
    "credit": MONEY,
    "since": TIMESTAMP,
    "photo": BYTES,
}
ORDER: Final[Types] = {"id": INT64, "customer": INT64, "status": STRING, "cents": INT64}

_HOUR: Final = 3_600_000
_ROW: Final[Json] = {"id": 1, "customer": 7, "cents": 990}


def files() -> dict[str, bytes]:
    """Return the content of each file by its name."""
    rng = Random(20260103)  # noqa: S311 - made-up people, no secrets
    others = [alter(GOOD) for _, alter in (*DAMAGES, *LENIENT)]
    return {
        "document.jsonl": lines([*map(text, examples("lindorm_json", "message")), *_newer()]),
        "customers.kcat.jsonl": kcat("lindorm.customers", "lindorm", customers(rng)),
        "orders.jsonl.gz": gzip.compress(lines(among(list(_orders(rng)), others)), mtime=0),
        "cells.parquet": parquet("lindorm.cells", _cells(rng)),
    }


def _newer() -> Iterator[bytes]:
    """Yield a payload without the object around it, and a time in microseconds."""
    yield text(GOOD["payload"])
    yield having("payload", "source", ts_ms=START * 1000)(GOOD)


def customers(rng: Random) -> Iterator[Record]:
    """Yield customers with their whole schema; the record key names the row."""
    for number, event in enumerate(events(rng, _customer, 45)):
        row = event.after or event.before or {}
        payload = _payload("customers", number, event)
        yield text({"id": row["id"]}), text({"schema": envelope(CUSTOMER), "payload": payload})
    yield text({"id": 1}), None


def _customer(rng: Random, number: int) -> Json:
    cents = rng.randrange(-5_000, 90_000)
    return {
        "first_name": rng.choice(FIRST),
        "last_name": rng.choice(LAST),
        "credit": base64(cents.to_bytes(4, "big", signed=True)),
        "since": START - number * _HOUR,
        "photo": rng.choice((None, base64(rng.randbytes(6)))),
    }


def _orders(rng: Random) -> Iterator[bytes]:
    """Yield orders beside a whole schema, an empty one, null and none, in turn."""
    schemas: tuple[Json, ...] = ({"schema": envelope(ORDER)}, {"schema": {}}, {"schema": None}, {})
    for number, event in enumerate(events(rng, _order, 160)):
        payload = _payload("orders", number, event if number % 9 else _lacking(event))
        yield text({**schemas[number % len(schemas)], "payload": payload})


def _order(rng: Random, number: int) -> Json:
    cents = rng.randrange(99, 90_000)
    return {"customer": number % 30, "status": rng.choice(STATES), "cents": cents}


def _lacking(event: Event) -> Event:
    """Return an update that deletes a column: it is absent from the row after."""
    after = event.after and {name: v for name, v in event.after.items() if name != "status"}
    return Event(event.before, after)


def _cells(rng: Random) -> Iterator[Record]:
    """Yield rows of an HBase table; some deletes have no row before, some updates lose a column."""
    for number, event in enumerate(events(rng, _cell, 80, key="ROW")):
        before, after = _row(event.before), _row(event.after)
        named = {"ROW": (after or before or {})["ROW"]}
        if before and after and number % 3 == 0:
            del after["f_name"]
        images = Event(None if after is None and number % 2 else before, after)
        yield text(named), text({"schema": {}, "payload": _payload("cells", number, images)})


def _cell(rng: Random, number: int) -> Json:
    return {"f_name": rng.choice(FIRST), "f_age": rng.randrange(18, 90), "meta_seen": number}


def _row(row: Json | None) -> Json | None:
    """Return a row of HBase: every value is Base64 text of bytes."""
    return row and {name: base64(_bytes(value)) for name, value in row.items()}


def _bytes(value: object) -> bytes:
    return value.to_bytes(4, "big") if isinstance(value, int) else str(value).encode()


def _payload(table: str, number: int, event: Event) -> Json:
    """Return the payload of a message; a full export comes first, as reads."""
    time = START + number * _HOUR
    source = {"version": "v1.0", "db": "ld-shop", "namespace": "shop", "table": table}
    return {
        "op": _operation(number, event),
        "ts_ms": time + 1_500,
        "before": event.before,
        "after": event.after,
        "source": {**source, "ts_ms": time},
    }


def _operation(number: int, event: Event) -> str:
    if event.before is None and event.after is not None:
        return "r" if number < 10 else "c"  # noqa: PLR2004 - the first ten
    return "d" if event.after is None else "u"


GOOD: Final[Json] = {
    "schema": envelope(ORDER),
    "payload": _payload("orders", 20, Event(None, _ROW)),
}
"""What each damage is done to."""

_DELETED: Final[Json] = {
    name: value
    for name, value in _payload("orders", 20, Event(_ROW, None)).items()
    if name != "after"
}

DAMAGES: Final[tuple[tuple[str, Alteration], ...]] = (
    ("truncated", cut(30)),
    ("contradicts-schema", having("payload", "after", cents="990")),
    ("invalid-schema", replaced(b'"int64"', b'"int63"')),
    ("missing-property", lacking("payload", "source")),
    ("unknown-variant", having("payload", op="x")),
    ("wrong-type", having("payload", after=[1, 7, 990])),
    ("invalid-json", replaced(b":990", b":NaN")),
    # What the subscription of older versions sends.
    ("unknown-variant", lambda _: text({"op": "Put", "table": "orders", "ts": START, "data": []})),
)
"""The code by which each damaged message is rejected, and how it is made of a good one."""

LENIENT: Final[tuple[tuple[str, Alteration], ...]] = (
    ("after-on-delete", having("payload", op="d", before=_ROW)),
    ("before-on-insert", having("payload", before=_ROW)),
    ("before-on-read", having("payload", op="r", before=_ROW)),
    ("unknown-property", having(exported_by="lts-3")),
    ("undeclared-field", having("payload", after={**_ROW, "note": "a new column"})),
    ("missing-schema", having(schema=None)),
    ("missing-before", lacking("payload", "before")),
    ("missing-after", having(payload=_DELETED)),
    ("missing-version", lacking("payload", "source", "version")),
    ("missing-db", lacking("payload", "source", "db")),
    ("unknown-version", having("payload", "source", version="2.7.1")),
    ("unknown-db", having("payload", "source", db="orders cluster")),
    ("empty-name", having("payload", "source", db="")),
)
"""What is accepted though the document does not have it, by the name it is counted under."""
