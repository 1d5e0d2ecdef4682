"""Messages without Spark: record batches of Arrow."""

from __future__ import annotations

from typing import Any, cast

import changewire as cw
import changewire.arrow as cwa

ROWS: cwa.RowsAs = "json"


def counted(messages: cwa.Messages) -> int:
    """Return how many elements became changes, by way of whole tables."""
    decoded: cwa.DecodedStreams = cwa.decode(messages, format="auto", rows=ROWS)
    tables: cwa.Tables = decoded.tables()
    return tables.counts.changes


def streamed(path: str) -> cwa.ArrowStream:
    """Return a stream of changes, for whatever reads Arrow."""
    stream: cwa.Stream = cwa.decode(path, format="lindorm-json").changes
    return stream


def removed(key: bytes) -> cw.Change:
    """Return the change that a record without value is."""
    return cw.delete_by_key(key, format="aerospike-json")


def typed(messages: cwa.Messages) -> int:
    """Return how many messages there are of one variant, as typed columns."""
    found: cwa.MessageStreams = cwa.messages(messages, format="lindorm-json")
    tables: cwa.MessageTables = found.tables()
    assert cwa.message_type("lindorm-json")  # pyright: ignore[reportUnknownMemberType]: no stubs
    return tables.counts.by_variant["Insert"]


def ended(log: cwa.ChangeLog) -> int:
    """Return how many versions of rows are not current, by a change log."""
    found = cwa.history  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    versions = cast("Any", found(log, table="shop.users", names="auto_cdc"))
    return int(len(versions) - versions.column("__END_AT").null_count)
