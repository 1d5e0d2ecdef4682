"""Messages of several tables: some are chosen, and some do not say their keys."""

from __future__ import annotations

from typing import Any

from tests.runtime.engines.merge.messages import message

ONLY: dict[str, Any] = {"only_tables": ["d.t", "d.u*", "e.*"], "except_tables": ["d.u_?", "z.*"]}
UNMATCHED = [
    ("only_tables", ["e.*"], ["d.t", "d.u", "d.u_1", "d.v"]),
    ("except_tables", ["z.*"], ["d.t", "d.u", "d.u_1", "d.v"]),
]


def first() -> list[bytes]:
    """Return messages of four tables, without a key among them, and with more than rows."""
    rows = [
        message("INSERT", 1, {"id": number, "name": "a"}, table=table)
        for table in ("t", "u", "u_1", "v")
        for number in (1, 2)
    ]
    keyless = message("INSERT", 1, {"name": "a"}, table="v", key=())
    others = [message(op, 9, None, table="v") for op in ("TRUNCATE", "QUERY")]
    return [*rows, keyless, *others, message("DELETE", 3, {"id": 2}, table="v")]


def later() -> list[bytes]:
    """Return later messages: a late one, and some of a table that is let in by then."""
    late = message("UPDATE_AFTER", 2, {"id": 2, "name": "late"}, table="t")
    return [late, message("INSERT", 5, {"id": 3, "name": "b"}, table="v")]


KEYS = {"d.t": ["id"], "d.*": ["name", "id"]}


def keyless() -> list[bytes]:
    """Return messages of two tables that do not say their keys."""
    rows = [{"id": number, "name": "a"} for number in (1, 2)]
    given = [message("INSERT", 1, row, table=table, key=()) for table in "tu" for row in rows]
    gone = [message("DELETE", 2, rows[1], table=table, key=()) for table in "tu"]
    return [*given, message("UPDATE_AFTER", 3, {"id": 1, "name": "b"}, key=()), *gone]
