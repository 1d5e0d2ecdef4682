"""Messages of a chaos run: a history of records, out of order, with doubles and broken ones."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from random import Random
from typing import Any, Final

import msgspec
from tests.runtime.engines.merge.messages import message

from changewire.framing import Position, Record

HALVED: Final = "accounts"
"""A table whose updates come as two messages, of which one may be missing."""

TABLES = ("Users", "orders", HALVED)
COLLIDING: Final = "users"
"""A table that is refused: another one, which is first in order, has its name in another case."""

ROWS = 40
PARTITIONS = 2
DELETES, DOUBLES, BROKEN = 0.2, 0.15, 0.02
MOVED, LONE, TORN = 0.3, 0.2, 0.1
"""Shares of updates: with another key, without their second message, and with that one broken."""

DISORDER = 30
"""How far a message may come from its place, in messages."""

KNOWN: Final = 60
"""Messages after which every table is known to the query."""


class History:
    """Messages about some rows, drawn one after the other.

    Attributes:
        sent: Changes that were drawn so far.
        tables: The tables of the rows.
        rows: Rows of each table, at most.
        partitions: Partitions of the topic.
        has_refused: Whether some changes, after the first `KNOWN`, are of the table `COLLIDING`.
    """

    def __init__(
        self,
        seed: int,
        *,
        tables: Sequence[str] = TABLES,
        rows: int = ROWS,
        partitions: int = PARTITIONS,
        has_refused: bool = False,
    ) -> None:
        """Begin a history that is the same for the same seed."""
        self.sent = 0
        self.tables, self.rows, self.partitions = tables, rows, partitions
        self.has_refused = has_refused
        self._random = Random(seed)  # noqa: S311 - no secrets

    def records(self, number: int, topic: str) -> list[Record]:
        """Return the next messages, of about that number."""
        drawn = [text for _ in range(number) for text in self._messages()]
        drawn += [text for text in drawn if self._random.random() < DOUBLES]
        random = self._random
        order = [i % number + random.random() * DISORDER for i in range(len(drawn))]
        return [
            Record(b"", text, Position(topic=topic, partition=random.randrange(self.partitions)))
            for _, text in sorted(zip(order, drawn, strict=True))
        ]

    def _messages(self) -> list[bytes]:
        """Return the messages of the next change."""
        self.sent += 1
        random = self._random
        if random.random() < BROKEN:
            return [b'{"msg": "write", "key": ' + bytes([255, self.sent % 256])]
        refused = [COLLIDING] if self.has_refused and self.sent > KNOWN else []
        table = random.choice([*self.tables, *refused])
        return self._halves() if table == HALVED else [self._record(table)]

    def _record(self, table: str) -> bytes:
        """Return a write or a delete of an Aerospike record."""
        random, row = self._random, self._random.randrange(self.rows)
        digest = base64.b64encode(f"{table:>10}{row:010}".encode()).decode()
        key = ["shop", table, digest, row]
        common = {"key": key, "gen": 1, "exp": 0, "lut": 1_600_000_000_000 + self.sent}
        if random.random() < DELETES:
            return msgspec.json.encode({"msg": "delete", **common, "durable": True})
        bins = [
            {"name": name, "type": "int", "value": random.randrange(1000)}
            for name in random.sample("abcd", random.randint(1, 4))
        ]
        return msgspec.json.encode({"msg": "write", **common, "bins": bins})

    def _halves(self) -> list[bytes]:
        """Return the messages of a change of a DataWorks row: two of an update, if none is lost."""
        random = self._random
        at: dict[str, Any] = {"table": HALVED, "database": "shop"}
        row = self._row(random.randrange(self.rows))
        op = random.choice(("INSERT", "DELETE", "UPDATE_AFTER", "UPDATE_AFTER"))
        if op != "UPDATE_AFTER":
            return [message(op, self.sent, row, **at)]
        moved = random.random() < MOVED
        after = self._row(random.randrange(self.rows) if moved else row["id"])
        first = message("UPDATE_BEFOR", self.sent, None, before=row, **at)
        second = message(op, self.sent, after, **at)
        lost = random.random()
        if lost < LONE:
            return [first]
        return [first, second[: len(second) // 2] if lost < LONE + TORN else second]

    def _row(self, number: int) -> dict[str, Any]:
        return {"id": number, "name": f"a{self._random.randrange(1000)}"}
