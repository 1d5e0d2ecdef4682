"""Whether log and tables hold what the topic holds: read again here, without Spark.

The topic is decoded in this process, and `changewire.tables` applies its changes in memory; the
files of Delta are read by deltalake. Nothing is taken from what the query said of itself.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from confluent_kafka import Consumer, TopicPartition
from deltalake import DeltaTable
from examples.clients import settings
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

import changewire as cw
from changewire.codec import json_form
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER
from changewire.engines.log import REFUSED
from changewire.framing import Position, Record
from changewire.tables import (
    MemoryTables,
    PositionedChange,
    Routing,
    apply_changes,
    position_of,
    template_of,
)

FORMAT: Final = "aerospike-json"
PARTITION: Final = 0
SECONDS: Final = 60

Content = dict[str, dict[bytes, Any]]
"""Rows of each table by their key, which is JSON text."""

Place = tuple[int, int]
"""Offset of a message, and number of the element in it."""


class Facts(NamedTuple):
    """What came of a topic.

    Attributes:
        messages: Messages in the topic.
        elements: Elements of these messages: those of a batch count one by one.
        changes: Changes in the log.
        controls: Control events in the log.
        dead_letters: Dead letters that are left.
        refused: Changes that no table took, and that are left.
        replayed: Elements that were replayed.
        rows: Rows of the tables.
        lost: Elements that the log lacks.
        double: Elements that are in the log more than once.
        wrong_rows: Rows of tables that the messages do not mean, or that are missing.
    """

    messages: int
    elements: int
    changes: int
    controls: int
    dead_letters: int
    refused: int
    replayed: int
    rows: int
    lost: int
    double: int
    wrong_rows: int

    @property
    def are_good(self) -> bool:
        """Whether nothing is lost, nothing there twice, and every row the right one."""
        return not (self.lost or self.double or self.wrong_rows)


def audit(server: str, topic: str, folder: Path, default_table: str) -> Facts:
    """Compare ``ops/log`` and ``tables`` below a folder with a topic of one partition.

    Args:
        server: Bootstrap server.
        topic: The topic.
        folder: Holds what the query wrote.
        default_table: Table of writes that name none.
    """
    records = list(read(server, topic))
    wanted, changes = elements_of(records)
    log = _rows(folder / "ops" / "log")
    landed = [row for row in log if row["kind"] != REFUSED and not row["attempt"]]
    again = {_place(row) for row in log if row["kind"] != REFUSED and row["attempt"]}
    places = {
        kind: {_place(row) for row in log if row["kind"] == kind and not row["attempt"]}
        for kind in (CHANGE, CONTROL, DEAD_LETTER, REFUSED)
    }
    found = Counter(map(_place, landed))
    tables = tables_below(folder / "tables")
    return Facts(
        messages=len(records),
        elements=len(wanted),
        changes=len(places[CHANGE]),
        controls=len(places[CONTROL]),
        dead_letters=len(places[DEAD_LETTER] - again),
        refused=len(places[REFUSED] - again),
        replayed=len(again),
        rows=sum(map(len, tables.values())),
        lost=len(wanted - found.keys()),
        double=found.total() - len(found.keys() & wanted),
        wrong_rows=_differences(tables, meant(changes, default_table)),
    )


def read(server: str, topic: str) -> Iterator[Record]:
    """Yield the records of a topic by their offsets, up to where it ends now."""
    consumer = Consumer({**settings(server), "group.id": "audit"})
    whole = TopicPartition(topic, PARTITION, 0)
    _, end = consumer.get_watermark_offsets(whole, timeout=SECONDS)
    consumer.assign([whole])
    try:
        for _ in range(end):
            (message,) = consumer.consume(1, timeout=SECONDS)
            position = Position(topic=topic, partition=PARTITION, offset=message.offset())
            yield Record(message.key(), message.value(), position)
    finally:
        consumer.close()


def elements_of(records: Iterable[Record]) -> tuple[set[Place], list[PositionedChange]]:
    """Return the place of every element of some records, and the changes that they mean."""
    places: set[Place] = set()
    changes: list[PositionedChange] = []
    for record in records:
        places.add((record.position.offset or 0, 0))  # an empty batch is an element itself
        for number, found in enumerate(cw.decode_all(record.value or b"", format=FORMAT)):
            places.add((record.position.offset or 0, number))
            if not isinstance(found, cw.Rejection):
                at = position_of(record.position, number)
                with suppress(cw.DecodeError):  # a message that contradicts itself
                    changes += [PositionedChange(change, at) for change in cw.changes(found)]
    return places, changes


def meant(changes: Iterable[PositionedChange], default_table: str) -> Content:
    """Return the rows that changes leave in each table, by key, as JSON has them."""
    tables = MemoryTables()
    routing = Routing(template_of("/{table}"), default_table)  # a path, whose names have no quotes
    apply_changes(tables, changes, routing)
    return {
        table.target.name.strip("/"): {
            _text(entry.key): msgspec.json.decode(_text({**entry.key, **entry.state.values}))
            for entry in table.entries.values()
            if entry.state.values is not None
        }
        for table in tables.tables.values()
    }


def tables_below(folder: Path) -> Content:
    """Return the rows of each table in a folder, by key."""
    return {
        path.name: {row["key"].encode(): msgspec.json.decode(row["row"]) for row in _rows(path)}
        for path in folder.iterdir()
    }


def _rows(table: Path) -> list[dict[str, Any]]:
    # Threads of Arrow that call a file system of Python's may abort a process that ends.
    files = SubTreeFileSystem(str(table), LocalFileSystem())
    found = DeltaTable(table).to_pyarrow_dataset(filesystem=files).to_table()
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def _place(row: Mapping[str, Any]) -> Place:
    return row["offset"], row["element"]


def _text(values: object) -> bytes:
    """Return columns as JSON text, as tables have them."""
    return msgspec.json.Encoder(decimal_format="number").encode(json_form(values))


def _differences(found: Content, wanted: Content) -> int:
    """Return how many rows are wrong, missing or too many."""
    return sum(
        there.get(key) != right.get(key)
        for there, right in ((found.get(n, {}), wanted.get(n, {})) for n in found.keys() | wanted)
        for key in there.keys() | right
    )
