"""Messages of a chaos run: a history of records, out of order, with doubles and broken ones."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from random import Random

import msgspec

from changewire.framing import Position, Record

TABLES = ("users", "orders")
ROWS = 40
PARTITIONS = 2
DELETES, DOUBLES, BROKEN = 0.2, 0.15, 0.02
DISORDER = 30
"""How far a message may come from its place, in messages."""


class History:
    """Messages about some rows, drawn one after the other.

    Attributes:
        sent: Messages that were drawn so far.
        tables: The tables of the rows.
        rows: Rows of each table, at most.
        partitions: Partitions of the topic.
    """

    def __init__(
        self,
        seed: int,
        *,
        tables: Sequence[str] = TABLES,
        rows: int = ROWS,
        partitions: int = PARTITIONS,
    ) -> None:
        """Begin a history that is the same for the same seed."""
        self.sent = 0
        self.tables, self.rows, self.partitions = tables, rows, partitions
        self._random = Random(seed)  # noqa: S311 - no secrets

    def records(self, number: int, topic: str) -> list[Record]:
        """Return the next messages, of about that number."""
        drawn = [self._message() for _ in range(number)]
        drawn += [text for text in drawn if self._random.random() < DOUBLES]
        random = self._random
        order = [i % number + random.random() * DISORDER for i in range(len(drawn))]
        return [
            Record(b"", text, Position(topic=topic, partition=random.randrange(self.partitions)))
            for _, text in sorted(zip(order, drawn, strict=True))
        ]

    def _message(self) -> bytes:
        self.sent += 1
        random, place = self._random, self.sent
        if random.random() < BROKEN:
            return b'{"msg": "write", "key": ' + bytes([255, place % 256])
        table, row = random.choice(self.tables), random.randrange(self.rows)
        digest = base64.b64encode(f"{table:>10}{row:010}".encode()).decode()
        key = ["shop", table, digest, row]
        common = {"key": key, "gen": 1, "exp": 0, "lut": 1_600_000_000_000 + place}
        if random.random() < DELETES:
            return msgspec.json.encode({"msg": "delete", **common, "durable": True})
        bins = [
            {"name": name, "type": "int", "value": random.randrange(1000)}
            for name in random.sample("abcd", random.randint(1, 4))
        ]
        return msgspec.json.encode({"msg": "write", **common, "bins": bins})
