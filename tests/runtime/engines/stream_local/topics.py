"""A topic of changes on a real broker, and the log and tables that a stream makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from deltalake import DeltaTable
from tests.runtime.engines.accounts import assert_all_are_explained
from tests.runtime.engines.merge.messages import message
from tests.support.topics import create, produce

import changewire.delta as cwd
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER
from changewire.engines.outcome import Outcome
from changewire.framing import Position, Record

FORMAT = "dataworks-json"
TYPES = {"id": "LONG", "name": "STRING", "price": "DECIMAL(12,2)"}
BROKEN = b'{"schema": {"dataColumn"'
_PLACE = ("kind", "topic", "partition", "offset", "element")


def history(seed: int, number: int, partitions: int = 2) -> list[tuple[int, bytes]]:
    """Return messages with their partitions, those of a key in one: some late, doubled, broken."""
    draw, found = Random(seed), list[tuple[int, bytes]]()  # noqa: S311 - not a secret
    for sequence in range(1, number + 1):
        key = draw.randrange(12)
        row = {
            "id": key,
            "name": draw.choice([None, "a", "ü", ""]),
            "price": draw.choice([None, f"{draw.randrange(10**6)}.{draw.randrange(100):02}"]),
        }
        op = draw.choice(["INSERT", "INSERT", "UPDATE_AFTER", "DELETE"])
        before = {"id": key} if op == "UPDATE_AFTER" else None
        table = draw.choice(["t", "u"])
        value = message(op, 1000 + sequence, row, before=before, table=table, types=TYPES)
        found.append((key % partitions, value))
        if draw.random() < 0.1:
            found.append((key % partitions, value))
        if draw.random() < 0.05:
            found.append((draw.randrange(partitions), BROKEN))
    for index in range(0, len(found) - 1, 5):  # late
        found[index], found[index + 1] = found[index + 1], found[index]
    return found


@dataclass
class Topic:
    """A topic with messages.

    Attributes:
        server: Address of the broker.
        name: Name of the topic.
        root: Folder of what is made of it.
        sent: Its records.
    """

    server: str
    name: str
    root: Path
    partitions: int = 2
    sent: list[Record] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Create the topic."""
        create(self.server, self.name, partitions=self.partitions)

    def send(self, messages: Sequence[tuple[int, bytes | None]]) -> list[Record]:
        """Send messages, each to its partition."""
        self.sent += produce(
            self.server,
            [Record(b"k", value, Position(topic=self.name, partition=n)) for n, value in messages],
        )
        return self.sent

    @property
    def options(self) -> dict[str, str]:
        """How it is read."""
        return {"kafka.bootstrap.servers": self.server, "subscribe": self.name}

    def places(self, folder: str = "lake") -> dict[str, Any]:
        """Where log and tables are, and how messages are read."""
        root = self.root / folder
        return {"format": FORMAT, "log": f"{root}/log", "target": f"{root}/tables/{{table}}"}

    def stream(self, *, source: dict[str, str] | None = None, **options: Any) -> Outcome:
        """Stream the topic, and check that all changes are accounted for."""
        outcome = cwd.stream({**self.options, **(source or {})}, **{**self.places(), **options})
        by_table = outcome.changes_by_table.items()
        assert_all_are_explained({name: one.numbers() for name, one in by_table})
        return outcome

    def expected(self) -> Lake:
        """Return log and tables that a run on its records makes."""
        cwd.apply_changes(self.sent, **self.places("expected"))
        return self.lake("expected")

    def lake(self, folder: str = "lake") -> Lake:
        """Return log and tables."""
        return Lake(self.root / folder)


@dataclass
class Lake:
    """A log and its tables."""

    root: Path

    def log(self) -> list[tuple[Any, ...]]:
        """Return the places of what was landed, each once for each row."""
        kinds = {CHANGE, CONTROL, DEAD_LETTER}
        rows = DeltaTable(f"{self.root}/log").to_pyarrow_table().to_pylist()
        return sorted(tuple(row[n] for n in _PLACE) for row in rows if row["kind"] in kinds)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the log with all that messages and records say."""
        rows = DeltaTable(f"{self.root}/log").to_pyarrow_table().to_pylist()
        kept = [row for row in rows if row["kind"] in {CHANGE, CONTROL, DEAD_LETTER}]
        return sorted(kept, key=lambda row: [row[name] for name in _PLACE])

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of each table, by their keys."""
        found = {}
        for path in sorted((self.root / "tables").iterdir()):
            rows = DeltaTable(str(path)).to_pyarrow_table().to_pylist()
            found[path.name] = sorted(rows, key=lambda row: row["id"])
        return found


def assert_same(topic: Topic) -> None:
    """Log and tables are what a run on the same records makes: nothing lost, double or wrong."""
    made, expected = topic.lake(), topic.expected()
    assert made.log() == expected.log()
    assert made.rows() == expected.rows()
    assert made.tables() == expected.tables()
