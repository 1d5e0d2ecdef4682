"""Messages of DataWorks about rows of one table: of about 0.5 KB, and repeated as a topic has them.

A message that stands twice stands there in a row, so that a job which forgets deleted rows comes
to the same table; unless some are sent late, which only a careful job survives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from random import Random
from typing import Final

from benchmarks.by_hand import dataworks
from benchmarks.by_hand.streams import COLUMNS
from benchmarks.messages import wire
from benchmarks.topics import EVENT

PARTITIONS: Final = 4
TABLE: Final = "customers"
FIRST: Final = 1620457642589000000
"""Sequence of the first message."""

DELETES, DOUBLES, BROKEN = 0.1, 0.1, 0.001
"""Shares of the messages: deletes, those sent once more, and those that cannot be read."""

LATE: Final = 0.1
"""Share of the messages that come late: half of them only then, the others once more."""

Sent = tuple[int, bytes, bytes]
"""Partition, key and value of a record."""

_MESSAGE: Final = (
    '{{"schema":{schema},"payload":{{"before":{before},"after":{after},"sequenceId":"{sequence}",'
    '"timestamp":{{"eventTime":{time},"systemTime":{later},"checkpointTime":{time}}},"op":"{op}",'
    '"ddl":null}},"version":"0.0.1"}}'
)
_ROW: Final = (
    '{{"dataColumn":{{"id":{id},"name":"Anne {i}","balance":"{balance:.2f}",'
    '"created_at":{created}}}}}'
)


def table_names(count: int) -> list[str]:
    """Return the names of so many tables."""
    return [TABLE] if count == 1 else [f"{TABLE}_{number:02}" for number in range(count)]


def history(
    count: int, pick: Callable[[Random], int], *, are_there: bool = False, tables: int = 1
) -> Iterator[Sent]:
    """Yield records, the same for the same arguments; all of a row are in one partition.

    Args:
        count: How many.
        pick: Draws the id of a row.
        are_there: Whether all rows are there at first.
        tables: Number of the tables that have these rows.
    """
    schemas = [_schema(name) for name in table_names(tables)]
    random, last = Random(1), dict[int, Sent]()
    turned = set[int]()  # rows that are not as they were at first: there, or deleted
    for i in range(count):
        row, drawn = pick(random), random.random()
        partition = row % PARTITIONS
        if drawn < DOUBLES and partition in last:
            yield last[partition]
            continue
        if drawn > 1 - BROKEN:
            yield partition, b"", b'{"schema":{"dataColumn":['
            continue
        op = _op(random, is_there=(row in turned) != are_there)
        (turned.add if (op == "DELETE") == are_there else turned.discard)(row)
        schema = schemas[row // PARTITIONS % tables]
        last[partition] = partition, str(row).encode(), _message(random, i, op, row, schema)
        yield last[partition]


def with_late(records: Iterable[Sent], distance: int) -> Iterator[Sent]:
    """Yield records, some of them late by up to so many messages; half of these twice."""
    random, waiting = Random(2), list[tuple[int, int, Sent]]()
    for number, record in enumerate(records):
        while waiting and waiting[0][0] <= number:
            yield heappop(waiting)[-1]
        drawn = random.random()
        if drawn < LATE:
            heappush(waiting, (number + random.randint(1, distance), number, record))
        if drawn >= LATE / 2:
            yield record
    while waiting:
        yield heappop(waiting)[-1]


def _op(random: Random, *, is_there: bool) -> str:
    if not is_there:
        return "INSERT"
    return "DELETE" if random.random() < DELETES / (1 - DOUBLES) else "UPDATE_AFTER"


def _schema(table: str) -> str:
    columns = [{"name": name, "type": kind} for name, (kind, _) in COLUMNS.items()]
    source = {"dbType": "MySQL", "dbName": "shop", "tableName": table}
    return wire({"dataColumn": columns, "primaryKey": [dataworks.KEY], "source": source}).decode()


def _message(random: Random, i: int, op: str, row: int, schema: str) -> bytes:
    values = _ROW.format(
        id=row, i=i, balance=random.randrange(10**7) / 100, created=EVENT - random.randrange(10**9)
    )
    is_delete = op == "DELETE"
    return _MESSAGE.format(
        schema=schema,
        before=values if is_delete else "null",
        after="null" if is_delete else values,
        sequence=FIRST + i,
        time=EVENT + i,
        later=EVENT + i + 977,
        op=op,
    ).encode()
