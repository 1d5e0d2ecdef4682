"""Messages of tables that have settings."""

from __future__ import annotations

from datetime import date
from typing import Any

from tests.runtime.engines.merge.messages import message

TYPES = {"id": "LONG", "day": "STRING", "kind": "STRING"}
PROPERTIES = {"delta.logRetentionDuration": "interval 7 days", "shop.owner": "billing"}
PARTITIONED: dict[str, Any] = {
    "*": {"properties": PROPERTIES},
    "d.t": {"columns": {"day": "date"}, "partition_by": ["day"]},
}


def write(number: int, sequence: int = 1, table: str = "t", **row: Any) -> bytes:
    """Return a message that inserts or replaces a row."""
    return message("INSERT", sequence, {"id": number, **row}, table=table, types=TYPES)


def first() -> list[bytes]:
    """Return messages of two tables; none has the day of its first row."""
    return [write(1), write(2, day="2026-01-02"), write(1, table="u")]


def later() -> list[bytes]:
    """Return messages that move rows to other partitions, and one that no partition has."""
    gone = message("DELETE", 2, {"id": 2}, types=TYPES)
    return [write(1, 2, day="2026-01-03"), gone, write(3, day="soon")]


FATES: dict[str, Any] = {
    "*": {"columns": {"day": "date"}},
    "d.*": {"deletes": "flag", "misfits": "refuse"},
    "d.u": {"deletes": "remove", "misfits": "rescue"},
}


def fates() -> list[bytes]:
    """Return messages of two tables: deletes, one that is late, and values that do not fit."""
    sent = []
    for table in ("t", "u"):
        gone = message("DELETE", 3, {"id": 1}, table=table, types=TYPES)
        late = write(1, 2, table, day="2026-01-01")
        sent += [write(1, 1, table), gone, late, write(2, 1, table, day="2026-01-02")]
        sent.append(write(2, 2, table, day="soon"))
    return sent


FATES_OF_ROWS = {
    "t": [(1, None, True, None), (2, date(2026, 1, 2), False, None)],
    "u": [(2, None, False, '{"day":"soon"}')],
}
"""Rows: id, day, whether they are deleted, and what is rescued."""

FAULTS: tuple[tuple[dict[str, Any], str], ...] = (
    (
        {"partition_by": ["year"]},
        "no message has a value of column 'year' yet; give its type by `columns`",
    ),
    (
        {"partition_by": ["kind"], "columns": {"kind": "array<string>"}},
        "column 'kind' is array<string>, which has no order",
    ),
    (
        {"partition_by": ["kind"], "columns": {"kind": "binary"}},
        "column 'kind' is binary, which delta-rs does not read as a partition",
    ),
    (
        {"partition_by": ["kind"], "columns": {"kind": "timestamp"}},
        "column 'kind' has times, which Spark writes as a partition in its own time zone",
    ),
    (
        {"partition_by": ["id"], "columns": {"id": "string"}},
        "column 'id' of the key is text, which as a partition has NULL for ''",
    ),
)
"""Settings of tables of Delta that cannot be made, and why."""

HOSTILE = "b`c.\"d'"
"""A name with all characters that mean something in SQL."""


def odd(number: int, sequence: int = 1, op: str = "INSERT", **row: Any) -> bytes:
    """Return a message of a row with a column of a hostile name, which has a date as text."""
    content = {"id": number, HOSTILE: f"2026-01-0{number}", **row}
    return message(op, sequence, content, types={**TYPES, HOSTILE: "STRING"})


LAID_OUT: dict[str, Any] = {
    "*": {"properties": PROPERTIES},
    "d.t": {
        "columns": {HOSTILE: "date"},
        "partition_by": [HOSTILE],
        "deletes": "flag",
        "key_columns": ["id"],
    },
}
LAID_OUT_ROWS = [(1, date(2026, 1, 1), False), (2, None, True), (3, date(2026, 1, 3), False)]
"""Rows of `odd` with these settings: id, the column, and whether they are deleted."""

MISSPELLED: dict[str, Any] = {"d.tt": {"misfits": "refuse"}}
"""Settings of a table that no log has."""

WARNING = "`settings` names d.tt, and no table has such a name; tables are: d.t, t"
"""What a rebuild with them warns of."""

OTHERS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"partition_by": ["kind"]}, "and `tables` asks for partition_by ['kind']: a table keeps"),
    ({"partition_by": []}, "and `tables` asks for no partitions: a table keeps what it was made"),
    ({"columns": {HOSTILE: "string"}}, "is date, and `tables` says string: a table keeps what it"),
    ({"deletes": "remove"}, "was made with deletes='flag', and deletes='remove' is asked for: a"),
)
"""Settings that a table with those of `LAID_OUT` does not have, and why they are an error."""

NOT_REBUILT: tuple[tuple[dict[str, Any], str], ...] = (
    ({"key_columns": ["kind"]}, "its log names rows by id, and the setting key_columns says kind"),
    ({"partition_by": ["year"]}, "cannot be made with its partitions: no message has a value of"),
    ({"partition_by": ["kind"]}, "text partition kind: '' is stored as NULL"),
)
"""Settings that a rebuild of a Delta table with text that is empty refuses, and why."""
