"""A topic of messages about rows of four tables."""

from __future__ import annotations

from typing import Final

from tests.chaos.messages import History
from tests.support.topics import create, produce

from changewire.framing import Record

TABLES: Final = ("customers", "orders", "items", "payments")
ROWS: Final = 2000
AT_ONCE: Final = 20_000
"""Messages that are produced together: the producer holds no more than 100,000."""


def fill(server: str, topic: str, *, partitions: int, messages: int, seed: int) -> list[Record]:
    """Create a topic and send a history to it; return its records as they stand there."""
    create(server, topic, partitions=partitions)
    history = History(seed, tables=TABLES, rows=ROWS, partitions=partitions)
    sent: list[Record] = []
    for start in range(0, messages, AT_ONCE):
        sent += produce(server, history.records(min(AT_ONCE, messages - start), topic))
    return sent
