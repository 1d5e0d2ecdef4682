"""What is asked of tables in the SQL of delta-rs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from changewire.engines.delta.tables import reported
from changewire.tables.metadata import COLUMN
from changewire.tables.order import Order

_FIELD: Final = f'"{COLUMN}"'


def read(table: DeltaTable, query: str, **others: DeltaTable) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query as dictionaries; see `read_batches`."""
    for batch in read_batches(table, query, **others):
        yield from batch.to_pylist(maps_as_pydicts="strict")


def read_batches(table: DeltaTable, query: str, **others: DeltaTable) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query; memory holds a batch of them.

    Args:
        table: What the query names ``held``.
        query: SQL, as DataFusion has it.
        others: Other tables, by the names that the query has for them.
    """
    builder = QueryBuilder().register("held", table)
    for name, other in others.items():
        builder = builder.register(name, other)
    with reported(table.table_uri):
        yield from pa.RecordBatchReader.from_stream(builder.execute(query))


def older_than(floor: Order) -> str:
    """Return the condition that the newest write of a row is not newer than a truncate.

    It is never NULL. Text compares by its bytes, which in UTF-8 is the order of its characters, as
    in Python. The order of the truncate has a sequence.
    """
    major, minor = floor.sequence
    topic, partition, offset, element = floor.position
    parts = {
        "['sequence']['major']": str(major),
        "['sequence']['minor']": str(minor),
        "['topic']": f"'{topic.replace(chr(39), chr(39) * 2)}'",
        "['partition']": str(partition),
        "['offset']": str(offset),
        "['element']": str(element),
    }
    condition = "true"
    for path, value in reversed(parts.items()):
        field = f"{_FIELD}{path}"
        condition = f"({field} < {value} OR ({field} = {value} AND {condition}))"
    return f"({_FIELD}['sequence'] IS NULL OR COALESCE({condition}, false))"
