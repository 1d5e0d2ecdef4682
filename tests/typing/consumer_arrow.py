"""Messages as Arrow record batches."""

from __future__ import annotations

import changewire.arrow as cwa


def decoded(messages: cwa.Messages, rows: cwa.RowsAs) -> cwa.Decoded:
    """Return messages from files, iterables or tables, decoded when they are read."""
    return cwa.decode(messages, format="auto", image="patch", rows=rows)


def read(stream: cwa.Stream) -> int:
    """Return how many rows a stream has, read in batches."""
    source: cwa.ArrowStream = stream
    return int(stream.read_all().num_rows) if source is stream else 0


def all_at_once(found: cwa.Decoded) -> cwa.Tables:
    """Return all tables of one reading; their counts add up."""
    tables: cwa.Tables = found.tables()
    assert tables.counts.elements == found.counts.elements
    return tables
