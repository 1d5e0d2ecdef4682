"""Messages of sources of all kinds, and the columns and rows that tables of them have."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, NamedTuple

DIGESTS = [b64encode(bytes([number] * 20)).decode() for number in range(4)]


KEYS = {"aerospike_digest": "string", "aerospike_user_key": "string"}


class Case(NamedTuple):
    """Batches of messages of a format, and a table of them.

    Attributes:
        name: What the case shows.
        format: Public name of the format.
        batches: Messages.
        table: Name of the table.
        columns: Types of its columns, as in Spark's SQL.
        rows: Its rows, without NULL, and what is rescued of each.
        options: Further options.
    """

    name: str
    format: str
    batches: Sequence[Sequence[Any]]
    table: str
    columns: Mapping[str, str]
    rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
    options: Mapping[str, Any] = {}


def flat(number: int, lut: int, **bins: Any) -> dict[str, Any]:
    """Return a write in flat JSON."""
    metadata = {
        "msg": "write",
        "namespace": "test",
        "set": "users",
        "userKey": number,
        "digest": DIGESTS[number],
        "gen": 1,
        "lut": lut,
        "exp": 0,
    }
    return {"metadata": metadata, **bins}


def write(number: int, lut: int, *bins: tuple[str, str, Any]) -> dict[str, Any]:
    """Return a write in JSON; bins have name, type and value."""
    return {
        "msg": "write",
        "key": ["test", "users", DIGESTS[number], str(number)],
        "gen": 1,
        "exp": 0,
        "lut": lut,
        "bins": [{"name": name, "type": kind, "value": value} for name, kind, value in bins],
    }


def delete(number: int, lut: int, of: str | None = "users") -> dict[str, Any]:
    """Return a delete in JSON, of a record of a set."""
    key = ["test", of, DIGESTS[number], str(number)]
    return {"msg": "delete", "key": key, "gen": 1, "lut": lut}


def row(number: int, **columns: Any) -> dict[str, Any]:
    """Return a row of Aerospike; one of flat JSON has a user key."""
    return {"aerospike_digest": DIGESTS[number], "aerospike_user_key": str(number), **columns}


FLAT = Case(
    name="flat JSON: other types, other cases, numbers that no column has",
    format="aerospike-flat-json",
    batches=[
        [
            flat(1, 1, a=5, b="x", c={"k": [1]}, d=True, e=1.5),
            flat(2, 1, a=5.5, b="y", e=None),
        ],
        [
            flat(1, 2, a="5.5", b=7, B="other", n=2**70, f="NaN", c=3),
            flat(3, 2, a="NaN", b="NaN", d=None),
        ],
        [flat(2, 3, a=6, b="5.5", n=4)],
    ],
    table="users",
    columns={
        **KEYS,
        "a": "double",
        "b": "string",
        "c": "string",
        "d": "boolean",
        "e": "double",
        "n": "bigint",
    },
    rows=[
        (
            row(1, c="3"),
            {"a": "5.5", "b": 7, "B": "other", "n": 2**70, "f": "NaN"},
        ),
        (row(2, a=6.0, b="5.5", n=4), None),
        (row(3, a="NaN", b="NaN"), None),
    ],
)

PATCHED = Case(
    name="patches: a later good value takes the place of a rescued one",
    format="aerospike-flat-json",
    batches=[
        [flat(1, 1, a=1, b="x", c=[1])],
        [flat(1, 2, a="one", b={"no": "text"})],
        [flat(1, 3, b="z"), flat(2, 1, a="two", A=3), flat(2, 2, a=7)],
    ],
    table="users",
    columns={**KEYS, "a": "bigint", "b": "string", "c": "string"},
    rows=[
        (row(1, b="z", c="[1]"), {"a": "one"}),
        (row(2, a=7), {"A": 3}),
    ],
    options={"row_image": "patch"},
)

BINS = Case(
    name="bins of all types; bytes are not text, and text is not bytes",
    format="aerospike-json",
    batches=[
        [
            write(
                *(1, 1, ("i", "int", 2**62), ("f", "float", 2.0), ("s", "str", "text")),
                *(("t", "bool", True), ("y", "blob", "AAEC"), ("l", "list", [1, "a"])),
                *(("m", "map", {"k": 1}), ("g", "geojson", {"type": "Point"})),
            ),
        ],
        [
            write(1, 2, ("y", "str", "AAEC"), ("s", "blob", "AAEC"), ("f", "int", 3)),
            write(2, 2, ("y", "blob", "/w=="), ("i", "float", 1.5), ("f", "float", "NaN")),
        ],
    ],
    table="users",
    columns={
        **KEYS,
        "i": "bigint",
        "f": "double",
        "s": "string",
        "t": "boolean",
        "y": "binary",
        "l": "string",
        "m": "string",
        "g": "string",
    },
    rows=[
        (row(1, f=3.0), {"y": "AAEC", "s": "AAEC"}),
        (row(2, y=b"\xff", f="NaN"), {"i": 1.5}),
    ],
)

MANY = {
    f"bin-{n}": (("int", "bigint", n), ("float", "double", n + 0.5), ("str", "string", "x"))[n % 3]
    for n in range(200)
}
"""Type, column and value of many bins of one record."""

WIDE = Case(
    name="many bins of one record",
    format="aerospike-json",
    batches=[[write(3, 1, *((name, kind, value) for name, (kind, _, value) in MANY.items()))]],
    table="users",
    columns={**KEYS, **{name: column for name, (_, column, _) in MANY.items()}},
    rows=[(row(3, **{name: value for name, (_, _, value) in MANY.items()}), None)],
)

GIVEN = Case(
    name="types that settings give: text may be a time, a date or a decimal",
    format="aerospike-flat-json",
    batches=[
        [
            flat(1, 1, price="12.50", paid_at="2026-01-02T03:04:05Z", tags=["a"], due="2026-01-02"),
            flat(2, 1, price="12.505", paid_at="yesterday", tags="a", n=1),
        ],
        [
            flat(1, 2, price=7, paid_at=5, tags=[1], due="2026-01-02T00:00:00Z", n="5"),
            flat(3, 2, at={"x": 1, "on": "2026-01-02"}, gone_at="2026-01-02T00:00:00+01:00"),
        ],
    ],
    table="users",
    columns={
        **KEYS,
        "price": "decimal(12,2)",
        "paid_at": "timestamp",
        "tags": "array<string>",
        "due": "date",
        "n": "bigint",
        "at": "struct<x:int,on:date>",
        "gone_at": "timestamp",
    },
    rows=[
        (row(1, price=Decimal(7), tags=["1"], due=date(2026, 1, 2)), {"paid_at": 5, "n": "5"}),
        (row(2, n=1), {"price": "12.505", "paid_at": "yesterday", "tags": "a"}),
        (
            row(
                3,
                at={"x": 1, "on": date(2026, 1, 2)},
                gone_at=datetime(2026, 1, 1, 23, tzinfo=timezone.utc),
            ),
            None,
        ),
    ],
    options={
        "tables": {
            "test.users": {"columns": {"price": "DECIMAL(12, 2)", "tags": "array<string>"}},
            "test.*": {"columns": {"price": "double", "due": "date"}},
            "*": {"columns": {"*_at": "timestamp", "at": "struct<x: int, on: date>"}},
        }
    },
)

ALONE = Case(
    name="keys alone make a table, which gets its columns later",
    format="aerospike-json",
    batches=[
        [write(1, 5), write(2, 5)],
        [write(1, 1, ("a", "int", 1)), write(3, 5, ("b", "str", "x"))],
    ],
    table="users",
    columns={**KEYS, "a": "bigint", "b": "string"},
    rows=[
        (row(1, a=1), None),
        ({"aerospike_digest": DIGESTS[2]}, None),
        (row(3, b="x"), None),
    ],
)

DELETED = Case(
    name="a delete that is kept makes a table, so no late write brings its row back",
    format="aerospike-json",
    batches=[
        [delete(1, 5)],
        [write(1, 1, ("a", "int", 1)), write(2, 1, ("a", "int", 2))],
    ],
    table="users",
    columns={**KEYS, "a": "bigint"},
    rows=[({"aerospike_digest": DIGESTS[1]}, None), (row(2, a=2), None)],
    options={"deletes": "flag"},
)

CASES = (FLAT, PATCHED, BINS, WIDE, GIVEN, ALONE, DELETED)


def _comparable(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc)  # PySpark's are of the local zone, and do not say it
    return "NaN" if value != value else value  # noqa: PLR0124 - NaN differs from itself


def comparable(found: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return a row of a table without NULL, and what is rescued of it."""
    values = {
        name: _comparable(value)
        for name, value in found.items()
        if value is not None and name != "_changewire"
    }
    rescued = found["_changewire"]["rescued"]
    return values, None if rescued is None else json.loads(rescued)
